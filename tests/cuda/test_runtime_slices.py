"""Large launches on host arrays, cut into slices that lanes copy in, compute and copy out: the same results, nothing
else touched, and only where it may be."""

import copy
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.analysis.own_rows import own_rows
from isogrid.backends.cuda import slices, transfer
from isogrid.cli.stages import stages_of
from isogrid.dims import K, M, N, R
from isogrid.runtimes.cuda_driver import DriverError
from tests.arrays import kernels as k
from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu

F32 = np.float32


@ig.kernel(grid=(M, N), block=(4, 32))
def product(a: In[f32, M, K], b: In[f32, K, N], c: Out[f32, M, N]) -> None:
    i, j = ig.gids()
    total = f32(0)
    for n in range(a.shape[1]):
        total = ig.fma(a[i, n], b[n, j], total)
    c[i, j] = total


@ig.kernel(grid=R, block=64)
def some(start: i32, count: In[i32, R], x: InOut[i32, N], y: Out[i32, N]) -> None:
    """The grid may end before the arrays do, or behind them; not every element is written."""
    i = ig.gid()
    if i < len(x) and x[i] > start:
        y[i] = x[i] & count[i]
        x[i] = x[i] ^ 3


@ig.kernel(grid=N, block=64)
def table(at: In[i32, N], values: In[f32, Literal[32]], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = values[at[i] & 31]


@ig.kernel(grid=N, block=64)
def neighbours(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[max(i - 1, 0)] + x[i]


@ig.kernel(grid=N, block=64)
def group_sums(x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    total = ig.group_sum(x[i] if i < len(x) else 0.0)
    if i < len(y):
        y[i] = y[i] + total


@ig.kernel(grid=N, block=64)
def mirrored(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[len(x) - 1 - i] = x[i]


@ig.kernel(grid=N, block=64)
def moved(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    j = i
    if x[i] > 0.5:
        i = 0 if len(x) == 1 else i
    y[j] = x[i]


OWN: dict[Any, set[str]] = {
    k.saxpy: {"x", "y"},
    k.gather: {"at", "y"},
    product: {"a", "c"},
    some: {"count", "x", "y"},
    table: {"at", "y"},
    neighbours: {"y"},
    group_sums: {"x", "y"},
    mirrored: {"x"},
    moved: set(),
}


@pytest.mark.parametrize("of", OWN, ids=lambda of: of.name if hasattr(of, "name") else str(of))
def test_arrays_that_are_touched_in_own_rows(of: Any) -> None:
    assert own_rows(stages_of(of, (), wide=False).built) == OWN[of]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    monkeypatch.setattr(slices, "LEAST", 1 << 12)
    monkeypatch.setattr(transfer, "ROOM", 1 << 14)
    monkeypatch.setattr(transfer, "PART", 1 << 12)
    monkeypatch.setattr(transfer, "_LEAST", 1 << 12)
    monkeypatch.setattr(transfer, "_DIRECT", 1 << 10)
    with fake_gpu() as driver:
        yield driver


def both(of: Any, *arguments: Any) -> None:
    """The same arrays from the interpreter and from the simulated GPU."""
    expected: list[Any] = copy.deepcopy(list(arguments))
    of.on("interp")(*expected)
    of.on("cuda")(*arguments)
    for mine, theirs in zip(arguments, expected, strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()


def numbers(count: int | tuple[int, ...], seed: int = 1) -> Any:
    return np.random.default_rng(seed).random(count, dtype=F32)


@pytest.mark.parametrize("size", [1024, 4096, 10007])
def test_slices_of_one_axis(gpu: FakeDriver, size: int) -> None:
    both(k.saxpy, 2.0, numbers(size), numbers(size, 2))
    assert (gpu.launches > 1) == (size > 1024)


def test_lanes_work_at_the_same_time(gpu: FakeDriver) -> None:
    """Something is copied out before everything was copied in."""
    both(k.saxpy, 2.0, numbers(100_000), numbers(100_000, 2))
    assert gpu.calls.index("copy_out") < len(gpu.calls) - 1 - gpu.calls[::-1].index("copy_in")


@pytest.mark.parametrize(("rows", "columns"), [(67, 33), (5, 700)])
def test_rows_of_a_grid(gpu: FakeDriver, rows: int, columns: int) -> None:
    a, b = numbers((rows, 40)), numbers((40, columns), 2)
    both(product, a, b, np.zeros((rows, columns), F32))
    assert gpu.launches > 1


@pytest.mark.parametrize(("threads", "size"), [(3000, 5000), (5000, 3000), (4001, 4001)])
def test_rows_that_no_thread_touches_stay(gpu: FakeDriver, threads: int, size: int) -> None:
    x = np.random.default_rng(3).integers(-100, 100, size, dtype=np.int32)
    count = np.arange(threads, dtype=np.int32)
    both(some, 5, count, x, np.full(size, -7, np.int32))
    assert gpu.launches > 1


def test_what_is_read_anywhere_goes_in_whole(gpu: FakeDriver) -> None:
    at = np.random.default_rng(4).integers(0, 1 << 20, 9000, dtype=np.int32)
    both(table, at, numbers(32), np.zeros(9000, F32))
    both(neighbours, numbers(9000), np.zeros(9000, F32))
    both(group_sums, numbers(9000), numbers(9000, 2))
    assert gpu.launches > 6


def test_not_in_slices(gpu: FakeDriver) -> None:
    """What may trap must be known to be good before it writes, and what writes to rows of others needs them all."""
    at = np.arange(9000, dtype=np.int32)
    both(k.gather, at, numbers(9000), np.zeros(9000, F32))
    both(mirrored, numbers(9000), np.zeros(9000, F32))
    at[8999] = 9000
    y = np.zeros(9000, F32)
    with pytest.raises(ig.KernelIndexError):
        k.gather.on("cuda")(at, numbers(9000), y)
    assert not y.any() and gpu.launches < 10
    x = ig.array(numbers(9000), device="cuda")
    y = numbers(9000, 2)
    launches = gpu.launches
    k.saxpy(2.0, x, y)
    assert gpu.launches == launches + 1
    assert np.array_equal(y, F32(2) * numbers(9000) + numbers(9000, 2))


def test_a_failure_in_a_lane(gpu: FakeDriver) -> None:
    k.saxpy.on("cuda")(2.0, numbers(20_000), numbers(20_000, 2))
    gpu.fail("copy_out", "CUDA_ERROR_UNKNOWN")
    with pytest.raises(DriverError, match="CUDA_ERROR_UNKNOWN"):
        k.saxpy.on("cuda")(2.0, numbers(20_000), numbers(20_000, 2))
    both(k.saxpy, 2.0, numbers(20_000), numbers(20_000, 2))


def test_a_profile_sees_the_slices(gpu: FakeDriver) -> None:
    x, y = numbers(20_000), numbers(20_000, 2)
    k.saxpy.on("cuda")(2.0, x, y)
    with ig.profile() as profile:
        k.saxpy.on("cuda")(2.0, x, y)
    assert [(e.kind, e.name, e.size) for e in profile.entries] == [("launch in slices", "saxpy", 160_000)]
