"""Which integer names of a kernel are unsigned in the text: those that only unsigned values are assigned to."""

from typing import Final

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.printers.c_family_text import CType, element_type, machine_type, unsigned

_UNSIGNED: Final = frozenset(
    {"udiv", "urem", "lshr", "umin", "umax", "umulhi", "rotl", "fptoui", "bits", "zext_i1", "uadd", "usub"}
)
_SIGNED: Final = frozenset(
    {"sdiv", "srem", "ashr", "smin", "smax", "smulhi", "fptosi", "sext", "popcount", "clz", "ctz"}
)


class Signs:
    """Answers for the names of one kernel."""

    def __init__(self, kernel: d.Kernel, scalars: dict[str, Scalar]) -> None:
        self.scalars = scalars
        self.elements = {b.name: b.element for b in kernel.buffers}
        self.values: dict[str, list[d.Expr]] = {}
        self.given: dict[str, bool] = {}
        self.open: set[str] = set()
        self.known: dict[str, bool | None] = {}
        for node in visit(kernel.body):
            match node:
                case d.Let() | d.Set():
                    self.values.setdefault(node.name, []).append(node.value)
                case d.Collective() | d.WarpCollective():
                    self.given[node.target] = not node.scalar.is_signed or node.op == "ballot"
                case d.Atomic() if node.target:
                    self.given[node.target] = not node.element.is_signed
                case _:
                    continue

    def type_of(self, name: str, machine: Machine) -> CType:
        """The type of a variable or `Let` name."""
        if machine.is_float or machine is Machine.I1:
            return machine_type(machine)
        return unsigned(machine.bits) if self.named(name) else machine_type(machine)

    def named(self, name: str) -> bool | None:
        """Whether a name is unsigned; None where its values do not tell."""
        if name in self.given:
            return self.given[name]
        if name in self.known:
            return self.known[name]
        if name in self.open:
            return None
        self.open.add(name)
        votes = {self.of(value) for value in self.values.get(name, [])} - {None}
        self.open.discard(name)
        self.known[name] = None if not votes else votes == {True}
        return self.known[name]

    def of(self, node: d.Expr) -> bool | None:
        """Whether the text of an expression is unsigned; None: it may be either."""
        match node:
            case d.Literal():
                return None
            case d.Value():
                return self.named(node.name)
            case d.Argument():
                return node.kind == "scalar" and not self.scalars[node.name].is_signed
            case d.Special():
                return False
            case d.Load():
                type = element_type(self.elements[node.buffer])
                return not type.is_signed and type.bits >= 32
            case d.Op():
                return self._op(node)

    def _op(self, node: d.Op) -> bool | None:
        if node.op in _UNSIGNED:
            return True
        if node.op in _SIGNED:
            return False
        if node.op == "zext":
            return None if node.arguments[0].type is Machine.I1 else False
        parts = node.arguments[1:] if node.op == "select" else node.arguments
        if node.op in ("shl", "trunc"):
            parts = parts[:1]
        votes = {self.of(part) for part in parts} - {None}
        return None if not votes else True in votes
