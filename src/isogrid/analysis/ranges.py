"""Atoms of a proof: unknown integers with a range, facts that define them, and a case distinction where one is known.

x // 4   is an atom q with  4 q + r = x  and  0 <= r <= 3
min(a, b) is an atom m with  m <= a, m <= b,  which is a or b
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from isogrid.analysis.linear import ZERO, Monomial, Polynomial, atom_polynomial

#: Facts are polynomials known to be at least 0.
Facts: TypeAlias = tuple[Polynomial, ...]
Interval: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Case:
    """One alternative for an atom: its value, and what holds when it is taken."""

    value: Polynomial
    facts: Facts


@dataclass(slots=True)
class Atom:
    low: int
    high: int
    facts: list[Polynomial] = field(default_factory=list[Polynomial])
    cases: tuple[Case, ...] = ()


@dataclass(slots=True)
class Atoms:
    """Every atom of one analysis. An atom never changes its value, so what is known of it holds wherever it is used."""

    table: list[Atom] = field(default_factory=list[Atom])
    known: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    #: Atoms that are powers of two, and so divide every power of two from their greatest value on.
    powers: set[int] = field(default_factory=set[int])

    def fresh(self, low: int, high: int) -> Polynomial:
        """A new unknown within [low, high]."""
        self.table.append(Atom(low, high))
        return atom_polynomial(len(self.table) - 1)

    def keyed(self, key: Hashable, low: int, high: int) -> tuple[Polynomial, bool]:
        """The unknown that `key` stands for, and whether it was made just now."""
        number = self.known.get(key)
        if number is not None:
            return atom_polynomial(number), False
        value = self.fresh(low, high)
        self.known[key] = len(self.table) - 1
        return value, True

    def of(self, value: Polynomial) -> Atom:
        """The record of a polynomial that is a single atom."""
        ((monomial, _),) = value.terms
        return self.table[monomial[0]]

    def define(self, value: Polynomial, *facts: Polynomial) -> None:
        """Record what holds of an atom wherever it exists."""
        self.of(value).facts.extend(facts)

    def range(self, value: Polynomial) -> Interval:
        """Bounds by interval arithmetic from the atoms' own ranges."""
        low = high = 0
        for monomial, coefficient in value.terms:
            least, greatest = self.monomial_range(monomial)
            if coefficient >= 0:
                low, high = low + coefficient * least, high + coefficient * greatest
            else:
                low, high = low + coefficient * greatest, high + coefficient * least
        return low, high

    def monomial_range(self, monomial: Monomial) -> Interval:
        low = high = 1
        for atom in monomial:
            record = self.table[atom]
            ends = (low * record.low, low * record.high, high * record.low, high * record.high)
            low, high = min(ends), max(ends)
        return low, high


def equal(left: Polynomial, right: Polynomial) -> Facts:
    """Facts that say left == right."""
    return (left - right, right - left)


def between(low: Polynomial, value: Polynomial, high: Polynomial) -> Facts:
    """Facts that say low <= value <= high."""
    return (value - low, high - value)


def joined(first: Interval, second: Interval) -> Interval:
    return min(first[0], second[0]), max(first[1], second[1])


def clipped(interval: Interval, low: int, high: int) -> Interval:
    """The part of an interval within [low, high]; all of [low, high] where they do not meet."""
    least, greatest = max(interval[0], low), min(interval[1], high)
    return (least, greatest) if least <= greatest else (low, high)


NOTHING: Facts = ()
NEVER: Polynomial = ZERO.plus(-1)
