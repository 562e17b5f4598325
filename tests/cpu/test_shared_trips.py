"""Loops of which lanes make different numbers of trips: those of all lanes without masks; whole clamps, quotients."""

from typing import Any, Literal

import numpy as np
import pytest
from tests.cpu.harness import runner, without_avx512

import isogrid as ig
from isogrid import In, Out, f32, i32, i64
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import G, H, N, W

AVX2 = HostTarget("x86_64-unknown-linux-gnu", "haswell", "+avx2,+fma", "")
AVX512 = HostTarget(AVX2.triple, "emeraldrapids", "+avx512f,+avx2,+fma", "")
TARGETS = [without_avx512(), host_target()]


@ig.kernel(groups=(ig.cdiv(H, 8), ig.cdiv(W, 8)), block=(8, 8))
def spread(x: In[f32, H, W], y: Out[f32, H, W]) -> None:
    """A tile with a halo, filled by all threads in turn: 144 elements and 64 threads."""
    tile = ig.shared(f32, (12, 12))
    gy, gx = ig.group_ids()
    for t in range(ig.lid(), 144, 64):
        row = ig.clamp(gy * 8 + t // 12 - 2, 0, x.shape[0] - 1)
        column = ig.clamp(gx * 8 + t % 12 - 2, 0, x.shape[1] - 1)
        tile[t // 12, t % 12] = x[row, column]
    ig.barrier()
    i, j = ig.gids()
    ly, lx = ig.lids()
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = tile[ly, lx] + 2 * tile[ly + 2, lx + 4] + 4 * tile[ly + 4, lx + 1]


@ig.kernel(groups=ig.cdiv(N, 48), block=48)
def strided(x: In[i32, N], y: Out[i32, N]) -> None:
    """Some lanes make a trip more than others, and quotients change within a vector."""
    kept = ig.shared(i32, (101,))
    for t in range(ig.lid(), 101, 48):
        kept[t] = i32(t // 10 * 1000 + t % 7 + min(max(t - 40, -3), 30))
    ig.barrier()
    i = ig.gid()
    if i < len(x):
        y[i] = x[i] + kept[ig.lid() * 2] - kept[ig.lid()]


@ig.kernel(groups=G, block=48)
def written(y: Out[i32, G, Literal[101]]) -> None:
    group = ig.group_id()
    for t in range(ig.lid(), 101, 48):
        y[group, t] = i32(t // 50 * 1000 + t % 50)


@ig.kernel(groups=ig.cdiv(N, 32), block=32)
def far(x: In[i64, N], y: Out[i64, N]) -> None:
    """Limits of clamps at the ends of the type."""
    kept = ig.shared(i64, (80,))
    for t in range(ig.lid(), 80, 32):
        low = max(t - 9223372036854775800, -9223372036854775790)
        high = min(t + 9223372036854775700, 9223372036854775720)
        kept[t] = (low + 9223372036854775807) * 1000 + (9223372036854775807 - high) + i64(t // 16)
    ig.barrier()
    i = ig.gid()
    if i < len(x):
        y[i] = x[i] + kept[ig.lid()] + kept[ig.lid() + 48]


@pytest.mark.parametrize("target", TARGETS, ids=["narrow", "host"])
def test_tiles_with_a_halo(target: HostTarget) -> None:
    run = runner(target, spread)
    for height, width in ((8, 8), (24, 24), (9, 40), (1, 1), (3, 17), (40, 30)):
        x = np.arange(height * width, dtype=np.float32).reshape(height, width)
        found, wanted = np.full_like(x, 3), np.full_like(x, 3)
        spread.on("interp")(x, wanted)
        run([x, found], {"H": height, "W": width}, [-(-height // 8), -(-width // 8)])
        assert np.array_equal(found, wanted), (height, width)


@pytest.mark.parametrize("target", TARGETS, ids=["narrow", "host"])
@pytest.mark.parametrize(("kernel", "block"), [(strided, 48), (far, 32)], ids=["strided", "far"])
def test_lanes_with_a_trip_more(kernel: Any, block: int, target: HostTarget) -> None:
    run = runner(target, kernel)
    for count in (block, 2 * block + 5):
        x = np.arange(count, dtype=np.int32 if kernel is strided else np.int64)
        found, wanted = np.zeros_like(x), np.zeros_like(x)
        kernel.on("interp")(x, wanted)
        run([x, found], {"N": count}, [-(-count // block)])
        assert np.array_equal(found, wanted), count


@pytest.mark.parametrize("target", TARGETS, ids=["narrow", "host"])
def test_nothing_is_written_behind_the_end(target: HostTarget) -> None:
    room = np.full(3 * 101 + 64, -1, np.int32)
    runner(target, written)([room], {"G": 3}, [3])
    assert (room[: 3 * 101].reshape(3, 101) == [t // 50 * 1000 + t % 50 for t in range(101)]).all()
    assert (room[3 * 101 :] == -1).all()


def test_indices_put_together_again() -> None:
    """`tile[t // 12, t % 12]` is the element t: it is stored beside its neighbours."""
    for target in (AVX2, AVX512):
        assert "masked.scatter" not in emit_module(stages_of(spread).device, target, {}).text


def test_where_trips_run_without_masks() -> None:
    for kernel in (spread, strided, written, far):
        device = stages_of(kernel).device
        assert "all.body" in emit_module(device, AVX2, {}).text
        assert "all.body" not in emit_module(device, AVX512, {}).text
