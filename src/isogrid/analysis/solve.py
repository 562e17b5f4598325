"""Decide `goal >= 0` from linear facts: intervals first, then Fourier-Motzkin elimination, then a case distinction.

The work is bounded by counts, never by time, so the verdict is the same everywhere. A proof over the rationals is
a proof over the integers; facts are tightened by their common divisor.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd
from typing import TypeAlias

from isogrid.analysis.linear import Monomial, Polynomial, number_polynomial
from isogrid.analysis.ranges import Atoms, Facts

#: One inequality over monomials: coefficients and the constant; the sum is at least 0.
_Row: TypeAlias = tuple[tuple[tuple[Monomial, int], ...], int]

_FACT_LIMIT = 40
_PRODUCT_LIMIT = 32
_ROW_LIMIT = 160
_CASE_DEPTH = 3
#: Eliminations after which a kernel gets only the first and cheapest look at each question.
_WORK_LIMIT = 1200


@dataclass(slots=True)
class Solver:
    atoms: Atoms
    _memo: dict[tuple[Polynomial, Facts], bool] = field(default_factory=dict[tuple[Polynomial, Facts], bool])

    _quick: dict[tuple[Polynomial, Facts], bool] = field(default_factory=dict[tuple[Polynomial, Facts], bool])

    #: Eliminations done so far.
    work: int = 0

    #: Whether questions that intervals leave open go to elimination, which is most of the work of an analysis.
    eliminates: bool = True

    def proves(self, goal: Polynomial, facts: Facts) -> bool:
        """Whether `goal >= 0` follows from the facts and from what defines the atoms."""
        if self.atoms.range(goal)[0] >= 0:
            return True
        if goal in facts:
            return True
        key = (goal, facts)
        verdict = self._memo.get(key)
        if verdict is None:
            verdict = self._memo[key] = self._search(goal, facts, _CASE_DEPTH)
        return verdict

    def proves_quickly(self, goal: Polynomial, facts: Facts) -> bool:
        """A weaker `proves` for questions that only sharpen a value."""
        if self.atoms.range(goal)[0] >= 0 or goal in facts:
            return True
        if self.atoms.range(goal)[1] < 0:
            return False
        key = (goal, facts)
        verdict = self._quick.get(key)
        if verdict is None:
            verdict = self._quick[key] = self._refutes(goal, facts, 2)
        return verdict

    def contradictory(self, facts: Facts) -> bool:
        """Whether no thread can be where these facts hold."""
        return any(self.atoms.range(fact)[1] < 0 for fact in facts) or self._refutes(None, facts, 2)

    def _search(self, goal: Polynomial, facts: Facts, depth: int) -> bool:
        if self.atoms.range(goal)[0] >= 0:
            return True
        if self._refutes(goal, facts, 1):
            return True
        if self.work > _WORK_LIMIT:
            return False
        if self._refutes(goal, facts, 4):
            return True
        return depth > 0 and self._by_cases(goal, facts, depth)

    def _by_cases(self, goal: Polynomial, facts: Facts, depth: int) -> bool:
        """Replace an atom by each value that it may have."""
        for atom in sorted(goal.atoms(), reverse=True):
            cases = self.atoms.table[atom].cases
            if not cases:
                continue
            for case in cases:
                values = {atom: case.value}
                told = tuple(fact.substituted(values) for fact in (*facts, *self.atoms.table[atom].facts))
                if not self._search(goal.substituted(values), (*told, *case.facts), depth - 1):
                    return False
            return True
        return False

    # --- elimination --------------------------------------------------------------------------------------------------

    def _refutes(self, goal: Polynomial | None, facts: Facts, reach: int) -> bool:
        """Whether `goal <= -1` contradicts the facts that are at most `reach` steps of shared atoms away."""
        if not self.eliminates:
            return False
        self.work += 1
        start = goal.atoms() if goal is not None else frozenset(a for fact in facts for a in fact.atoms())
        told = self._relevant(start, facts, reach)
        if goal is not None:
            told = [goal.scaled(-1).plus(-1), *told]
        told = told + self._products(told)
        if any(_is_false(polynomial) for polynomial in told):
            return True
        rows = {row for polynomial in told if (row := _row(polynomial)) is not None}
        for monomial in sorted({m for row in rows for m, _ in row[0]}):
            low, high = self.atoms.monomial_range(monomial)
            rows.add((((monomial, 1),), -low))
            rows.add((((monomial, -1),), high))
        return _eliminate(rows)

    def _relevant(self, start: Iterable[int], facts: Facts, reach: int) -> list[Polynomial]:
        atoms = set(start)
        chosen: dict[Polynomial, None] = {}
        for _ in range(reach):
            found: set[int] = set()
            for fact in facts:
                if fact not in chosen and not atoms.isdisjoint(fact.atoms()):
                    chosen[fact] = None
                    found |= fact.atoms()
            for atom in sorted(atoms):
                for fact in self.atoms.table[atom].facts:
                    if fact not in chosen:
                        chosen[fact] = None
                        found |= fact.atoms()
            if len(chosen) > _FACT_LIMIT or found <= atoms:
                break
            atoms |= found
        return list(chosen)[:_FACT_LIMIT]

    def _products(self, told: list[Polynomial]) -> list[Polynomial]:
        """Facts times factors that are never negative, where that speaks of a product which occurs.

        `i <= H - 1` times W gives `i * W <= H * W - W`, which bounds `i * W + x` by `H * W - 1`.
        """
        products: dict[Polynomial, None] = {}
        occurring = sorted({m for p in told for m, _ in p.terms if len(m) > 1})
        for monomial in occurring:
            for position, atom in enumerate(monomial):
                if position and monomial[position - 1] == atom:
                    continue
                cofactor = monomial[:position] + monomial[position + 1 :]
                if self.atoms.monomial_range(cofactor)[0] < 0:
                    continue
                factor = Polynomial(((cofactor, 1),))
                ends = self._ends(atom)
                for fact in (*told, *ends):
                    if any(m == (atom,) for m, _ in fact.terms) and all(len(m) < 2 for m, _ in fact.terms):
                        products[fact * factor] = None
                        if len(products) >= _PRODUCT_LIMIT:
                            return list(products)
        return list(products)

    def _ends(self, atom: int) -> tuple[Polynomial, Polynomial]:
        record = self.atoms.table[atom]
        value = Polynomial((((atom,), 1),))
        return value.plus(-record.low), number_polynomial(record.high) - value


def _is_false(polynomial: Polynomial) -> bool:
    constant = polynomial.constant
    return constant is not None and constant < 0


def _row(polynomial: Polynomial) -> _Row | None:
    """A polynomial as an inequality in lowest terms; None for a plain number."""
    terms = [(m, c) for m, c in polynomial.terms if m]
    if not terms:
        return None
    divisor = gcd(*(c for _, c in terms))
    # Rounding the constant down is what makes this an integer proof.
    return tuple((m, c // divisor) for m, c in terms), polynomial.offset // divisor


def _eliminate(rows: set[_Row]) -> bool:
    """Whether the inequalities have no solution, by removing one unknown after another."""
    current = _tightest(rows)
    while current:
        unknown = _cheapest(current)
        positive: list[_Row] = []
        negative: list[_Row] = []
        rest: set[_Row] = set()
        for row in current:
            coefficient = next((c for m, c in row[0] if m == unknown), 0)
            (positive if coefficient > 0 else negative).append(row) if coefficient else rest.add(row)
        if len(rest) + len(positive) * len(negative) > _ROW_LIMIT:
            return False
        for up in positive:
            for down in negative:
                combined = _combine(up, down, unknown)
                if not combined[0]:
                    if combined[1] < 0:
                        return True
                else:
                    rest.add(combined)
        current = _tightest(rest)
    return False


def _tightest(rows: set[_Row]) -> list[_Row]:
    """Of inequalities with the same coefficients only the strongest, in a fixed order."""
    best: dict[tuple[tuple[Monomial, int], ...], int] = {}
    for terms, constant in rows:
        if terms not in best or constant < best[terms]:
            best[terms] = constant
    return sorted(best.items())


def _cheapest(rows: list[_Row]) -> Monomial:
    """The unknown whose removal makes the fewest new inequalities."""
    counts: dict[Monomial, list[int]] = {}
    for terms, _ in rows:
        for monomial, coefficient in terms:
            counts.setdefault(monomial, [0, 0])[coefficient > 0] += 1
    return min(sorted(counts), key=lambda m: counts[m][0] * counts[m][1] - counts[m][0] - counts[m][1])


def _combine(up: _Row, down: _Row, unknown: Monomial) -> _Row:
    """The consequence of two inequalities in which `unknown` cancels."""
    a = next(c for m, c in up[0] if m == unknown)
    b = -next(c for m, c in down[0] if m == unknown)
    terms: dict[Monomial, int] = {}
    for row, factor in ((up, b), (down, a)):
        for monomial, coefficient in row[0]:
            terms[monomial] = terms.get(monomial, 0) + coefficient * factor
    constant = up[1] * b + down[1] * a
    kept = sorted((m, c) for m, c in terms.items() if c)
    if not kept:
        return (), constant
    divisor = gcd(*(c for _, c in kept))
    return tuple((m, c // divisor) for m, c in kept), constant // divisor
