"""What a kernel costs, read from its device IR: memory and operations of one thread, line by line, and what it takes to
put arrays back after a trap."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from isogrid.cli.output import table
from isogrid.ir import device as d
from isogrid.ir.types import Access, Space
from isogrid.ir.walk import expressions, statements, visit
from isogrid.lowering.split import split

#: The place of a statement: its file and line.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class LineCost:
    """What one line does each time it runs: bytes of global arrays, accesses of shared and local ones, operations of
    the target (a quotient counts as one), checks that stay. `loops` is how many loops are around it."""

    loops: int = 0
    read: int = 0
    written: int = 0
    nearby: int = 0
    operations: int = 0
    checks: int = 0

    def and_(self, other: "LineCost") -> "LineCost":
        """Both together, within the same loops."""
        return LineCost(
            self.loops,
            self.read + other.read,
            self.written + other.written,
            self.nearby + other.nearby,
            self.operations + other.operations,
            self.checks + other.checks,
        )

    @property
    def text(self) -> str:
        """`reads 8 B, writes 4 B, 3 operations`; what there is none of is left out."""
        parts = [f"reads {self.read} B"] if self.read else []
        parts += [f"writes {self.written} B"] if self.written else []
        parts += [_count(self.nearby, "access", "accesses") + " nearby"] if self.nearby else []
        parts += [_count(self.operations, "operation", "operations")] if self.operations else []
        parts += [_count(self.checks, "check", "checks")] if self.checks else []
        each = f" each trip of {_count(self.loops, 'loop', 'loops')}" if self.loops and parts else ""
        return ", ".join(parts) + each


def line_costs(kernel: d.Kernel) -> dict[Place, str]:
    """The cost of every line that has one, in words: what of it was moved out of loops first."""
    buffers = {buffer.name: buffer for buffer in kernel.buffers}
    found: dict[Place, dict[int, LineCost]] = {}
    for statement, loops in _nested(kernel.body, 0):
        for node in (statement, *(node for part in expressions(statement) for node in visit(part))):
            span = node.span if node.span.line else statement.span
            costs = found.setdefault((span.file, span.line), {})
            costs[loops] = costs.get(loops, LineCost(loops)).and_(_cost(node, buffers, loops))
    texts = {place: "; ".join(filter(None, (costs[n].text for n in sorted(costs)))) for place, costs in found.items()}
    return {place: text for place, text in texts.items() if text}


def _nested(block: d.Block, loops: int) -> Iterator[tuple[d.Statement, int]]:
    for statement in block:
        yield statement, loops
        inside = loops + isinstance(statement, d.For | d.Loop)
        yield from _nested(statements(statement), inside)


def _cost(node: d.Node, buffers: Mapping[str, d.Buffer], loops: int) -> LineCost:
    """What a node does itself, without its parts."""
    match node:
        case d.Load(buffer=name) | d.Store(buffer=name) | d.Atomic(buffer=name):
            atomic = int(isinstance(node, d.Atomic))
            if buffers[name].space is not Space.GLOBAL:
                return LineCost(loops, nearby=1, operations=atomic)
            size = buffers[name].element.size
            if isinstance(node, d.Load):
                return LineCost(loops, read=size)
            return LineCost(loops, written=size, operations=atomic)
        case d.Op():
            return LineCost(loops, operations=1)
        case d.Check():
            return LineCost(loops, checks=1)
        case _:
            return LineCost(loops)


def restore_text(kernel: d.Kernel, halves: bool) -> str:
    """What arrays being as before after a trap costs on the CPU; `halves`: its large launches check first."""
    if not kernel.sites:
        return "nothing: it cannot trap"
    arrays = [b for b in kernel.buffers if b.space is Space.GLOBAL and b.access is not Access.IN]
    if not arrays:
        return "nothing: it writes no array"
    copied = ", ".join(f"`{b.name}` ({b.element.size} B an element)" for b in arrays)
    copies = f"a copy of {copied} before a launch, put back after a trap"
    parts = split(kernel) if halves else None
    if parts is None:
        return copies
    again = ", ".join(f"`{name}`" for name in parts.read)
    twice = f"read {again} twice" if again else "run its checks twice"
    return f"{copies}; large launches {twice} instead: they check first and write then"


def cost_text(kernel: d.Kernel, halves: bool) -> str:
    """The costs of one thread by line, and of a restore."""
    rows = [(f"line {line}", cost) for (_, line), cost in sorted(line_costs(kernel).items(), key=lambda i: i[0][1])]
    return table([*rows, ("restore", restore_text(kernel, halves))])


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
