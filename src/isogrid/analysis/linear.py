"""Polynomials with integer coefficients over atoms (unknown integers, numbered), the language of bounds proofs.

`i * W + x + 1` is {(i, W): 1, (x,): 1, (): 1}; products of atoms are monomials, and a proof treats each as one unknown.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

Monomial: TypeAlias = tuple[int, ...]

#: A product with more terms than this is not expanded; its value becomes an atom of its own.
TERM_LIMIT = 24


class Polynomial:
    """Immutable; `terms` is sorted by monomial and holds no zero coefficient. Hash and atoms are kept, since facts are
    compared and searched all the time."""

    __slots__ = ("_atoms", "_hash", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._atoms: frozenset[int] | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.terms)
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Polynomial) and self.terms == other.terms)

    def __repr__(self) -> str:
        return f"Polynomial({self.terms!r})"

    @property
    def constant(self) -> int | None:
        """The value, if it is a plain number."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def offset(self) -> int:
        """The constant term."""
        return self.terms[0][1] if self.terms and self.terms[0][0] == () else 0

    def atoms(self) -> frozenset[int]:
        if self._atoms is None:
            self._atoms = frozenset(atom for monomial, _ in self.terms for atom in monomial)
        return self._atoms

    def __add__(self, other: "Polynomial") -> "Polynomial":
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return from_terms(terms)

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, 0) - coefficient
        return from_terms(terms)

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        terms: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                monomial = tuple(sorted(left + right))
                terms[monomial] = terms.get(monomial, 0) + a * b
        return from_terms(terms)

    def scaled(self, factor: int) -> "Polynomial":
        if factor == 0:
            return ZERO
        return Polynomial(tuple((monomial, coefficient * factor) for monomial, coefficient in self.terms))

    def plus(self, number: int) -> "Polynomial":
        terms = self.terms
        if terms and terms[0][0] == ():
            number += terms[0][1]
            terms = terms[1:]
        return Polynomial((((), number), *terms) if number else terms)

    def substituted(self, values: Mapping[int, "Polynomial"]) -> "Polynomial":
        """The polynomial with some atoms replaced."""
        if not any(atom in values for monomial, _ in self.terms for atom in monomial):
            return self
        result = ZERO
        for monomial, coefficient in self.terms:
            term = number_polynomial(coefficient)
            for atom in monomial:
                term = term * values.get(atom, atom_polynomial(atom))
            result = result + term
        return result


def from_terms(terms: Mapping[Monomial, int]) -> Polynomial:
    return Polynomial(tuple(sorted([term for term in terms.items() if term[1]])))


def number_polynomial(number: int) -> Polynomial:
    return Polynomial((((), number),)) if number else ZERO


def atom_polynomial(atom: int) -> Polynomial:
    return Polynomial((((atom,), 1),))


def total(values: Iterable[Polynomial]) -> Polynomial:
    result = ZERO
    for value in values:
        result = result + value
    return result


ZERO = Polynomial(())
ONE = Polynomial((((), 1),))
