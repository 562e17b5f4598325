"""The pool, out of memory, copies through pinned memory, and order between streams, on a simulated GPU."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.backends.cuda import transfer
from isogrid.dims import N
from isogrid.launch import backends
from isogrid.runtimes.cuda_driver import OUT_OF_MEMORY, Driver, DriverError
from isogrid.runtimes.pool import OutOfMemory, Pool, rounded
from tests.arrays import kernels as k
from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu

F32 = np.float32


@pytest.fixture
def gpu() -> Iterator[FakeDriver]:
    with fake_gpu(FakeDriver(memory=1 << 24)) as driver:
        yield driver


def queue() -> Any:
    runtime: Any = backends.runtime("cuda")
    return runtime.queue


def test_the_fake_has_every_method_of_the_table() -> None:
    missing = [n for n, f in vars(Driver).items() if callable(f) and n[0] != "_" and n not in vars(FakeDriver)]
    assert missing == []


def test_sizes_of_pieces() -> None:
    for size in [0, 1, 511, 512, 513, 5000, 1 << 20, (1 << 20) + 1, 1 << 21, (1 << 21) + 1, 10**9]:
        assert size <= rounded(size) <= max(512, size * 9 // 8 + 512) or rounded(size) - size < 1 << 21
        assert rounded(rounded(size)) == rounded(size)


def test_the_pool_keeps_pieces_and_retries() -> None:
    free, given, waits = [100], [], []

    def obtain(size: int) -> int:
        if not free:
            raise OutOfMemory
        return free.pop()

    def give_up(address: int) -> None:
        given.append(address)
        free.append(address)

    pool = Pool(obtain, give_up, lambda: waits.append(1))
    address, size, stream = pool.take(1000)
    assert (address, stream) == (100, -1)
    pool.give_back(address, size, 5)
    assert pool.take(900) == (100, 1024, 5) and pool.reused == 1
    with pytest.raises(OutOfMemory):
        pool.take(600)
    pool.give_back(100, 1024, 5)
    assert pool.take(5000) == (100, rounded(5000), -1)
    assert given == [100] and len(waits) == 1 and pool.statistics()["retries"] == 2
    assert pool.statistics()["used"] == pool.statistics()["reserved"] == rounded(5000)


def test_out_of_memory_is_retried_after_a_release(gpu: FakeDriver) -> None:
    x = ig.zeros(1 << 21, ig.f32, device="cuda")  # half of the memory
    del x
    assert ig.memory_statistics("cuda")["reserved"] == 1 << 23
    y = ig.zeros(5 << 20, ig.u8, device="cuda")  # of another size; fits only after the release
    z = ig.zeros(9 << 20, ig.u8, device="cuda")
    assert ig.memory_statistics("cuda")["retries"] == 1
    with pytest.raises(ig.DeviceMemoryError) as caught:
        ig.zeros(1 << 22, ig.f32, device="cuda")
    assert str(caught.value) == (
        "cuda has no memory for 16 MiB: 16 MiB are in use by arrays of this process, and 0 bytes of 16 MiB are free"
    )
    assert isinstance(caught.value, MemoryError)
    assert y.numpy().sum() == 0 and z.numpy().sum() == 0


def test_release_gives_everything_back(gpu: FakeDriver) -> None:
    x = ig.zeros(100000, ig.f32, device="cuda")
    x.numpy()
    start = gpu.allocated
    del x
    gc.collect()
    assert gpu.allocated == start
    assert ig.release_memory("cuda") == rounded(400000)
    assert gpu.allocated == start - rounded(400000)


def test_a_launch_that_runs_out_of_memory_changes_nothing(gpu: FakeDriver) -> None:
    x, y = ig.ones(100, ig.f32, device="cuda"), ig.ones(100, ig.f32, device="cuda")
    gpu.fail("allocate", OUT_OF_MEMORY, times=5)
    with pytest.raises(ig.DeviceMemoryError):
        k.saxpy.on("cuda")(1.0, np.ones(1000, F32), np.ones(1000, F32))
    gpu.failures.clear()
    k.saxpy(1.0, x, y)
    assert y.numpy()[0] == 2


def test_an_error_of_the_driver_has_its_name(gpu: FakeDriver) -> None:
    x = ig.ones(100, ig.f32, device="cuda")
    k.copy(x, ig.zeros(100, ig.f32, device="cuda"))
    gpu.fail("launch", "CUDA_ERROR_LAUNCH_FAILED", times=2)  # also natively
    with pytest.raises(DriverError, match="CUDA_ERROR_LAUNCH_FAILED"):
        k.copy(x, ig.zeros(100, ig.f32, device="cuda"))


@pytest.mark.parametrize("size", [transfer._DIRECT, transfer._DIRECT + 1, 200_001, 1 << 20])
def test_large_copies_go_through_pinned_pieces(gpu: FakeDriver, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PART", 1 << 16)
    monkeypatch.setattr(transfer, "_LEAST", 1 << 14)
    content = np.random.default_rng(1).integers(0, 255, size, np.uint8)
    x = ig.array(content, device="cuda")
    content_before = content.copy()
    content[...] = 0
    assert np.array_equal(x.numpy(), content_before)
    assert bool(gpu.pinned) == (size > transfer._DIRECT)


def test_fills_of_every_width(gpu: FakeDriver) -> None:
    for dtype, value in (("u1", 7), ("i2", -2), ("f4", 0.1), ("f8", 0.1), ("i8", -(2**40)), ("f8", 0.0), ("?", True)):
        for count in (1, 2, 511, 513, 3000):
            assert np.array_equal(ig.full(count, value, dtype, device="cuda").numpy(), np.full(count, value, dtype))


def test_work_waits_for_other_streams(gpu: FakeDriver) -> None:
    stream = gpu.create_stream()
    x = ig.full(1000, 3, ig.f32, device="cuda")
    y, z = ig.zeros(1000, ig.f32, device="cuda"), ig.zeros(1000, ig.f32, device="cuda")
    k.copy.launch(x, y, stream=stream)  # behind the fill, which is in another stream
    k.copy(y, z)  # behind that copy
    assert gpu.streams[stream] and gpu.streams[0]
    assert np.array_equal(z.numpy(), np.full(1000, 3, F32))


def test_nothing_runs_before_it_must(gpu: FakeDriver) -> None:
    x, y = ig.ones(100, ig.f32, device="cuda"), ig.zeros(100, ig.f32, device="cuda")
    k.saxpy(2.0, x, y)
    calls = list(gpu.calls)
    k.saxpy(2.0, x, y)
    assert gpu.calls[len(calls) :] == ["launch"], "a launch that cannot trap is one call of the driver"
    assert gpu.streams[0]
    y.numpy()
    assert not gpu.streams[0]


def test_a_forked_child_is_told(gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ig.ones(100, ig.f32, device="cuda")
    monkeypatch.setattr("os.getpid", lambda: -1)
    with pytest.raises(ig.IsogridError, match=r"does not survive a fork; start processes with .*spawn"):
        k.copy(x, x.copy())
    monkeypatch.undo()


def test_a_kernel_that_does_not_compile_leaves_the_device_usable(gpu: FakeDriver) -> None:
    fresh = ig.kernel(grid=k.N)(k.copy.definition.function)
    x = ig.ones(100, ig.f32, device="cuda")
    gpu.fail("link", "CUDA_ERROR_INVALID_PTX")
    with pytest.raises(DriverError, match="INVALID_PTX"):
        fresh(x, ig.zeros(100, ig.f32, device="cuda"))
    y = ig.zeros(100, ig.f32, device="cuda")
    fresh(x, y)
    assert y.numpy()[0] == 1


def test_more_pending_launches_than_statuses(gpu: FakeDriver) -> None:
    at, x = ig.array(np.zeros(4, np.int32), device="cuda"), ig.ones(2, ig.f32, device="cuda")
    y = ig.zeros(4, ig.f32, device="cuda")
    for _ in range(1100):
        k.gather(at, x, y)
    assert y.tolist() == [1, 1, 1, 1]
    assert queue().pending == [] and queue().statuses.room == 1024


def test_traps_leak_nothing(gpu: FakeDriver) -> None:
    at, x = ig.array(np.array([0, 5, 1], np.int32), device="cuda"), ig.ones(2, ig.f32, device="cuda")
    y, z = ig.zeros(3, ig.f32, device="cuda"), ig.zeros(3, ig.f32, device="cuda")
    used = []
    for _ in range(30):
        k.gather(at, x, y)
        k.copy(y, z)
        with pytest.raises(ig.KernelIndexError):
            ig.synchronize()
        used.append((ig.memory_statistics("cuda")["used"], gpu.allocated, queue().statuses.room))
    assert len(set(used[1:])) == 1


def test_copies_between_two_gpus() -> None:
    with fake_gpu(FakeDriver(devices=2)) as driver:
        x = ig.array(np.arange(1000, dtype=F32), device="cuda:1")
        y = ig.zeros(1000, ig.f32, device="cuda")
        y[...] = x
        x.fill(7)  # behind the copy
        assert np.array_equal(y.numpy(), np.arange(1000, dtype=F32))
        assert "copy_peer" in driver.calls
        k.copy.on("cuda:1")(x, ig.zeros(1000, ig.f32, device="cuda:1"))
        with pytest.raises(ig.LaunchTypeError, match="is on cuda:1, and the launch runs on cuda"):
            k.copy.on("cuda")(x, y)
        k.saxpy(2.0, x, x[:].copy())
        ig.synchronize()


def test_streams_that_end_before_their_arrays(gpu: FakeDriver) -> None:
    x, y, z = (ig.full(1000, v, ig.f32, device="cuda") for v in (3, 0, 0))
    stream = ig.Stream("cuda")
    k.copy.launch(x, y, stream=stream)
    del stream
    gc.collect()
    k.copy(y, z)
    assert np.array_equal(z.numpy(), np.full(1000, 3, F32))
    theirs = gpu.create_stream()
    k.saxpy.launch(1.0, x, y, stream=theirs)
    gpu.destroy_stream(theirs)
    k.copy(y, z)
    assert np.array_equal(z.numpy(), np.full(1000, 6, F32))
    assert len(queue().own_streams) == 0


def test_host_arrays_travel_only_as_far_as_needed(gpu: FakeDriver) -> None:
    @ig.kernel(grid=N, block=64)
    def positive(x: In[f32, N], y: Out[f32, N]) -> None:
        i = ig.gid()
        if x[i] > 0.0:
            y[i] = x[i]

    x, y = np.array([1, -1, 2], F32), np.full(3, 9, F32)
    for kernel, moved, expected in (
        (k.saxpy.bind(1.0), (2, 1), [10, 8, 11]),  # x and y in, y out
        (positive, (2, 1), [1, 8, 2]),  # not all of y is written, so the old one goes in
        (k.copy, (1, 1), [1, -1, 2]),  # all of y is written
    ):
        kernel.on("cuda")(x, y)
        gpu.calls.clear()
        kernel.on("cuda")(x, np.full(3, 9, F32)) if kernel is not k.copy else kernel.on("cuda")(x, y)
        assert (gpu.calls.count("copy_in"), gpu.calls.count("copy_out")) == moved
        assert y.tolist() == expected
