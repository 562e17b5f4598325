"""Elements that belong to one thread: `y[i, j]` of thread (i, j), where the array is as large as the grid.

Such an element exists for every thread, so lanes that are off may load theirs too, which spares a mask (decision 0194).
"""

from isogrid.backends.cpu.emit_guards import resolved
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit

#: An array and the index as the kernel writes it.
Place = tuple[str, d.Expr]


def own_places(kernel: d.Kernel) -> frozenset[Place]:
    """Where threads load their own element."""
    own = _own_index(kernel)
    alike = {p.name for p in kernel.parameters if isinstance(p, k.ArrayParameter) and _covers(p, kernel.geometry)}
    if own is None or not alike or kernel.races != "prove":
        return frozenset()
    nodes = list(visit(kernel.body))
    defined = {node.name: node.value for node in nodes if isinstance(node, d.Let)}
    return frozenset(
        (node.buffer, node.index)
        for node in nodes
        if isinstance(node, d.Load) and node.buffer in alike and resolved(node.index, defined) == own
    )


def _covers(array: k.ArrayParameter, geometry: k.Geometry) -> bool:
    """Whether the array has one element for each thread: the same extents, and each known by its name or number."""
    plain = all(isinstance(extent, k.DimValue | k.Const) for extent in array.shape)
    return plain and array.shape == geometry.extents


def _own_index(kernel: d.Kernel) -> d.Expr | None:
    """The thread's number in C order, as subscripts of all its coordinates are lowered."""
    geometry = kernel.geometry
    if kernel.grouped or geometry.kind != "grid":
        return None
    index: d.Expr = d.Special("thread", 0)
    for axis, extent in enumerate(geometry.extents[1:], 1):
        match extent:
            case k.DimValue():
                factor: d.Expr = d.Argument("dim", extent.name, Machine.I64)
            case k.Const():
                factor = d.Literal(extent.value, Machine.I64)
            case _:
                return None
        scaled = d.Op("imul", (index, factor), Machine.I64)
        index = d.Op("iadd", (scaled, d.Special("thread", axis)), Machine.I64)
    return index
