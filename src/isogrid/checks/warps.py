"""IG304: warp operations in a kernel whose block is not a whole number of warps (spec 5)."""

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.ir import kernel as k
from isogrid.ir.walk import visit


def check_warps(kernel: k.Kernel) -> list[Report]:
    """One report, at the first use of warps."""
    size, width = kernel.geometry.group_size, kernel.warp
    if size % width == 0:
        return []
    for node in visit(kernel.body):
        if _of_warps(node):
            return [_report(kernel, node)]
    return []


def _of_warps(node: k.Node) -> bool:
    match node:
        case k.WarpBarrier() | k.WarpCollective():
            return True
        case k.Query(kind="lane_id" | "warp_id"):
            return True
        case _:
            return False


def _report(kernel: k.Kernel, node: k.Node) -> Report:
    size, width = kernel.geometry.group_size, kernel.warp
    rounded = -(-size // width) * width
    remedies = [Remedy(f"give the group whole warps: {rounded} threads, with the work of the last ones under an `if`")]
    narrower = next((w for w in (32, 16, 8, 4) if w < width and size % w == 0), None)
    if narrower is not None:
        remedies.append(Remedy(f"or use narrower warps: `@ig.kernel(..., warp={narrower})`"))
    return Report(
        code="IG304",
        title=f"a block of {size} threads is not a whole number of warps of {width}",
        primary=Label(node.span, "the last warp of a group would lack threads"),
        why="every thread of a warp takes part in its operations",
        remedies=tuple(remedies),
        kernel=kernel.name,
    )
