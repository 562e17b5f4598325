"""Random rows packed into a vector, triangles and the like, and random neighbours on a grid that is kept in a vector,
asked of the proof and of every thread of small launches: no accepted kernel races, and many that race in no launch are
accepted."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isogrid.analysis.symbolic.races import RaceProof
from isogrid.ir.parse import parse_kernel

TRIANGLES = 150
GRIDS = 150

TRIANGLE = """kernel packed{grouped}
  dims N
  scalar m: i64
  InOut y: i32[4000]
  grid #N, #N
  block 2, 2
  body:
    i:i64 = gid(0)
    j:i64 = gid(1)
    if {guard}:
      v:i32 = y[{read}!]
      y[{write}!] = v
"""

GRID = """kernel flat{grouped}
  dims N, W
  scalar m: i64
  InOut y: i32[4000]
  grid #N
  block 4
  body:
    t:i64 = gid(0)
    r:i64 = (t //! {width})
    q:i64 = (t %! {width})
    if {guard}:
      v:i32 = y[{read}!]
      y[{write}!] = v
"""


@dataclass(frozen=True)
class Term:
    """An expression as text and as a function of the values of its names."""

    text: str
    at: Callable[[dict[str, int]], int]


def constant(value: int) -> Term:
    return Term(f"({value})" if value < 0 else str(value), lambda v: value)


def name(spelled: str) -> Term:
    return Term(spelled, lambda v: v[spelled])


def plus(*terms: Term) -> Term:
    first, *rest = terms
    for term in rest:
        first = _binary("+", first, term, lambda a, b: a + b)
    return first


def times(a: Term, b: Term) -> Term:
    return _binary("*", a, b, lambda x, y: x * y)


def over(a: Term, b: Term) -> Term:
    return _binary("//", a, b, lambda x, y: x // y)


def modulo(a: Term, b: Term) -> Term:
    return _binary("%", a, b, lambda x, y: x % y)


def _binary(op: str, a: Term, b: Term, work_out: Callable[[int, int], int]) -> Term:
    return Term(f"({a.text} {op}! {b.text})", lambda v: work_out(a.at(v), b.at(v)))


def compared(op: str, a: Term, b: Term) -> Term:
    test: dict[str, Callable[[int, int], bool]] = {
        "<": lambda x, y: x < y,
        "<=": lambda x, y: x <= y,
        "==": lambda x, y: x == y,
        "!=": lambda x, y: x != y,
    }
    return Term(f"({a.text} {op} {b.text})", lambda v: test[op](a.at(v), b.at(v)))


def both(conditions: list[Term]) -> Term:
    text = conditions[0].text
    for condition in conditions[1:]:
        text = f"({text} and {condition.text})"
    return Term(text, lambda v: all(condition.at(v) for condition in conditions))


#: Where the rows begin. The proof speaks of numbers, whether or not an array has such elements.
START = constant(20)
ROW, COLUMN, N, M, T, R, Q = (name(n) for n in ("i", "j", "#N", "$m", "t", "r", "q"))


# --- triangles --------------------------------------------------------------------------------------------------------


def triangle(rng: random.Random, x: Term) -> Term:
    """x * (x + 1) // 2, or x * (x - 1) // 2."""
    return over(times(x, plus(x, constant(rng.choice((1, 1, -1))))), constant(2))


def row_start(rng: random.Random) -> Term:
    far = plus(N, times(constant(-1), ROW))
    match rng.randrange(8):
        case 0 | 1 | 2:
            return triangle(rng, ROW)
        case 3:
            return triangle(rng, COLUMN)
        case 4:
            return plus(times(N, ROW), times(constant(-1), triangle(rng, ROW)))
        case 5:
            return times(constant(-1), triangle(rng, plus(far, constant(rng.choice((-1, 0))))))
        case 6:
            return times(ROW, ROW)
        case _:
            return plus(times(M, ROW), triangle(rng, ROW))


def place(rng: random.Random) -> Term:
    return plus(
        rng.choice(
            (
                COLUMN,
                COLUMN,
                ROW,
                plus(COLUMN, times(constant(-1), ROW)),
                plus(ROW, times(constant(-1), COLUMN)),
                times(constant(2), COLUMN),
            )
        ),
        constant(rng.choice((0, 0, 0, 1, -1))),
    )


def packed(rng: random.Random) -> tuple[Term, Term, Term]:
    """The start of a row, a place in it, and what keeps the place in the row."""
    minus_i = times(constant(-1), ROW)
    return rng.choice(
        (
            (triangle(rng, ROW), COLUMN, compared(rng.choice(("<=", "<", "<")), COLUMN, ROW)),
            (triangle(rng, COLUMN), ROW, compared(rng.choice(("<=", "<")), ROW, COLUMN)),
            (
                plus(times(N, ROW), times(constant(-1), triangle(rng, ROW))),
                plus(COLUMN, minus_i, constant(rng.choice((0, -1)))),
                compared(rng.choice(("<=", "<")), ROW, COLUMN),
            ),
            (
                times(constant(-1), triangle(rng, plus(N, minus_i, constant(-1)))),
                plus(COLUMN, minus_i, constant(-1)),
                compared(rng.choice(("<=", "<")), ROW, COLUMN),
            ),
            (times(ROW, ROW), COLUMN, compared("<=", COLUMN, plus(ROW, ROW))),
        )
    )


def triangle_case(rng: random.Random) -> tuple[str, Term, Term, Term]:
    if rng.random() < 0.6:
        start, at, guard = packed(rng)
        write = plus(start, at, START)
        read = write if rng.random() < 0.5 else plus(write, rng.choice((constant(1), constant(-1), M, N)))
        return TRIANGLE, both([guard, compared("<", COLUMN, N), compared("<", ROW, N)]), write, read
    guards = [
        rng.choice(
            (
                compared("<=", COLUMN, ROW),
                compared("<", COLUMN, ROW),
                compared("<=", ROW, COLUMN),
                compared("<", ROW, COLUMN),
                compared("<=", COLUMN, plus(ROW, ROW)),
                compared("<=", COLUMN, plus(ROW, constant(1))),
                compared("<=", COLUMN, plus(ROW, M)),
                compared("!=", ROW, COLUMN),
            )
        )
    ]
    if rng.random() < 0.3:
        guards.append(rng.choice((compared("<", M, ROW), compared("==", COLUMN, M), compared("<=", constant(0), M))))
    write = plus(row_start(rng), place(rng), START)
    read = write if rng.random() < 0.6 else plus(row_start(rng), place(rng), START)
    return TRIANGLE, both(guards), write, read


def triangle_launches(grouped: bool) -> Iterator[list[dict[str, int]]]:
    for n in range(1, 7):
        extent = -(-n // 2) * 2 if grouped else n
        for m in (-2, 0, 1, 3):
            yield [{"i": i, "j": j, "#N": n, "$m": m} for i in range(extent) for j in range(extent)]


# --- grids ------------------------------------------------------------------------------------------------------------


def grid_case(rng: random.Random) -> tuple[str, Term, Term, Term]:
    width = rng.choice((name("#W"), name("#W"), constant(3), constant(4), constant(8)))
    guards = [
        rng.choice(
            (
                compared("==", modulo(plus(R, Q), constant(2)), M),
                compared("==", modulo(plus(R, Q), constant(2)), M),
                compared("==", modulo(Q, constant(2)), M),
                compared("==", modulo(R, constant(2)), M),
                compared("==", modulo(plus(R, R, Q), constant(3)), M),
                compared("==", modulo(T, constant(2)), M),
            )
        )
    ]
    guards += rng.sample(
        (
            compared("<", constant(0), Q),
            compared("<", constant(0), Q),
            compared("<", plus(Q, constant(1)), width),
            compared("<", plus(Q, constant(1)), width),
            compared("<", constant(0), R),
            compared("!=", Q, constant(0)),
            compared("<=", plus(Q, constant(2)), width),
        ),
        rng.randrange(3),
    )
    own = rng.choice((T, T, T, plus(times(R, width), Q)))
    step = rng.choice((-1, 0, 0, 1, 2))
    read = plus(
        own if rng.random() < 0.8 else T, constant(rng.choice((-2, -1, -1, 0, 1, 1))), times(constant(step), width)
    )
    text = GRID.replace("{width}", width.text)
    return text, both(guards), own, read


def grid_launches(grouped: bool, text: str) -> Iterator[list[dict[str, int]]]:
    literal = text.split("//! ")[1].split(")")[0]
    for n in (1, 2, 4, 7, 12):
        for w in (1, 2, 3, 4, 5) if literal == "#W" else (int(literal),):
            for m in (0, 1, 2):
                threads = -(-n // 4) * 4 if grouped else n
                yield [{"t": t, "r": t // w, "q": t % w, "#N": n, "#W": w, "$m": m} for t in range(threads)]


# --- both -------------------------------------------------------------------------------------------------------------


def meet(places: list[dict[str, int]], guard: Term, write: Term, read: Term) -> bool:
    """Whether two threads touch one element, one of them writing."""
    here = [(number, v) for number, v in enumerate(places) if guard.at(v)]
    writers: dict[int, int] = {}
    for number, v in here:
        if writers.setdefault(write.at(v), number) != number:
            return True
    return any(writers.get(read.at(v), number) != number for number, v in here)


def judged(kind: str, numbers: range) -> tuple[int, int]:
    """How many kernels are accepted, and how many race in no small launch; none may be accepted that does."""
    accepted = safe = 0
    for number in numbers:
        rng = random.Random(f"{kind}/{number}")
        grouped = rng.random() < 0.4
        text, guard, write, read = triangle_case(rng) if kind == "triangle" else grid_case(rng)
        program = text.format(grouped=" grouped" if grouped else "", guard=guard.text, write=write.text, read=read.text)
        launches = triangle_launches(grouped) if kind == "triangle" else grid_launches(grouped, text)
        proved = not RaceProof(parse_kernel(program)).races_anywhere()
        racing = any(meet(places, guard, write, read) for places in launches)
        assert not (proved and racing), program
        accepted += proved
        safe += not racing
    return accepted, safe


def test_no_accepted_triangle_races_in_a_small_launch() -> None:
    accepted, safe = judged("triangle", range(TRIANGLES))
    assert accepted > 20 and accepted >= 0.6 * safe, (accepted, safe)


def test_no_accepted_neighbour_on_a_grid_races_in_a_small_launch() -> None:
    accepted, safe = judged("grid", range(GRIDS))
    assert accepted > 20 and accepted >= 0.6 * safe, (accepted, safe)
