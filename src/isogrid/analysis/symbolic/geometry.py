"""Thread coordinates as polynomials. An ungrouped kernel is treated as groups of one thread."""

from typing import Any

import numpy as np

from isogrid.analysis.symbolic.context import GROUP, LAUNCH, Context
from isogrid.analysis.symbolic.polynomial import ONE, ZERO, Polynomial, normal
from isogrid.ir import kernel as k


def new_context(kernel: k.Kernel, unroll_limit: int) -> Context:
    """A context with the thread coordinates and the facts of the geometry."""
    block = kernel.geometry.block if kernel.grouped else (1,) * kernel.geometry.rank
    size = int(np.prod(block))
    linear = np.arange(size, dtype=np.int64)
    lids: list[Any] = []
    stride = size
    for extent in block:
        stride //= extent
        lids.append((linear // stride) % extent)
    return Context(kernel, size, kernel.warp if kernel.grouped else 1, tuple(lids), unroll_limit=unroll_limit)


def group_atom(axis: int) -> str:
    return f"group.{axis}"


def declare_geometry(c: Context, extents: tuple[Polynomial, ...]) -> None:
    """Group coordinates and what bounds them. `extents` are the values of `geometry.extents`."""
    g = c.kernel.geometry
    names: list[str] = []
    for axis, extent in enumerate(extents):
        if not c.kernel.grouped:
            # Each thread is a group of its own.
            groups = extent * Polynomial.constant(g.block[axis]) if g.kind == "groups" else extent
        elif g.kind == "groups" or g.block[axis] == 1:
            groups = extent
        elif isinstance(constant := extent.as_constant, int):
            groups = Polynomial.constant(-(-constant // g.block[axis]))
        else:
            groups = c.atom(f"groups.{axis}", LAUNCH, nonnegative=True)
            c.atoms[f"groups.{axis}"].definition = ("cdiv", (extent, Polynomial.constant(g.block[axis])))
            # extent <= groups * block < extent + block
            c.facts += [groups * Polynomial.constant(g.block[axis]) - extent]
            c.facts += [(extent - groups * Polynomial.constant(g.block[axis])).shift(g.block[axis] - 1)]
        c.environment[f"@groups.{axis}"] = groups
        if groups == ONE:
            c.environment[f"@group.{axis}"] = ZERO
            continue
        position = c.atom(group_atom(axis), GROUP, nonnegative=True)
        c.environment[f"@group.{axis}"] = position
        c.facts += [(groups - position).shift(-1), groups.shift(-1)]
        names.append(group_atom(axis))
    c.group_atoms = tuple(names)


def query(c: Context, kind: str, axis: int | None) -> Polynomial:
    """The value of a position query."""
    g = c.kernel.geometry
    rank = g.rank
    block = g.block if c.kernel.grouped else (1,) * rank
    if kind in ("lane_id", "warp_id"):
        linear = np.arange(c.size, dtype=np.int64)
        return Polynomial.constant(normal(linear % c.warp if kind == "lane_id" else linear // c.warp))
    if axis is None:
        return _linear(c, kind, rank, block)
    position = c.environment[f"@group.{axis}"]
    groups = c.environment[f"@groups.{axis}"]
    assert isinstance(position, Polynomial) and isinstance(groups, Polynomial)
    lid = Polynomial.constant(c.lids[axis]) if block[axis] > 1 else ZERO
    match kind:
        case "gid":
            return position * Polynomial.constant(block[axis]) + lid
        case "lid":
            return lid
        case "group_id":
            return position
        case "group_size":
            return Polynomial.constant(block[axis])
        case "num_groups":
            return groups
        case "grid_size":
            return groups * Polynomial.constant(block[axis])
        case _:
            raise ValueError(kind)


def _linear(c: Context, kind: str, rank: int, block: tuple[int, ...]) -> Polynomial:
    """C order over the axes; the group-linear lid is a vector outright."""
    if kind in ("group_size", "num_groups", "grid_size"):
        total = ONE
        for axis in range(rank):
            total = total * query(c, kind, axis)
        return total
    if kind == "lid":
        return Polynomial.constant(np.arange(c.size, dtype=np.int64)) if c.size > 1 else ZERO
    if kind in ("lane_id", "warp_id"):
        lids = np.arange(c.size, dtype=np.int64)
        return Polynomial.constant(lids % c.warp if kind == "lane_id" else lids // c.warp)
    size = {"gid": "grid_size", "group_id": "num_groups"}[kind]
    value = ZERO
    for axis in range(rank):
        value = value * query(c, size, axis) + query(c, kind, axis) if axis else query(c, kind, axis)
    return value
