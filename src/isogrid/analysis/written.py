"""Arrays that a launch writes from end to end, so that what they held before does not matter.

A kernel of single threads whose every thread stores `y[gid]`, on a grid that is the shape of y, writes all of y:

    @ig.kernel(grid=(H, W))       i, j = ig.gids()       y[i, j] = ...       ->       y

Nothing before the store may end the thread, except a trap, after which the array is put back anyway.
"""

from isogrid.ir import kernel as k
from isogrid.ir.walk import visit


def written_everywhere(kernel: k.Kernel) -> frozenset[str]:
    """Array parameters of which every element is written by every launch that does not trap."""
    if kernel.grouped or kernel.geometry.kind != "grid":
        return frozenset()
    fitting = {
        p.name
        for p in kernel.parameters
        if isinstance(p, k.ArrayParameter) and tuple(p.shape) == tuple(kernel.geometry.extents)
    }
    rank = len(kernel.geometry.extents)
    assigned = times_assigned(kernel)
    positions: dict[str, int] = {}
    found: set[str] = set()
    for statement in kernel.body:
        if any(isinstance(node, k.Return) for node in visit((statement,))):
            break
        match statement:
            case k.Assign(name=name, value=k.Query(kind="gid", axis=axis)) if assigned[name] == 1:
                if axis is not None or rank == 1:
                    positions[name] = axis or 0
            case k.Store(array=array, indices=indices) if array in fitting:
                if [_position(index, positions, rank) for index in indices] == list(range(rank)):
                    found.add(array)
            case _:
                continue
    return frozenset(found)


def _position(index: k.Expr, positions: dict[str, int], rank: int) -> int | None:
    """The axis whose gid the index is."""
    match index:
        case k.Query(kind="gid", axis=axis):
            return axis if axis is not None else (0 if rank == 1 else None)
        case k.Local(name=name):
            return positions.get(name)
        case _:
            return None


def times_assigned(kernel: k.Kernel) -> dict[str, int]:
    """How often each local is set, by whatever statement."""
    times: dict[str, int] = {}
    for node in visit(kernel.body):
        for field in ("name", "target", "counter", "variable"):
            name = getattr(node, field, None)
            if isinstance(name, str) and not isinstance(node, k.Local | k.ScalarValue | k.DimValue):
                times[name] = times.get(name, 0) + 1
    return times
