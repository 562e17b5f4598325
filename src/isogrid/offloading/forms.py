"""Indices as polynomials over the loop's counter, nested counters and values that do not change in the loop.

`i * w + x` is {(i, w): 1, (x,): 1}. Two indices are structurally equal when their polynomials are. Names assigned once
and conversions between checked integers are seen through; checked arithmetic is exact, because it traps otherwise.
"""

from collections.abc import Hashable
from dataclasses import field
from enum import Enum
from typing import Final

from isogrid.analysis.linear import ZERO, Polynomial, atom_polynomial, from_terms, number_polynomial
from isogrid.ir import kernel as k
from isogrid.ir.walk import visit_exprs
from isogrid.offloading.loop_facts import LoopFacts
from isogrid.support.records import dataclass


class Kind(Enum):
    """What an atom does during the loop."""

    COUNTER = "the loop's own counter"
    NESTED = "the counter of a nested loop"
    FIXED = "the same in all iterations"
    VARYING = "anything else"


@dataclass(frozen=True, slots=True)
class Atom:
    """One unknown. `value` is the expression of a FIXED one, `loop` the loop of a NESTED one."""

    kind: Kind
    value: k.Expr | None = None
    loop: k.For | None = None


#: The number of the loop's own counter.
COUNTER: Final = 0


@dataclass(slots=True)
class Forms:
    """Polynomials of one loop; equal things have equal atoms."""

    facts: LoopFacts
    atoms: list[Atom] = field(default_factory=lambda: [Atom(Kind.COUNTER)])
    numbers: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    names: dict[str, Polynomial] = field(default_factory=dict[str, Polynomial])

    def of(self, node: k.Expr) -> Polynomial:
        """The polynomial of an integer expression of the body."""
        match node:
            case k.Const(value=value) if node.type.is_integer:
                return number_polynomial(value)
            case k.Local(name=name):
                return self._local(node, name)
            case k.ScalarValue() | k.DimValue():
                return self._fixed(node)
            case k.Binary(op="add", left=left, right=right) if node.type.is_checked:
                return self.of(left) + self.of(right)
            case k.Binary(op="sub", left=left, right=right) if node.type.is_checked:
                return self.of(left) - self.of(right)
            case k.Binary(op="mul", left=left, right=right) if node.type.is_checked:
                return self.of(left) * self.of(right)
            case k.Binary(op=("floordiv" | "mod") as op, left=left, right=right) if node.type.is_checked:
                return self._quotient(op, self.of(left), self.of(right), node)
            case k.Unary(op="neg", operand=operand) if node.type.is_checked:
                return self.of(operand).scaled(-1)
            case k.Cast(value=value) if node.type.is_checked and value.type.is_checked:
                return self.of(value)
            case k.Load(array=array, indices=indices) if array not in self.facts.array_targets and not self._own(array):
                return self._element(node, array, tuple(self.of(index) for index in indices))
            case _:
                return self._fixed(node) if self.is_fixed(node) else self._unknown()

    def is_fixed(self, node: k.Expr) -> bool:
        """Whether an expression has the same value in all iterations."""
        for part in visit_exprs(node):
            match part:
                case k.Local(name=name):
                    if name in self.facts.changed:
                        return False
                case k.Load(array=array):
                    if array in self.facts.array_targets or self._own(array):
                        return False
                case k.Query():
                    return False
                case _:
                    pass
        return True

    def kind(self, atom: int) -> Kind:
        return self.atoms[atom].kind

    def fixed(self, value: Polynomial) -> bool:
        """Whether all atoms of a polynomial are the same in all iterations."""
        return all(self.kind(atom) is Kind.FIXED for atom in value.atoms())

    def linear(self, value: Polynomial) -> tuple[Polynomial, Polynomial] | None:
        """`(a, rest)` with value = a * counter + rest, where the counter is in neither."""
        coefficient: dict[tuple[int, ...], int] = {}
        rest: dict[tuple[int, ...], int] = {}
        for monomial, factor in value.terms:
            match monomial.count(COUNTER):
                case 0:
                    rest[monomial] = factor
                case 1:
                    coefficient[tuple(a for a in monomial if a != COUNTER)] = factor
                case _:
                    return None
        return from_terms(coefficient), from_terms(rest)

    def _local(self, node: k.Local, name: str) -> Polynomial:
        facts = self.facts
        if name == facts.loop.counter and name not in facts.assigned and name not in facts.counters:
            return atom_polynomial(COUNTER)
        if name not in facts.changed:
            return self._fixed(node)
        loops = facts.counters.get(name, [])
        if len(loops) == 1 and name not in facts.assigned and name != facts.loop.counter:
            return self._numbered(("nested", name), Atom(Kind.NESTED, loop=loops[0]))
        only = facts.once(name)
        if only is None:
            return self._unknown()
        if name not in self.names:
            self.names[name] = self._unknown()  # a name that is given itself
            self.names[name] = self.of(only.value)
        return self.names[name]

    def _fixed(self, node: k.Expr) -> Polynomial:
        return self._numbered(("fixed", node), Atom(Kind.FIXED, value=node))

    def _quotient(self, op: str, left: Polynomial, right: Polynomial, node: k.Expr) -> Polynomial:
        kind = Kind.FIXED if self.fixed(left) and self.fixed(right) else Kind.VARYING
        return self._numbered((op, left, right), Atom(kind, value=node if kind is Kind.FIXED else None))

    def _element(self, node: k.Load, array: str, indices: tuple[Polynomial, ...]) -> Polynomial:
        kind = Kind.FIXED if all(self.fixed(index) for index in indices) else Kind.VARYING
        return self._numbered(("element", array, indices), Atom(kind, value=node if kind is Kind.FIXED else None))

    def _own(self, array: str) -> bool:
        return array in self.facts.own_arrays

    def _numbered(self, key: Hashable, atom: Atom) -> Polynomial:
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.atoms)
            self.atoms.append(atom)
        return atom_polynomial(number)

    def _unknown(self) -> Polynomial:
        self.atoms.append(Atom(Kind.VARYING))
        return atom_polynomial(len(self.atoms) - 1)


def divided(value: Polynomial, by: Polynomial) -> Polynomial | None:
    """`value / by` where `by` is one term and divides every term of `value`."""
    if value == by:
        return number_polynomial(1)
    if len(by.terms) != 1:
        return None
    atoms, factor = by.terms[0]
    result: dict[tuple[int, ...], int] = {}
    for monomial, coefficient in value.terms:
        rest = list(monomial)
        for atom in atoms:
            if atom not in rest:
                return None
            rest.remove(atom)
        if coefficient % factor:
            return None
        result[tuple(rest)] = coefficient // factor
    return from_terms(result) if result else ZERO
