"""Integer equations over both threads at once: do they contradict each other, or force the threads to be the same?

Every symbol that may differ between the two threads is written `name@0` or `name@1`; thread coordinates inside a group
are `lid.axis@side`. An equation with a symbol of coefficient 1 or -1 is solved for it and put into the others; what is
left over is impossible when a constant is not zero or when the divisor of its coefficients does not divide it.
Products of symbols count as symbols of their own where no solution reaches them, which can only lose proofs.
"""

from collections.abc import Iterable
from math import gcd
from typing import Any, TypeAlias

import numpy as np

from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.polynomial import Polynomial, TooLarge

Term: TypeAlias = tuple[str, ...]
Equation: TypeAlias = dict[Term, int]

_MOST_TERMS = 60
_MOST_EQUATIONS = 40


def separated(
    c: Context,
    digits: Iterable[tuple[Polynomial, Polynomial]],
    equalities: tuple[Iterable[Polynomial], Iterable[Polynomial]],
    uniform: frozenset[str],
    across: bool,
) -> bool:
    """Whether equal digits, and what is 0 on each side, leave no two different threads."""
    try:
        equations = _equations(c, digits, equalities, uniform)
        solved = _solve(equations)
    except (TooLarge, NotLinear):
        return False
    if solved is None:
        return True
    positions = [f"group.{k}" for k in range(c.kernel.geometry.rank) if f"group.{k}" in c.group_atoms] if across else []
    if not across:
        positions = [f"lid.{axis}" for axis, v in enumerate(c.lids) if v.any()]
    return bool(positions) and all(_same(f"{p}@0", f"{p}@1", solved) for p in positions)


def _same(a: str, b: str, solved: dict[str, Equation]) -> bool:
    """Whether the solutions make two symbols equal."""
    difference: Equation = {(a,): 1, (b,): -1}
    for symbol in (a, b):
        if symbol in solved:
            difference = _substituted(difference, symbol, solved[symbol])
    return not difference


class NotLinear(Exception):
    """A coefficient is not an affine function of the thread's coordinates."""


def _equations(
    c: Context,
    digits: Iterable[tuple[Polynomial, Polynomial]],
    equalities: tuple[Iterable[Polynomial], Iterable[Polynomial]],
    uniform: frozenset[str],
) -> list[Equation]:
    out: list[Equation] = []
    for p, q in digits:
        try:
            out.append(minus(expand(c, p, 0, uniform), expand(c, q, 1, uniform)))
        except NotLinear:
            continue
    for side, zero in enumerate(equalities):
        for p in zero:
            try:
                out.append(expand(c, p, side, uniform))
            except NotLinear:
                continue
    if len(out) > _MOST_EQUATIONS:
        raise TooLarge("too many equations")
    return out


def expand(c: Context, p: Polynomial, side: int, uniform: frozenset[str]) -> Equation:
    """The polynomial with the thread's coordinates as symbols."""
    out: Equation = {}
    for m, coefficient in p.terms.items():
        names = tuple(n if n in uniform else f"{n}@{side}" for n in m)
        if isinstance(coefficient, int):
            _add(out, tuple(sorted(names)), coefficient)
            continue
        base, slopes = _affine(c, coefficient)
        _add(out, tuple(sorted(names)), base)
        for axis, slope in enumerate(slopes):
            _add(out, tuple(sorted((*names, f"lid.{axis}@{side}"))), slope)
    return out


def _affine(c: Context, v: Any) -> tuple[int, list[int]]:
    """v = base + sum of slope * lid over the axes."""
    base = int(v[0])
    slopes: list[int] = []
    rebuilt = np.full(c.size, base, np.int64)
    stride = c.size
    for axis, lids in enumerate(c.lids):
        extent = int(lids.max()) + 1
        stride //= extent
        slope = int(v[stride]) - base if extent > 1 else 0
        slopes.append(slope)
        rebuilt = rebuilt + slope * c.lids[axis]
    if not (rebuilt == v).all():
        raise NotLinear
    return base, slopes


def _add(into: Equation, term: Term, amount: int) -> None:
    total = into.get(term, 0) + amount
    if total:
        into[term] = total
    else:
        into.pop(term, None)
    if len(into) > _MOST_TERMS:
        raise TooLarge("an equation has too many terms")


def minus(a: Equation, b: Equation) -> Equation:
    out = dict(a)
    for t, v in b.items():
        _add(out, t, -v)
    return out


def _solve(equations: list[Equation]) -> dict[str, Equation] | None:
    """Solutions symbol by symbol, or None when the equations cannot all hold."""
    solved: dict[str, Equation] = {}
    pending = [dict(e) for e in equations]
    while True:
        for e in pending:
            if _impossible(e):
                return None
        pending = [e for e in pending if e]
        found = next(((e, s) for e in pending if (s := _pivot(e)) is not None), None)
        if found is None:
            return solved
        equation, symbol = found
        sign = equation[(symbol,)]
        value: Equation = {t: -v * sign for t, v in equation.items() if t != (symbol,)}
        pending = [_substituted(e, symbol, value) for e in pending if e is not equation]
        solved = {s: _substituted(v, symbol, value) for s, v in solved.items()}
        solved[symbol] = value


def _impossible(e: Equation) -> bool:
    constant = e.get((), 0)
    g = gcd(*(v for t, v in e.items() if t)) if len(e) > (() in e) else 0
    return constant != 0 if g == 0 else constant % g != 0


def _pivot(e: Equation) -> str | None:
    """A symbol of coefficient 1 or -1 that occurs in no other term; private symbols first."""
    single = [t[0] for t, v in e.items() if len(t) == 1 and (v == 1 or v == -1)]
    if not single:
        return None
    shared = {s for t in e if len(t) > 1 for s in t}
    return max((s for s in single if s not in shared), key=lambda s: ("@" in s, s), default=None)


def _substituted(e: Equation, symbol: str, value: Equation) -> Equation:
    """The equation with a value in place of the symbol; the same object where it does not occur."""
    if all(symbol not in t for t in e):
        return e
    out: Equation = {}
    for t, v in e.items():
        if symbol not in t:
            _add(out, t, v)
            continue
        product: Equation = {(): v}
        for s in t:
            product = _product(product, value if s == symbol else {(s,): 1})
        for term, amount in product.items():
            _add(out, term, amount)
    return out


def _product(a: Equation, b: Equation) -> Equation:
    out: Equation = {}
    for t, v in a.items():
        for u, w in b.items():
            _add(out, tuple(sorted(t + u)), v * w)
    return out
