"""Can two threads touch one element? Equality of indices split into digits that must agree one by one.

Each step is an equivalence or drops a condition, so "no" is a proof. `conflict` returns None for a proof, else the
reason why the proof failed.
"""

from math import gcd
from typing import Any, Final

import numpy as np

from isogrid.analysis.symbolic.array_facts import determined
from isogrid.analysis.symbolic.context import Context, may_meet
from isogrid.analysis.symbolic.equations import separated
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.polynomial import (
    Polynomial,
    TooLarge,
    Vector,
    common_divisor,
    from_zero,
    multiply,
    one_number,
)
from isogrid.analysis.symbolic.quotients import by_quotients
from isogrid.analysis.symbolic.scans import own_places
from isogrid.analysis.symbolic.sides import Side, is_uniform, uniform_atoms
from isogrid.analysis.symbolic.stairs import by_stairs
from isogrid.analysis.symbolic.together import excluded_together

#: Steps that all attempts to see indices in another way may take.
_MOST_FURTHER_STEPS: Final = 1500
#: Keys up to this number are used as they are; beyond, they are ranked.
_MOST_KEYS: Final = 1 << 14


def conflict(c: Context, a: Side, b: Side, across: bool) -> str | None:
    """The question for two threads of one group, or (`across`) of two groups."""
    if not a.guarded.reachable or not b.guarded.reachable or _contradictory(c, a, b, across):
        return None
    uniform = uniform_atoms(c, across)
    digits: list[tuple[Polynomial, Polynomial]] = []
    for p, q in zip(a.access.indices, b.access.indices, strict=True):
        digits += _split(c, a, b, p, q, uniform, 8)
    for p in a.guarded.equal:
        # Both threads passed the same equality, `gid == 0`: its two sides are one more index that agrees.
        if p in b.guarded.equal:
            digits += _split(c, a, b, p, p, uniform, 8)
    for p, q in _reflected(c, a, b, uniform):
        digits += _split(c, a, b, p, q, uniform, 8)
    for p, q in _recombined(c, digits, uniform):
        digits += _split(c, a, b, p, q, uniform, 8)
    if c.kernel.facts:
        for p, q in determined(c, a, b, digits):
            digits += _split(c, a, b, p, q, uniform, 8)
    reason = _decide(c, a, b, digits, uniform, across)
    if reason is None:
        return None
    further = _rewritten(c, a, b, digits, uniform, across)
    return _decide(c, a, b, digits + further, uniform, across) if further else reason


def _rewritten(
    c: Context,
    a: Side,
    b: Side,
    digits: list[tuple[Polynomial, Polynomial]],
    uniform: frozenset[str],
    across: bool,
) -> list[tuple[Polynomial, Polynomial]]:
    """Digits of the indices seen in other ways. These have a budget of their own: no kernel gets beyond that of the
    proof because of them."""
    if c.further_steps >= _MOST_FURTHER_STEPS:
        return []
    steps, c.steps = c.steps, c.further_steps
    try:
        pairs = (*by_quotients(c, a, b, digits, uniform), *by_stairs(c, a, b, digits, uniform))
        further = [d for p, q in pairs for d in _split(c, a, b, p, q, uniform, 8)]
        return further if across else [*further, *own_places(c, a, b, digits, uniform)]
    except TooLarge:
        return []
    finally:
        c.further_steps, c.steps = c.steps, steps


def _decide(
    c: Context,
    a: Side,
    b: Side,
    digits: list[tuple[Polynomial, Polynomial]],
    uniform: frozenset[str],
    across: bool,
) -> str | None:
    """The question once it is known which digits agree."""
    known: list[tuple[Vector, Vector]] = []
    positions: dict[str, tuple[Vector, Vector]] = {}
    for left, right in digits:
        left, right = _cancel(left, right, uniform)
        x, y = left.as_constant, right.as_constant
        if x is not None and y is not None:
            known.append((_vector(c, x), _vector(c, y)))
            continue
        if is_uniform(right, uniform) and _excluded(c, a, left, right):
            return None
        if is_uniform(left, uniform) and _excluded(c, b, right, left):
            return None
        if across:
            _note_position(c, left, right, positions)
    if across:
        _note_first_groups(c, a, b, positions)
    reason = _across_groups(c, a, b, known, positions) if across else _within_group(c, a, b, known)
    if reason is not None and (
        _separated(c, a, b, digits, across) or excluded_together(c, a, b, digits, uniform, across)
    ):
        return None
    return reason


def _vector(c: Context, x: Any) -> Vector:
    return np.full(c.size, x, np.int64) if isinstance(x, int) else x


def _contradictory(c: Context, a: Side, b: Side, across: bool) -> bool:
    """Guards of the two sides over common values that cannot hold together."""
    return a.guarded.common(c, across).contradicts(b.guarded.common(c, across))


def _separated(c: Context, a: Side, b: Side, digits: list[tuple[Polynomial, Polynomial]], across: bool) -> bool:
    equalities = (a.guarded.equalities(c), b.guarded.equalities(c))
    return separated(c, digits, equalities, uniform_atoms(c, across), across)


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
    whole = p, q
    p, q = from_zero(*_cancel(p, q, uniform))
    monomials = (set(p.terms) | set(q.terms)) - {()}
    if not monomials or depth == 0:
        return [(p, q)]
    if (by_place := _by_place(c, a, b, p, q)) is not None:
        places, (low1, low2) = by_place
        return [places, *_split(c, a, b, low1, low2, uniform, depth - 1)]
    if _single_unit(p, q, monomials):
        return [(p, q)]
    g = common_divisor((p, q))
    if g > 1:
        x, y = p.constant_term, q.constant_term
        quotient = [r.without_constant().divided(g) + Polynomial.constant(k // g) for r, k in ((p, x), (q, y))]
        return [
            (Polynomial.constant(x % g), Polynomial.constant(y % g)),
            *_split(c, a, b, quotient[0], quotient[1], uniform, depth - 1),
        ]
    radices = sorted({n for m in monomials for n in m if n in uniform})
    for left, right in ((p, q), whole) if radices and whole != (p, q) else ((p, q),):
        # A digit may be in its range only together with what both indices have in common, as `d - i` in `i*W + d - i`.
        for sign in (1, -1):
            for radix in radices:
                parts = _by_radix(c, ((a, left), (b, right)), radix, sign)
                if parts is not None:
                    (high1, low1), (high2, low2) = parts
                    high = _split(c, a, b, high1, high2, uniform, depth - 1)
                    return high + _split(c, a, b, low1, low2, uniform, depth - 1)
    return _by_range(c, a, b, p, q, uniform, depth)


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


def _by_place(
    c: Context, a: Side, b: Side, p: Polynomial, q: Polynomial
) -> tuple[tuple[Polynomial, Polynomial], tuple[Polynomial, Polynomial]] | None:
    """Split `8 * lid + i` with 0 <= i < 8 proved: places that are multiples of one number, above a rest below it."""
    own = [r.constant_term for r in (p, q)]
    vectors = [v for v in own if not isinstance(v, int)]
    if not vectors or all(n in c.group_atoms for r in (p, q) for n in r.atoms()):
        return None
    g = gcd(*(int(np.gcd.reduce(v - v[0])) for v in vectors))
    if g < 2:
        return None
    places: list[Polynomial] = []
    rests: list[Polynomial] = []
    for side, r, v in ((a, p, own[0]), (b, q, own[1])):
        least = v % g if isinstance(v, int) else int(v[0]) % g
        rest = r.without_constant().shift(least)
        if not prove(c, rest, side.facts, side.mask):
            return None
        if not prove(c, (Polynomial.constant(g) - rest).shift(-1), side.facts, side.mask):
            return None
        places.append(Polynomial.constant((v - least) // g))
        rests.append(rest)
    return (places[0], places[1]), (rests[0], rests[1])


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
        one = _below_literal(c, a, p, radix)
        other = None if one is None else _below_literal(c, b, q, radix)
        if one is not None and other is not None:
            high = _split(c, a, b, one[0], other[0], uniform, depth - 1)
            return high + _split(c, a, b, one[1], other[1], uniform, depth - 1)
    return [(p, q)]


def _below_literal(c: Context, side: Side, r: Polynomial, radix: int) -> tuple[Polynomial, Polynomial] | None:
    """(high, low) with r = high * radix + low and 0 <= low < radix proved; a constant goes to either or is shared."""
    high = Polynomial({m: v // radix for m, v in r.terms.items() if m and isinstance(v, int) and v % radix == 0})
    if not high.terms:
        return None
    low = r.plus(high, -radix)
    constant = low.constant_term
    whole = constant // radix if isinstance(constant, int) else 0
    for carried in (whole, whole + 1) if isinstance(constant, int) and constant % radix else (whole,):
        rest = low.shift(-carried * radix)
        if prove(c, rest, side.facts, side.mask) and prove(
            c, (Polynomial.constant(radix) - rest).shift(-1), side.facts, side.mask
        ):
            return high.shift(carried), rest
    return None


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
        if divisor == same_divisor and is_uniform(divisor, uniform):
            halves.setdefault((dividend, other, divisor), set()).add(x[0])
    return [(p, q) for (p, q, _), found in halves.items() if found >= {"floordiv", "mod"} or "xor" in found]


def _reflected(c: Context, a: Side, b: Side, uniform: frozenset[str]) -> list[tuple[Polynomial, Polynomial]]:
    """Where `x == y ^ m` for one m, also `x ^ m == y`, if the kernel speaks of it: partners are each other's."""
    out: list[tuple[Polynomial, Polynomial]] = []
    for p, q in zip(a.access.indices, b.access.indices, strict=True):
        out += [(partner, value) for partner, value in _partners(c, p, q, uniform)]
        out += [(value, partner) for partner, value in _partners(c, q, p, uniform)]
    return out


def _partners(
    c: Context, own: Polynomial, other: Polynomial, uniform: frozenset[str]
) -> list[tuple[Polynomial, Polynomial]]:
    found = _definition(c, other)
    if found is None or found[0] != "xor":
        return []
    first, second = found[1]
    pairs = ((first, second, ("xor", own.key, second.key)), (second, first, ("xor", first.key, own.key)))
    return [
        (Polynomial.atom(c.opaque[key]), value)
        for value, mask, key in pairs
        if is_uniform(mask, uniform) and key in c.opaque
    ]


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
    return any(d in (difference, -difference) for d in side.guarded.different)


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
    """One number per thread and side; equal numbers mean equal known digits, and their order is that of the digits."""
    keys = np.zeros(2 * size, np.int64)
    count = 1
    for pair in known:
        digit = np.concatenate(pair)
        least = int(digit.min())
        span = int(digit.max()) - least + 1
        if count * span <= _MOST_KEYS:
            keys = keys * span + (digit - least)
            count *= span
            continue
        keys, count = _ranks(keys)
        digit, span = _ranks(digit)
        keys, count = _ranks(keys * span + digit)
    return keys[:size], keys[size:]


def _ranks(values: Vector) -> tuple[Vector, int]:
    """The place of each value among the different ones, and how many there are."""
    different, ranks = np.unique(values, return_inverse=True)
    return ranks.astype(np.int64), len(different)


def _one_each(keys: Vector, values: Vector) -> bool:
    """Whether equal keys have equal values."""
    table = np.zeros(int(keys.max()) + 1, np.int64)
    table[keys] = values
    return bool((table[keys] == values).all())


def _common(k1: Vector, k2: Vector) -> Any:
    """For every key whether both sides have it."""
    present = np.zeros((2, int(max(k1.max(), k2.max())) + 1), bool)
    present[0, k1] = True
    present[1, k2] = True
    return present[0] & present[1]


def _across_groups(
    c: Context, a: Side, b: Side, known: list[tuple[Vector, Vector]], positions: dict[str, tuple[Vector, Vector]]
) -> str | None:
    k1, k2 = _keys(known, c.size)
    i, j = a.guarded.threads, b.guarded.threads
    common = _common(k1[i], k2[j])
    if not common.any():
        return None
    missing = [n for n in c.group_atoms if n not in positions]
    if missing:
        return f"no part of the index is fixed by {', '.join(missing)}"
    x, y = i[common[k1[i]]], j[common[k2[j]]]
    keys = np.concatenate([k1[x], k2[y]])
    for name, (v1, v2) in positions.items():
        if not _one_each(keys, np.concatenate([v1[x], v2[y]])):
            return f"{name} is not fixed by the index"
    return None


def _within_group(c: Context, a: Side, b: Side, known: list[tuple[Vector, Vector]]) -> str | None:
    """Two different threads (of different warps where a warp barrier orders them) with equal known digits."""
    k1, k2 = _keys(known, c.size)
    i, j = a.guarded.threads, b.guarded.threads
    common = _common(k1[i], k2[j])
    if not common.any():
        return None
    ordered = not may_meet(a.access.warp_intervals, b.access.warp_intervals)
    labels = np.arange(c.size) // c.warp if ordered else np.arange(c.size)
    x, y = i[common[k1[i]]], j[common[k2[j]]]
    keys, owners = np.concatenate([k1[x], k2[y]]), np.concatenate([labels[x], labels[y]])
    if _one_each(keys, owners):
        return None
    # The lowest key at which two labels meet, for the text.
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    key = int(keys[1:][(keys[1:] == keys[:-1]) & (owners[1:] != owners[:-1])][0])
    first, second = labels[x][k1[x] == key], labels[y][k2[y] == key]
    one, other = int(first.min()), int(second.max())
    return f"threads {one} and {other if other != one else int(second.min())} of a group"
