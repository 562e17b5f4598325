"""Barriers that only one warp needs: the last levels of a tree in shared memory are one warp's business.

    if t < 16: tile[t] += tile[t + 16]      barrier      if t < 8: tile[t] += tile[t + 8]

Where everything that two intervals touch and others could see is touched by the first 32 threads, the barrier between
them orders that warp alone; the other warps go on to the next barrier that they need.
"""

from dataclasses import replace
from itertools import pairwise

from isogrid.ir import device as d
from isogrid.ir.types import Access, Space
from isogrid.ir.walk import visit

_WARP = 32


def weaken_barriers(kernel: d.Kernel) -> d.Kernel:
    """The kernel with barriers of its own level turned into barriers of a warp, where that is enough. Kernels that may
    trap keep theirs: a group with a trap leaves together."""
    if kernel.sites or kernel.warp != _WARP or kernel.geometry.group_size <= _WARP:
        return kernel
    shared = {b.name for b in kernel.buffers if _is_seen(b)}
    aliases = _Places(kernel)
    body, quiet = list(kernel.body), list[bool]()
    starts = [-1, *(n for n, node in enumerate(body) if _meets(node)), len(body)]
    for start, end in pairwise(starts):
        quiet.append(all(aliases.keeps_to_one_warp(node, shared) for node in body[start + 1 : end]))
    for number, place in enumerate(starts[1:-1]):
        node = body[place]
        if isinstance(node, d.Barrier) and quiet[number] and quiet[number + 1]:
            body[place] = d.WarpBarrier(span=node.span)
    return replace(kernel, body=tuple(body))


def _is_seen(buffer: d.Buffer) -> bool:
    """Whether other threads may see what is written there."""
    return buffer.space is Space.SHARED or (buffer.space is Space.GLOBAL and buffer.access is not Access.IN)


def _meets(node: d.Statement) -> bool:
    """Whether threads of different warps meet in a statement."""
    return any(isinstance(n, d.Barrier | d.Collective | d.Agree) for n in visit(node))


class _Places:
    """Which conditions hold only in the first warp."""

    def __init__(self, kernel: d.Kernel) -> None:
        self.values = {n.name: n.value for n in visit(kernel.body) if isinstance(n, d.Let)}
        self.flat = all(extent == 1 for extent in kernel.geometry.block[:-1])
        self.axis = kernel.geometry.rank - 1

    def keeps_to_one_warp(self, node: d.Statement, seen: set[str]) -> bool:
        if isinstance(node, d.If) and self.is_first_warp(node.condition):
            return not any(self.touches(n, seen) for s in node.otherwise for n in visit(s))
        return not any(self.touches(n, seen) or isinstance(n, d.WarpBarrier | d.WarpCollective) for n in visit(node))

    def touches(self, node: d.Node, seen: set[str]) -> bool:
        return isinstance(node, d.Load | d.Store | d.Atomic) and node.buffer in seen

    def is_first_warp(self, condition: d.Expr) -> bool:
        match condition:
            case d.Value(name=name) if name in self.values:
                return self.is_first_warp(self.values[name])
            case d.Op(op="iand", arguments=(a, b)):
                return self.is_first_warp(a) or self.is_first_warp(b)
            case d.Op(op="slt" | "sle" as op, arguments=(a, d.Literal(bits=bits))):
                return self.is_place(a) and bits + (op == "sle") <= _WARP
            case d.Op(op="ieq", arguments=(a, d.Literal(bits=bits)) | (d.Literal(bits=bits), a)):
                return self.is_place(a) and bits < _WARP
            case _:
                return False

    def is_place(self, node: d.Expr) -> bool:
        """Whether an expression is the thread's number in its group."""
        match node:
            case d.Value(name=name) if name in self.values:
                return self.is_place(self.values[name])
            case d.Special(kind="local", axis=axis):
                return self.flat and axis == self.axis
            case _:
                return False
