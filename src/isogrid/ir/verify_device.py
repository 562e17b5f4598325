"""The rules of device IR: single assignment of `let`, machine types, trap sites with their operands, real buffers."""

from dataclasses import dataclass, field
from typing import assert_never

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.assignment import early_reads
from isogrid.ir.device import Machine
from isogrid.ir.faults import Faults
from isogrid.ir.operations import (
    ATOMICS,
    COLLECTIVES,
    SPECIALS,
    STORED_FLOATS,
    WARP_COLLECTIVES,
    machine_type,
    natural_type,
)
from isogrid.ir.text_device import device_node_text
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Space
from isogrid.ir.walk import expressions, visit_exprs


def device_faults(kernel: d.Kernel) -> list[str]:
    """Every broken rule, in the order of the text."""
    checker = _Checker(kernel)
    checker.header()
    checker.block(kernel.body)
    for read in early_reads(kernel.body):
        checker.faults.add(f"`{read.name}` is read before every path has assigned it", read.node.span)
    return checker.faults.found


_FLOAT_OPS = frozenset(
    op for op in d.OPERATIONS if op.startswith("f") and not op.startswith("fptr") and op not in STORED_FLOATS
)
_TO_FLOAT = ("sitofp", "uitofp")
_WIDER = ("sext", "zext", "fpext")
_NARROWER = ("trunc", "fptrunc")


@dataclass(slots=True)
class _Checker:
    kernel: d.Kernel
    faults: Faults = field(default_factory=Faults)
    buffers: dict[str, d.Buffer] = field(default_factory=dict[str, d.Buffer])
    variables: dict[str, Machine] = field(default_factory=dict[str, Machine])
    lets: dict[str, Machine] = field(default_factory=dict[str, Machine])
    labels: list[str] = field(default_factory=list[str])
    loops: int = 0

    def header(self) -> None:
        for buffer in self.kernel.buffers:
            self.faults.require(buffer.name not in self.buffers, f"buffer `{buffer.name}` is declared twice")
            constant = buffer.space is not Space.GLOBAL
            self.faults.require((buffer.count is not None) == constant, f"buffer `{buffer.name}`: count")
            if buffer.space is Space.TABLE:
                size = (buffer.count or 0) * buffer.element.size
                self.faults.require(len(buffer.data) == size, f"table `{buffer.name}` has {len(buffer.data)} bytes")
            self.buffers[buffer.name] = buffer
        for parameter in self.kernel.parameters:
            if isinstance(parameter, k.ArrayParameter):
                known = parameter.name in self.buffers
                self.faults.require(known, f"array parameter `{parameter.name}` has no buffer")
        for name, type in self.kernel.variables:
            self.faults.require(name not in self.variables, f"variable `{name}` is declared twice")
            self.variables[name] = type

    # --- statements ---

    def block(self, block: d.Block) -> None:
        for statement in block:
            self.statement(statement)

    def statement(self, node: d.Statement) -> None:
        for part in expressions(node):
            for expr in visit_exprs(part):
                self.expr(expr)
        match node:
            case d.Let(name, value):
                self.let(name, value.type, node)
            case d.Set(name, value):
                self.same(value.type, self.variables.get(name), node, f"the variable `{name}`")
            case d.Store(buffer, index, value):
                self.access(buffer, index, node, writes=True, reads=False)
                self.element(buffer, value.type, node)
            case d.Atomic():
                self.atomic(node)
            case d.Check():
                self.check(node)
            case d.If(condition, then, otherwise):
                self.same(condition.type, Machine.I1, node, "the condition")
                self.block(then)
                self.block(otherwise)
            case d.For():
                self.loop(node)
            case d.Loop(body, unroll):
                self.require(unroll >= 0, "a negative unroll factor", node)
                self.loops += 1
                self.block(body)
                self.loops -= 1
            case d.Scope(label, body):
                self.require(label not in self.labels, f"label `{label}` is in use", node)
                self.labels.append(label)
                self.block(body)
                self.labels.pop()
            case d.Leave(label):
                self.require(label in self.labels, f"no scope `{label}` is around this", node)
            case d.Break() | d.Continue():
                self.require(self.loops > 0, "no loop is around this", node)
            case d.Return():
                pass
            case d.Barrier():
                self.require(self.kernel.grouped, "a barrier in a kernel that is not grouped", node)
            case d.Collective():
                self.collective(node)
            case d.WarpBarrier():
                self.require(self.kernel.grouped, "a warp barrier in a kernel that is not grouped", node)
                self.active(node)
            case d.WarpCollective():
                self.warp_collective(node)
            case d.Agree(target, value):
                self.require(self.kernel.grouped, "threads of no group agree", node)
                self.same(value.type, Machine.I1, node, "the value")
                self.same(Machine.I1, self.variables.get(target), node, f"the variable `{target}`")
            case d.Fill(buffer):
                local = buffer in self.buffers and self.buffers[buffer].space is Space.LOCAL
                self.require(local, f"`{buffer}` is no local buffer", node)
            case _:
                assert_never(node)

    def let(self, name: str, type: Machine, node: d.Node) -> None:
        self.require(name not in self.lets, f"`{name}` is assigned twice", node)
        self.require(name not in self.variables, f"`{name}` is a variable", node)
        self.lets[name] = type

    def loop(self, node: d.For) -> None:
        self.same(node.start.type, node.type, node, "the start")
        self.same(node.step.type, node.type, node, "the step")
        self.same(node.trips.type, Machine.I64, node, "the number of trips")
        self.require(node.unroll >= 0, "a negative unroll factor", node)
        self.let(node.counter, node.type, node)
        self.loops += 1
        self.block(node.body)
        self.loops -= 1

    def atomic(self, node: d.Atomic) -> None:
        self.require(node.op in ATOMICS, f"no atomic `{node.op}`", node)
        self.require((node.expected is not None) == (node.op == "cas"), "only cas has an expected value", node)
        self.access(node.buffer, node.index, node, writes=True, reads=True)
        self.element(node.buffer, node.value.type, node)
        if node.expected is not None:
            self.element(node.buffer, node.expected.type, node)
        if node.target:
            self.same(node.value.type, self.variables.get(node.target), node, f"the variable `{node.target}`")
        self.total(node.total, node)

    def collective(self, node: d.Collective) -> None:
        self.require(node.op in COLLECTIVES, f"no group operation `{node.op}`", node)
        self.require(self.kernel.grouped, "a group operation in a kernel that is not grouped", node)
        self.same(node.value.type, machine_type(node.scalar), node, "the value")
        self.same(node.value.type, self.variables.get(node.target), node, f"the variable `{node.target}`")
        self.total(node.total, node)

    def warp_collective(self, node: d.WarpCollective) -> None:
        self.require(node.op in WARP_COLLECTIVES, f"no warp operation `{node.op}`", node)
        self.require(self.kernel.grouped, "a warp operation in a kernel that is not grouped", node)
        self.require((node.lane is not None) == (node.op == "shuffle"), "only a shuffle names a lane", node)
        if node.lane is not None:
            self.same(node.lane.type, Machine.I64, node, "the lane")
        self.active(node)
        self.same(node.value.type, machine_type(node.scalar), node, "the value")
        result = node.value.type
        if node.op == "ballot":
            result = Machine.I64 if self.kernel.warp == 64 else Machine.I32
        self.same(result, self.variables.get(node.target), node, f"the variable `{node.target}`")
        self.total(node.total, node)

    def active(self, node: d.WarpBarrier | d.WarpCollective) -> None:
        if node.active is not None:
            self.same(node.active.type, Machine.I1, node, "who takes part")

    def check(self, node: d.Check) -> None:
        self.same(node.ok.type, Machine.I1, node, "what is checked")
        if not 0 <= node.site < len(self.kernel.sites):
            self.require(False, f"no trap site {node.site}", node)
            return
        site = self.kernel.sites[node.site]
        self.require(site.kind is not TrapKind.TOTAL, "the site is that of a total", node)
        found = [operand.type for operand in node.operands]
        wanted = [machine_type(scalar) for scalar in site.operands]
        self.require(found == wanted, f"operands {_types(found)}, and the site reports {_types(wanted)}", node)

    def total(self, site: int | None, node: d.Node) -> None:
        if site is None:
            return
        known = 0 <= site < len(self.kernel.sites) and self.kernel.sites[site].kind is TrapKind.TOTAL
        self.require(known, f"site {site} is not that of a total", node)

    # --- expressions ---

    def expr(self, node: d.Expr) -> None:
        match node:
            case d.Literal(bits, type):
                self.require(0 <= bits < 1 << type.bits, f"the bits {bits} do not fit {type.value}", node)
            case d.Value(name, type):
                known = self.lets.get(name) or self.variables.get(name)
                self.same(type, known, node, "the value")
            case d.Argument():
                self.argument(node)
            case d.Special(kind, axis):
                self.require(kind in SPECIALS, f"no coordinate `{kind}`", node)
                self.require(0 <= axis < self.kernel.geometry.rank, f"the grid has no axis {axis}", node)
            case d.Op():
                self.operation(node)
            case d.Load(buffer, index, type):
                self.access(buffer, index, node, writes=False, reads=True)
                self.element(buffer, type, node)
            case _:
                assert_never(node)

    def argument(self, node: d.Argument) -> None:
        match node.kind:
            case "dim":
                self.require(node.name in self.kernel.dims, f"no dimension `{node.name}`", node)
                self.require(node.type in (Machine.I64, Machine.I32), "a dimension is an i64 or i32", node)
            case "scalar":
                types = {
                    p.name: machine_type(p.type) for p in self.kernel.parameters if isinstance(p, k.ScalarParameter)
                }
                self.same(node.type, types.get(node.name), node, f"the parameter `{node.name}`")
            case kind:
                self.require(False, f"no argument of kind {kind!r}", node)

    def operation(self, node: d.Op) -> None:
        op, types = node.op, [argument.type for argument in node.arguments]
        if op not in d.OPERATIONS:
            self.require(False, f"no operation `{op}`", node)
            return
        count = d.OPERATIONS[op][0]
        if len(types) != count:
            self.require(False, f"{op} takes {count} operands", node)
            return
        natural = natural_type(op, types)
        if natural is None:
            self.conversion(node, types[0])
            return
        self.same(node.type, natural, node, "the result")
        operands = types[1:] if op == "select" else types
        self.require(len(set(operands)) == 1, f"operands of types {_types(operands)}", node)
        if op == "select":
            self.same(types[0], Machine.I1, node, "the condition")
            return
        if op in STORED_FLOATS:
            self.same(types[0], STORED_FLOATS[op][0], node, "the operand")
            return
        self.require(types[0].is_float == (op in _FLOAT_OPS), f"{op} on {types[0].value}", node)

    def conversion(self, node: d.Op, source: Machine) -> None:
        op, target = node.op, node.type
        if op == "bits":
            same = source.bits == target.bits
        elif op in _WIDER:
            same = source.bits < target.bits and source.is_float == target.is_float == (op == "fpext")
        elif op in _NARROWER:
            same = source.bits > target.bits and source.is_float == target.is_float == (op == "fptrunc")
        else:
            same = source.is_float != target.is_float and target.is_float == (op in _TO_FLOAT)
        self.require(same, f"{op} from {source.value} to {target.value}", node)

    def access(self, buffer: str, index: d.Expr, node: d.Node, *, writes: bool, reads: bool) -> None:
        if buffer not in self.buffers:
            self.require(False, f"no buffer `{buffer}`", node)
            return
        access = self.buffers[buffer].access
        self.require(index.type in (Machine.I64, Machine.I32), f"an index of type {index.type.value}", node)
        self.require(access.writes or not writes, f"`{buffer}` is only read", node)
        self.require(access.reads or not reads, f"`{buffer}` is only written", node)

    def element(self, buffer: str, found: Machine, node: d.Node) -> None:
        if buffer in self.buffers:
            self.same(found, machine_type(self.buffers[buffer].element), node, "the element")

    # --- small tools ---

    def same(self, found: Machine, wanted: Machine | None, node: d.Node, what: str) -> None:
        expected = "not declared" if wanted is None else f"not {found.value} but {wanted.value}"
        self.require(found is wanted, f"{what} is {expected}", node)

    def require(self, holds: bool, message: str, node: d.Node) -> None:
        if not holds:
            self.faults.add(f"`{device_node_text(node)}`: {message}", node.span)


def _types(machines: list[Machine]) -> str:
    return "(" + ", ".join(machine.value for machine in machines) + ")"
