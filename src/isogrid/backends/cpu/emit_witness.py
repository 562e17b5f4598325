"""Roots that need no test of their own: where one goes wrong, a variable of the loop is NaN afterwards.

for j trips t: let s = fma(d, d, 0.01); let q = m / (s * sqrt(s)); set sum = fma(d, q, sum)

`s` is 0.01 or more, infinite, or NaN. The root made without the divider is exact for the first, and NaN for the others;
a NaN passes through products, quotients and sums, and `sum` keeps it. So the loop needs one look at `sum` behind it:
where that is NaN, the loop runs once more with roots that are tested.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from isogrid.ir import device as d
from isogrid.ir.device import Machine

#: Operations whose result is NaN where an operand is.
_STRICT: Final = frozenset({"fadd", "fsub", "fmul", "fdiv", "fma", "fneg", "fabs", "fsqrt"})
#: 2^-96 as bits: from here on roots are exact without the divider (decision 0055).
_LEAST: Final = (127 - 96) << 23
_INFINITY: Final = 0xFF << 23


def witnesses(body: Sequence[d.Statement]) -> tuple[str, ...]:
    """Variables of a loop's body one of which is NaN behind the loop if any f32 root was taken of anything but a number
    from 2^-96 on. None where that cannot be told, or where there is no root."""
    facts, found = _Facts(), list[frozenset[str]]()
    lasting = _lasting(body)
    for place, node in enumerate(body):
        if not isinstance(node, d.Let | d.Set):
            return ()
        if _has_root(node.value):
            reached = _reached(body[place:], lasting)
            if not facts.covers(node.value) or not reached:
                return ()
            found.append(reached)
        if isinstance(node, d.Let):
            facts.learn(node)
    shared = frozenset[str].intersection(*found) if found else frozenset[str]()
    return tuple(sorted(shared))[:1] if shared else tuple(sorted(frozenset[str]().union(*found)))


def _lasting(body: Sequence[d.Statement]) -> frozenset[str]:
    """Variables that stay NaN once they are."""
    sets = [node for node in body if isinstance(node, d.Set)]
    fleeting = {node.name for node in sets if not _passes(node.value, frozenset({node.name}))}
    return frozenset(node.name for node in sets if node.value.type is Machine.F32) - fleeting


def _reached(body: Sequence[d.Statement], lasting: frozenset[str]) -> frozenset[str]:
    """Lasting variables that are NaN after `body` if what its first statement computes is."""
    poisoned, found = set[str](), set[str]()
    for place, node in enumerate(body):
        if not isinstance(node, d.Let | d.Set) or (place and not _passes(node.value, frozenset(poisoned))):
            continue
        if isinstance(node, d.Let):
            poisoned.add(node.name)
        elif node.name in lasting:
            found.add(node.name)
    return frozenset(found)


def _passes(node: d.Expr, names: frozenset[str]) -> bool:
    """Whether the value is NaN where one of `names` is."""
    match node:
        case d.Value():
            return node.name in names
        case d.Op():
            return node.op in _STRICT and any(_passes(a, names) for a in node.arguments)
        case _:
            return False


def _has_root(node: d.Expr) -> bool:
    match node:
        case d.Op():
            own = node.op == "fsqrt" and node.type is Machine.F32
            return own or any(_has_root(a) for a in node.arguments)
        case d.Load():
            return _has_root(node.index)
        case _:
            return False


@dataclass(slots=True)
class _Facts:
    """Names whose values are known to be NaN or 2^-96 and more, and NaN or not below zero."""

    large: set[str] = field(default_factory=set[str])
    positive: set[str] = field(default_factory=set[str])

    def learn(self, node: d.Let) -> None:
        if self._is_large(node.value):
            self.large.add(node.name)
        if self._is_positive(node.value):
            self.positive.add(node.name)

    def covers(self, node: d.Expr) -> bool:
        """Whether all roots in an expression are of large numbers, and the expression is NaN where one of them is."""
        match node:
            case d.Op() if _has_root(node):
                large = node.op != "fsqrt" or self._is_large(node.arguments[0])
                return large and node.op in _STRICT and all(self.covers(a) for a in node.arguments)
            case _:
                return not _has_root(node)

    def _is_large(self, node: d.Expr) -> bool:
        """Rounding keeps order: a square and a large number round to no less than the large number."""
        match node:
            case d.Literal():
                return node.type is Machine.F32 and _LEAST <= node.bits <= _INFINITY
            case d.Value():
                return node.name in self.large
            case d.Op(op="fma", arguments=(a, b, c)):
                return _is_square(a, b) and self._is_large(c)
            case d.Op(op="fadd", arguments=(a, b)):
                return (self._is_large(a) and self._is_positive(b)) or (self._is_large(b) and self._is_positive(a))
            case d.Op(op="fmax", arguments=(a, b)):
                return self._is_large(a) or self._is_large(b)
            case _:
                return False

    def _is_positive(self, node: d.Expr) -> bool:
        match node:
            case d.Literal():
                return node.type is Machine.F32 and node.bits <= _INFINITY
            case d.Value():
                return node.name in self.positive
            case d.Op(op="fmul", arguments=(a, b)):
                return _is_square(a, b)
            case d.Op(op="fma", arguments=(a, b, c)):
                return _is_square(a, b) and self._is_positive(c)
            case d.Op(op="fadd", arguments=(a, b)):
                return self._is_positive(a) and self._is_positive(b)
            case d.Op(op="fabs" | "fsqrt"):
                return True
            case _:
                return False


def _is_square(a: d.Expr, b: d.Expr) -> bool:
    """Whether both factors are one value. Two loads of one element may differ."""
    return isinstance(a, d.Value) and isinstance(b, d.Value) and a.name == b.name
