"""`deterministic=False`: old values, float sums and atomic loads, as some order of the threads gives them."""

from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64, u32
from isogrid.dims import M, N

DEVICES = ("interp", "cpu")


@ig.kernel(grid=N, deterministic=False)
def tickets(counter: InOut[i32, M], y: Out[i32, N]) -> None:
    y[ig.gid()] = ig.atomic_add(counter, 0, 1)


@pytest.mark.parametrize("device", DEVICES)
def test_every_thread_draws_its_own_ticket(device: str) -> None:
    counter, y = np.array([100], np.int32), np.zeros(5000, np.int32)
    tickets.on(device)(counter, y)
    assert counter[0] == 5100
    assert sorted(y) == list(range(100, 5100))
    if device == "interp":
        assert y.tolist() == list(range(100, 5100))


@ig.kernel(grid=N, deterministic=False, races=ig.trust("every ticket is drawn once"))
def compacted(x: In[i32, N], counter: InOut[i64, M], y: Out[i32, N]) -> None:
    i = ig.gid()
    if x[i] > 0:
        y[ig.atomic_add(counter, 0, 1)] = x[i]


@pytest.mark.parametrize("device", DEVICES)
def test_compaction_keeps_every_positive_value(device: str) -> None:
    x = np.random.default_rng(3).integers(-50, 50, 3000).astype(np.int32)
    counter, y = np.zeros(1, np.int64), np.zeros(3000, np.int32)
    compacted.on(device)(x, counter, y)
    assert sorted(y[: counter[0]]) == sorted(x[x > 0])


@ig.kernel(grid=N, deterministic=False)
def float_total(x: In[f32, N], total: InOut[f32, M], most: InOut[f64, M]) -> None:
    i = ig.gid()
    ig.atomic_add(total, 0, x[i])
    ig.atomic_add(most, 0, f64(x[i]))


@pytest.mark.parametrize("device", DEVICES)
def test_float_sums_are_near_and_whole_numbers_exact(device: str) -> None:
    x = np.random.default_rng(5).integers(0, 100, 4000).astype(np.float32)
    total, most = np.zeros(1, np.float32), np.zeros(1)
    float_total.on(device)(x, total, most)
    assert total[0] == x.sum() == most[0]


@ig.kernel(groups=4, block=64, deterministic=False)
def last_group(x: In[f32, N], parts: InOut[f32, M], done: InOut[u32, M], y: InOut[f32, M]) -> None:
    """The last group to finish adds the parts of all: the pattern that needs old values."""
    last = ig.shared(i32, 1)
    s = ig.group_sum(x[ig.gid()])
    if ig.lid() == 0:
        ig.atomic_store(parts, ig.group_id(), s)
        if ig.atomic_add(done, 0, 1) == 3:
            last[0] = 1
    ig.barrier()
    if ig.lid() == 0 and last[0] == 1:
        t = f32(0.0)
        for g in range(4):
            t += ig.atomic_load(parts, g)
        ig.atomic_store(y, 0, t)


@pytest.mark.parametrize("device", DEVICES)
def test_the_last_group_sees_every_part(device: str) -> None:
    x = np.arange(256, dtype=np.float32)
    parts, done, y = np.zeros(4, np.float32), np.zeros(4, np.uint32), np.zeros(4, np.float32)
    last_group.on(device)(x, parts, done, y)
    assert y[0] == x.sum()


@ig.kernel(groups=1, block=32, deterministic=False)
def of_shared(y: Out[i32, N], z: Out[i32, N], f: Out[f32, N]) -> None:
    s = ig.shared(i32, 4)
    r = ig.shared(f32, 1)
    t = ig.lid()
    y[t] = ig.atomic_max(s, t % 4, i32(t))
    z[t] = ig.atomic_cas(s, 3, 31, 7)
    f[t] = ig.atomic_add(r, 0, 0.5)


def test_groups_run_in_reference_order_on_both_devices() -> None:
    seen = []
    for device in DEVICES:
        arrays = np.zeros(32, np.int32), np.zeros(32, np.int32), np.zeros(32, np.float32)
        of_shared.on(device)(*arrays)
        seen.append([sorted(a.tolist()) for a in arrays])
    assert seen[0] == seen[1]
    assert seen[0][2] == [k / 2 for k in range(32)]


@ig.kernel(grid=N, deterministic=False)
def trapping(counter: InOut[i32, M], y: InOut[i32, N]) -> None:
    old = ig.atomic_add(counter, 0, 1)
    assert old != 700, "the seven hundredth"
    y[ig.gid()] = old


@pytest.mark.parametrize("device", DEVICES)
def test_a_trap_restores_the_arrays(device: str) -> None:
    counter, y = np.zeros(1, np.int32), np.zeros(2000, np.int32)
    with pytest.raises(ig.KernelAssertionError, match="the seven hundredth"):
        trapping.on(device)(counter, y)
    assert counter[0] == 0
    assert not y.any()


def test_a_stray_index_is_still_a_trap() -> None:
    @ig.kernel(grid=N, deterministic=False)
    def stray(counter: InOut[i32, M], y: InOut[i32, N]) -> None:
        y[ig.gid()] = 0
        ig.atomic_load(counter, ig.atomic_add(counter, 0, 1))

    words: list[Any] = []
    for device in DEVICES:
        with pytest.raises(ig.KernelIndexError) as caught:
            stray.on(device)(np.zeros(4, np.int32), np.zeros(64, np.int32))
        words.append(str(caught.value))
    assert words[0].splitlines()[0] == words[1].splitlines()[0]


def test_old_values_are_never_uniform() -> None:
    @ig.kernel(groups=1, block=32, deterministic=False)
    def parted(counter: InOut[i32, M]) -> None:
        if ig.atomic_add(counter, 0, 1) == 0:
            ig.barrier()

    (report,) = parted.check()
    assert report.code == "IG301"
