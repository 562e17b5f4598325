"""Trips of a loop side by side: those that call elementary functions ask once for all of their slow paths."""

import math
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.cli.stages import stages_of
from isogrid.cli.text_targets import ptx_text
from isogrid.dims import M, N
from tests.conformance.support import agree


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


@ig.kernel(grid=N)
def folded(x: ig.In[ig.f32, N], w: ig.In[ig.f32, M], y: ig.Out[ig.f32, N], z: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    s, t = x[i], x[i]
    for j in range(len(w)):
        s = math.sqrt(s * s + 1 / w[j])
        t = t / w[j] + w[j] / math.sqrt(w[j])
    y[i] = s
    z[i] = t


@ig.kernel(grid=N)
def every(a: ig.In[ig.f32, N, M], b: ig.In[ig.f32, N, M], q: ig.Out[ig.f32, N, M], r: ig.Out[ig.f32, N, M]) -> None:
    i = ig.gid()
    for j in range(a.shape[1]):
        q[i, j] = a[i, j] / b[i, j]
    for j in range(a.shape[1]):
        r[i, j] = 1 / math.sqrt(a[i, j])


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


def test_eight_calls_ask_once() -> None:
    """The body stands there nine times, eight trips of a batch and one for the trips left; the slow path once."""
    assert ptx_text(stages_of(sums)).count("cvt.rn.f32.f64") == 8 + 1 + 1
    assert ptx_text(stages_of(chained)).count("cvt.rn.f32.f64") == 1 + 1


@pytest.mark.parametrize("trips", [0, 1, 7, 8, 19])
def test_quotients_and_roots_side_by_side(trips: int) -> None:
    x = np.array([1.25, 0.75, 0.0, 4.5, -86.0, 1e-30, np.inf, np.nan, -0.25], np.float32)
    w = np.linspace(-2, 9, trips, dtype=np.float32)
    y, again = np.empty_like(x), np.empty_like(x)
    pulls.on("simulated")(x, w, y)
    pulls.on("cpu")(x, w, again)
    assert np.array_equal(y.view(np.uint32), again.view(np.uint32))


@pytest.mark.parametrize("trips", [7, 8, 19])
def test_quotients_and_roots_of_the_trip_before_stay_in_turn(trips: int) -> None:
    """One statement has such a root, and a quotient that needs nothing of another trip."""
    x, w = np.linspace(0.25, 3, 9, dtype=np.float32), np.linspace(0.5, 9, trips, dtype=np.float32)
    agree(folded, "simulated", x, w, np.zeros_like(x), np.zeros_like(x))
    assert "rcp.approx.ftz.f32" in ptx_text(stages_of(folded))


def test_the_assembler_unrolls_no_quotients() -> None:
    """Eight trips share their loads, and one is left over. Where a trip needs the one before nothing is to be won."""
    text = ptx_text(stages_of(pulls))
    assert text.count("div.rn.f32") == text.count("sqrt.rn.f32") == 8 + 1
    assert text.count("ld.global.nc.v4.b32") == 2
    assert ptx_text(stages_of(continued)).count("rcp.rn.f32") == 4 + 1  # as LLVM unrolls it


def test_quotients_and_roots_of_all_kinds() -> None:
    """The ends of what is computed together and what is not, around them, and numbers of every size."""
    random = np.random.default_rng(7)
    ends = [0.0, 1.0, 3.0, 1e-45, 1.1754942e-38, 3.4028235e38, np.inf, np.nan]
    ends += [float(np.ldexp(1.0, e)) for e in (-126, -97, -96, -95, -64, -63, -48, -33, -32, -31, 63, 64, 95, 96, 97)]
    with np.errstate(over="ignore"):
        near = [np.nextafter(np.float32(e), np.float32(to)) for e in ends for to in (0, np.inf)]
    corners = np.array([*ends, *near], np.float32)
    corners = np.concatenate([corners, -corners])
    a, b = (grid.ravel() for grid in np.meshgrid(corners, corners))
    made: list[Any] = [(a, b), tuple(random.integers(0, 1 << 32, (2, 4096), dtype=np.uint32).view(np.float32))]
    # One that is out of range sends its whole batch the other way, so there are rows with none, and with one.
    for low, high in ((-20, 20), (-32, -30), (93, 96)):
        b = np.ldexp(random.uniform(1, 2, 4864), random.integers(low, high, 4864)).astype(np.float32)
        a = (b * np.ldexp(random.uniform(-2, 2, 4864), random.integers(-30, 30, 4864))).astype(np.float32)
        b[:2432:19] = random.choice(corners, 128)
        made += [(a, b), (np.abs(b), a)]
    for low, high in ((-126, -116), (-97, -93), (-4, 4)):
        x = np.ldexp(random.uniform(1, 2, 1900), random.integers(low, high, 1900)).astype(np.float32)
        made.append((x, x))
    a, b = (np.concatenate(parts) for parts in zip(*made, strict=True))
    a, b = (np.resize(x, (-(-len(x) // 19), 19)) for x in (a, b))
    found: list[Any] = []
    for device in ("simulated", "cpu"):
        q, r = np.zeros_like(a), np.zeros_like(a)
        every.on(device)(a, b, q, r)
        assert ptx_text(stages_of(every)).count("rcp.approx.ftz.f32") >= 8
        found.append((q, r))
    for mine, theirs in zip(*found, strict=True):
        assert np.array_equal(np.isnan(mine), np.isnan(theirs))
        kept = ~np.isnan(mine)
        assert np.array_equal(mine[kept].view(np.uint32), theirs[kept].view(np.uint32))
