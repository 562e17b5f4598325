"""Decide `goal >= 0` from linear facts: intervals first, then Fourier-Motzkin elimination, then a case distinction.

The work is bounded by counts, never by time, so the verdict is the same everywhere. A proof over the rationals is
a proof over the integers; facts are tightened by their common divisor.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

from isogrid.analysis.elimination import Row, no_solution, tightest
from isogrid.analysis.linear import Monomial, Polynomial, number_polynomial
from isogrid.analysis.models import Model, find_model
from isogrid.analysis.ranges import Atoms, Facts

_FACT_LIMIT = 40
_PRODUCT_LIMIT = 32
_CASE_DEPTH = 3
#: Eliminations after which a kernel gets only the first and cheapest look at each question.
_WORK_LIMIT = 1200


@dataclass(slots=True)
class _Told:
    """What was asked under some facts; `themselves` are the facts, to look one up."""

    themselves: frozenset[Polynomial]
    proved: dict[Polynomial, bool] = field(default_factory=dict[Polynomial, bool])
    seen: dict[Polynomial, bool] = field(default_factory=dict[Polynomial, bool])


@dataclass(slots=True)
class Solver:
    atoms: Atoms

    _told: dict[Facts, _Told] = field(default_factory=dict[Facts, _Told])

    #: The same by the identity of the facts, which are kept, so that no other facts get it: the same ones are in force
    #: for many questions, and hashing them costs more than most answers.
    _by_identity: dict[int, tuple[Facts, _Told]] = field(default_factory=dict[int, "tuple[Facts, _Told]"])

    #: The values of atoms in the models found last.
    _guess: Model = field(default_factory=dict[int, int])

    #: Eliminations done so far.
    work: int = 0

    #: Whether questions that intervals leave open go to elimination, which is most of the work of an analysis.
    eliminates: bool = True

    def proves(self, goal: Polynomial, facts: Facts) -> bool:
        """Whether `goal >= 0` follows from the facts and from what defines the atoms."""
        if self.atoms.range(goal)[0] >= 0:
            return True
        told = self._under(facts)
        if goal in told.themselves:
            return True
        verdict = told.proved.get(goal)
        if verdict is None:
            verdict = told.proved[goal] = self._search(goal, facts, _CASE_DEPTH)
        return verdict

    def proves_quickly(self, goal: Polynomial, facts: Facts) -> bool:
        """A weaker `proves` for questions that only sharpen a value."""
        low, high = self.atoms.range(goal)
        if low >= 0:
            return True
        told = self._under(facts)
        if goal in told.themselves:
            return True
        if high < 0:
            return False
        verdict = told.seen.get(goal)
        if verdict is None:
            verdict = told.seen[goal] = self._refutes(goal, facts, 2)
        return verdict

    def sees(self, goal: Polynomial, facts: Facts) -> bool:
        """Whether intervals or a fact say so at once."""
        return self.atoms.range(goal)[0] >= 0 or goal in self._under(facts).themselves

    def _under(self, facts: Facts) -> _Told:
        known = self._by_identity.get(id(facts))
        if known is None:
            told = self._told.get(facts)
            if told is None:
                told = self._told[facts] = _Told(frozenset(facts))
            known = self._by_identity[id(facts)] = facts, told
        return known[1]

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
                instance = goal.substituted(values)
                if self.atoms.range(instance)[0] >= 0:
                    continue
                told: Facts = ()
                if self.eliminates:
                    told = tuple(fact.substituted(values) for fact in (*facts, *self.atoms.table[atom].facts))
                if not self._search(instance, (*told, *case.facts), depth - 1):
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
        if (model := find_model(self.atoms, told, self._guess)) is not None:
            self._guess.update(model)
            return False
        told = told + self._products(told)
        if any(_is_false(polynomial) for polynomial in told):
            return True
        return no_solution(self._numbered([row for polynomial in told if (row := _row(polynomial)) is not None]))

    def _numbered(self, rows: Iterable[tuple[tuple[tuple[Monomial, int], ...], int]]) -> tuple[Row, ...]:
        """The inequalities and the ranges of their monomials, which get numbers in their order: the same question
        about other atoms then looks the same."""
        best: dict[tuple[tuple[Monomial, int], ...], int] = {}
        for terms, constant in rows:
            if terms not in best or constant < best[terms]:
                best[terms] = constant
        monomials = sorted({monomial for terms in best for monomial, _ in terms})
        number = {monomial: at for at, monomial in enumerate(monomials)}
        numbered = [(tuple([(number[m], c) for m, c in terms]), constant) for terms, constant in best.items()]
        for at, monomial in enumerate(monomials):
            low, high = self.atoms.monomial_range(monomial)
            numbered.append((((at, 1),), -low))
            numbered.append((((at, -1),), high))
        return tuple(tightest(numbered))

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


def _row(polynomial: Polynomial) -> tuple[tuple[tuple[Monomial, int], ...], int] | None:
    """A polynomial as an inequality in lowest terms; None for a plain number."""
    terms = polynomial.terms
    offset = 0
    if terms and terms[0][0] == ():
        offset = terms[0][1]
        terms = terms[1:]
    if not terms:
        return None
    divisor = gcd(*[c for _, c in terms])
    if divisor == 1:
        return terms, offset
    # Rounding the constant down is what makes this an integer proof.
    return tuple([(m, c // divisor) for m, c in terms]), offset // divisor
