"""Loops as their author wrote them: `for (int k = 0; k < n; ++k)` where the trip count says that it is one.

Lowering counts trips exactly, `select(slt(a, b), b - a, 0)`; where the counter cannot leave its type on the way to the
bound, the counting loop of C does the same.
"""

from isogrid.ir import device as d
from isogrid.ir.walk import visit, visit_exprs
from isogrid.printers.c_family_ranges import Interval, Ranges
from isogrid.printers.c_family_text import signed_value
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Counting:
    """`for (counter = start; counter < stop; counter += step)`, downwards and `>` where step is negative.

    `names` are temporaries that only the trip count used. `is_unsigned` tells how the ends are compared.
    """

    start: d.Expr
    stop: d.Expr
    step: int
    is_unsigned: bool
    names: frozenset[str]


class Loops:
    """The counting loops of a kernel."""

    def __init__(self, kernel: d.Kernel) -> None:
        self.definitions: dict[str, d.Expr] = {}
        self.uses: dict[str, int] = {}
        self.mutable = frozenset(name for name, _ in kernel.variables)
        for node in visit(kernel.body):
            match node:
                case d.Let() if node.name not in self.mutable:
                    self.definitions[node.name] = node.value
                case d.Value():
                    self.uses[node.name] = self.uses.get(node.name, 0) + 1
                case _:
                    continue
        self.counting: dict[int, Counting] = {}
        self.unneeded: set[str] = set()
        for node in visit(kernel.body):
            if isinstance(node, d.For):
                found = self._counting(node)
                if found is not None:
                    self.counting[id(node)] = found
                    self.unneeded |= {name for name in found.names if self.uses[name] == 1}

    def _counting(self, node: d.For) -> Counting | None:
        if not isinstance(node.step, d.Literal):
            return None
        step = signed_value(node.step)
        trips, names = self._seen_through(node.trips)
        match trips:
            case d.Literal() if isinstance(node.start, d.Literal):
                stop = signed_value(node.start) + trips.bits * step
                bits = node.type.bits
                if step and -(1 << (bits - 1)) <= stop < 1 << (bits - 1):
                    end = d.Literal(stop & ((1 << bits) - 1), node.type)
                    return Counting(node.start, end, step, False, names)
                return None
            case d.Op(
                op="select", arguments=(d.Op(op="slt" | "ult" as less, arguments=(a, b)), some, d.Literal(bits=0))
            ):
                start, stop = (a, b) if step > 0 else (b, a)
                if start != node.start or not step or not self._stable(stop):
                    return None
                more = self._trips(some, a, b, abs(step))
                return None if more is None else Counting(start, stop, step, less == "ult", names | more)
            case _:
                return None

    def _trips(self, some: d.Expr, low: d.Expr, high: d.Expr, size: int) -> frozenset[str] | None:
        """The temporaries in `some`, if it is the number of multiples of `size` that fit between `low` and `high`."""
        names: frozenset[str] = frozenset()
        if size > 1:
            match some:
                case d.Op(op="iadd", arguments=(last, d.Literal(bits=1))):
                    quotient, names = self._seen_through(last)
                    match quotient:
                        case d.Op(op="udiv", arguments=(rounded, d.Literal(bits=found))) if found == size:
                            pass
                        case d.Op(op="lshr", arguments=(rounded, d.Literal(bits=by))) if 1 << by == size:
                            pass
                        case _:
                            return None
                    match rounded:
                        case d.Op(op="isub", arguments=(distance, d.Literal(bits=1))):
                            some = distance
                        case d.Op(op="iadd", arguments=(distance, d.Literal() as minus)) if signed_value(minus) == -1:
                            some = distance
                        case _:
                            return None
                case _:
                    return None
        zero = isinstance(low, d.Literal) and low.bits == 0
        if zero and _widened(some, high):
            return names
        match some:
            case d.Op(op="isub", arguments=(b, a)) if _widened(b, high) and _widened(a, low):
                return names
            case _:
                return None

    def _seen_through(self, node: d.Expr) -> tuple[d.Expr, frozenset[str]]:
        """The definition of a temporary that is used once."""
        if isinstance(node, d.Value) and node.name in self.definitions and self.uses[node.name] == 1:
            return self.definitions[node.name], frozenset({node.name})
        return node, frozenset()

    def _stable(self, node: d.Expr) -> bool:
        """Whether an expression has the same value on every trip."""
        return not any(
            isinstance(e, d.Load) or (isinstance(e, d.Value) and e.name in self.mutable) for e in visit_exprs(node)
        )


def _widened(node: d.Expr, end: d.Expr) -> bool:
    """Whether `node` is `end`, or `end` extended to 64 bits."""
    match node:
        case d.Op(op="sext" | "zext", arguments=(inner,)):
            return node == end or inner == end
        case d.Literal() if isinstance(end, d.Literal):
            return signed_value(node) == signed_value(end)
        case _:
            return node == end


def counter_interval(ranges: Ranges, node: d.For, found: Counting | None) -> Interval | None:
    """What the counter is inside the loop."""
    if found is not None and not found.is_unsigned:
        start, stop = ranges.of(found.start), ranges.of(found.stop)
        return (start[0], stop[1] - 1) if found.step > 0 else (stop[0] + 1, start[1])
    start, step, trips = ranges.of(node.start), ranges.of(node.step), ranges.of(node.trips)
    if trips[0] < 0:
        return None
    most = max(trips[1] - 1, 0)
    ends = (0, step[0] * most, step[1] * most)
    low, high = start[0] + min(ends), start[1] + max(ends)
    half = 1 << (node.type.bits - 1)
    return (low, high) if -half <= low and high < half else None


def passes_bound(ranges: Ranges, found: Counting, bits: int) -> bool:
    """Whether the last step of the counter may leave a type of this width."""
    half = 1 << (bits - 1)
    stop = ranges.of(found.stop)
    if found.is_unsigned:
        if abs(found.step) == 1:
            return False
        if stop[0] < 0 or stop[0] + found.step + 1 < 0:
            return True
    if found.step > 0:
        return stop[1] + found.step - 1 >= half
    return stop[0] + found.step + 1 < -half
