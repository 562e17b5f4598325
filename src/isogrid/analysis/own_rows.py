"""Arrays that each thread touches only in the row of its own number along the first axis of the grid.

    @ig.kernel(grid=(M, N))     i, j = ig.gids()     c[i, j] += a[i, k] * b[k, j]     ->     c, a

Threads of some rows of the grid then need no other rows of such arrays: a large launch can be done in slices.
"""

from isogrid.analysis.written import times_assigned
from isogrid.ir import kernel as k
from isogrid.ir.walk import visit


def own_rows(kernel: k.Kernel) -> frozenset[str]:
    """Array parameters whose first index is, in every access, the thread's own along axis 0 of the grid."""
    if kernel.geometry.kind != "grid":
        return frozenset()
    rank = kernel.geometry.rank
    times = times_assigned(kernel)
    own = {
        node.name
        for node in visit(kernel.body)
        if isinstance(node, k.Assign) and times[node.name] == 1 and _is_own_row(node.value, rank, frozenset())
    }
    found = {p.name for p in kernel.parameters if isinstance(p, k.ArrayParameter)}
    for node in visit(kernel.body):
        match node:
            case k.Load(array=array, indices=indices) | k.Store(array=array, indices=indices):
                pass
            case k.Atomic(array=array, indices=indices):
                pass
            case _:
                continue
        if not indices or not _is_own_row(indices[0], rank, own):
            found.discard(array)
    return frozenset(found)


def _is_own_row(index: k.Expr, rank: int, own: "set[str] | frozenset[str]") -> bool:
    match index:
        case k.Query(kind="gid", axis=axis):
            return axis == 0 or (axis is None and rank == 1)
        case k.Local(name=name):
            return name in own
        case _:
            return False
