"""Integer operations on polynomials: exact where that is possible, else a new atom with its range and defining facts.

Every function gives a value that equals the operation's mathematical result wherever the facts passed in hold.
"""

from dataclasses import dataclass

from isogrid.analysis.linear import ONE, TERM_LIMIT, ZERO, Polynomial, from_terms, number_polynomial
from isogrid.analysis.ranges import Atoms, Case, Facts, between, clipped, equal, joined
from isogrid.analysis.solve import Solver

_MODULAR = ((0, (1 << 32) - 1), (0, (1 << 64) - 1))


@dataclass(slots=True)
class Reasoner:
    """Atoms and the solver over them."""

    atoms: Atoms
    solver: Solver

    def proves(self, goal: Polynomial, facts: Facts) -> bool:
        return self.solver.proves(goal, facts)

    def sees(self, goal: Polynomial, facts: Facts) -> bool:
        """Whether intervals or a fact say so at once."""
        return self.solver.sees(goal, facts)

    def shows(self, goal: Polynomial, facts: Facts) -> bool:
        """A proof that is given up early, for facts that make a value simpler but need not be found."""
        return self.solver.proves_quickly(goal, facts)


def multiplied(reasoner: Reasoner, left: Polynomial, right: Polynomial) -> Polynomial:
    if len(left.terms) * len(right.terms) <= TERM_LIMIT:
        product = left * right
        if all(len(monomial) <= 4 for monomial, _ in product.terms):
            return product
    ends = [a * b for a in reasoner.atoms.range(left) for b in reasoner.atoms.range(right)]
    return reasoner.atoms.fresh(min(ends), max(ends))


def divided(
    reasoner: Reasoner, left: Polynomial, right: Polynomial, facts: Facts
) -> tuple[Polynomial, Polynomial] | None:
    """Floor quotient and remainder for a divisor proved positive, else None."""
    if not reasoner.proves(right.plus(-1), facts):
        return None
    whole, rest = _multiples(left, right)
    quotient, remainder = _divided_rest(reasoner, rest, right, facts)
    return whole + quotient, remainder


def _multiples(left: Polynomial, right: Polynomial) -> tuple[Polynomial, Polynomial]:
    """left = whole * right + rest, with the terms that are visibly multiples of a one-term divisor in `whole`."""
    if len(right.terms) != 1:
        return ZERO, left
    ((factor, scale),) = right.terms
    whole: dict[tuple[int, ...], int] = {}
    rest: dict[tuple[int, ...], int] = {}
    for monomial, coefficient in left.terms:
        cofactor = _without(monomial, factor)
        if cofactor is None:
            rest[monomial] = coefficient
            continue
        whole[cofactor] = whole.get(cofactor, 0) + coefficient // scale
        if coefficient % scale:
            rest[monomial] = coefficient % scale
    return from_terms(whole), from_terms(rest)


def _without(monomial: tuple[int, ...], factor: tuple[int, ...]) -> tuple[int, ...] | None:
    left = list(monomial)
    for atom in factor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _divided_rest(
    reasoner: Reasoner, left: Polynomial, right: Polynomial, facts: Facts
) -> tuple[Polynomial, Polynomial]:
    if reasoner.shows(left, facts) and reasoner.shows(right - left.plus(1), facts):
        return ZERO, left
    low, high = reasoner.atoms.range(left)
    least, most = reasoner.atoms.range(right)
    least = max(least, 1)
    ends = (low // least, high // least, low // max(most, 1), high // max(most, 1))
    quotient, new = reasoner.atoms.keyed(("quotient", left, right), min(ends), max(ends))
    remainder, _ = reasoner.atoms.keyed(("remainder", left, right), 0, max(most - 1, 0))
    if new:
        told = (
            *equal(left, quotient * right + remainder),
            *between(ZERO, remainder, right.plus(-1)),
        )
        if _is_power(reasoner, right):
            # The first multiple of a power of two above `high` is at most any larger power of two that it divides.
            limit = max(1 << max(high, 0).bit_length(), most)
            told = (*told, number_polynomial(limit) - multiplied(reasoner, right, quotient.plus(1)))
        reasoner.atoms.define(quotient, *told)
        reasoner.atoms.define(remainder, *told)
    return quotient, remainder


def _is_power(reasoner: Reasoner, value: Polynomial) -> bool:
    """Whether the value is one atom that stands for a power of two; a sum of two of them is none."""
    if len(value.terms) != 1:
        return False
    ((monomial, factor),) = value.terms
    return factor == 1 and len(monomial) == 1 and monomial[0] in reasoner.atoms.powers


def smaller(reasoner: Reasoner, left: Polynomial, right: Polynomial, facts: Facts) -> Polynomial:
    if reasoner.shows(right - left, facts):
        return left
    if reasoner.shows(left - right, facts):
        return right
    (a, b), (c, e) = reasoner.atoms.range(left), reasoner.atoms.range(right)
    value = reasoner.atoms.fresh(min(a, c), min(b, e))
    reasoner.atoms.define(value, left - value, right - value)
    reasoner.atoms.of(value).cases = (Case(left, (right - left,)), Case(right, (left - right,)))
    return value


def larger(reasoner: Reasoner, left: Polynomial, right: Polynomial, facts: Facts) -> Polynomial:
    return smaller(reasoner, left.scaled(-1), right.scaled(-1), facts).scaled(-1)


def absolute(reasoner: Reasoner, value: Polynomial, facts: Facts) -> Polynomial:
    return larger(reasoner, value, value.scaled(-1), facts)


def chosen(reasoner: Reasoner, cases: tuple[Case, ...]) -> Polynomial:
    """One of several values; each case says what holds when it is the one."""
    if all(case.value == cases[0].value for case in cases):
        return cases[0].value
    interval = reasoner.atoms.range(cases[0].value)
    for case in cases[1:]:
        interval = joined(interval, reasoner.atoms.range(case.value))
    value = reasoner.atoms.fresh(*interval)
    reasoner.atoms.of(value).cases = cases
    return value


def shifted_left(reasoner: Reasoner, left: Polynomial, amount: Polynomial, bits: int) -> Polynomial:
    """left * 2^amount for an amount in 0..bits-1."""
    number = amount.constant
    if number is not None and 0 <= number < bits:
        return left.scaled(1 << number)
    low, high = clipped(reasoner.atoms.range(amount), 0, bits - 1)
    # The same amount may be larger for a wider type, so each width has a power, and a range, of its own.
    power, new = reasoner.atoms.keyed(("power of two", amount, bits), 1 << low, 1 << high)
    if new:
        # 2^k is at least k + 1, which orders sizes that are powers of two.
        reasoner.atoms.define(power, power - amount.plus(1))
        reasoner.atoms.powers.update(power.atoms())
    return multiplied(reasoner, left, power)


def shifted_right(reasoner: Reasoner, left: Polynomial, amount: Polynomial, bits: int, facts: Facts) -> Polynomial:
    """floor(left / 2^amount) for an amount in 0..bits-1."""
    power = shifted_left(reasoner, ONE, amount, bits)
    result = divided(reasoner, left, power, facts)
    if result is None:
        return reasoner.atoms.fresh(*joined(reasoner.atoms.range(left), (0, 0)))
    return result[0]


def masked(
    reasoner: Reasoner, left: Polynomial, right: Polynomial, type_range: tuple[int, int], facts: Facts
) -> Polynomial:
    """left & right of two's complement numbers."""
    for value, mask in ((left, right.constant), (right, left.constant)):
        if mask is not None and mask >= 0 and mask & (mask + 1) == 0:
            result = divided(reasoner, value, number_polynomial(mask + 1), facts)
            if result is not None:
                return result[1]
    upper = [value for value in (left, right) if reasoner.shows(value, facts)]
    if not upper:
        return reasoner.atoms.fresh(*type_range)
    masked_value = reasoner.atoms.fresh(0, min(reasoner.atoms.range(value)[1] for value in upper))
    reasoner.atoms.define(masked_value, *(value - masked_value for value in upper))
    return masked_value


def mixed_bits(
    reasoner: Reasoner, op: str, left: Polynomial, right: Polynomial, type_range: tuple[int, int], facts: Facts
) -> Polynomial:
    """left | right or left ^ right: within the bits of the operands, and at most their sum."""
    if not (reasoner.shows(left, facts) and reasoner.shows(right, facts)):
        return reasoner.atoms.fresh(*type_range)
    ends = [reasoner.atoms.range(value)[1] for value in (left, right)]
    if type_range in _MODULAR:
        # Hashes mix bits of data all the time, and nothing else is known of them.
        return reasoner.atoms.fresh(0, (1 << max(*ends, 0).bit_length()) - 1)
    bits = max(_proved_bits(reasoner, left, facts), _proved_bits(reasoner, right, facts))
    value = reasoner.atoms.fresh(0, (1 << bits) - 1)
    reasoner.atoms.define(value, left + right - value)
    if op == "or":
        reasoner.atoms.define(value, value - left, value - right)
    return value


def _proved_bits(reasoner: Reasoner, value: Polynomial, facts: Facts) -> int:
    """The least number of bits that provably holds a value known not to be negative."""
    low, high = 0, max(reasoner.atoms.range(value)[1], 0).bit_length()
    while low < high:
        middle = (low + high) // 2
        if reasoner.shows(number_polynomial((1 << middle) - 1) - value, facts):
            high = middle
        else:
            low = middle + 1
    return high


def powered(reasoner: Reasoner, base: Polynomial, exponent: Polynomial, type_range: tuple[int, int]) -> Polynomial:
    """base ** exponent for an exponent that is not negative."""
    number = exponent.constant
    if number is not None and 0 <= number <= 4:
        result = ONE
        for _ in range(number):
            result = multiplied(reasoner, result, base)
        return result
    low, high = reasoner.atoms.range(base)
    # A negative one traps; in Python it would make a float of the bound.
    most = max(reasoner.atoms.range(exponent)[1], 0)
    size = max(abs(low), abs(high))
    if most > 64 and size > 1:
        return reasoner.atoms.fresh(*type_range)
    bound = max(size ** min(most, 64), 1)
    return reasoner.atoms.fresh(0 if low >= 0 else -bound, bound)
