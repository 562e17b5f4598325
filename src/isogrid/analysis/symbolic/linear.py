"""Is a polynomial never negative, given facts that are never negative? A short deterministic search, no solver."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.polynomial import Coefficient, Monomial, Polynomial, TooLarge

_DEPTH = 4


def prove(c: Context, p: Polynomial, facts: Sequence[Polynomial], mask: Any, depth: int = _DEPTH) -> bool:
    """p >= 0 for every thread in `mask` (all where None): p is a sum of non-negative monomials after subtracting
    non-negative multiples of facts, each chosen to cancel one monomial that may be negative."""
    c.spend()
    bad = _worst(c, p, mask)
    if bad is None:
        return True
    if depth == 0:
        return False
    value = p.terms[bad]
    for fact in facts:
        for m, coefficient in fact.terms.items():
            rest = _quotient(c, bad, m)
            if rest is None:
                continue
            factor = _factor(value, coefficient, mask)
            if factor is None:
                continue
            try:
                reduced = p.plus(fact.scaled_monomial(rest, factor), -1)
            except TooLarge:
                continue  # numbers that no fact can bring back into range
            if len(reduced.terms) <= len(p.terms) + 3 and prove(c, reduced, facts, mask, depth - 1):
                return True
    return False


def _least(v: Coefficient, mask: Any) -> int:
    if isinstance(v, int):
        return v
    seen = v if mask is None else v[mask]
    return int(seen.min()) if len(seen) else 0


def _worst(c: Context, p: Polynomial, mask: Any) -> Monomial | None:
    """The longest monomial that may make p negative."""
    bad: Monomial | None = None
    for m, v in p.terms.items():
        negative = _least(v, mask) < 0
        if (negative or (m and not all(c.atoms[n].nonnegative for n in m))) and (bad is None or len(m) > len(bad)):
            bad = m
    return bad


def _quotient(c: Context, whole: Monomial, part: Monomial) -> Monomial | None:
    """whole / part where it is a product of atoms that are not negative."""
    if not part:
        return None if whole else ()
    left = list(whole)
    for name in part:
        if name not in left:
            return None
        left.remove(name)
    return tuple(left) if all(c.atoms[n].nonnegative for n in left) else None


def _factor(value: Coefficient, coefficient: Coefficient, mask: Any) -> Coefficient | None:
    """The non-negative factor with value == factor * coefficient, where it is one."""
    if isinstance(value, int) and isinstance(coefficient, int):
        if value % coefficient or value // coefficient <= 0:
            return None
        return value // coefficient
    a, b = np.broadcast_arrays(np.asarray(value), np.asarray(coefficient))
    if mask is not None:
        live = mask
        a, b = np.where(live, a, 0), np.where(live, b, 1)
    if (b == 0).any() or (a % b != 0).any():
        return None
    factor = a // b
    if (factor < 0).any() or not factor.any():
        return None
    return factor.astype(np.int64)
