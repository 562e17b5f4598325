"""Integers as polynomials over atoms, with one coefficient per thread of a group: `gid` is `256*g + lid`.

A coefficient is a Python int where it is the same for every thread of the group, and an int64 vector over the linear
thread index where it is not. Arithmetic is exact; a vector that could leave 2^62 raises `TooLarge`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from isogrid.support.errors import IsogridError

Vector: TypeAlias = npt.NDArray[np.int64]
Coefficient: TypeAlias = int | Vector
Monomial: TypeAlias = tuple[str, ...]

_LIMIT: Final = 1 << 62


class TooLarge(IsogridError):
    """The proof search met a number or a count beyond its fixed limits; the kernel is then not proved."""


def largest(c: Coefficient) -> int:
    """Greatest magnitude among the coefficient's entries."""
    if isinstance(c, int):
        return abs(c)
    return max(abs(int(c.max())), abs(int(c.min())))


def normal(c: Coefficient) -> Coefficient:
    """An int where all entries agree."""
    if isinstance(c, int):
        return c
    first = c[0]
    return int(first) if (c == first).all() else c


def add(a: Coefficient, b: Coefficient) -> Coefficient:
    if isinstance(a, int) and isinstance(b, int):
        return _bounded(a + b)
    if largest(a) + largest(b) >= _LIMIT:
        raise TooLarge("a coefficient leaves 62 bits")
    # A vector that differs between threads still does when all its entries grow alike.
    return a + b if isinstance(a, int) or isinstance(b, int) else normal(a + b)


def multiply(a: Coefficient, b: Coefficient) -> Coefficient:
    if isinstance(a, int) and isinstance(b, int):
        return _bounded(a * b)
    if isinstance(b, int):
        a, b = b, a
    if isinstance(a, int) and -1 <= a <= 1:
        # Every coefficient is within the limit, and stays so.
        return (b if a > 0 else -b) if a else 0
    if largest(a) * largest(b) >= _LIMIT:
        raise TooLarge("a coefficient leaves 62 bits")
    return normal(a * b)


def _bounded(value: int) -> int:
    if -_LIMIT < value < _LIMIT:
        return value
    raise TooLarge("a coefficient leaves 62 bits")


def is_zero(c: Coefficient) -> bool:
    return isinstance(c, int) and c == 0


def one_number(a: Coefficient, b: Coefficient) -> bool:
    """One literal, whichever two threads `a` and `b` are asked of: equal vectors may differ between two threads."""
    return isinstance(a, int) and isinstance(b, int) and a == b


def at(c: Coefficient, lid: int) -> int:
    return c if isinstance(c, int) else int(c[lid])


def _monomial(term: tuple[Monomial, Coefficient]) -> Monomial:
    return term[0]


class Polynomial:
    """Immutable sum of monomials over atoms. The empty monomial is the constant term; zero terms are absent."""

    __slots__ = ("_hash", "_key", "terms")

    def __init__(self, terms: Mapping[Monomial, Coefficient]) -> None:
        self.terms: Mapping[Monomial, Coefficient] = terms
        self._key: Any = None
        self._hash: int | None = None

    @staticmethod
    def constant(c: Coefficient) -> "Polynomial":
        c = normal(c)
        return ZERO if is_zero(c) else Polynomial({(): c})

    @staticmethod
    def atom(name: str) -> "Polynomial":
        return Polynomial({(name,): 1})

    @property
    def key(self) -> Any:
        """Hashable normal form."""
        if self._key is None:
            terms: Any = self.terms.items() if len(self.terms) < 2 else sorted(self.terms.items(), key=_monomial)
            self._key = tuple((m, c if isinstance(c, int) else c.tobytes()) for m, c in terms)
        return self._key

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Polynomial) and self.key == other.key)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.key)
        return self._hash

    def __repr__(self) -> str:
        if not self.terms:
            return "0"
        parts = (
            "*".join((str(c if isinstance(c, int) else c.tolist()), *m))
            for m, c in sorted(self.terms.items(), key=lambda t: t[0])
        )
        return " + ".join(parts)

    def __add__(self, other: "Polynomial") -> "Polynomial":
        return self.plus(other, 1)

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        return self.plus(other, -1)

    def __neg__(self) -> "Polynomial":
        return Polynomial({m: -c for m, c in self.terms.items()})

    def plus(self, other: "Polynomial", factor: Coefficient) -> "Polynomial":
        """self + factor * other."""
        if not self.terms and isinstance(factor, int) and factor == 1:
            return other
        terms = dict(self.terms)
        for m, c in other.terms.items():
            scaled = multiply(c, factor)
            total = add(terms[m], scaled) if m in terms else scaled
            if isinstance(total, int) and total == 0:
                terms.pop(m, None)
            else:
                terms[m] = total
        return Polynomial(terms)

    def complement(self) -> "Polynomial":
        """-1 - self, which is at least 0 where self is not."""
        terms: dict[Monomial, Coefficient] = {m: -c for m, c in self.terms.items()}
        constant = add(terms.pop((), 0), -1)
        if not is_zero(constant):
            terms[()] = constant
        return Polynomial(terms)

    def shift(self, amount: int) -> "Polynomial":
        """self + amount."""
        return self.plus(ONE, amount)

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        terms: dict[Monomial, Coefficient] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                k = tuple(sorted(m + n)) if m and n else m or n
                product = multiply(c, d)
                total = add(terms[k], product) if k in terms else product
                if is_zero(total):
                    terms.pop(k, None)
                else:
                    terms[k] = total
        if len(terms) > 64:
            raise TooLarge("a polynomial has more than 64 terms")
        return Polynomial(terms)

    def scaled_monomial(self, monomial: Monomial, factor: Coefficient) -> "Polynomial":
        """self * factor * monomial."""
        return Polynomial(
            {
                tuple(sorted(m + monomial)): product
                for m, c in self.terms.items()
                if not is_zero(product := multiply(c, factor))
            }
        )

    def substituted(self, name: str, value: "Polynomial") -> "Polynomial":
        """The polynomial with a value in place of an atom."""
        out = Polynomial({m: v for m, v in self.terms.items() if name not in m})
        for m, v in self.terms.items():
            if name in m:
                product = Polynomial({tuple(n for n in m if n != name): v})
                for _ in range(m.count(name)):
                    product = product * value
                out = out + product
        return out

    @property
    def constant_term(self) -> Coefficient:
        return self.terms.get((), 0)

    @property
    def as_constant(self) -> Coefficient | None:
        """The value where no atom occurs, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and () in self.terms:
            return self.terms[()]
        return None

    def atoms(self) -> set[str]:
        return {name for m in self.terms for name in m}

    def uniform_coefficients(self) -> bool:
        """Whether no coefficient differs between threads of a group."""
        return all(isinstance(c, int) for c in self.terms.values())

    def without_constant(self) -> "Polynomial":
        return Polynomial({m: c for m, c in self.terms.items() if m})

    def divided(self, g: int) -> "Polynomial":
        """Exact quotient of every coefficient."""
        return Polynomial({m: c // g for m, c in self.terms.items()})

    def evaluate(self, values: Mapping[str, int], lid: int) -> int:
        total = 0
        for m, c in self.terms.items():
            product = at(c, lid)
            for name in m:
                product *= values[name]
            total += product
        return total


ZERO: Final = Polynomial({})
ONE: Final = Polynomial({(): 1})


def from_zero(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Both less the smallest constant in either, so that a shifted index has the range of an unshifted one."""
    least = min(int(np.min(r.constant_term)) for r in (p, q))
    return (p.shift(-least), q.shift(-least)) if least else (p, q)


def common_divisor(polynomials: Iterable[Polynomial]) -> int:
    """Greatest common divisor of all coefficients of non-constant terms, 0 where there are none."""
    g = 0
    for p in polynomials:
        for m, c in p.terms.items():
            if m:
                g = int(np.gcd(g, abs(c))) if isinstance(c, int) else int(np.gcd(g, np.gcd.reduce(c)))
                if g == 1:
                    return 1
    return g
