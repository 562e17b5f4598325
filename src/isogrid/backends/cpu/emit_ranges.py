"""Intervals of integer values that hold in every thread of every launch: from coordinates in a block and literals.

They decide comparisons before the code is written and let 64-bit divisions of small numbers run in 32-bit lanes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from isogrid.ir import device as d
from isogrid.ir.device import Machine

Interval = tuple[int, int]


class Ranges:
    """Intervals of the `Let` names and counters of one kernel, as signed numbers of their type."""

    def __init__(self, kernel: d.Kernel) -> None:
        self.block = kernel.geometry.block if kernel.grouped else ()
        self.names: dict[str, Interval] = {}
        self.variables = frozenset(name for name, _ in kernel.variables)
        self._walk(kernel.body)

    def _walk(self, body: d.Block) -> None:
        for node in body:
            match node:
                case d.Let() if node.name not in self.variables:
                    self._name(node.name, self.of(node.value))
                case d.If():
                    self._walk(node.then)
                    self._walk(node.otherwise)
                case d.For():
                    if node.counter not in self.variables:
                        self._name(node.counter, self._counter(node))
                    self._walk(node.body)
                case d.Loop() | d.Scope():
                    self._walk(node.body)
                case _:
                    continue

    def _name(self, name: str, interval: Interval | None) -> None:
        if interval is not None:
            self.names[name] = interval

    def _counter(self, node: d.For) -> Interval | None:
        start, step, trips = self.of(node.start), self.of(node.step), self.of(node.trips)
        if start is None or step is None or trips is None or trips[0] < 0:
            return None
        most = max(trips[1] - 1, 0)
        ends = (0, step[0] * most, step[1] * most)
        return _within((start[0] + min(ends), start[1] + max(ends)), node.type)

    def of(self, node: d.Expr) -> Interval | None:
        """The interval of an integer expression, None where nothing is known."""
        match node:
            case d.Literal():
                return None if node.type.is_float else _point(node)
            case d.Value():
                return self.names.get(node.name)
            case d.Special():
                own = node.kind == "local" and node.axis < len(self.block)
                return (0, self.block[node.axis] - 1) if own else None
            case d.Op() if not node.type.is_float:
                return self._op(node)
            case d.Load() if node.type in (Machine.I8, Machine.I16):
                half = 1 << (node.type.bits - 1)
                return (-half, half - 1)
            case _:
                return None

    def _op(self, node: d.Op) -> Interval | None:
        first = node.arguments[0]
        match node.op:
            case "zext" if not first.type.is_float:
                known = self.of(first)
                if known is not None and known[0] >= 0:
                    return known
                return _within((0, (1 << first.type.bits) - 1), node.type)
            case "sext" | "trunc" if not first.type.is_float:
                known = self.of(first)
                return None if known is None else _within(known, node.type)
            case "select":
                one, other = self.of(node.arguments[1]), self.of(node.arguments[2])
                return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))
            case _:
                if len(node.arguments) != 2 or first.type is not node.type:
                    return None
                a, b = self.of(first), self.of(node.arguments[1])
                return self._half_known(node, a, b) if a is None or b is None else _binary(node, a, b)

    def _half_known(self, node: d.Op, a: Interval | None, b: Interval | None) -> Interval | None:
        """Masks and remainders bound a value of which nothing is known."""
        for known in (a, b) if node.op == "iand" else ():
            if known is not None and known[0] >= 0:
                return (0, known[1])
        if node.op == "urem" and b is not None and b[0] > 0:
            return (0, b[1] - 1)
        return None

    def decided(self, node: d.Op) -> bool | None:
        """What a comparison always gives, None where that depends."""
        if node.op not in _NEVER or node.arguments[0].type.is_float:
            return None
        a, b = self.of(node.arguments[0]), self.of(node.arguments[1])
        if a is None or b is None or (node.op in ("ult", "ule") and min(a[0], b[0]) < 0):
            return None
        always, never = _NEVER[node.op]
        if always(a, b):
            return True
        return False if never(a, b) else None

    def is_small(self, node: d.Expr) -> bool:
        """Whether the value is a number from 0 to 2^31 - 1."""
        known = self.of(node)
        return known is not None and known[0] >= 0 and known[1] < 1 << 31


_Test = Callable[[Interval, Interval], bool]

#: Comparison -> when it always holds, when it never does.
_NEVER: Mapping[str, tuple[_Test, _Test]] = {
    "slt": (lambda a, b: a[1] < b[0], lambda a, b: a[0] >= b[1]),
    "sle": (lambda a, b: a[1] <= b[0], lambda a, b: a[0] > b[1]),
    "ult": (lambda a, b: a[1] < b[0], lambda a, b: a[0] >= b[1]),
    "ule": (lambda a, b: a[1] <= b[0], lambda a, b: a[0] > b[1]),
}


def _point(node: d.Literal) -> Interval:
    if node.type is Machine.I1:
        return (node.bits, node.bits)
    value = node.bits - ((node.bits >> (node.type.bits - 1)) << node.type.bits)
    return (value, value)


def _within(interval: Interval, type: Machine) -> Interval | None:
    """The interval where no value of it leaves the type."""
    half = 1 << (type.bits - 1)
    return interval if -half <= interval[0] and interval[1] < half else None


def _binary(node: d.Op, a: Interval, b: Interval) -> Interval | None:
    match node.op:
        case "iadd":
            return _within((a[0] + b[0], a[1] + b[1]), node.type)
        case "isub":
            return _within((a[0] - b[1], a[1] - b[0]), node.type)
        case "imul":
            products = [x * y for x in a for y in b]
            return _within((min(products), max(products)), node.type)
        case "shl" if b[0] >= 0 and b[1] < node.type.bits:
            ends = [x << y for x in a for y in b]
            return _within((min(ends), max(ends)), node.type)
        case "smin":
            return (min(a[0], b[0]), min(a[1], b[1]))
        case "smax":
            return (max(a[0], b[0]), max(a[1], b[1]))
        case "iand" if min(a[0], b[0]) >= 0:
            return (0, min(a[1], b[1]))
        case "iand" if max(a[0], b[0]) >= 0:
            return (0, a[1] if a[0] >= 0 else b[1])
        case "udiv" | "sdiv" if a[0] >= 0 and b[0] > 0:
            return (a[0] // b[1], a[1] // b[0])
        case "urem" | "srem" if a[0] >= 0 and b[0] > 0:
            return (0, min(a[1], b[1] - 1))
        case "lshr" if a[0] >= 0 and b[0] >= 0 and b[1] < node.type.bits:
            return (a[0] >> b[1], a[1] >> b[0])
        case "ashr" if b[0] >= 0 and b[1] < node.type.bits:
            ends = [x >> y for x in a for y in b]
            return (min(ends), max(ends))
        case _:
            return None


def fold_decided(kernel: d.Kernel) -> d.Kernel:
    """The kernel with literals for comparisons that always come out the same way."""
    ranges = Ranges(kernel)
    return replace(kernel, body=_fold_block(ranges, kernel.body))


def _fold_block(ranges: Ranges, body: d.Block) -> d.Block:
    result: list[d.Statement] = []
    for node in body:
        match node:
            case d.Let() | d.Set():
                result.append(replace(node, value=_fold(ranges, node.value)))
            case d.Store():
                result.append(replace(node, index=_fold(ranges, node.index), value=_fold(ranges, node.value)))
            case d.If():
                then, otherwise = _fold_block(ranges, node.then), _fold_block(ranges, node.otherwise)
                condition = _fold(ranges, node.condition)
                result.append(replace(node, condition=condition, then=then, otherwise=otherwise))
            case d.For():
                start, trips = _fold(ranges, node.start), _fold(ranges, node.trips)
                result.append(replace(node, start=start, trips=trips, body=_fold_block(ranges, node.body)))
            case d.Loop() | d.Scope():
                result.append(replace(node, body=_fold_block(ranges, node.body)))
            case _:
                result.append(node)
    return tuple(result)


def _fold(ranges: Ranges, node: d.Expr) -> d.Expr:
    match node:
        case d.Load():
            return replace(node, index=_fold(ranges, node.index))
        case d.Op():
            known = ranges.decided(node)
            if known is not None:
                return d.Literal(int(known), Machine.I1)
            arguments = tuple(_fold(ranges, a) for a in node.arguments)
            if node.op == "select" and isinstance(arguments[0], d.Literal):
                return arguments[1] if arguments[0].bits else arguments[2]
            whole = _put_together(arguments) if node.op == "iadd" else None
            return replace(node, arguments=arguments) if whole is None else whole
        case _:
            return node


def _put_together(parts: Sequence[d.Expr]) -> d.Expr | None:
    """`x` for `x / c * c + x % c`, in either order: an index taken apart and put together again is adjacent again."""
    for product, rest in (parts, parts[::-1]):
        match product, rest:
            case (
                d.Op("imul", (d.Op(division, (value, divisor)), factor)),
                d.Op(remainder, (again, other)),
            ) if divisor == factor == other and value == again and (division, remainder) in _APART:
                return value
            case _:
                continue
    return None


_APART = frozenset({("udiv", "urem"), ("sdiv", "srem")})
