"""Guards that stand one behind the other, asked together: all reads are then on their way before the first is used.

    if i < n: add(x[i])                if i < n and i + 256 < n:
    if i + 256 < n: add(x[i + 256])  ->    a = x[i]; b = x[i + 256]; add(a); add(b)
                                       else: both as they were

All but the last groups of a launch go the first way. The assembler would not read behind a guard that it has not asked.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Access, Space
from isogrid.ir.walk import visit, with_blocks

_MOST_NODES = 1600
_MOST_GUARDS = 64


def merge_guards(kernel: d.Kernel) -> d.Kernel:
    """A kernel with groups whose guards in a row are merged, where what they guard reads arrays that nothing writes."""
    if not kernel.grouped or kernel.races != "prove":
        return kernel
    fixed = frozenset(b.name for b in kernel.buffers if b.space is Space.GLOBAL and b.access is Access.IN)
    shared = frozenset(b.name for b in kernel.buffers if b.space is Space.SHARED)
    variables = frozenset(name for name, _ in kernel.variables)
    return replace(kernel, body=_Merger(fixed, shared, variables).block(kernel.body))


class _Merger:
    """`fixed` arrays are not written by the kernel."""

    def __init__(self, fixed: frozenset[str], shared: frozenset[str], variables: frozenset[str]) -> None:
        self.fixed, self.shared, self.variables = fixed, shared, variables

    def block(self, body: d.Block) -> d.Block:
        result: list[d.Statement] = []
        run: list[d.Statement] = []
        for node in body:
            if self.is_plain(node) or self.is_guard(node):
                run.append(node)
                continue
            result += self.merged(run)
            run = []
            result.append(with_blocks(node, self.block))
        return (*result, *self.merged(run))

    def is_plain(self, node: d.Statement) -> bool:
        """Whether a name can as well be given before the guards in front of it."""
        return isinstance(node, d.Let) and node.name not in self.variables and self.is_known(node.value)

    def is_known(self, node: d.Expr) -> bool:
        """Whether a value has nothing to do with memory and variables."""
        parts = list(visit(node))
        return not any(isinstance(n, d.Load) or (isinstance(n, d.Value) and n.name in self.variables) for n in parts)

    def is_guard(self, node: d.Statement) -> bool:
        """Whether a guard can be merged: it reads what nothing writes, and then touches shared memory or arrays."""
        if not isinstance(node, d.If) or node.otherwise or not self.is_known(node.condition):
            return False
        reads = False
        for inner in node.then:
            match inner:
                case d.Let(name=name) if name not in self.variables:
                    reads |= any(isinstance(n, d.Load) for n in visit(inner.value))
                case d.Store():
                    pass
                case d.Atomic() if inner.buffer in self.shared and not inner.target:
                    pass
                case _:
                    return False
        return reads

    def merged(self, run: Sequence[d.Statement]) -> list[d.Statement]:
        """The run with its guards merged, in equal pieces where they are too many for one."""
        guards = sum(isinstance(node, d.If) for node in run)
        nodes = sum(1 for node in run for _ in visit(node))
        given = [n.name for node in run for n in visit(node) if isinstance(n, d.Let)]
        if len(set(given)) < len(given):
            return list(run)
        each = -(-guards // max(-(-guards // _MOST_GUARDS), -(-nodes // _MOST_NODES), 1))
        result: list[d.Statement] = []
        piece: list[d.Statement] = []
        for node in run:
            if isinstance(node, d.If) and sum(isinstance(n, d.If) for n in piece) == each:
                result += self.asked_once(piece)
                piece = []
            piece.append(node)
        return [*result, *self.asked_once(piece)]

    def asked_once(self, run: Sequence[d.Statement]) -> list[d.Statement]:
        guards = [node for node in run if isinstance(node, d.If)]
        if len(guards) < 2:
            return list(run)
        names: list[d.Statement] = [node for node in run if not isinstance(node, d.If)]
        whole = reduce(_both, (node.condition for node in guards))
        inside = [inner for node in guards for inner in node.then]
        early = self.early(inside)
        late = [inner for inner in inside if not any(inner is other for other in early)]
        return [*names, d.If(whole, (*early, *late), tuple(guards), span=guards[0].span)]

    def early(self, inside: Sequence[d.Statement]) -> list[d.Statement]:
        """The names that need nothing that is written in between."""
        found: list[d.Statement] = []
        late: set[str] = set()
        for node in inside:
            if not isinstance(node, d.Let):
                continue
            parts = list(visit(node.value))
            bound = any(isinstance(n, d.Load) and n.buffer not in self.fixed for n in parts)
            if bound or any(isinstance(n, d.Value) and (n.name in late or n.name in self.variables) for n in parts):
                late.add(node.name)
            else:
                found.append(node)
        return found


def _both(a: d.Expr, b: d.Expr) -> d.Expr:
    return d.Op("iand", (a, b), Machine.I1)
