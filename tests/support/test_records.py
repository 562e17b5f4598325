"""Records behave as the standard dataclasses do."""

import copy
import dataclasses
import pickle
from dataclasses import field

import pytest

from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Frozen:
    """A doc."""

    a: int
    b: "list[int]" = field(default_factory=list)
    span: int = field(default=3, kw_only=True, compare=False, repr=False)

    @property
    def double(self) -> int:
        return 2 * self.a


@dataclass(slots=True)
class Loose:
    a: int = 1
    b: int = field(default=2, init=False)

    def __post_init__(self) -> None:
        self.b += self.a


@dataclass(frozen=True, slots=True)
class Wider(Frozen):
    c: str = "c"


def test_construction() -> None:
    assert Frozen(1) == Frozen(1, [], span=9) and Frozen(1).span == 3
    assert Frozen(a=2, b=[1]).double == 4 and Loose().b == 3 and Loose(5).b == 7
    for wrong in (lambda: Frozen(), lambda: Frozen(1, [], 4), lambda: Frozen(1, x=2), lambda: Loose(b=3)):
        with pytest.raises(TypeError):
            wrong()
    first = Frozen(1)
    first.b.append(2)
    assert Frozen(1).b == []


def test_equality_hash_and_text() -> None:
    assert Frozen(1) != Loose(1) and Frozen(1) != Frozen(2)
    assert repr(Frozen(1, [2])) == "Frozen(a=1, b=[2])" and Frozen.__doc__ == "A doc."
    assert hash(Single(1)) == hash(Single(1)) and len({Single(1), Single(1), Single(2)}) == 2
    with pytest.raises(TypeError):
        hash(Loose())


@dataclass(frozen=True, slots=True)
class Single:
    a: int


@dataclass(frozen=True, slots=True)
class Empty:
    pass


def test_immutable_and_slotted() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Single(1).a = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del Single(1).a
    assert not hasattr(Single(1), "__dict__")
    loose = Loose()
    loose.a = 9
    assert loose.a == 9
    assert Empty() == Empty() and hash(Empty()) == hash(Empty()) and repr(Empty()) == "Empty()"


def test_tools_of_dataclasses() -> None:
    assert [f.name for f in dataclasses.fields(Wider)] == ["a", "b", "span", "c"]
    assert dataclasses.replace(Frozen(1, [2]), a=5) == Frozen(5, [2])
    assert dataclasses.is_dataclass(Frozen) and dataclasses.asdict(Single(1)) == {"a": 1}
    for value in (Frozen(1, [2], span=8), Wider(1, c="d"), Loose(3), Empty()):
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert again == value and type(again) is type(value)
    assert pickle.loads(pickle.dumps(Frozen(1, span=8))).span == 8
    match Wider(1, [2], "z"):
        case Wider(a, [b], c=c):
            assert (a, b, c) == (1, 2, "z")
    assert Frozen.__match_args__ == ("a", "b")


def test_mutable_defaults_are_refused() -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @dataclass(slots=True)
        class Bad:
            a: list[int] = []  # noqa: RUF012
