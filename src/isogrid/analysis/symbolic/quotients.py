"""An index written by the quotient and remainder of a division that its thread has made, so that it splits into them.

r, q = t // w, t % w
x[t + w]  is  x[(r + 1) * w + q]        where both threads know that t == r * w + q
"""

from collections.abc import Iterator

from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.polynomial import Polynomial
from isogrid.analysis.symbolic.sides import Side, is_uniform


def by_quotients(
    c: Context, a: Side, b: Side, digits: list[tuple[Polynomial, Polynomial]], uniform: frozenset[str]
) -> Iterator[tuple[Polynomial, Polynomial]]:
    """The same equalities with what is a dividend, up to something common, written by its quotient and remainder. Those
    of the indices come as written: digits are shifted, which may take a remainder out of its range."""
    pairs = dict.fromkeys((*zip(a.access.indices, b.access.indices, strict=True), *digits))
    names = {name for pair in pairs for p in pair for name in p.atoms()}
    for dividend, zero in _divisions(c):
        if not names.issuperset(dividend.atoms() - uniform):
            continue
        if not (a.guarded.is_zero(c, zero) and b.guarded.is_zero(c, zero)):
            continue
        for p, q in pairs:
            left, right = (x - zero if is_uniform(x - dividend, uniform) else x for x in (p, q))
            if left is not p or right is not q:
                yield left, right


def _divisions(c: Context) -> list[tuple[Polynomial, Polynomial]]:
    """Each dividend of a quotient and remainder, and `dividend - quotient * divisor - remainder`."""
    if c.divisions is None:
        c.divisions = []
        for name, atom in c.atoms.items():
            if atom.definition is None or atom.definition[0] != "mod":
                continue
            dividend, divisor = atom.definition[1]
            quotient = c.opaque.get(("floordiv", dividend.key, divisor.key))
            if quotient is not None:
                rest = Polynomial.atom(quotient) * divisor + Polynomial.atom(name)
                c.divisions.append((dividend, dividend - rest))
    return c.divisions
