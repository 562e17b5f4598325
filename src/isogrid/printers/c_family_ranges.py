"""Intervals of integer expressions along the path that is being printed: what lets 64-bit values stand in an `int`.

`if (i < n)` bounds `i` inside; a product of numbers that are not negative inside an index is below that index.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit
from isogrid.printers.c_family_text import signed_value

Interval = tuple[int, int]
_WHOLE: Mapping[Machine, Interval] = {
    Machine.I1: (0, 1),
    Machine.I8: (-(1 << 7), (1 << 7) - 1),
    Machine.I16: (-(1 << 15), (1 << 15) - 1),
    Machine.I32: (-(1 << 31), (1 << 31) - 1),
    Machine.I64: (-(1 << 63), (1 << 63) - 1),
}


class Ranges:
    """What is known of values as signed numbers. `small`: no size of the launch reaches 2^31."""

    def __init__(self, kernel: d.Kernel, scalars: Mapping[str, Scalar], *, small: bool) -> None:
        self.geometry = kernel.geometry
        self.block = kernel.geometry.block
        self.grouped = kernel.grouped
        self.scalars = scalars
        self.most = (1 << (31 if small else 63)) - 1
        self.small = small
        self.elements = {b.name: b.element for b in kernel.buffers}
        self.counts = {b.name: b.count for b in kernel.buffers if b.space is not Space.GLOBAL}
        self.known: dict[d.Expr, Interval] = {}
        arguments = {(n.kind, n.name): n for n in visit(kernel.body) if isinstance(n, d.Argument)}
        for clause in kernel.requires:
            self._require(clause.condition, arguments)

    def _require(self, condition: k.Expr, arguments: Mapping[tuple[str, str], d.Argument]) -> None:
        """A launch has tested its preconditions: bounds of scalars and sizes by constants."""
        match condition:
            case k.Logical(op="and", left=left, right=right):
                self._require(left, arguments)
                self._require(right, arguments)
            case k.Compare(op=op, left=left, right=k.Const(value=int(value))):
                found = arguments.get(self._place(left))
                low = {"ge": value, "gt": value + 1, "eq": value}.get(op)
                high = {"le": value, "lt": value - 1, "eq": value}.get(op)
                if found is not None:
                    known = self.of(found)
                    least = known[0] if low is None else max(known[0], low)
                    most = known[1] if high is None else min(known[1], high)
                    self._narrow(found, (least, most))
            case k.Compare(op=op, left=k.Const() as left, right=right):
                turned = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(op, op)
                self._require(k.Compare(turned, right, left), arguments)
            case _:
                return

    def _place(self, node: k.Expr) -> tuple[str, str]:
        """Kind and name of a scalar or a size, of which an interval of signed numbers can speak."""
        match node:
            case k.ScalarValue(name=name, type=type) if type.is_checked and (self.small or type.is_signed):
                return "scalar", name
            case k.DimValue(name=name):
                return "dim", name
            case k.Cast(value=value, type=type) if type.is_checked and value.type.is_checked:
                return self._place(value)
            case _:
                return "", ""

    def bind(self, name: str, value: d.Expr) -> None:
        """A name gets a value."""
        if value.type.is_float:
            return
        self.known[d.Value(name, value.type)] = self.of(value)

    def bind_interval(self, name: str, type: Machine, interval: Interval) -> None:
        self.known[d.Value(name, type)] = interval

    def forget(self, variables: Iterable[tuple[str, Machine]]) -> None:
        """Variables may have changed."""
        for name, type in variables:
            self.known.pop(d.Value(name, type), None)

    @contextmanager
    def assuming(self, condition: d.Expr, holds: bool) -> Generator[None]:
        """Within, `condition` is known to be `holds`."""
        before = dict(self.known)
        self.assume(condition, holds)
        try:
            yield
        finally:
            self.known = before

    def assume(self, condition: d.Expr, holds: bool) -> None:
        """From here on `condition` is known to be `holds`."""
        match condition:
            case d.Op(op="inot", arguments=(inner,)):
                self.assume(inner, not holds)
            case d.Op(op="iand", arguments=(a, b)) if holds:
                self.assume(a, True)
                self.assume(b, True)
            case d.Op(op="ior", arguments=(a, b)) if not holds:
                self.assume(a, False)
                self.assume(b, False)
            case d.Op(op="slt" | "sle" as op, arguments=(a, b)):
                strict = 1 if (op == "slt") == holds else 0
                low, high = (a, b) if holds else (b, a)
                self._below(low, high, strict)
            case d.Op(op="ieq", arguments=(a, b)) if holds and not a.type.is_float:
                self._below(a, b, 0)
                self._below(b, a, 0)
            case _:
                return

    def _below(self, low: d.Expr, high: d.Expr, strict: int) -> None:
        a, b = self.of(low), self.of(high)
        if isinstance(low, d.Op) and low.op == "iadd" and self.exact(low) == a:
            # What is added to a number bounds that number too.
            for part, other in (low.arguments, low.arguments[::-1]):
                here = self.of(part)
                self._narrow(part, (here[0], min(here[1], b[1] - strict - self.of(other)[0])))
        self._narrow(low, (a[0], min(a[1], b[1] - strict)))
        self._narrow(high, (max(b[0], a[0] + strict), b[1]))

    def _narrow(self, node: d.Expr, interval: Interval) -> None:
        if isinstance(node, d.Special | d.Argument | d.Value) and interval[0] <= interval[1]:
            self.known[node] = interval

    def of(self, node: d.Expr) -> Interval:
        """An interval that holds the value of an integer expression wherever it is evaluated."""
        found = self.known.get(node)
        if found is not None:
            return found
        whole = _WHOLE[node.type]
        match node:
            case d.Literal():
                value = signed_value(node)
                return (value, value)
            case d.Value():
                return whole
            case d.Argument():
                return self._argument(node, whole)
            case d.Special():
                return self._special(node)
            case d.Load():
                return self._load(node, whole)
            case d.Op():
                exact = self.exact(node)
                return exact if exact is not None and _inside(exact, whole) else whole

    def _argument(self, node: d.Argument, whole: Interval) -> Interval:
        if node.kind == "dim":
            return (0, self.most)
        scalar = self.scalars[node.name]
        if scalar.is_checked and self.small:
            # A launch with a larger scalar takes the other variant.
            return (0 if scalar.is_unsigned else -self.most, self.most)
        return whole

    def _special(self, node: d.Special) -> Interval:
        match node.kind:
            case "local":
                return (0, self.block[node.axis] - 1)
            case "group":
                return (0, self._groups(node.axis) - 1)
            case "groups":
                return (1, self._groups(node.axis))
            case "extent":
                return (1, self.most)
            case _:
                return (0, self.most - 1)

    def _groups(self, axis: int) -> int:
        """The most groups along an axis. The threads of a launch are counted too: a group has a whole block of them."""
        most = self.most // self.block[axis]
        if self.geometry.kind == "groups":
            most = min(most, self._most_of(self.geometry.extents[axis]))
        return max(most, 1)

    def _most_of(self, extent: k.Expr) -> int:
        """The largest value of an extent, `(N + 31) // 32` for instance; what is not looked into is unknown."""
        match extent:
            case k.Const(value=int(value)):
                return value
            case k.DimValue():
                return self.most
            case k.Binary(op="add", left=left, right=k.Const(value=int(value))) if value >= 0:
                return self._most_of(left) + value
            case k.Binary(op="floordiv", left=left, right=k.Const(value=int(value))) if value > 0:
                return max(self._most_of(left), 0) // value
            case _:
                return self.most

    def _load(self, node: d.Load, whole: Interval) -> Interval:
        element = self.elements[node.buffer]
        if element is Scalar.BOOL:
            return (0, 1)
        return whole

    def exact(self, node: d.Op) -> Interval | None:
        """The interval of the mathematical result of an operation, before it is reduced to its type."""
        arguments = node.arguments
        if node.type is Machine.I1:
            return (0, 1)
        if any(a.type.is_float for a in arguments):
            return None
        match node.op:
            case "select":
                return self._select(node)
            case "zext":
                return self._zero_extended(arguments[0])
            case "sext" | "trunc":
                return self.of(arguments[0])
            case "ineg":
                a = self.of(arguments[0])
                return (-a[1], -a[0])
            case "inot":
                a = self.of(arguments[0])
                return (-a[1] - 1, -a[0] - 1)
            case "popcount" | "clz" | "ctz":
                return (0, arguments[0].type.bits)
            case _:
                if len(arguments) != 2:
                    return None
                return _binary(node.op, self.of(arguments[0]), self.of(arguments[1]), node.type.bits)

    def _zero_extended(self, node: d.Expr) -> Interval:
        a, bits = self.of(node), 1 if node.type is Machine.I1 else node.type.bits
        return a if a[0] >= 0 else (0, (1 << bits) - 1)

    def _select(self, node: d.Op) -> Interval:
        """`a < b ? b - a : 0` is not negative, though `b - a` alone may be."""
        condition, first, second = node.arguments
        with self.assuming(condition, True):
            one = self.of(first)
        with self.assuming(condition, False):
            other = self.of(second)
        match condition, first:
            case d.Op(op="slt", arguments=(a, b)), d.Op(op="isub", arguments=(c, e)) if (b, a) == (c, e):
                one = (max(one[0], 1), one[1])
            case _:
                pass
        return (min(one[0], other[0]), max(one[1], other[1]))


def _inside(a: Interval, b: Interval) -> bool:
    return b[0] <= a[0] and a[1] <= b[1]


def _binary(op: str, a: Interval, b: Interval, bits: int) -> Interval | None:
    positive = a[0] >= 0
    match op:
        case "iadd":
            return (a[0] + b[0], a[1] + b[1])
        case "isub":
            return (a[0] - b[1], a[1] - b[0])
        case "imul":
            return _ends(x * y for x in a for y in b)
        case "shl" if b[0] >= 0 and b[1] < bits:
            return _ends(x << y for x in a for y in b)
        case "smin":
            return (min(a[0], b[0]), min(a[1], b[1]))
        case "smax":
            return (max(a[0], b[0]), max(a[1], b[1]))
        case "umin" if positive and b[0] >= 0:
            return (min(a[0], b[0]), min(a[1], b[1]))
        case "umax" if positive and b[0] >= 0:
            return (max(a[0], b[0]), max(a[1], b[1]))
        case "iand" if b[0] >= 0:
            return (0, min(a[1], b[1]) if positive else b[1])
        case "iand" if positive:
            return (0, a[1])
        case "ior" | "ixor" if positive and b[0] >= 0:
            return (0, (1 << max(a[1], b[1]).bit_length()) - 1)
        case "udiv" | "sdiv" if positive and b[1] > 0:
            return (a[0] // b[1], a[1] // max(b[0], 1)) if b[0] >= 0 else None
        case "sdiv" if b[0] > 0:
            return _ends(_truncated(x, y) for x in a for y in b)
        case "urem" if b[0] >= 0 and b[1] > 0:
            return (0, min(a[1], b[1] - 1) if positive else b[1] - 1)
        case "srem" if b[0] >= 0 and b[1] > 0:
            return (0 if positive else 1 - b[1], b[1] - 1 if not positive else min(a[1], b[1] - 1))
        case "lshr" if positive and b[0] >= 0 and b[1] < bits:
            return (a[0] >> b[1], a[1] >> b[0])
        case "lshr" if b[0] > 0 and b[1] < bits:
            return (0, ((1 << bits) - 1) >> b[0])
        case "ashr" if b[0] >= 0 and b[1] < bits:
            return _ends(x >> y for x in a for y in b)
        case _:
            return None


def _ends(values: Iterator[int]) -> Interval:
    found = list(values)
    return (min(found), max(found))


def _truncated(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)
