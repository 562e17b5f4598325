"""Which locals become `Let`s (assigned once, in a block that encloses every read), and which counters are no variables.

i = gid()          # one assignment, read below it in the same block: a Let
s = s + x[i]       # assigned again and again: a variable
"""

from dataclasses import dataclass, field
from typing import assert_never

from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit


@dataclass(slots=True)
class LocalUses:
    """Facts about the locals of one kernel, gathered in one walk."""

    types: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    assignments: dict[str, int] = field(default_factory=dict[str, int])
    variables: set[str] = field(default_factory=set[str])
    counters: set[str] = field(default_factory=set[str])
    #: Open blocks, each with the locals that were assigned directly in it so far.
    open_blocks: list[set[str]] = field(default_factory=list[set[str]])
    open_counters: list[str] = field(default_factory=list[str])

    @property
    def fixed(self) -> frozenset[str]:
        """Locals that are `Let`s of the device kernel."""
        once = {name for name, count in self.assignments.items() if count == 1}
        return frozenset(once - self.variables - self.counters)

    @property
    def pure_counters(self) -> frozenset[str]:
        """Loop counters that nothing assigns and that nobody reads outside their loops."""
        return frozenset(n for n in self.counters if n not in self.variables and n not in self.assignments)


def local_uses(kernel: k.Kernel) -> LocalUses:
    uses = LocalUses()
    _visit_block(uses, kernel.body)
    return uses


def _visit_block(uses: LocalUses, block: k.Block) -> None:
    uses.open_blocks.append(set())
    for statement in block:
        _visit(uses, statement)
    uses.open_blocks.pop()


def _visit(uses: LocalUses, statement: k.Statement) -> None:
    match statement:
        case k.Assign():
            _read(uses, statement.value)
            _assign(uses, statement.name, statement.value.type)
        case k.Collective():
            _read(uses, statement.value)
            _assign(uses, statement.target, statement.type)
            uses.variables.add(statement.target)
        case k.WarpCollective():
            _read(uses, statement.value)
            if statement.lane is not None:
                _read(uses, statement.lane)
            _assign(uses, statement.target, statement.result)
            uses.variables.add(statement.target)
        case k.Atomic():
            _read(uses, statement)
            if statement.target:
                _assign(uses, statement.target, statement.element.computing)
                uses.variables.add(statement.target)
        case k.For():
            _visit_for(uses, statement)
        case k.If():
            _read(uses, statement.condition)
            _visit_block(uses, statement.then)
            _visit_block(uses, statement.otherwise)
        case k.While():
            # The condition sees what the prelude assigned, as in the loop that this becomes.
            uses.open_blocks.append(set())
            for inner in statement.prelude:
                _visit(uses, inner)
            _read(uses, statement.condition)
            for inner in statement.body:
                _visit(uses, inner)
            uses.open_blocks.pop()
        case k.Scope():
            _visit_block(uses, statement.body)
        case k.Evaluate() | k.Store() | k.Assert():
            _read(uses, statement)
        case k.Barrier() | k.WarpBarrier() | k.Leave() | k.Break() | k.Continue() | k.Return() | k.DeclareLocal():
            pass
        case _:
            assert_never(statement)


def _visit_for(uses: LocalUses, loop: k.For) -> None:
    for value in (loop.start, loop.stop, loop.step):
        _read(uses, value)
    uses.types[loop.counter] = loop.type
    uses.counters.add(loop.counter)
    if loop.counter in uses.open_counters:
        uses.variables.add(loop.counter)
    uses.open_counters.append(loop.counter)
    _visit_block(uses, loop.body)
    uses.open_counters.pop()


def _assign(uses: LocalUses, name: str, type: Scalar) -> None:
    uses.types[name] = type
    uses.assignments[name] = uses.assignments.get(name, 0) + 1
    uses.open_blocks[-1].add(name)


def _read(uses: LocalUses, value: k.Expr | k.Statement) -> None:
    for node in visit(value):
        if isinstance(node, k.Local):
            assigned_here = any(node.name in block for block in uses.open_blocks)
            if not assigned_here and node.name not in uses.open_counters:
                uses.variables.add(node.name)
