"""Kernels whose large launches check first and write then, where others copy what they write (decision 0119).

What another thread of the host writes to an array between the two halves may change results, as in any launch. It must
never make a thread leave its arrays or divide by zero: so no place, no condition around one and no divisor may follow
from what is loaded.
"""

from itertools import islice
from typing import Final

from isogrid.ir import device as d
from isogrid.ir.walk import visit
from isogrid.lowering.split import split
from isogrid.printers.llvm_text import element_type

#: Nodes of a body whose checks cost less than a copy.
_MOST_NODES: Final = 256
_DIVISIONS: Final = frozenset({"sdiv", "srem", "udiv", "urem"})


def has_halves(kernel: d.Kernel) -> bool:
    """Whether the halves of a kernel are safe and cost less than copying what it writes."""
    if not kernel.sites or kernel.grouped or len(tuple(islice(visit(kernel.body), _MOST_NODES + 1))) > _MOST_NODES:
        return False
    halves = split(kernel) if _is_safe(kernel.body, set(), False) else None
    if halves is None:
        return False
    elements = {b.name: element_type(b.element).bits // 8 for b in kernel.buffers}
    written = {n.buffer for n in visit(kernel.body) if isinstance(n, d.Store)}
    loads: set[d.Load] = set()
    _find_loads(halves.check.body, set(), loads)
    # A copy reads what it writes, and what it read is then in the cache.
    return bool(written) and sum(elements[n.buffer] for n in loads) <= 2 * sum(elements[name] for name in written)


def _is_safe(body: d.Block, loaded: set[str], unsure: bool) -> bool:
    """Whether a thread without its checks stays within its arrays. `loaded` gathers the names that follow from what is
    loaded; `unsure`: whether the thread gets here does."""
    for node in body:
        match node:
            case d.Let() | d.Set():
                if not _is_sound(node.value, loaded, unsure):
                    return False
                if unsure or _follows(node.value, loaded):
                    loaded.add(node.name)
            case d.Check():
                if unsure or not _is_sound(node.ok, loaded, unsure):
                    return False
            case d.Store():
                sound = _is_sound(node.index, loaded, unsure) and _is_sound(node.value, loaded, unsure)
                if unsure or not sound or _follows(node.index, loaded):
                    return False
            case d.If():
                inside = unsure or _follows(node.condition, loaded)
                blocks = (node.then, node.otherwise)
                if not _is_sound(node.condition, loaded, unsure) or not all(
                    _is_safe(b, loaded, inside) for b in blocks
                ):
                    return False
            case _:
                return False
    return True


def _is_sound(node: d.Expr, loaded: set[str], unsure: bool) -> bool:
    for part in visit(node):
        match part:
            case d.Load() if unsure or _follows(part.index, loaded):
                return False
            case d.Op() if part.op in _DIVISIONS and _follows(part, loaded):
                return False
            case _:
                continue
    return True


def _follows(node: d.Expr, loaded: set[str]) -> bool:
    """Whether a value follows from what is loaded."""
    return any(isinstance(n, d.Load) or (isinstance(n, d.Value) and n.name in loaded) for n in visit(node))


def _find_loads(body: d.Block, needed: set[str], found: set[d.Load]) -> None:
    """The loads that checks follow from: statements from the last one on, `needed` being the names that are read."""
    for node in reversed(body):
        match node:
            case d.Check():
                _need(node.ok, needed, found)
            case d.Let() | d.Set():
                if node.name in needed:
                    _need(node.value, needed, found)
            case d.If():
                _find_loads(node.then, needed, found)
                _find_loads(node.otherwise, needed, found)
                _need(node.condition, needed, found)
            case _:
                continue


def _need(node: d.Expr, needed: set[str], found: set[d.Load]) -> None:
    for part in visit(node):
        if isinstance(part, d.Value):
            needed.add(part.name)
        elif isinstance(part, d.Load):
            found.add(part)
