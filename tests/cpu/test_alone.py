"""Updates of memory without locked instructions, while no other thread runs a launch."""

import threading
import time
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, f32, i32, w32
from isogrid.backends.cpu import pool
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import M, N


@ig.kernel(grid=N)
def count(index: In[i32, N], bins: InOut[w32, M]) -> None:
    ig.atomic_add(bins, index[ig.gid()], w32(1))


@ig.kernel(grid=N)
def checked(index: In[i32, N], bins: InOut[i32, M]) -> None:
    ig.atomic_add(bins, index[ig.gid()], 1)


def test_small_and_large_launches_count_alike() -> None:
    for size in (0, 1, 100, 1_000, 100_000, 2_000_000):
        index = np.random.default_rng(size).integers(0, 13, size).astype(np.int32)
        for kernel, type in ((count, np.uint32), (checked, np.int32)):
            bins = np.zeros(13, type)
            for _ in range(3):
                kernel.on("cpu")(index, bins)
            assert (bins == 3 * np.bincount(index, minlength=13)).all()


def test_a_total_that_wraps_raises_and_changes_nothing() -> None:
    launch = checked.on("cpu")
    bins = np.zeros(4, np.int32)
    index = np.zeros(1_000, np.int32)
    for _ in range(3):
        launch(index, bins)
    bins[0] = (1 << 31) - 1000
    with pytest.raises(ig.KernelOverflowError):
        launch(index, bins)
    assert bins.tolist() == [(1 << 31) - 1000, 0, 0, 0]
    launch(index[:999], bins)
    assert bins[0] == (1 << 31) - 1


@pytest.mark.skipif(not pool.is_supported(), reason="no native pool here: all launches take turns")
def test_launches_of_several_threads_lose_nothing() -> None:
    """Large launches give the GIL away, and small ones of another thread then run beside them."""
    launch = count.on("cpu")
    bins = np.zeros(1, np.uint32)
    large, small = np.zeros(400_000, np.int32), np.zeros(500, np.int32)
    launch(large, bins)
    launch(small, bins)
    bins[0] = 0
    done = threading.Event()
    rounds = several = 0
    end = time.monotonic() + 60

    def many() -> None:
        nonlocal several
        while several < 12 or (rounds <= 10 and time.monotonic() < end):
            launch(large, bins)
            several += 1
        done.set()

    thread = threading.Thread(target=many)
    thread.start()
    while not done.is_set():
        launch(small, bins)
        rounds += 1
    thread.join()
    assert int(bins[0]) == several * large.size + rounds * small.size
    assert rounds > 10


@ig.kernel(grid=N)
def count_some(index: In[i32, N], bins: InOut[i32, M], most: i32) -> None:
    i = ig.gid()
    if index[i] < most:
        ig.atomic_add(bins, index[i], i32(i & 3) - 1)


@pytest.mark.skipif(not pool.is_supported(), reason="no native pool here: all launches take turns")
def test_small_launches_beside_a_large_one_lose_nothing() -> None:
    """The large one updates by plain instructions where it is alone, with the GIL released."""
    on_cpu = checked.on("cpu")
    large, small, total = np.zeros(6_000_000, np.int32), np.zeros(2000, np.int32), np.zeros(40, np.int32)
    for index in (large, large, small):
        on_cpu(index, total)
    total[:] = 0
    done = threading.Event()

    def many() -> None:
        for _ in range(4):
            on_cpu(large, total)
        done.set()

    thread = threading.Thread(target=many)
    thread.start()
    rounds = 0
    while not done.is_set():
        on_cpu(small, total)
        rounds += 1
    thread.join()
    assert int(total[0]) == 4 * large.size + rounds * small.size
    assert rounds > 10


def test_every_number_of_elements_and_lanes_that_are_off() -> None:
    draws = np.random.default_rng(2)
    for size in (1, 15, 16, 63, 64, 65, 1000, 70_001):
        index = draws.integers(0, 50, size, dtype=np.int32)
        total = np.zeros(50, np.int32)
        count_some.on("cpu")(index, total, 30)
        weights = (np.arange(size) & 3) - 1
        wanted = np.bincount(index, np.where(index < 30, weights, 0), minlength=50)
        assert total.tolist() == wanted.astype(int).tolist()


@ig.kernel(grid=N)
def doubled(x: InOut[f32, N]) -> None:
    x[ig.gid()] *= 2.0


def _text(kernel: Any) -> str:
    return emit_module(stages_of(kernel, (), wide=False).device, host_target(), {}).text


def test_only_kernels_that_update_memory_have_two_forms() -> None:
    cases: list[tuple[Any, bool]] = [(count, True), (checked, True), (doubled, False)]
    for kernel, alone in cases:
        text = _text(kernel)
        assert ("@run_alone" in text) == alone
    assert _text(count).count("atomicrmw") == 1


def test_lanes_are_not_picked_out_of_registers() -> None:
    """An element with a run-time number takes the whole vector through memory, once for each lane."""
    for kernel in (count, count_some):
        assert "extractelement" not in _text(kernel)
