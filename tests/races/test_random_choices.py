"""Random indices that are one of two values, under guards and parities, asked of the proof and of every thread of small
launches: no accepted kernel races, and many that race in no launch are accepted."""

import random
from dataclasses import dataclass
from typing import TypeAlias

from isogrid.analysis.symbolic.races import RaceProof
from isogrid.ir.parse import parse_kernel

COUNT = 120

TEXT = """kernel chosen{grouped}
  dims N
  scalar m: i64
  InOut y: i32[400]
  grid #N
  block 4{require}
  body:
    i:i64 = gid(0)
    if {guard}:
      v:i32 = y[{read}!]
      y[{write}!] = v
"""
EVEN = '\n  require (#N %! 2) == 0, "N % 2 == 0"'

#: i, m, N.
Values: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class Linear:
    """a*i + b*m + c*N + d."""

    factors: Values
    constant: int

    @property
    def text(self) -> str:
        text = str(self.constant)
        for factor, name in zip(self.factors, ("i", "$m", "#N"), strict=True):
            if factor:
                text = f"({text} +! ({factor} *! {name}))"
        return text

    def at(self, values: Values) -> int:
        return sum(f * v for f, v in zip(self.factors, values, strict=True)) + self.constant


@dataclass(frozen=True)
class Guard:
    op: str
    left: Linear
    right: Linear
    modulus: int = 0

    @property
    def text(self) -> str:
        left = f"({self.left.text} %! {self.modulus})" if self.modulus else self.left.text
        return f"({left} {self.op} {self.right.text})"

    def holds(self, values: Values) -> bool:
        a, b = self.left.at(values), self.right.at(values)
        a = a % self.modulus if self.modulus else a
        return {"<": a < b, "<=": a <= b, "==": a == b, "!=": a != b}[self.op]


@dataclass(frozen=True)
class Choice:
    condition: Guard
    then: "Linear | Choice"
    otherwise: "Linear | Choice"

    @property
    def text(self) -> str:
        return f"({self.then.text} if {self.condition.text} else {self.otherwise.text})"

    def at(self, values: Values) -> int:
        return (self.then if self.condition.holds(values) else self.otherwise).at(values)


Index: TypeAlias = Linear | Choice


def linear(rng: random.Random, constant: int = 0) -> Linear:
    return Linear(
        (rng.choice((1, 1, 1, -1, 2, 0)), rng.choice((0, 0, 0, 1, -1)), rng.choice((0, 0, 1))),
        constant + rng.randrange(-1, 2),
    )


def guard(rng: random.Random) -> Guard:
    if rng.random() < 0.3:
        return Guard("==", linear(rng), Linear((0, rng.choice((0, 1)), 0), rng.randrange(2)), rng.choice((2, 2, 3)))
    return Guard(rng.choice(("<", "<", "<=", "==", "!=")), linear(rng), linear(rng))


def index(rng: random.Random, depth: int = 2) -> Index:
    if depth == 0 or rng.random() < 0.4:
        return linear(rng, 200)
    if rng.random() < 0.4:
        # The neighbour on a ring.
        inner = Linear((0, 0, 1), -1)
        return rng.choice(
            (
                Choice(
                    Guard("<", Linear((0, 0, 0), 0), Linear((1, 0, 0), 0)),
                    Linear((1, 0, 0), 199),
                    Linear((0, 0, 1), 199),
                ),
                Choice(Guard("<", Linear((1, 0, 0), 0), inner), Linear((1, 0, 0), 201), Linear((0, 0, 0), 200)),
            )
        )
    return Choice(guard(rng), index(rng, depth - 1), index(rng, depth - 1))


def case(number: int) -> tuple[bool, bool, Guard, Index, Index]:
    rng = random.Random(f"choices/{number}")
    own = Linear((1, 0, 0), 200)
    write = own if rng.random() < 0.5 else index(rng)
    parity = Guard("==", Linear((1, 0, 0), rng.randrange(2)), Linear((0, 1, 0), 0), 2)
    return rng.random() < 0.5, rng.random() < 0.3, parity if rng.random() < 0.5 else guard(rng), write, index(rng)


def races(even: bool, grouped: bool, condition: Guard, write: Index, read: Index) -> bool:
    """Whether two threads of some small launch touch one element, one of them writing."""
    for n in range(1, 13):
        if even and n % 2:
            continue
        for m in (-3, -1, 0, 1, 2, 4):
            places = [(i, m, n) for i in range(-(-n // 4) * 4 if grouped else n)]
            if _meet([place for place in places if condition.holds(place)], write, read):
                return True
    return False


def _meet(places: list[Values], write: Index, read: Index) -> bool:
    writers: dict[int, int] = {}
    for place in places:
        if writers.setdefault(write.at(place), place[0]) != place[0]:
            return True
    return any(writers.get(read.at(place), place[0]) != place[0] for place in places)


def judged(numbers: range) -> tuple[int, int]:
    """How many kernels are accepted, and how many race in no small launch; none may be accepted that does."""
    accepted = safe = 0
    for number in numbers:
        even, grouped, condition, write, read = case(number)
        text = TEXT.format(
            grouped=" grouped" if grouped else "",
            require=EVEN if even else "",
            guard=condition.text,
            write=write.text,
            read=read.text,
        )
        proved = not RaceProof(parse_kernel(text)).races_anywhere()
        racing = races(even, grouped, condition, write, read)
        assert not (proved and racing), text
        accepted += proved
        safe += not racing
    return accepted, safe


def test_no_accepted_kernel_races_in_a_small_launch() -> None:
    accepted, safe = judged(range(COUNT))
    assert accepted > 12 and accepted >= 0.6 * safe, (accepted, safe)
