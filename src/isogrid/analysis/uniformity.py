"""Which values and places are the same for every thread of a group, or of a warp, and which barriers threads miss.

if ig.lid() < 32:        # differs from thread to thread
    ig.barrier()         # a finding: this barrier, that condition
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import prod
from typing import TypeAlias, assert_never

from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.operations import SHUFFLES
from isogrid.ir.types import Space
from isogrid.ir.walk import assigned_local, children, visit


@dataclass(frozen=True, slots=True)
class Cause:
    """Why threads of a group (or warp) differ: `span` is the place, `words` what differs there.

    `how` says in which way control flow splits: "if", "loop" (threads do different numbers of trips), or after a
    "return", "break", "continue" or helper "return" that only some threads take. `at` is the condition that splits.
    """

    span: Span
    words: str
    how: str = "value"
    at: Span | None = None

    def splitting(self, how: str, at: Span) -> "Cause":
        return replace(self, how=how, at=at)


@dataclass(frozen=True, slots=True)
class Divergence:
    """A barrier or operation of a group or warp that only some of its threads may reach."""

    node: "Meeting"
    cause: Cause


GroupMeeting: TypeAlias = k.Barrier | k.Collective
WarpMeeting: TypeAlias = k.WarpBarrier | k.WarpCollective
Meeting: TypeAlias = GroupMeeting | WarpMeeting


#: None means uniform.
Variation: TypeAlias = Cause | None


@dataclass(slots=True)
class _Loop:
    broke: Variation = None
    continued: Variation = None


@dataclass(slots=True)
class _Walk:
    """`unit` is how many threads, consecutive in C order, are asked to agree: those of a group, or `of_warps`."""

    kernel: k.Kernel
    atomic_arrays: frozenset[str]
    racy_arrays: frozenset[str]
    unit: int
    of_warps: bool
    #: Locals that hold this coordinate of their thread wherever they are read.
    coordinates: dict[str, k.Query]
    values: dict[str, Variation] = field(default_factory=dict[str, Variation])
    #: Private arrays that hold, or were stored at, something that differs.
    private: dict[str, Variation] = field(default_factory=dict[str, Variation])
    branches: list[Cause] = field(default_factory=list[Cause])
    loops: list[_Loop] = field(default_factory=list[_Loop])
    left: dict[str, Variation] = field(default_factory=dict[str, Variation])
    returned: Variation = None
    found: dict[int, Divergence] = field(default_factory=dict[int, Divergence])

    # --- where threads part -------------------------------------------------------------------------------------------

    @property
    def control(self) -> Variation:
        """Why not every thread of the group is at this place."""
        if self.branches:
            return self.branches[0]
        for loop in self.loops:
            if loop.broke or loop.continued:
                return loop.broke or loop.continued
        for cause in self.left.values():
            if cause is not None:
                return cause
        return self.returned

    def block(self, block: k.Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, statement: k.Statement) -> None:
        match statement:
            case k.Assign():
                self.values[statement.name] = self.control or self.variation(statement.value)
            case k.Store():
                if statement.space is Space.LOCAL:
                    cause = self.control or self.first((statement.value, *statement.indices))
                    self.private[statement.array] = self.private.get(statement.array) or cause
            case k.Barrier() | k.WarpBarrier():
                self.meet(statement)
            case k.Collective():
                self.meet(statement)
                scanned = Cause(statement.span, "every thread gets its own value from a scan")
                self.values[statement.target] = self.control or (scanned if statement.op == "scan" else None)
            case k.WarpCollective():
                self.meet(statement)
                self.values[statement.target] = self.control or self._warp_result(statement)
            case k.Atomic():
                if statement.target:
                    self.values[statement.target] = Cause(
                        statement.span, f"each thread gets its own old value of `{statement.array}`"
                    )
            case k.If():
                self._if(statement)
            case k.For():
                self._for(statement)
            case k.While():
                self._while(statement)
            case k.Scope():
                self.left[statement.label] = None
                before = self._snapshot()
                self.block(statement.body)
                self._vary(statement.body, self.left.pop(statement.label), before)
            case k.Leave():
                self.left[statement.label] = self.left.get(statement.label) or self._escape("return")
            case k.Break():
                self.loops[-1].broke = self.loops[-1].broke or self._escape("break")
            case k.Continue():
                self.loops[-1].continued = self.loops[-1].continued or self._escape("continue")
            case k.Return():
                self.returned = self.returned or self._escape("return")
            case k.Evaluate() | k.Assert() | k.DeclareLocal():
                pass
            case _:
                assert_never(statement)

    def meet(self, node: Meeting) -> None:
        if isinstance(node, WarpMeeting) is not self.of_warps:
            return
        cause = self.control
        if cause is not None:
            self.found.setdefault(id(node), Divergence(node, cause))

    def _escape(self, how: str) -> Variation:
        """A jump taken here leaves the other threads behind exactly where control has already split."""
        cause = self.control
        return None if cause is None else replace(cause, how=how)

    def _if(self, statement: k.If) -> None:
        cause = self.variation(statement.condition)
        before = self._snapshot()
        if cause is not None:
            self.branches.append(cause.splitting("if", statement.condition.span))
        self.block(statement.then)
        after_then = self.values
        self.values = dict(before)
        self.block(statement.otherwise)
        if cause is not None:
            self.branches.pop()
        for name, other in after_then.items():
            self.values[name] = self.values.get(name) or other

    def _for(self, loop: k.For) -> None:
        bounds = self.first((loop.start, loop.stop, loop.step))
        split = None
        if bounds is not None:
            expressions = (loop.stop, loop.start, loop.step)
            differing = next(e for e in expressions if self.variation(e) is not None)
            split = bounds.splitting("loop", differing.span)
        self._loop(loop, loop.body, split, loop.counter, self.first((loop.start, loop.step)))

    def _while(self, loop: k.While) -> None:
        self._loop(loop, loop.body, None, None, None)

    def _loop(
        self, loop: k.For | k.While, body: k.Block, split: Variation, counter: str | None, counting: Variation
    ) -> None:
        """Walk the body until nothing new differs; what it assigned differs afterwards if threads leave apart."""
        frame = _Loop()
        before_returned = self.returned
        before = self._snapshot()
        while True:
            known = (dict(self.values), dict(self.private), dict(self.left), self.returned, replace(frame))
            self.loops.append(frame)
            frame.continued = None
            if counter is not None:
                self.values[counter] = self.control or counting
            if isinstance(loop, k.While):
                self.block(loop.prelude)
                condition = self.variation(loop.condition)
                split = None if condition is None else condition.splitting("loop", loop.condition.span)
            if split is not None:
                self.branches.append(split)
            self.block(body)
            if split is not None:
                self.branches.pop()
                # Threads that have left are missing from every later trip too, the prelude included.
                frame.broke = frame.broke or split
            self.loops.pop()
            for name, cause in known[0].items():
                # The older cause is kept, so that causes settle even where the body swaps two variables.
                self.values[name] = cause or self.values.get(name)
            frame.continued = None
            if known == (self.values, self.private, self.left, self.returned, frame):
                break
        apart = frame.broke or (self.returned if self.returned is not before_returned else None)
        whole = (*loop.prelude, *body) if isinstance(loop, k.While) else body
        self._vary(whole, apart, before)
        if counter is not None and apart is not None:
            self.values[counter] = self.values.get(counter) or apart

    def _snapshot(self) -> dict[str, Variation]:
        return dict(self.values)

    def _vary(self, block: k.Block, cause: Variation, before: dict[str, Variation]) -> None:
        """What `block` assigned differs after threads left it at different places."""
        if cause is None:
            return
        for node in visit(block):
            assigned = assigned_local(node)
            if assigned is not None:
                self.values[assigned[0]] = self.values.get(assigned[0]) or cause

    # --- values -------------------------------------------------------------------------------------------------------

    def first(self, expressions: Iterable[k.Expr]) -> Variation:
        for expression in expressions:
            cause = self.variation(expression)
            if cause is not None:
                return cause
        return None

    def variation(self, node: k.Expr) -> Variation:
        """Why the value may differ between threads of a group that are all here."""
        match node:
            case k.Const() | k.ScalarValue() | k.DimValue():
                return None
            case k.Local():
                return self.values.get(node.name)
            case k.Query():
                return self._query(node)
            case k.Load():
                return self._load(node)
            case k.Binary(op="floordiv", left=left, right=k.Const(value=divisor)) if self._whole_units(left, divisor):
                return None
            case k.Binary(op="shr", left=left, right=k.Const(value=amount)) if 0 <= amount < 63 and self._whole_units(
                left, 1 << amount
            ):
                return None
            case k.Compare() if self._parts_units(node):
                return None
            case k.Unary() | k.Binary() | k.Compare() | k.Logical() | k.Choose() | k.Cast() | k.Call():
                return self.first(child for child in _operands(node))
            case _:
                assert_never(node)

    def _whole_units(self, node: k.Expr, divisor: int) -> bool:
        """Whether all threads of a warp have the same `node // divisor`: the linear id by a multiple of the width."""
        coordinate = self.coordinates.get(node.name) if isinstance(node, k.Local) else node
        if not self.of_warps or not isinstance(coordinate, k.Query) or divisor <= 0 or divisor % self.unit:
            return False
        if coordinate.kind not in ("lid", "gid"):
            return False
        return self.kernel.geometry.rank == 1 or (coordinate.kind == "lid" and coordinate.axis is None)

    def _parts_units(self, node: k.Compare) -> bool:
        """Whether a comparison of the linear id with a number parts warps, none of them inside: `lid < 64`."""
        match node:
            case k.Compare("lt" | "ge", left, k.Const(value=bound)) | k.Compare(
                "gt" | "le", k.Const(value=bound), left
            ):
                pass
            case k.Compare("le" | "gt", left, k.Const(value=last)) | k.Compare("ge" | "lt", k.Const(value=last), left):
                bound = last + 1
            case _:
                return False
        return bound % self.unit == 0 and self._whole_units(left, self.unit)

    def _query(self, node: k.Query) -> Variation:
        block, size = self.kernel.geometry.block, self.kernel.geometry.group_size
        match node.kind:
            case "lane_id":
                varies = True
            case "warp_id":
                varies = not self.of_warps
            case "gid" | "lid" if node.axis is None:
                varies = size > 1
            case "gid" | "lid":
                # The last axis runs fastest; one that the unit does not get past is the same for all of its threads.
                varies = block[node.axis or 0] > 1 and prod(block[(node.axis or 0) + 1 :]) % self.unit != 0
            case _:
                varies = False
        if not varies:
            return None
        axis = "" if node.axis is None or len(block) == 1 else str(node.axis)
        return Cause(node.span, f"`ig.{node.kind}({axis})` differs from thread to thread")

    def _load(self, node: k.Load) -> Variation:
        cause = self.first(node.indices)
        if cause is not None:
            return cause
        if node.space is Space.LOCAL:
            return self.private.get(node.array)
        if node.array in self.atomic_arrays:
            return Cause(node.span, f"`{node.array}` is updated by atomics, so two loads may differ")
        if node.array in self.racy_arrays:
            return Cause(node.span, f"`{node.array}` is written in a kernel with `races=`, so two loads may differ")
        return self.control

    def _warp_result(self, node: k.WarpCollective) -> Variation:
        """Why threads that meet here get different results."""
        given = self.variation(node.value)
        if node.op == "scan":
            return Cause(node.span, "every thread gets its own value from a scan")
        if given is None:
            return None
        if node.op in SHUFFLES:
            one_lane = node.op == "shuffle" and node.lane is not None and self.variation(node.lane) is None
            own = Cause(node.span, f"`ig.{node.op}` gives each thread a value of its own")
            return None if one_lane and self.of_warps else own
        if self.of_warps:
            return None
        return Cause(node.span, f"each warp gets its own result of `{_warp_name(node)}`")


def _operands(node: k.Expr) -> Iterable[k.Expr]:
    return (child for child in children(node) if not isinstance(child, _STATEMENTS))


_STATEMENTS = (
    k.Assign, k.Evaluate, k.Store, k.Atomic, k.Barrier, k.Collective, k.WarpBarrier, k.WarpCollective, k.If, k.For,
    k.While, k.Scope, k.Leave, k.Break, k.Continue, k.Return, k.Assert, k.DeclareLocal,
)  # fmt: skip


def divergent_barriers(kernel: k.Kernel) -> list[Divergence]:
    """Barriers and operations of groups and warps that are not proved to be reached by every thread of theirs."""
    size = kernel.geometry.group_size
    if not kernel.grouped or size == 1:
        return []
    nodes = list(visit(kernel.body))
    atomics = frozenset(node.array for node in nodes if isinstance(node, k.Atomic))
    stored = frozenset(node.array for node in nodes if isinstance(node, k.Store))
    racy = stored if kernel.races != "prove" else frozenset[str]()
    whole_warps = size % kernel.warp == 0 and any(isinstance(node, WarpMeeting) for node in nodes)
    found: list[Divergence] = []
    for of_warps in (False, True) if whole_warps else (False,):
        walk = _Walk(kernel, atomics, racy, kernel.warp if of_warps else size, of_warps, _coordinates(nodes))
        walk.block(kernel.body)
        found += walk.found.values()
    return found


def _coordinates(nodes: Iterable[k.Node]) -> dict[str, k.Query]:
    """Locals that are assigned in one place only, and there a coordinate."""
    places: dict[str, list[k.Node]] = {}
    for node in nodes:
        assigned = assigned_local(node)
        if assigned is not None:
            places.setdefault(assigned[0], []).append(node)
    return {
        name: nodes[0].value
        for name, nodes in places.items()
        if len(nodes) == 1 and isinstance(nodes[0], k.Assign) and isinstance(nodes[0].value, k.Query)
    }


def _warp_name(node: k.WarpCollective) -> str:
    return f"ig.{node.op}" if node.op == "ballot" else f"ig.warp_{node.op}"
