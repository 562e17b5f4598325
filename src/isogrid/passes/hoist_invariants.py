"""Move what a loop computes in every trip in front of it. `for k in range(8): s += a * b * x[k]` computes `a * b` once.

Two kinds of expressions move. Operations that cannot trap by their type may move from any place that a trip always
passes. Loads of arrays that the kernel never writes, and arithmetic whose check was removed, are right only where the
facts of their place hold: they move only out of loops that certainly run, and from before anything that ends a trip.
"""

from dataclasses import dataclass, replace

from isogrid.ir import kernel as k
from isogrid.ir.types import Space
from isogrid.ir.walk import map_kernel, visit, visit_statements
from isogrid.passes.effects import assigned_locals, may_trap, relies_on_its_place


def hoist_invariants(kernel: k.Kernel) -> k.Kernel:
    hoister = _Hoister(kernel)
    return map_kernel(kernel, on_statement=hoister.statement)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression stands in a loop: `always` says that it is evaluated whenever the loop is reached."""

    assigned: frozenset[str]
    always: bool


class _Hoister:
    def __init__(self, kernel: k.Kernel) -> None:
        written = {node.array for node in visit_statements(kernel.body) if isinstance(node, k.Store | k.Atomic)}
        arrays = {p.name for p in kernel.parameters if isinstance(p, k.ArrayParameter)}
        self._constant_arrays = (arrays - written) | {table.name for table in kernel.tables}
        self._names = assigned_locals(kernel.body)

    def statement(self, statement: k.Statement) -> k.Statement | k.Block:
        """A loop with its invariants in front of it. Inner loops have been seen to before outer ones."""
        match statement:
            case k.For():
                return self._loop(statement, _certainly_runs(statement))
            case k.While():
                return self._loop(statement, False)
            case _:
                return statement

    def _loop(self, loop: k.For | k.While, runs: bool) -> k.Block:
        assigned = frozenset(assigned_locals((loop,)))
        moved: dict[k.Expr, str] = {}
        body: list[k.Statement] = []
        always = runs
        for statement in loop.body:
            always = always and not _can_trap(statement)
            place = _Place(assigned, always)
            body.append(self._replaced(statement, place, moved))
            always = always and not _jumps(statement)
        front = tuple(k.Assign(name, value, span=value.span) for value, name in moved.items())
        return (*front, replace(loop, body=tuple(body)))

    def _replaced(self, statement: k.Statement, place: _Place, moved: dict[k.Expr, str]) -> k.Statement:
        """The statement with the largest invariant parts of its own expressions replaced by locals."""

        def part(node: k.Expr) -> k.Expr:
            return self._parts(node, place, moved)

        match statement:
            case k.Assign() | k.Evaluate() | k.Collective():
                return replace(statement, value=part(statement.value))
            case k.WarpCollective():
                lane = None if statement.lane is None else part(statement.lane)
                return replace(statement, value=part(statement.value), lane=lane)
            case k.Store():
                indices = tuple(part(index) for index in statement.indices)
                return replace(statement, value=part(statement.value), indices=indices)
            case k.If() | k.Assert():
                return replace(statement, condition=part(statement.condition))
            case k.For():
                return replace(
                    statement, start=part(statement.start), stop=part(statement.stop), step=part(statement.step)
                )
            case (
                k.While()
                | k.Atomic()
                | k.Scope()
                | k.Barrier()
                | k.WarpBarrier()
                | k.Leave()
                | k.Break()
                | k.Continue()
                | k.Return()
                | k.DeclareLocal()
            ):
                return statement

    def _parts(self, node: k.Expr, place: _Place, moved: dict[k.Expr, str]) -> k.Expr:
        """`node`, or the local that holds it, or the same for its operands."""
        if self._moves(node, place):
            name = moved.get(node)
            if name is None:
                name = moved[node] = self._fresh()
            return k.Local(name, node.type, span=node.span)
        inner = place
        match node:
            case k.Logical():
                rest = _Place(place.assigned, False)
                return replace(
                    node, left=self._parts(node.left, place, moved), right=self._parts(node.right, rest, moved)
                )
            case k.Choose():
                # What one side computes may be costly and not wanted, so only the condition is looked into.
                return replace(node, condition=self._parts(node.condition, place, moved))
            case k.Unary():
                return replace(node, operand=self._parts(node.operand, inner, moved))
            case k.Binary() | k.Compare():
                return replace(
                    node, left=self._parts(node.left, inner, moved), right=self._parts(node.right, inner, moved)
                )
            case k.Cast():
                return replace(node, value=self._parts(node.value, inner, moved))
            case k.Call():
                return replace(node, arguments=tuple(self._parts(a, inner, moved) for a in node.arguments))
            case k.Load():
                return replace(node, indices=tuple(self._parts(i, inner, moved) for i in node.indices))
            case k.Const() | k.Local() | k.ScalarValue() | k.DimValue() | k.Query():
                return node

    def _moves(self, node: k.Expr, place: _Place) -> bool:
        if isinstance(node, k.Const | k.Local | k.ScalarValue | k.DimValue | k.Query) or may_trap(node):
            return False
        for inner in visit(node):
            match inner:
                case k.Local() if inner.name in place.assigned:
                    return False
                case k.Load() if inner.space is not Space.TABLE and inner.array not in self._constant_arrays:
                    return False
                case _:
                    pass
        return place.always or not relies_on_its_place(node)

    def _fresh(self) -> str:
        number = 1
        while f"hoisted.{number}" in self._names:
            number += 1
        self._names.add(f"hoisted.{number}")
        return f"hoisted.{number}"


def _certainly_runs(loop: k.For) -> bool:
    match loop:
        case k.For(start=k.Const(value=start), stop=k.Const(value=stop), step=k.Const(value=step)) if step:
            return bool(range(start, stop, step))
        case _:
            return False


def _can_trap(statement: k.Statement) -> bool:
    return any(_traps(node) for node in visit(statement))


def _traps(node: k.Node) -> bool:
    match node:
        case k.Assert():
            return True
        case k.Store():
            return any(node.checked) or node.narrow_checked
        case k.Atomic():
            return any(node.checked)
        case k.For():
            return node.step_checked
        case k.Load():
            return any(node.checked)
        case k.Unary() | k.Binary() | k.Cast():
            return node.checked
        case _:
            return False


def _jumps(statement: k.Statement) -> bool:
    exits = k.Return | k.Break | k.Continue | k.Leave | k.While
    return any(isinstance(node, exits) for node in visit_statements(statement))
