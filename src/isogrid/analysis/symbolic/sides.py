"""One access prepared for questions about two threads: who may be there, and what its guards say.

Everything that depends on the guards alone is worked out once for all accesses under equal guards.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np

from isogrid.analysis.symbolic.context import GROUP, LAUNCH, Access, Context
from isogrid.analysis.symbolic.formula import (
    AtLeastZero,
    Formula,
    IsZero,
    NotZero,
    Unknown,
    conjuncts,
    is_zero,
    negate,
    truth,
)
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.polynomial import Polynomial, TooLarge

#: A polynomial of literal coefficients without its constant.
Shape: TypeAlias = tuple[tuple[tuple[str, ...], int], ...]

#: Most cases that choices in the indices of one access make.
_MOST_CASES: Final = 8


@dataclass(frozen=True, slots=True)
class Common:
    """What one side is told of values that both threads of a question share.

    `least` has the least constant c of facts `shape + c >= 0`; `opposed` the same for the negated shapes.
    """

    facts: frozenset[Polynomial]
    least: dict[Shape, int]
    opposed: dict[Shape, int]
    different: tuple[Polynomial, ...]
    signs: frozenset[tuple[str, bool]]

    def contradicts(self, other: "Common") -> bool:
        """Whether what the two sides are told cannot hold together."""
        least = other.least
        if any(shape in least and least[shape] + constant < 0 for shape, constant in self.opposed.items()):
            return True
        if any((name, not positive) in self.signs for name, positive in other.signs):
            return True
        return _denied(self.different, other.facts) or _denied(other.different, self.facts)


def _denied(different: tuple[Polynomial, ...], facts: frozenset[Polynomial]) -> bool:
    """Whether facts say of something that it is 0, which it is not."""
    return any(d in facts and -d in facts for d in different)


@dataclass(slots=True)
class Guarded:
    """What guards say: the threads that may pass, linear facts (those of the launch behind their own), disequalities.
    Equal guards have one number."""

    number: int
    guards: tuple[Formula, ...]
    mask: Any
    threads: Any
    facts: list[Polynomial]
    different: list[Polynomial]
    equal: list[Polynomial]
    _common: dict[bool, Common] = field(default_factory=dict[bool, Common])
    _equalities: list[Polynomial] | None = None
    _zeros: frozenset[Polynomial] | None = None
    #: How many facts are of the guards themselves.
    own: int = 0

    @property
    def reachable(self) -> bool:
        return len(self.threads) > 0

    def common(self, c: Context, across: bool) -> Common:
        """The part about values that threads of one group, or (`across`) of two groups, share."""
        if across not in self._common:
            self._common[across] = self._shared(uniform_atoms(c, across))
        return self._common[across]

    def _shared(self, uniform: frozenset[str]) -> Common:
        facts = [p for p in self.facts if is_uniform(p, uniform)]
        least: dict[Shape, int] = {}
        opposed: dict[Shape, int] = {}
        for p in facts:
            shape, constant = _shape(p)
            least[shape] = min(constant, least.get(shape, constant))
        for shape, constant in least.items():
            opposed[tuple([(m, -v) for m, v in shape])] = constant
        unknowns = [g for g in conjuncts(self.guards) if isinstance(g, Unknown) and g.name in uniform]
        return Common(
            frozenset(facts),
            least,
            opposed,
            tuple(d for d in self.different if is_uniform(d, uniform)),
            frozenset((g.name, g.positive) for g in unknowns),
        )

    def equalities(self, c: Context) -> list[Polynomial]:
        """Polynomials that are 0: two facts together say so, each at the later of the two, or a guard says that one is
        not below 0 and it is not above 0 either, as `i` where `i > 0` does not hold."""
        if self._equalities is None:
            self._equalities = []
            seen: set[Polynomial] = set()
            for at, p in enumerate(self.facts):
                if p.terms and p not in seen:
                    if -p in seen or (at < self.own and -p not in self.facts and self._is_most(c, p)):
                        self._equalities.append(p)
                    seen.add(p)
        return self._equalities

    def is_zero(self, c: Context, p: Polynomial) -> bool:
        """Whether two facts together say that a polynomial is 0."""
        if self._zeros is None:
            self._zeros = frozenset(self.equalities(c))
        return p in self._zeros or -p in self._zeros

    def _is_most(self, c: Context, p: Polynomial) -> bool:
        return prove(c, -p, self.facts, self.mask, 1)


@dataclass(frozen=True, slots=True)
class Side:
    """An access and what is in force there."""

    access: Access
    guarded: Guarded

    @property
    def mask(self) -> Any:
        return self.guarded.mask

    @property
    def facts(self) -> list[Polynomial]:
        return self.guarded.facts


class Sides:
    """Prepares the accesses of one symbolic execution, once that is over."""

    def __init__(self, c: Context) -> None:
        self._context = c
        self._guarded: dict[tuple[Formula, ...], Guarded] = {}
        self._cases: dict[tuple[tuple[Polynomial, ...], int], list[Side]] = {}

    def cases(self, side: Side) -> list[Side]:
        """The access as it can happen. An index that is one of two values is two accesses, each under what chose it:
        `x[i - 1 if i > 0 else n - 1]`."""
        key = (side.access.indices, side.guarded.number)
        if key not in self._cases:
            made = [self.of(case) for case in _cases(self._context, side.access, _MOST_CASES)]
            self._cases[key] = [case for case in made if case.guarded.reachable]
        return self._cases[key]

    def of(self, access: Access) -> Side:
        guarded = self._guarded.get(access.guards)
        if guarded is None:
            guarded = _guarded(self._context, access.guards, len(self._guarded))
            self._guarded[access.guards] = guarded
        return Side(access, guarded)


def _cases(c: Context, access: Access, most: int) -> list[Access]:
    """The access under each way in which the choices in its indices may have been made."""
    choice = _first_choice(c, access) if most > 1 else None
    if choice is None:
        return [access]
    name, (condition, then, otherwise) = choice
    found: list[Access] = []
    for held, value in ((condition, then), (negate(condition), otherwise)):
        guards = (*access.guards, held, is_zero(Polynomial.atom(name) - value))
        try:
            indices = tuple(p.substituted(name, value) for p in access.indices)
        except TooLarge:
            return [access]
        found += _cases(c, replace(access, indices=indices, guards=guards), most // 2)
    return found


def _first_choice(c: Context, access: Access) -> tuple[str, tuple[Formula, Polynomial, Polynomial]] | None:
    """A value in an index that is one of two."""
    for index in access.indices:
        for name in sorted(index.atoms()):
            definition = c.atoms[name].definition
            if definition is not None and definition[0] == "choice":
                condition, then, otherwise = definition[1]
                return name, (condition, then, otherwise)
    return None


def _guarded(c: Context, guards: tuple[Formula, ...], number: int) -> Guarded:
    mask = np.ones(c.size, bool)
    facts: list[Polynomial] = []
    different: list[Polynomial] = []
    equal: list[Polynomial] = []
    for f in conjuncts(guards):
        held = truth(f)
        if not isinstance(held, int):
            mask &= held != 0
        elif held == 0:
            mask[:] = False
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
    facts += _flags(c, guards)
    for p in different:
        # What is not 0 and not negative is at least 1.
        known = facts + c.facts
        facts += [q.shift(-1) for q in (p, -p) if prove(c, q, known, mask, 1)]
    return Guarded(number, guards, mask, np.nonzero(mask)[0], facts + c.facts, different, equal, own=len(facts))


def _flags(c: Context, guards: tuple[Formula, ...]) -> list[Polynomial]:
    """Conditions that are counted as 0 or 1, where guards say which."""
    if not c.flags:
        return []
    held = set(conjuncts(guards))
    found: list[Polynomial] = []
    for name, condition in c.flags.items():
        p = Polynomial.atom(name)
        if held.issuperset(conjuncts([condition])):
            found.append(p.shift(-1))
        elif held.issuperset(conjuncts([negate(condition)])):
            found.append(-p)
    return found


def uniform_atoms(c: Context, across: bool) -> frozenset[str]:
    """Atoms that have one value for both threads of the question."""
    key = (across, len(c.atoms))
    if key not in c.uniform:
        limit = LAUNCH if across else GROUP
        c.uniform[key] = frozenset(n for n, a in c.atoms.items() if a.level <= limit)
    return c.uniform[key]


def is_uniform(p: Polynomial, uniform: frozenset[str]) -> bool:
    """Whether a polynomial has one value for both threads of a question."""
    return all(isinstance(v, int) and uniform.issuperset(m) for m, v in p.terms.items())


def _shape(p: Polynomial) -> tuple[Shape, int]:
    """The terms of a uniform polynomial without the constant, and the constant."""
    terms = [(m, v) for m, v in p.terms.items() if m and isinstance(v, int)]
    constant = p.constant_term
    return tuple(sorted(terms)), constant if isinstance(constant, int) else 0
