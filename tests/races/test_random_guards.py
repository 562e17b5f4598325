"""Random linear guards and indices, asked of the proof and of every thread of small launches: no accepted kernel races,
and most that race in no launch are accepted."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from isogrid.analysis.symbolic.races import RaceProof
from isogrid.ir.parse import parse_kernel

COUNT = 250
BLOCK = 4

TEXT = """kernel guarded grouped
  dims N
  scalar m: i64
  In x: i32[#N]
  InOut y: i32[400]
  grid #N
  block 4
  body:
    i:i64 = gid(0)
    l:i64 = lid(0)
    if {guards}:
      v:i32 = y[{read}!]
      y[{write}!] = v
"""


@dataclass(frozen=True)
class Linear:
    """a*i + b*l + c*m + d*N + e."""

    factors: tuple[int, int, int, int]
    constant: int

    @property
    def text(self) -> str:
        text = str(self.constant)
        for factor, name in zip(self.factors, ("i", "l", "$m", "#N"), strict=True):
            if factor:
                text = f"({text} +! ({factor} *! {name}))"
        return text

    def at(self, *values: int) -> int:
        return sum(f * v for f, v in zip(self.factors, values, strict=True)) + self.constant


@dataclass(frozen=True)
class Guard:
    op: str
    left: Linear
    right: Linear

    @property
    def text(self) -> str:
        return f"({self.left.text} {self.op} {self.right.text})"

    def holds(self, *values: int) -> bool:
        a, b = self.left.at(*values), self.right.at(*values)
        return {"<": a < b, "<=": a <= b, "==": a == b, "!=": a != b}[self.op]


def linear(rng: random.Random, constant: int) -> Linear:
    factors = (
        rng.choice((1, 1, 1, -1, 2, 0)),
        rng.choice((0, 0, 1, -1)),
        rng.choice((0, 0, 1, -1)),
        rng.choice((0, 1)),
    )
    return Linear(factors, constant + rng.randrange(-2, 3))


def case(number: int) -> tuple[list[Guard], Linear, Linear]:
    rng = random.Random(f"guards/{number}")
    guards = [
        Guard(rng.choice(("<", "<", "<=", "==", "!=")), linear(rng, 0), linear(rng, 0))
        for _ in range(rng.randrange(1, 4))
    ]
    write = linear(rng, 200)
    return guards, write, write if rng.random() < 0.3 else linear(rng, 200)


def races(guards: list[Guard], write: Linear, read: Linear) -> bool:
    """Whether two threads of some small launch touch one element, one of them writing."""
    return any(_meet(places, write, read) for places in _launches(guards))


def _launches(guards: list[Guard]) -> Iterator[list[tuple[int, int, int, int]]]:
    for n in (1, 2, 3, 4, 5, 7, 9):
        threads = -(-n // BLOCK) * BLOCK
        for m in (-3, -1, 0, 1, 2, 4):
            places = [(i, i % BLOCK, m, n) for i in range(threads)]
            yield [place for place in places if all(guard.holds(*place) for guard in guards)]


def _meet(places: list[tuple[int, int, int, int]], write: Linear, read: Linear) -> bool:
    writers: dict[int, int] = {}
    for place in places:
        if writers.setdefault(write.at(*place), place[0]) != place[0]:
            return True
    return any(writers.get(read.at(*place), place[0]) != place[0] for place in places)


def test_no_accepted_kernel_races_in_a_small_launch() -> None:
    accepted = safe = 0
    for number in range(COUNT):
        guards, write, read = case(number)
        text = TEXT.format(
            guards=reduce("({} and {})".format, [g.text for g in guards]), write=write.text, read=read.text
        )
        proved = not RaceProof(parse_kernel(text)).races_anywhere()
        racing = races(guards, write, read)
        assert not (proved and racing), text
        accepted += proved
        safe += not racing
    assert accepted > 40 and accepted >= 0.6 * safe, (accepted, safe)
