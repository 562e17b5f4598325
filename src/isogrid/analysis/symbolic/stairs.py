"""Rows of growing or shrinking length, one behind the other: triangles packed into a vector.

a[i * (i + 1) // 2 + j]  with  0 <= j <= i        equal elements mean equal i and equal j

Twice the index is S(x) + low with S(x) = sign * x^2 + factor * x, where sign and factor are the same for both threads.
The step S(x + 1) - S(x) is linear in x: where 0 <= low < step holds at two different x, the steps between them are at
least 1 too, so that one row ends before the other begins. The same holds with steps to x - 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Final

import numpy as np

from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.polynomial import (
    ZERO,
    Coefficient,
    Polynomial,
    TooLarge,
    from_zero,
    one_number,
)
from isogrid.analysis.symbolic.sides import Side, is_uniform

_Pair = tuple[Polynomial, Polynomial]
#: What twice a row number, or twice 1, in the rest of an index may add to `factor`, or to the rest.
_SHARES: Final = (0, 2, -2)
_TWO: Final = Polynomial.constant(2)
#: How many facts a place in a row may need.
_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class _Stair:
    """sign * x^2 + factor * x + low."""

    sign: int
    factor: Polynomial
    x: Polynomial
    low: Polynomial

    def step(self, to: int) -> Polynomial:
        """S(x + to) - S(x)."""
        return ZERO.plus(self.x, 2 * to * self.sign).plus(self.factor, to).shift(self.sign)


@dataclass(frozen=True, slots=True)
class _Doubled:
    """Twice an index. `roots` are the y whose y * (y + 1) // 2 the index has, `left_over` what else was halved."""

    whole: Polynomial
    roots: tuple[Polynomial, ...]
    left_over: tuple[tuple[int, Polynomial], ...]


def by_stairs(c: Context, a: Side, b: Side, digits: list[_Pair], uniform: frozenset[str]) -> Iterator[_Pair]:
    """Row and place in the row of each index, or digit of one, that counts packed rows, for both threads."""
    for p, q in dict.fromkeys((*zip(a.access.indices, b.access.indices, strict=True), *digits)):
        try:
            yield from _same_row(c, a, b, p, q, uniform)
        except TooLarge:
            continue


def _same_row(c: Context, a: Side, b: Side, p: Polynomial, q: Polynomial, uniform: frozenset[str]) -> list[_Pair]:
    left, right = _doubled(c, p, uniform), _doubled(c, q, uniform)
    if left is None or right is None or left.left_over != right.left_over:
        return []
    if not left.left_over and not any(True for _ in _squared(left.whole, uniform)):
        left, right = (_Doubled(x, (), ()) for x in (p, q))
    others = list(_stairs(right, uniform))
    for one in _stairs(left, uniform):
        for other in others:
            if (one.sign, one.factor) == (other.sign, other.factor) and _in_rows(c, a, b, one, other, uniform):
                return [(one.x, other.x), (one.low, other.low)]
    return []


def _in_rows(c: Context, a: Side, b: Side, one: _Stair, other: _Stair, uniform: frozenset[str]) -> bool:
    """Whether both places are in their rows. Rows may begin anywhere, as long as all of them do so alike."""
    for low, other_low in dict.fromkeys((from_zero(one.low, other.low), _without_common(one.low, other.low, uniform))):
        for begin in _SHARES:
            x, y = low.shift(-begin), other_low.shift(-begin)
            if not (prove(c, x, a.facts, a.mask, _DEPTH) and prove(c, y, b.facts, b.mask, _DEPTH)):
                continue
            if any(_below(c, a, x, one.step(to)) and _below(c, b, y, other.step(to)) for to in (1, -1)):
                return True
    return False


def _below(c: Context, side: Side, low: Polynomial, step: Polynomial) -> bool:
    return prove(c, (step - low).shift(-1), side.facts, side.mask, _DEPTH)


def _without_common(p: Polynomial, q: Polynomial, uniform: frozenset[str]) -> _Pair:
    """Both less what is the same for both threads, and from 0."""
    same = {m: v for m, v in p.terms.items() if m and isinstance(v, int) and uniform.issuperset(m)}
    common = Polynomial({m: v for m, v in same.items() if isinstance(w := q.terms.get(m), int) and v == w})
    return from_zero(p - common, q - common)


# --- twice an index ---------------------------------------------------------------------------------------------------


def _doubled(c: Context, p: Polynomial, uniform: frozenset[str]) -> _Doubled | None:
    """None where nothing is squared that differs between the threads."""
    whole = p + p
    roots: list[Polynomial] = []
    left_over: list[tuple[int, Polynomial]] = []
    for m, v in p.terms.items():
        dividend = _halved(c, m)
        if dividend is None or not isinstance(v, int) or is_uniform(dividend, uniform):
            continue
        root = _root(dividend, uniform)
        if root is None:
            return None
        # y * (y + 1) is even, so that halving it and something common halves both.
        left_over.append((v, _parity(dividend - root * root - root)))
        roots.append(root)
        whole = (whole - Polynomial({m: 2 * v})).plus(dividend, v)
    squared = any(len(m) == 2 and m[0] == m[1] for m in whole.terms)
    return _Doubled(whole, tuple(roots), tuple(left_over)) if squared else None


def _parity(p: Polynomial) -> Polynomial:
    """A polynomial that is odd where p is: 0 for `n * n - n`."""
    odd: dict[tuple[str, ...], int] = {}
    for m, v in p.terms.items():
        once = tuple(dict.fromkeys(m))
        odd[once] = (odd.get(once, 0) + (v if isinstance(v, int) else 0)) % 2
    return Polynomial({m: v for m, v in odd.items() if v})


def _halved(c: Context, monomial: tuple[str, ...]) -> Polynomial | None:
    """What is divided by 2."""
    definition = c.atoms[monomial[0]].definition if len(monomial) == 1 else None
    if definition is None or definition[0] != "floordiv" or definition[1][1] != _TWO:
        return None
    return definition[1][0]


def _root(p: Polynomial, uniform: frozenset[str]) -> Polynomial | None:
    """The y for which p is y * (y + 1) and something common."""
    for name, scale in _squared(p, uniform):
        root = _completed(p, name, scale) if p.terms[(name, name)] == scale * scale else None
        if root is not None and is_uniform(p - root * root - root, uniform):
            return root
    return None


def _completed(p: Polynomial, name: str, scale: int) -> Polynomial | None:
    """The y with the same terms in the atom in y * (y + 1) as in p."""
    mixed = _quotient(_beside(p, name), scale)
    half = None if mixed is None else _quotient(mixed.shift(-1), 2)
    return None if half is None else Polynomial({(name,): scale}) + half


def _squared(p: Polynomial, uniform: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Atoms whose square occurs with a square number or its negative, and the root of that number. A common one counts
    where the place of a thread is added to it."""
    for m, v in p.terms.items():
        if len(m) != 2 or m[0] != m[1] or not isinstance(v, int) or isqrt(abs(v)) ** 2 != abs(v):
            continue
        if m[0] not in uniform or not isinstance(p.terms.get(m[:1], 0), int):
            yield m[0], isqrt(abs(v))


def _beside(p: Polynomial, name: str) -> Polynomial:
    """What the atom is multiplied with where it occurs once."""
    return Polynomial({tuple(n for n in m if n != name): v for m, v in p.terms.items() if m.count(name) == 1})


def _quotient(p: Polynomial, divisor: int) -> Polynomial | None:
    """p / divisor where it is whole."""
    if any(np.any(np.asarray(v) % divisor) for v in p.terms.values()):
        return None
    return p.divided(divisor)


# --- stairs -----------------------------------------------------------------------------------------------------------


def _stairs(doubled: _Doubled, uniform: frozenset[str]) -> Iterator[_Stair]:
    """The ways to see twice an index as stairs in one of its atoms."""
    p = doubled.whole
    for name, scale in _squared(p, uniform):
        sign = 1 if p.terms[(name, name)] == scale * scale else -1
        completed = _completed(p if sign > 0 else -p, name, scale)
        for x in dict.fromkeys((*doubled.roots, completed, _place(p, name, scale, sign))):
            if x is None or not one_number(x.terms.get((name,), 0), scale):
                continue
            rest = p - (x * x) * Polynomial.constant(sign)
            steady, own = _linear(rest, name, scale, uniform)
            for share in _SHARES:
                factor = steady.shift(own + share)
                yield _Stair(sign, factor, x, rest - factor * x)


def _place(p: Polynomial, name: str, scale: int, sign: int) -> Polynomial:
    """The atom by itself, or with the place of the thread that its square brings along: `4 * group + lid`."""
    beside = p.terms.get((name,), 0)
    x = Polynomial({(name,): scale})
    if isinstance(beside, int):
        return x
    place = (beside - beside[0]) // (2 * sign * scale)
    return x + Polynomial.constant(place)


def _linear(rest: Polynomial, name: str, scale: int, uniform: frozenset[str]) -> tuple[Polynomial, int]:
    """Common values that the atom is multiplied with, and the number that it is; both by `scale`."""
    steady: dict[tuple[str, ...], Coefficient] = {}
    own = 0
    for m, v in _beside(rest, name).terms.items():
        if isinstance(v, int) and v % scale == 0 and uniform.issuperset(m):
            if m:
                steady[m] = v // scale
            else:
                own = v // scale
    return Polynomial(steady), own
