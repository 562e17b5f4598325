"""Trips of a loop side by side: those that call elementary functions ask once for all of their slow paths."""

import math

import numpy as np
import pytest

import isogrid as ig
from isogrid.cli.stages import stages_of
from isogrid.cli.text_targets import ptx_text
from isogrid.dims import M, N


@ig.kernel(grid=N)
def sums(x: ig.In[ig.f32, N], trips: ig.i32, y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    s = ig.f32(0)
    for j in range(trips):
        s += math.log(x[i] - ig.f32(j) * 0.5)
    y[i] = s


@ig.kernel(grid=N)
def chained(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    for _ in range(40):
        v = math.sin(v)
    y[i] = v


@ig.kernel(grid=N)
def last(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    v = ig.f32(0)
    for j in range(40):
        v = math.log(x[i] + ig.f32(j))
    y[i] = v


@ig.kernel(grid=N)
def several(x: ig.In[ig.f32, N], at: ig.In[ig.i32, M], y: ig.Out[ig.f32, N], z: ig.Out[ig.f32, N, M]) -> None:
    i = ig.gid()
    s, most = ig.f32(0), ig.f32(-1)
    for j in range(at.shape[0]):
        v = math.log(x[at[j]] + ig.f32(j))
        if v > x[i]:
            s += math.sqrt(v) * math.exp(-v)
        most = max(most, math.cos(v))
        z[i, j] = v * 2
    y[i] = s + most


@ig.kernel(grid=N)
def pulls(x: ig.In[ig.f32, N], w: ig.In[ig.f32, M], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    s = ig.f32(0)
    for j in range(len(w)):
        s += w[j] / math.sqrt(w[j] - x[i])
    y[i] = s


@ig.kernel(grid=N)
def continued(x: ig.In[ig.f32, N], trips: ig.i32, y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    for _ in range(trips):
        v = 1 / (v + 1)
    y[i] = v


@pytest.mark.parametrize("trips", [0, 3, 4, 11, 16])
def test_sums_of_any_number_of_trips(trips: int) -> None:
    """Slow paths are taken in the last trip of a batch, in several, and in all."""
    x = np.array([1.25, 0.75, 1.0, 4.5, 86.0, 1e-30, np.inf, np.nan, -0.25], np.float32)
    y, again = np.empty_like(x), np.empty_like(x)
    sums.on("simulated")(x, trips, y)
    sums.on("cpu")(x, trips, again)
    assert np.array_equal(y.view(np.uint32), again.view(np.uint32))


@pytest.mark.parametrize("kernel", [chained, last], ids=["chained", "last"])
def test_what_a_trip_needs_of_another_one(kernel: ig.Kernel) -> None:
    x = np.array([0.5, 3.0, 1e6, 1e-40, 0.0, 7.25], np.float32)
    y, again = np.empty_like(x), np.empty_like(x)
    kernel.on("simulated")(x, y)
    kernel.on("cpu")(x, again)
    assert np.array_equal(y.view(np.uint32), again.view(np.uint32))


@pytest.mark.parametrize("wrong", [None, 0, 5, 12])
def test_calls_checks_choices_and_stores(wrong: int | None) -> None:
    """An index outside of the array traps as it does on the CPU, wherever it is in a batch."""
    x = np.array([0.5, 3.0, 1e6, 1e-40, 0.0, 7.25], np.float32)
    at = (np.arange(13) % 6).astype(np.int32)
    if wrong is not None:
        at[wrong] = 6
    found: list[tuple[str, bytes, bytes]] = []
    for device in ("simulated", "cpu"):
        y, z, said = np.zeros_like(x), np.zeros((6, 13), np.float32), ""
        try:
            several.on(device)(x, at, y, z)
        except ig.Trap as trap:
            said = str(trap)
        found.append((said, y.tobytes(), z.tobytes()))
    assert found[0] == found[1]
    assert bool(found[0][0]) == (wrong is not None)


def test_four_calls_ask_once() -> None:
    """The body stands there five times, four trips of a batch and one for the trips left; the slow path once."""
    assert ptx_text(stages_of(sums)).count("cvt.rn.f32.f64") == 4 + 1 + 1
    assert ptx_text(stages_of(chained)).count("cvt.rn.f32.f64") == 1 + 1


@pytest.mark.parametrize("trips", [0, 1, 7, 8, 19])
def test_quotients_and_roots_side_by_side(trips: int) -> None:
    x = np.array([1.25, 0.75, 0.0, 4.5, -86.0, 1e-30, np.inf, np.nan, -0.25], np.float32)
    w = np.linspace(-2, 9, trips, dtype=np.float32)
    y, again = np.empty_like(x), np.empty_like(x)
    pulls.on("simulated")(x, w, y)
    pulls.on("cpu")(x, w, again)
    assert np.array_equal(y.view(np.uint32), again.view(np.uint32))


def test_the_assembler_unrolls_no_quotients() -> None:
    """Eight trips share their loads, and one is left over. Where a trip needs the one before nothing is to be won."""
    text = ptx_text(stages_of(pulls))
    assert text.count("div.rn.f32") == text.count("sqrt.rn.f32") == 8 + 1
    assert text.count("ld.global.nc.v4.b32") == 2
    assert ptx_text(stages_of(continued)).count("rcp.rn.f32") == 4 + 1  # as LLVM unrolls it
