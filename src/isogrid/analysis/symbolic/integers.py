"""Integer operations as polynomials, with the facts that quotients, remainders and extremes bring along."""

import numpy as np

from isogrid.analysis.symbolic.context import GROUP, Context
from isogrid.analysis.symbolic.formula import AtLeastZero
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.polynomial import Coefficient, Polynomial, normal
from isogrid.ir.types import Scalar


def exact(c: Context, op: str, a: Polynomial, b: Polynomial, level: int) -> Polynomial | None:
    """The result of an integer operation where polynomials, or facts about quotients and extremes, can say it."""
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "floordiv" | "mod":
            return divide(c, op, a, b, level)
        case "shl":
            amount = b.as_constant
            if isinstance(amount, int) and 0 <= amount < 62:
                return a * Polynomial.constant(1 << amount)
            if amount is not None and not isinstance(amount, int) and ((amount >= 0) & (amount < 40)).all():
                return a * Polynomial.constant(np.left_shift(np.int64(1), amount))
        case "shr":
            amount = b.as_constant
            if isinstance(amount, int) and 0 <= amount < 62:
                return divide(c, "floordiv", a, Polynomial.constant(1 << amount), level)
        case "and":
            mask = b.as_constant if b.as_constant is not None else a.as_constant
            other = a if b.as_constant is not None else b
            if isinstance(mask, int) and mask >= 0 and mask & (mask + 1) == 0:
                return divide(c, "mod", other, Polynomial.constant(mask + 1), level)
        case "min" | "max":
            return _extreme(c, op, a, b, level)
        case _:
            pass
    return None


def modular(c: Context, op: str, type: Scalar, a: Polynomial, b: Polynomial, level: int) -> Polynomial:
    """Arithmetic modulo 2^n is opaque, except where a mask or a modulus bounds it."""
    p = c.named(f"{op}.{type.value}", (a, b), level, nonnegative=True)
    limit = b.as_constant
    if isinstance(limit, int) and limit > 0:
        if op == "mod":
            fact_once(c, p, Polynomial.constant(limit - 1) - p)
        if op == "and":
            fact_once(c, p, Polynomial.constant(limit) - p)
    return p


def atom_name(p: Polynomial) -> str:
    return next(iter(p.terms))[0]


def fact_once(c: Context, p: Polynomial, *facts: Polynomial) -> None:
    """Add what is known of the atom `p` when it is first made."""
    key = ("fact", atom_name(p))
    if key not in c.opaque:
        c.opaque[key] = ""
        c.facts.extend(facts)


def divide(c: Context, op: str, a: Polynomial, b: Polynomial, level: int) -> Polynomial:
    """Floor division and modulo: exact on constants and exact multiples, else atoms tied together by facts."""
    d = b.as_constant
    if isinstance(d, int) and d > 0:
        quotient, rest = _exact_part(a, d)
        if rest.as_constant is not None:
            r = rest.constant_term
            return Polynomial.constant(r % d) if op == "mod" else quotient + Polynomial.constant(r // d)
        if quotient.terms:
            inner = divide(c, op, rest, b, level)
            return inner if op == "mod" else quotient + inner
    if isinstance(d, np.ndarray) and isinstance(a.as_constant, (int, np.ndarray)) and (d > 0).all():
        return Polynomial.constant(a.as_constant % d if op == "mod" else a.as_constant // d)
    positive = isinstance(d, int) and d > 0
    q = c.named("floordiv", (a, b), level, nonnegative=positive and nonnegative(c, a))
    r = c.named("mod", (a, b), level, nonnegative=positive)
    if positive:
        difference = a - q * b - r
        fact_once(c, r, (b - r).shift(-1), difference, -difference)
    elif c.level(b) <= GROUP and b.as_constant is None:
        _symbolic_division(c, a, b, q, r)
    return r if op == "mod" else q


def _symbolic_division(c: Context, a: Polynomial, b: Polynomial, q: Polynomial, r: Polynomial) -> None:
    """What holds of quotient and remainder by one number for the whole group, where it is positive."""
    difference = a - q * b - r
    if prove(c, b.shift(-1), c.facts, None):
        c.atoms[atom_name(r)].nonnegative = True
        c.atoms[atom_name(q)].nonnegative = nonnegative(c, a)
        fact_once(c, r, (b - r).shift(-1), difference, -difference)
    elif nonnegative(c, b):
        # A size that divides is not zero once the division has not trapped, so the remainder is in [0, b) for the rest
        # of this thread's way, and there alone: a thread that never divides may run with size zero.
        for fact in (r, (b - r).shift(-1), difference, -difference, *((q,) if nonnegative(c, a) else ())):
            c.guards.append(AtLeastZero(fact))


def _exact_part(a: Polynomial, d: int) -> tuple[Polynomial, Polynomial]:
    """(q, r) with a = d*q + r, q made of the terms whose coefficients d divides."""
    quotient: dict[tuple[str, ...], Coefficient] = {}
    rest: dict[tuple[str, ...], Coefficient] = {}
    for m, coefficient in a.terms.items():
        exact = coefficient % d == 0 if isinstance(coefficient, int) else bool((coefficient % d == 0).all())
        if m and exact:
            quotient[m] = normal(coefficient // d)
        else:
            rest[m] = coefficient
    return Polynomial(quotient), Polynomial(rest)


def _extreme(c: Context, op: str, a: Polynomial, b: Polynomial, level: int) -> Polynomial:
    x, y = a.as_constant, b.as_constant
    if x is not None and y is not None:
        chosen = np.minimum(x, y) if op == "min" else np.maximum(x, y)
        return Polynomial.constant(int(chosen) if np.ndim(chosen) == 0 else normal(chosen))
    if op == "min":
        p = c.named("min", (a, b), level, nonnegative=nonnegative(c, a) and nonnegative(c, b))
        fact_once(c, p, a - p, b - p)
    else:
        p = c.named("max", (a, b), level, nonnegative=nonnegative(c, a) or nonnegative(c, b))
        fact_once(c, p, p - a, p - b)
    return p


def nonnegative(c: Context, p: Polynomial) -> bool:
    for m, coefficient in p.terms.items():
        if isinstance(coefficient, int):
            if coefficient < 0:
                return False
        elif (coefficient < 0).any():
            return False
        if not all(c.atoms[n].nonnegative for n in m):
            return False
    return True
