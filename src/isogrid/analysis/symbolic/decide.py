"""Can two threads touch one element? Equality of indices split into digits that must agree one by one.

Each step is an equivalence or drops a condition, so "no" is a proof. `conflict` returns None for a proof, else the
reason why the proof failed.
"""

from collections.abc import Iterable
from math import gcd
from typing import Any

import numpy as np

from isogrid.analysis.symbolic.array_facts import Side, determined
from isogrid.analysis.symbolic.context import GROUP, LAUNCH, THREAD, Access, Context, may_meet
from isogrid.analysis.symbolic.equations import separated
from isogrid.analysis.symbolic.formula import AtLeastZero, Formula, IsZero, NotZero, Unknown, conjuncts, truth
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.polynomial import (
    ONE,
    ZERO,
    Polynomial,
    Vector,
    common_divisor,
    multiply,
    one_number,
)


def prepare(c: Context, access: Access) -> Side:
    """Collect what the guards of an access say."""
    mask = np.ones(c.size, bool)
    facts: list[Polynomial] = []
    different: list[Polynomial] = []
    equal: list[Polynomial] = []
    for f in conjuncts(access.guards):
        mask &= np.asarray(truth(f)) != 0
        match f:
            case AtLeastZero(p):
                facts.append(p)
            case IsZero(p):
                facts += [p, -p]
                equal.append(p)
            case NotZero(p):
                different.append(p)
            case _:
                pass
    return Side(access, mask, facts + c.facts, different, equal, bool(mask.any()))


def _uniform_atoms(c: Context, across: bool) -> frozenset[str]:
    """Atoms that have one value for both threads of the question."""
    limit = LAUNCH if across else GROUP
    return frozenset(n for n, a in c.atoms.items() if a.level <= limit)


def conflict(c: Context, a: Side, b: Side, across: bool) -> str | None:
    """The question for two threads of one group, or (`across`) of two groups."""
    if not a.reachable or not b.reachable:
        return None
    uniform = _uniform_atoms(c, across)
    if _contradictory(c, a, b, uniform):
        return None
    digits: list[tuple[Polynomial, Polynomial]] = []
    for p, q in zip(a.access.indices, b.access.indices, strict=True):
        digits += _split(c, a, b, p, q, uniform, 8)
    for p in a.equal:
        # Both threads passed the same equality, `gid == 0`: its two sides are one more index that agrees.
        if p in b.equal:
            digits += _split(c, a, b, p, p, uniform, 8)
    for p, q in _recombined(c, digits, uniform):
        digits += _split(c, a, b, p, q, uniform, 8)
    if c.kernel.facts:
        for p, q in determined(c, a, b, digits):
            digits += _split(c, a, b, p, q, uniform, 8)
    known: list[tuple[Vector, Vector]] = []
    positions: dict[str, tuple[Vector, Vector]] = {}
    for left, right in digits:
        left, right = _cancel(left, right, uniform)
        x, y = left.as_constant, right.as_constant
        if x is not None and y is not None:
            known.append((_vector(c, x), _vector(c, y)))
            continue
        if _is_uniform(right, uniform) and _excluded(c, a, left, right):
            return None
        if _is_uniform(left, uniform) and _excluded(c, b, right, left):
            return None
        if across:
            _note_position(c, left, right, positions)
    if across:
        _note_first_groups(c, a, b, positions)
    reason = _across_groups(c, a, b, known, positions) if across else _within_group(c, a, b, known)
    if reason is not None and separated(c, digits, (a.facts, b.facts), uniform, across):
        return None
    return reason


def _vector(c: Context, x: Any) -> Vector:
    return np.full(c.size, x, np.int64) if isinstance(x, int) else x


def _is_uniform(p: Polynomial, uniform: frozenset[str]) -> bool:
    return p.uniform_coefficients() and all(n in uniform for n in p.atoms())


def _contradictory(c: Context, a: Side, b: Side, uniform: frozenset[str]) -> bool:
    """Guards of the two sides over common values that cannot hold together."""
    least: dict[tuple[tuple[tuple[str, ...], int], ...], int] = {}
    for p in b.facts:
        if _is_uniform(p, uniform):
            shape, constant = _shape(p, 1)
            least[shape] = min(constant, least.get(shape, constant))
    for p in a.facts:
        if _is_uniform(p, uniform):
            shape, constant = _shape(p, -1)
            if shape in least and least[shape] - constant < 0:
                return True
    if _opposite(a, b, uniform):
        return True
    equal = [p for p in a.facts if _is_uniform(p, uniform)]
    return any(_is_uniform(d, uniform) and d in equal and -d in equal for d in b.different) or any(
        _is_uniform(d, uniform) and d in b.facts and -d in b.facts for d in a.different
    )


def _opposite(a: Side, b: Side, uniform: frozenset[str]) -> bool:
    """Whether one side is under a condition with a common value and the other under its negation."""
    signs = {(g.name, g.positive) for g in conjuncts(a.access.guards) if isinstance(g, Unknown) and g.name in uniform}
    return any(isinstance(g, Unknown) and (g.name, not g.positive) in signs for g in conjuncts(b.access.guards))


def _shape(p: Polynomial, sign: int) -> tuple[tuple[tuple[tuple[str, ...], int], ...], int]:
    """The terms of a polynomial of uniform coefficients without the constant, and the constant, times `sign`."""
    terms = [(m, sign * v) for m, v in p.terms.items() if m and isinstance(v, int)]
    constant = p.constant_term
    return tuple(sorted(terms)), sign * constant if isinstance(constant, int) else 0


def _cancel(p: Polynomial, q: Polynomial, uniform: frozenset[str]) -> tuple[Polynomial, Polynomial]:
    """Drop monomials over common values that stand on both sides."""
    left, right = dict(p.terms), dict(q.terms)
    for m in list(left):
        if m and m in right and all(n in uniform for n in m):
            x, y = left[m], right[m]
            if one_number(x, y):
                del left[m], right[m]
    return Polynomial(left), Polynomial(right)


def _split(
    c: Context, a: Side, b: Side, p: Polynomial, q: Polynomial, uniform: frozenset[str], depth: int
) -> list[tuple[Polynomial, Polynomial]]:
    """Digits whose pairwise equality is equivalent to p == q."""
    c.spend()
    p, q = _from_zero(*_cancel(p, q, uniform))
    monomials = (set(p.terms) | set(q.terms)) - {()}
    if not monomials or depth == 0 or _single_unit(p, q, monomials):
        return [(p, q)]
    g = common_divisor((p, q))
    if g > 1:
        x, y = p.constant_term, q.constant_term
        quotient = [r.without_constant().divided(g) + Polynomial.constant(k // g) for r, k in ((p, x), (q, y))]
        return [
            (Polynomial.constant(x % g), Polynomial.constant(y % g)),
            *_split(c, a, b, quotient[0], quotient[1], uniform, depth - 1),
        ]
    for sign in (1, -1):
        for radix in sorted({n for m in monomials for n in m if n in uniform}):
            parts = _by_radix(c, ((a, p), (b, q)), radix, sign)
            if parts is not None:
                (high1, low1), (high2, low2) = parts
                high = _split(c, a, b, high1, high2, uniform, depth - 1)
                return high + _split(c, a, b, low1, low2, uniform, depth - 1)
    return _by_range(c, a, b, p, q, uniform, depth)


def _from_zero(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Both less the smallest constant in either, so that a shifted index has the range of an unshifted one."""
    least = min(int(np.min(r.constant_term)) for r in (p, q))
    return (p.shift(-least), q.shift(-least)) if least else (p, q)


def _single_unit(p: Polynomial, q: Polynomial, monomials: set[tuple[str, ...]]) -> bool:
    if len(monomials) != 1 or len(m := next(iter(monomials))) != 1:
        return False
    x, y = p.terms.get(m), q.terms.get(m)
    return isinstance(x, int) and abs(x) == 1 and isinstance(y, int) and x == y


def _by_radix(
    c: Context, sides: tuple[tuple[Side, Polynomial], tuple[Side, Polynomial]], radix: str, sign: int
) -> list[tuple[Polynomial, Polynomial]] | None:
    """(high, low) of each side with value = high * (g * radix) + low and 0 <= low < g * radix proved, which makes the
    radix positive; g is the divisor that the coefficients beside the radix have in common."""
    highs = [
        Polynomial({_without(m, radix): multiply(v, sign) for m, v in p.terms.items() if radix in m}) for _, p in sides
    ]
    g = 0
    for high in highs:
        for v in high.terms.values():
            g = gcd(g, v) if isinstance(v, int) else gcd(g, int(np.gcd.reduce(v)))
    if g == 0:
        return None
    out: list[tuple[Polynomial, Polynomial]] = []
    size = Polynomial({(radix,): g})
    for (side, p), high in zip(sides, highs, strict=True):
        low = Polynomial({m: multiply(v, sign) for m, v in p.terms.items() if radix not in m})
        if not prove(c, low, side.facts, side.mask) or not prove(c, (size - low).shift(-1), side.facts, side.mask):
            return None
        out.append((high.divided(g), low))
    return out


def _without(m: tuple[str, ...], name: str) -> tuple[str, ...]:
    rest = list(m)
    rest.remove(name)
    return tuple(rest)


def _by_range(
    c: Context, a: Side, b: Side, p: Polynomial, q: Polynomial, uniform: frozenset[str], depth: int
) -> list[tuple[Polynomial, Polynomial]]:
    """Split off the terms whose coefficient is the largest literal where the rest is proved to stay below it."""
    sizes = {abs(v) for r in (p, q) for m, v in r.terms.items() if m and isinstance(v, int)}
    for radix in sorted(sizes, reverse=True):
        if radix < 2:
            break
        parts: list[tuple[Polynomial, Polynomial]] = []
        for side, r in ((a, p), (b, q)):
            high = Polynomial(
                {m: v // radix for m, v in r.terms.items() if m and isinstance(v, int) and v % radix == 0}
            )
            low = r - high * Polynomial.constant(radix)
            if not high.terms or not prove(c, low, side.facts, side.mask):
                break
            if not prove(c, (Polynomial.constant(radix) - low).shift(-1), side.facts, side.mask):
                break
            parts.append((high, low))
        if len(parts) == 2:
            (high1, low1), (high2, low2) = parts
            return _split(c, a, b, high1, high2, uniform, depth - 1) + _split(c, a, b, low1, low2, uniform, depth - 1)
    return [(p, q)]


def _recombined(
    c: Context, digits: list[tuple[Polynomial, Polynomial]], uniform: frozenset[str]
) -> list[tuple[Polynomial, Polynomial]]:
    """Equal quotient and remainder of divisions by one value mean an equal dividend, equal `x ^ c` mean an equal x."""
    halves: dict[tuple[Polynomial, Polynomial, Polynomial], set[str]] = {}
    for left, right in digits:
        if one_number(left.constant_term, right.constant_term):
            left, right = left.without_constant(), right.without_constant()
        x, y = _definition(c, left), _definition(c, right)
        if x is None or y is None or x[0] != y[0] or x[0] not in ("floordiv", "mod", "xor"):
            continue
        (dividend, divisor), (other, same_divisor) = x[1], y[1]
        if divisor == same_divisor and _is_uniform(divisor, uniform):
            halves.setdefault((dividend, other, divisor), set()).add(x[0])
    return [(p, q) for (p, q, _), found in halves.items() if found >= {"floordiv", "mod"} or "xor" in found]


def _definition(c: Context, p: Polynomial) -> tuple[str, tuple[Any, ...]] | None:
    if len(p.terms) != 1:
        return None
    (m, v) = next(iter(p.terms.items()))
    if len(m) != 1 or not isinstance(v, int) or v != 1:
        return None
    return c.atoms[m[0]].definition


def _excluded(c: Context, side: Side, own: Polynomial, common: Polynomial) -> bool:
    """The thread of `side` can never have own == common."""
    difference = own - common
    if prove(c, difference.shift(-1), side.facts, side.mask, 3) or prove(
        c, (-difference).shift(-1), side.facts, side.mask, 3
    ):
        return True
    return any(d in (difference, -difference) for d in side.different)


def _note_position(
    c: Context, left: Polynomial, right: Polynomial, positions: dict[str, tuple[Vector, Vector]]
) -> None:
    """A digit `+-group + v[lid]` fixes that coordinate of the group."""
    m1, m2 = set(left.terms) - {()}, set(right.terms) - {()}
    if m1 != m2 or len(m1) != 1 or len(m := next(iter(m1))) != 1 or m[0] not in c.group_atoms:
        return
    x, y = left.terms[m], right.terms[m]
    if isinstance(x, int) and abs(x) == 1 and isinstance(y, int) and x == y:
        positions[m[0]] = (_vector(c, left.constant_term), _vector(c, right.constant_term))


def _note_first_groups(c: Context, a: Side, b: Side, positions: dict[str, tuple[Vector, Vector]]) -> None:
    """A guard such as `gid < 4` may leave the first group alone."""
    zero = Polynomial.constant(0)
    for name in c.group_atoms:
        if name not in positions:
            rest = zero - Polynomial.atom(name)
            if all(prove(c, rest, side.facts, side.mask, 2) for side in (a, b)):
                positions[name] = (_vector(c, 0), _vector(c, 0))


def _keys(known: list[tuple[Vector, Vector]], size: int) -> tuple[Vector, Vector]:
    """One number per thread and side; equal numbers mean equal known digits."""
    if not known:
        zeros = np.zeros(size, np.int64)
        return zeros, zeros
    table = np.stack([np.concatenate(pair) for pair in known], 1)
    _, inverse = np.unique(table, axis=0, return_inverse=True)
    numbers = inverse.reshape(-1).astype(np.int64)
    return numbers[:size], numbers[size:]


def _across_groups(
    c: Context, a: Side, b: Side, known: list[tuple[Vector, Vector]], positions: dict[str, tuple[Vector, Vector]]
) -> str | None:
    k1, k2 = _keys(known, c.size)
    i, j = np.nonzero(a.mask)[0], np.nonzero(b.mask)[0]
    common = np.intersect1d(k1[i], k2[j])
    if len(common) == 0:
        return None
    missing = [n for n in c.group_atoms if n not in positions]
    if missing:
        return f"no part of the index is fixed by {', '.join(missing)}"
    for name, (v1, v2) in positions.items():
        x, y = i[np.isin(k1[i], common)], j[np.isin(k2[j], common)]
        keys, values = np.concatenate([k1[x], k2[y]]), np.concatenate([v1[x], v2[y]])
        order = np.lexsort((values, keys))
        keys, values = keys[order], values[order]
        if ((keys[1:] == keys[:-1]) & (values[1:] != values[:-1])).any():
            return f"{name} is not fixed by the index"
    return None


def _within_group(c: Context, a: Side, b: Side, known: list[tuple[Vector, Vector]]) -> str | None:
    """Two different threads (of different warps where a warp barrier orders them) with equal known digits."""
    k1, k2 = _keys(known, c.size)
    i, j = np.nonzero(a.mask)[0], np.nonzero(b.mask)[0]
    ordered = not may_meet(a.access.warp_intervals, b.access.warp_intervals)
    labels = np.arange(c.size) // c.warp if ordered else np.arange(c.size)
    most = int(max(k1.max(initial=0), k2.max(initial=0))) + 1
    low1, high1 = np.full(most, 1 << 30), np.full(most, -1)
    low2, high2 = low1.copy(), high1.copy()
    np.minimum.at(low1, k1[i], labels[i])
    np.maximum.at(high1, k1[i], labels[i])
    np.minimum.at(low2, k2[j], labels[j])
    np.maximum.at(high2, k2[j], labels[j])
    bad = (high1 >= 0) & (high2 >= 0) & ((low1 != high2) | (high1 != low2))
    if bad.any():
        key = int(np.nonzero(bad)[0][0])
        return f"threads {int(low1[key])} and {int(high2[key] if high2[key] != low1[key] else low2[key])} of a group"
    return None


def level_of_guards(c: Context, guards: Iterable[Formula]) -> int:
    """How uniform the control of an access is."""
    return max((c.level(g) for g in guards), default=LAUNCH)


__all__ = ["ONE", "THREAD", "ZERO", "Side", "conflict", "prepare"]
