"""The one type of each local: decided by its assignments that are not literals, found by building the body again.

`s = 0.0` says nothing certain about `s`; `s += x[i]` does. A round builds the whole body with the types known from the
round before, guesses where none is known yet, and notes what every assignment contributes. When a round used no guess
that turned out wrong, its result stands.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Final, TypeAlias

from isogrid.diagnostics.span import Span
from isogrid.ir.types import INDEX, Scalar
from isogrid.support.records import dataclass

#: A local: the calls through which its function was reached, its name, and its place in a tuple.
Key: TypeAlias = tuple[tuple[object, ...], str, tuple[int, ...]]

#: Rounds after which types that still change are taken as they are; reports then say what is wrong.
LAST_ROUND: Final = 12


@dataclass(frozen=True, slots=True)
class Contribution:
    """One assignment to a local: its type, or for literals the type that would be taken in default of another."""

    type: Scalar
    span: Span
    literal: bool


def literal_type(value: int | float) -> Scalar:
    """The type of a literal that nothing else decides."""
    if isinstance(value, bool):
        return Scalar.BOOL
    return INDEX if isinstance(value, int) else Scalar.F32


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What earlier rounds found: types that are certain, and guesses for locals that only literals were assigned to."""

    certain: Mapping[Key, Scalar] = field(default_factory=dict[Key, Scalar])
    guessed: Mapping[Key, Scalar] = field(default_factory=dict[Key, Scalar])


@dataclass(slots=True)
class Inference:
    """Types known from the rounds before, and what this round finds."""

    known: Knowledge = field(default_factory=Knowledge)
    found: dict[Key, list[Contribution]] = field(default_factory=dict[Key, list[Contribution]])
    declared: dict[Key, tuple[Scalar, Span]] = field(default_factory=dict[Key, tuple[Scalar, Span]])
    guesses: dict[Key, set[Scalar]] = field(default_factory=dict[Key, set[Scalar]])
    used: dict[Key, set[Scalar]] = field(default_factory=dict[Key, set[Scalar]])
    guessed_read: bool = False

    def assign(self, key: Key, type: Scalar, span: Span, literal: bool) -> Scalar:
        """Note an assignment and give the type that the local has as far as is known."""
        self.found.setdefault(key, []).append(Contribution(type, span, literal))
        current, certain = self._current(key)
        self.used.setdefault(key, set()).add(current)
        if not certain:
            self.guesses.setdefault(key, set()).add(current)
        return current

    def read(self, key: Key) -> tuple[Scalar, bool]:
        """The local's type, and whether it is still a guess."""
        current, certain = self._current(key)
        if not certain:
            self.guessed_read = True
            self.guesses.setdefault(key, set()).add(current)
        return current, not certain

    def declare(self, key: Key, type: Scalar, span: Span) -> None:
        """An annotation decides the type."""
        self.declared.setdefault(key, (type, span))

    def is_settled(self) -> bool:
        """Whether the code built in this round used the right type everywhere."""
        if self.guessed_read:
            return False
        types = {key: _decided(contributions) for key, contributions in self.found.items()} | self._declared_types()
        if any(types.get(key, type) is not type for key, used in self.used.items() for type in used):
            return False
        return all(self.known.certain.get(key, type) is type for key, type in types.items())

    def learned(self) -> Knowledge:
        """What the next round may rely on.

        A local to which only literals were assigned stays a guess, since some other local that it is computed from may
        yet turn out to have a type. When a round brought nothing new, the guesses are taken for certain.
        """
        certain = {key: c.type for key in self.found if (c := self.decided_by(key)) is not None}
        certain |= self._declared_types()
        guessed = {key: _decided(c) for key, c in self.found.items() if key not in certain}
        undisturbed = all(
            key not in certain and guessed.get(key) is type for key, types in self.guesses.items() for type in types
        )
        if undisturbed or (certain == self.known.certain and guessed == self.known.guessed):
            return Knowledge(certain | guessed)
        return Knowledge(certain, guessed)

    def decided_by(self, key: Key) -> Contribution | None:
        """The first assignment that fixed the type of a local, if it is not a literal's."""
        if key in self.declared:
            type, span = self.declared[key]
            return Contribution(type, span, literal=False)
        return next((c for c in self.found.get(key, ()) if not c.literal), None)

    def _current(self, key: Key) -> tuple[Scalar, bool]:
        if key in self.declared:
            return self.declared[key][0], True
        if key in self.known.certain:
            return self.known.certain[key], True
        contributions = self.found.get(key, [])
        typed = next((c for c in contributions if not c.literal), None)
        if typed is not None:
            return typed.type, True
        return self.known.guessed.get(key) or _decided(contributions), False

    def _declared_types(self) -> dict[Key, Scalar]:
        return {key: type for key, (type, _) in self.declared.items()}


def _decided(contributions: list[Contribution]) -> Scalar:
    """The first type that is not a literal's, else the widest literal's."""
    for contribution in contributions:
        if not contribution.literal:
            return contribution.type
    types = {c.type for c in contributions}
    return next((t for t in (Scalar.F32, INDEX, Scalar.BOOL) if t in types), INDEX)
