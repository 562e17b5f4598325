"""A kernel that may trap as two: one that only checks, then one that only writes and starts once nothing has trapped.

Nothing has to be saved then: what the checks read is read twice instead, which is half of what a copy of the same
bytes costs. It needs a kernel whose values do not depend on what it has written.
"""

from dataclasses import replace

from isogrid.ir import device as d
from isogrid.ir.types import Access, Space
from isogrid.ir.walk import expressions, map_kernel, statements, visit
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Halves:
    """The two kernels. Parameters, geometry and sites are those of the whole one; `read` names the arrays that the
    checks read."""

    check: d.Kernel
    write: d.Kernel
    read: tuple[str, ...]


def split(kernel: d.Kernel) -> Halves | None:
    """The halves of a kernel, None where it cannot trap or must not be split."""
    if not kernel.sites or kernel.races != "prove" or not kernel.deterministic:
        return None
    arrays = {b.name for b in kernel.buffers if b.space is Space.GLOBAL}
    if any(_asks_back(node, arrays) for node in visit(kernel.body)) or _reads_back(kernel.body, arrays, set()):
        return None
    check = map_kernel(kernel, on_statement=lambda node: () if _writes(node, arrays) else node)
    check = replace(check, buffers=tuple(_only_read(b) for b in kernel.buffers))
    read = sorted({n.buffer for n in visit(check.body) if isinstance(n, d.Load)} & arrays)
    return Halves(check, map_kernel(kernel, on_statement=_unchecked), tuple(read))


def _writes(node: d.Statement, arrays: set[str]) -> bool:
    return isinstance(node, d.Store | d.Atomic) and node.buffer in arrays


def _asks_back(node: d.Node, arrays: set[str]) -> bool:
    """Whether an atomic of an array gives a value back, or its total is looked after by others."""
    return isinstance(node, d.Atomic) and node.buffer in arrays and bool(node.target or node.total is not None)


def _reads_back(body: d.Block, arrays: set[str], written: set[str]) -> bool:
    """Whether an array is read where it may have been written before. Other groups' elements are not: races are
    proved absent, so what matters is the order within a group, and that is the order of the text."""
    for node in body:
        read = {n.buffer for e in expressions(node) for n in visit(e) if isinstance(n, d.Load)}
        if read & written:
            return True
        if isinstance(node, d.Store | d.Atomic) and node.buffer in arrays:
            written.add(node.buffer)
        inner = statements(node)
        for _ in range(2 if isinstance(node, d.For | d.Loop) else 1):
            if inner and _reads_back(inner, arrays, written):
                return True
    return False


def _only_read(buffer: d.Buffer) -> d.Buffer:
    return replace(buffer, access=Access.IN) if buffer.space is Space.GLOBAL else buffer


def _unchecked(node: d.Statement) -> d.Statement | d.Block:
    """The statement in a thread that is known not to trap: its sums come out right in the width of their type."""
    match node:
        case d.Check():
            return ()
        case d.Atomic() | d.Collective() | d.WarpCollective() if node.total is not None:
            return replace(node, total=None)
        case _:
            return node
