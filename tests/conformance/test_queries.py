"""Every query, linear and by axis, in grids and groups of one to three dimensions, padding included."""

import numpy as np
import pytest

from .support import agree, kernel

GRIDS = {1: (37,), 2: (3, 19), 3: (2, 3, 5)}
BLOCKS = {1: (8,), 2: (2, 4), 3: (1, 2, 3)}
LETTERS = {1: "N", 2: "H, W", 3: "D, H, W"}


def axes(rank: int, name: str) -> str:
    return "".join(f"    z[ig.gid({rank - 1}), {axis}] = ig.{name}({axis})\n" for axis in range(rank))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", ["gid", "grid_size"])
def test_ungrouped(rank: int, name: str, device: str) -> None:
    letters, ids = LETTERS[rank], ", ".join("hij"[:rank])
    made = kernel(f"""
@ig.kernel(grid=({letters},))
def k(z: ig.Out[ig.i64, {letters}]) -> None:
    {ids}{"," if rank == 1 else ""} = ig.gids()
    z[{ids}] = ig.{name}() * 1000 + ig.{name}({rank - 1})
""")
    agree(made, device, np.zeros(GRIDS[rank], np.int64))


@pytest.mark.parametrize("open", [False, True], ids=["written", "at the launch"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_threads_said_in_groups(rank: int, open: bool, device: str) -> None:
    """A kernel that is not grouped runs all threads of the groups, and its traps name them."""
    letters, ids = LETTERS[rank], ", ".join("hij"[:rank])
    guard = " and ".join(f"{i} < z.shape[{axis}]" for axis, i in enumerate("hij"[:rank]))
    groups, block = ("N",) if rank == 1 else (3, 2, 4)[:rank], BLOCKS[rank]
    written = f"groups=({', '.join(map(str, groups))},), block={block}"
    made = kernel(f"""
@ig.kernel({"" if open else written})
def k(p: ig.In[ig.i32, N], z: ig.Out[ig.i64, {letters if rank > 1 else "C"}]) -> None:
    {ids}{"," if rank == 1 else ""} = ig.gids()
    if {guard}:
        z[{ids}] = 100 // p[ig.gid() % len(p)] + ig.gid() * 1000 + ig.grid_size() + ig.grid_size({rank - 1})
""")
    given = {"groups": (5,) if rank == 1 else groups, "block": block} if open else {}
    z = np.zeros({1: 37, 2: (5, 19), 3: (3, 5, 11)}[rank], np.int64)
    for p in (np.ones(5, np.int32), np.array([1, 1, 1, 0, 1], np.int32)):
        agree(made, device, p, z, **given)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", ["lid", "group_id", "group_size", "num_groups", "grid_size"])
@pytest.mark.parametrize("by", ["grid", "groups"])
def test_grouped(rank: int, name: str, by: str, device: str) -> None:
    letters, ids = LETTERS[rank], ", ".join("hij"[:rank])
    guard = " and ".join(f"{i} < z.shape[{axis}]" for axis, i in enumerate("hij"[:rank]))
    block = BLOCKS[rank] if rank > 1 else BLOCKS[1][0]
    geometry = f"grid=({letters},)" if by == "grid" else f"groups=({', '.join('3' * rank)},)"
    made = kernel(f"""
@ig.kernel({geometry}, block={block})
def k(z: ig.Out[ig.i64, {letters}]) -> None:
    {ids}{"," if rank == 1 else ""} = ig.gids()
    inside = ig.group_sum(ig.i32(1))
    if {guard}:
        z[{ids}] = ig.{name}() * 10000 + ig.{name}({rank - 1}) * 100 + ig.{name}(0) + inside
""")
    agree(made, device, np.zeros(GRIDS[rank], np.int64))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_tuples(rank: int, device: str) -> None:
    letters, ids = LETTERS[rank], ", ".join("hij"[:rank])
    names = "abc"[:rank]
    guard = " and ".join(f"{i} < z.shape[{axis}]" for axis, i in enumerate("hij"[:rank]))
    comma = "," if rank == 1 else ""
    made = kernel(f"""
@ig.kernel(grid=({letters},), block={BLOCKS[rank] if rank > 1 else 8})
def k(z: ig.Out[ig.i64, {letters}]) -> None:
    {ids}{comma} = ig.gids()
    {", ".join(names)}{comma} = ig.lids()
    {", ".join("g" + n for n in names)}{comma} = ig.group_ids()
    if {guard}:
        z[{ids}] = {" + ".join(f"{n} * 10 + g{n} * 100" for n in names)}
""")
    agree(made, device, np.zeros(GRIDS[rank], np.int64))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 31, 63, 64, 65, 255, 256, 257, 1000])
def test_linear_sizes(size: int, device: str) -> None:
    made = kernel("""
@ig.kernel(grid=N)
def k(z: ig.Out[ig.i64, N]) -> None:
    i = ig.gid()
    z[i] = i * i + ig.grid_size()
""")
    agree(made, device, np.zeros(size, np.int64))
