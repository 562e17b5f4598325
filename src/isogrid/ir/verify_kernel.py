"""The rules of kernel IR: declared names, agreeing types, indices of the right rank, jumps with a target."""

from dataclasses import dataclass, field
from typing import assert_never

from isogrid.ir import kernel as k
from isogrid.ir.assignment import early_reads
from isogrid.ir.faults import Faults
from isogrid.ir.operations import (
    ARRAY_FACTS,
    ATOMICS,
    BINARY_SIGNS,
    COLLECTIVES,
    COMPARE_SIGNS,
    FUNCTION_BINARIES,
    LOGICAL_NAMES,
    QUERIES,
    SHUFFLES,
    UNARY_NAMES,
    WARP_COLLECTIVES,
)
from isogrid.ir.text_kernel import expr_text, node_text
from isogrid.ir.types import Access, Scalar, Space
from isogrid.ir.walk import expressions, visit, visit_exprs


def kernel_faults(kernel: k.Kernel) -> list[str]:
    """Every broken rule, in the order of the text."""
    checker = _Checker(kernel)
    checker.header()
    checker.block(kernel.body)
    for read in early_reads(kernel.body):
        checker.faults.add(f"`{read.name}` is read before every path has assigned it", read.node.span)
    return checker.faults.found


@dataclass(frozen=True, slots=True)
class _Array:
    element: Scalar
    rank: int
    space: Space
    access: Access


@dataclass(slots=True)
class _Checker:
    kernel: k.Kernel
    faults: Faults = field(default_factory=Faults)
    arrays: dict[str, _Array] = field(default_factory=dict[str, _Array])
    scalars: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    locals: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    labels: list[str] = field(default_factory=list[str])
    loops: int = 0

    # --- header ---

    def header(self) -> None:
        kernel, geometry = self.kernel, self.kernel.geometry
        self.faults.require(len(set(kernel.dims)) == len(kernel.dims), "a dimension is listed twice")
        for parameter in kernel.parameters:
            match parameter:
                case k.ScalarParameter(name, type):
                    self.faults.require(name not in self.scalars, f"parameter `{name}` is declared twice")
                    self.faults.require(type.is_computing, f"scalar `{name}` has the storage type {type.value}")
                    self.scalars[name] = type
                case k.ArrayParameter(name, element, shape, access):
                    self.array(name, element, len(shape), Space.GLOBAL, access)
                    self.host(shape, f"the shape of `{name}`", scalars=False)
        for shared in kernel.shared:
            self.constant_array(shared, Space.SHARED, Access.INOUT)
        for table in kernel.tables:
            self.constant_array(table, Space.TABLE, Access.IN)
        self.faults.require(not kernel.shared or kernel.grouped, "shared arrays in a kernel that is not grouped")
        self.faults.require(geometry.kind in ("grid", "groups"), f"geometry of kind {geometry.kind!r}")
        self.faults.require(1 <= geometry.rank <= 3, f"geometry of rank {geometry.rank}")
        self.faults.require(len(geometry.block) == geometry.rank, "block and grid differ in rank")
        self.faults.require(1 <= geometry.group_size <= 1024, f"a block of {geometry.group_size} threads")
        self.host(geometry.extents, "the geometry", scalars=True)
        for fact in kernel.facts:
            self.fact(fact)
        for require in kernel.requires:
            self.faults.require(require.condition.type is Scalar.BOOL, "a precondition that is no bool", require.span)
            self.host((require.condition,), "a precondition", scalars=True)

    def fact(self, fact: k.ArrayFact) -> None:
        self.faults.require(fact.kind in ARRAY_FACTS, f"no fact `{fact.kind}`", fact.span)
        for name in (fact.array, fact.where) if fact.where else (fact.array,):
            array = self.arrays.get(name)
            read = array is not None and array.space is Space.GLOBAL and not array.access.writes
            self.faults.require(read, f"a fact about `{name}`, which is no array that is only read", fact.span)
        bounds = tuple(e for e in (fact.low, fact.high) if e is not None)
        self.faults.require(len(bounds) == 2 * (fact.kind == "all_in_range"), "a range has two bounds", fact.span)
        self.host(bounds, "a fact", scalars=True)

    def host(self, exprs: tuple[k.Expr, ...], what: str, *, scalars: bool) -> None:
        """Expressions that the host evaluates: no thread, no memory."""
        for expr in exprs:
            self.expr(expr)
            for node in visit(expr):
                if isinstance(node, k.Local | k.Query | k.Load) or (isinstance(node, k.ScalarValue) and not scalars):
                    self.faults.add(f"{what} reads `{expr_text(expr)}`, which the host does not know", expr.span)

    def constant_array(self, array: k.SharedArray | k.Table | k.DeclareLocal, space: Space, access: Access) -> None:
        self.faults.require(all(n > 0 for n in array.shape), f"`{array.name}` has an empty extent", array.span)
        if isinstance(array, k.Table):
            size = array.element.size
            for extent in array.shape:
                size *= extent
            self.faults.require(len(array.data) == size, f"table `{array.name}` has {len(array.data)} bytes")
        self.array(array.name, array.element, len(array.shape), space, access)

    def array(self, name: str, element: Scalar, rank: int, space: Space, access: Access) -> None:
        self.faults.require(name not in self.arrays, f"array `{name}` is declared twice")
        self.faults.require(1 <= rank <= 4, f"array `{name}` has rank {rank}")
        self.arrays[name] = _Array(element, rank, space, access)

    # --- statements ---

    def block(self, block: k.Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, node: k.Statement) -> None:
        for part in expressions(node):
            self.expr(part, storage=isinstance(node, k.Store) and part is node.value)
        match node:
            case k.Assign(name, value):
                self.local(name, value.type, node)
            case k.Evaluate():
                pass
            case k.Store():
                self.access(node, writes=True)
                self.stored(node)
            case k.Atomic():
                self.atomic(node)
            case k.Barrier():
                self.grouped("a barrier", node)
            case k.Collective():
                self.collective(node)
            case k.WarpBarrier():
                self.grouped("a warp barrier", node)
            case k.WarpCollective():
                self.warp_collective(node)
            case k.If(condition, then, otherwise):
                self.same(condition.type, Scalar.BOOL, node, "the condition")
                self.block(then)
                self.block(otherwise)
            case k.For():
                self.loop(node)
            case k.While(prelude, condition, body):
                self.same(condition.type, Scalar.BOOL, node, "the condition")
                self.loops += 1
                self.block(prelude)
                self.block(body)
                self.loops -= 1
            case k.Scope(label, body):
                self.require(label not in self.labels, f"label `{label}` is in use", node)
                self.labels.append(label)
                self.block(body)
                self.labels.pop()
            case k.Leave(label):
                self.require(label in self.labels, f"no scope `{label}` is around this", node)
            case k.Break() | k.Continue():
                self.require(self.loops > 0, "no loop is around this", node)
            case k.Return():
                pass
            case k.Assert(condition):
                self.same(condition.type, Scalar.BOOL, node, "the condition")
            case k.DeclareLocal():
                if node.name not in self.arrays or self.arrays[node.name].space is not Space.LOCAL:
                    self.constant_array(node, Space.LOCAL, Access.INOUT)
            case _:
                assert_never(node)

    def stored(self, node: k.Store) -> None:
        """The element's own type, its computing type, or any checked integer for a checked integer element."""
        found, element = node.value.type, node.element
        if found is not element and not (found.is_checked and element.is_checked):
            self.same(found, element.computing, node, "the stored value")

    def loop(self, node: k.For) -> None:
        for bound in (node.start, node.stop, node.step):
            self.same(bound.type, node.type, node, "a bound")
        self.require(node.type.is_integer, "the counter is no integer", node)
        self.require(node.unroll >= 0, "a negative unroll factor", node)
        self.local(node.counter, node.type, node)
        self.loops += 1
        self.block(node.body)
        self.loops -= 1

    def atomic(self, node: k.Atomic) -> None:
        self.require(node.op in ATOMICS, f"no atomic `{node.op}`", node)
        self.require((node.expected is not None) == (node.op == "cas"), "only cas has an expected value", node)
        self.access(node, writes=True)
        self.same(node.value.type, node.element.computing, node, "the value")
        if node.expected is not None:
            self.same(node.expected.type, node.element.computing, node, "the expected value")
        if node.target:
            self.local(node.target, node.element.computing, node)
        if self.kernel.deterministic:
            relaxed = bool(node.target) or node.op in ("load", "store")
            self.require(not relaxed, "this atomic needs a kernel that is not deterministic", node)

    def collective(self, node: k.Collective) -> None:
        self.require(node.op in COLLECTIVES, f"no group operation `{node.op}`", node)
        self.require(not node.exclusive or node.op == "scan", "only a scan may be exclusive", node)
        self.same(node.value.type, node.type, node, "the value")
        self.require((node.type is Scalar.BOOL) == (node.op in ("any", "all")), "the operation has another type", node)
        self.grouped("a group operation", node)
        self.local(node.target, node.type, node)

    def warp_collective(self, node: k.WarpCollective) -> None:
        op, result = node.op, node.type
        self.require(op in WARP_COLLECTIVES, f"no warp operation `{op}`", node)
        self.require(not node.exclusive or op == "scan", "only a scan may be exclusive", node)
        self.require((node.lane is not None) == (op in SHUFFLES), "only shuffles name a lane", node)
        self.require(node.lane is None or node.lane.type.is_integer, "the lane is no integer", node)
        self.same(node.value.type, node.type, node, "the value")
        if op in ("any", "all", "ballot"):
            self.same(node.type, Scalar.BOOL, node, "the value")
        if op == "ballot":
            result = Scalar.W64 if self.kernel.warp == 64 else Scalar.W32
        self.same(node.result, result, node, "the result")
        self.require(self.kernel.geometry.group_size % self.kernel.warp == 0, "the block is no whole warps", node)
        self.grouped("a warp operation", node)
        self.local(node.target, node.result, node)

    # --- expressions ---

    def expr(self, root: k.Expr, *, storage: bool = False) -> None:
        """`storage` allows a conversion to a storage type at the root, what `y[i] = u8(x)` stores, or its result."""
        for node in visit_exprs(root):
            converted = storage and node is root and isinstance(node, k.Cast | k.Const)
            computing = node.type.is_computing or converted
            self.require(computing, f"a value of the storage type {node.type.value}", node)
            self.one_expr(node)

    def one_expr(self, node: k.Expr) -> None:
        match node:
            case k.Const(value, type):
                largest = 1 if type is Scalar.BOOL else (1 << type.bits) - 1 if type.is_float else type.maximum
                smallest = type.minimum if type.is_integer else 0
                self.require(smallest <= value <= largest, f"{value} is no {type.value}", node)
            case k.Local(name, type):
                self.local(name, type, node)
            case k.ScalarValue(name, type):
                self.require(self.scalars.get(name) is type, f"no scalar parameter `{name}` of this type", node)
            case k.DimValue(name):
                self.require(name in self.kernel.dims, f"no dimension `{name}`", node)
            case k.Query(kind, axis):
                rank = self.kernel.geometry.rank
                self.require(kind in QUERIES, f"no query `{kind}`", node)
                self.require(axis is None or 0 <= axis < rank, f"the grid has no axis {axis}", node)
                if kind in ("lane_id", "warp_id"):
                    self.require(axis is None, f"{kind} has no axis", node)
                    self.grouped(kind, node)
            case k.Unary(op, operand, type):
                self.require(op in UNARY_NAMES, f"no operation `{op}`", node)
                self.same(operand.type, type, node, "the operand")
            case k.Binary():
                self.binary(node)
            case k.Compare(op, left, right):
                self.require(op in COMPARE_SIGNS, f"no comparison `{op}`", node)
                self.same(left.type, right.type, node, "the left side")
            case k.Logical(op, left, right):
                self.require(op in LOGICAL_NAMES, f"no operation `{op}`", node)
                self.same(left.type, Scalar.BOOL, node, "the left side")
                self.same(right.type, Scalar.BOOL, node, "the right side")
            case k.Choose(condition, then, otherwise, type):
                self.same(condition.type, Scalar.BOOL, node, "the condition")
                self.same(then.type, type, node, "the first choice")
                self.same(otherwise.type, type, node, "the second choice")
            case k.Cast() | k.Call():
                pass
            case k.Load():
                self.access(node, writes=False)
            case _:
                assert_never(node)

    def binary(self, node: k.Binary) -> None:
        self.require(node.op in BINARY_SIGNS or node.op in FUNCTION_BINARIES, f"no operation `{node.op}`", node)
        self.same(node.left.type, node.type, node, "the left side")
        if node.op in ("shl", "shr") or (node.op == "pow" and node.type.is_integer):
            self.require(node.right.type.is_integer, "the right side is no integer", node)
        else:
            self.same(node.right.type, node.type, node, "the right side")

    def access(self, node: k.Load | k.Store | k.Atomic, *, writes: bool) -> None:
        array = self.arrays.get(node.array)
        if array is None:
            self.require(False, f"no array `{node.array}`", node)
            return
        self.require(array.space is node.space, f"`{node.array}` lives in {array.space.value} memory", node)
        self.require(len(node.indices) == array.rank, f"`{node.array}` has rank {array.rank}", node)
        self.require(len(node.checked) == len(node.indices), "one check flag per index", node)
        for index in node.indices:
            self.require(index.type.is_integer, "an index is no integer", node)
        if writes:
            self.require(array.access.writes, f"`{node.array}` is only read", node)
        if isinstance(node, k.Load):
            self.same(node.type, array.element.computing, node, "the loaded value")
        else:
            self.same(node.element, array.element, node, "the element")
        if not isinstance(node, k.Store):
            self.require(array.access.reads, f"`{node.array}` is only written", node)

    # --- small tools ---

    def local(self, name: str, type: Scalar, node: k.Node) -> None:
        known = self.locals.setdefault(name, type)
        self.require(known is type, f"local `{name}` is {known.value} elsewhere", node)

    def grouped(self, what: str, node: k.Node) -> None:
        self.require(self.kernel.grouped, f"{what} in a kernel that is not grouped", node)

    def same(self, found: Scalar, wanted: Scalar, node: k.Node, what: str) -> None:
        self.require(found is wanted, f"{what} is {found.value} and not {wanted.value}", node)

    def require(self, holds: bool, message: str, node: k.Node) -> None:
        if not holds:
            self.faults.add(f"`{_shown(node)}`: {message}", node.span)


def _shown(node: k.Node) -> str:
    try:
        return node_text(node)
    except ValueError:  # flags and indices differ in number, which is the fault to report
        return type(node).__name__
