"""What two GPUs of one host must do, on two simulated ones; tests/cuda_device/two_gpus.py runs it on real ones."""

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import isogrid as ig
from isogrid.runtimes.cuda_driver import DriverError
from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu
from tests.cuda_device import two_gpus


@pytest.fixture(autouse=True)
def gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    monkeypatch.setattr(two_gpus, "SIZES", [1, 1000, 5000])
    with fake_gpu(FakeDriver(devices=2)) as driver:
        yield driver


@pytest.mark.parametrize(
    "part",
    [two_gpus.copies_between, two_gpus.arrays_of_two_devices, two_gpus.traps_apart],
    ids=lambda part: part.__name__,
)
def test_two_gpus(part: Callable[[], None]) -> None:
    part()


def test_the_context_of_the_thread_stays(gpus: FakeDriver) -> None:
    """What runs on one device leaves the thread where another library has put it."""
    for current, other in (("cuda", "cuda:1"), ("cuda:1", "cuda")):
        context = gpus.primary_context(int(current == "cuda:1"))
        gpus.current_context(context)
        x, y = two_gpus.numbers(1000, other), ig.zeros(1000, ig.f32, device=other)
        at = ig.array(np.full(1000, 1000, np.int32), device=other)
        mark = ig.Stream(other).record()
        for _ in range(4):
            two_gpus.axpy(1.0, x, y)
        two_gpus.axpy.bind(1.0, x, y)()
        two_gpus.gather(at, x, y)
        with pytest.raises(ig.KernelIndexError):
            y.numpy()
        with ig.record() as graph:
            two_gpus.axpy(1.0, x, y)
        graph()
        assert np.isfinite(two_gpus.total.on(other)(x))
        y.fill(2)
        x[10:20] = y[30:40]
        x[...] = ig.array(y, device=current)
        mark.synchronize()
        ig.synchronize(other)
        del x, y, at, mark, graph
        ig.release_memory(other)
        assert gpus.thread_context() == context


class Exporter:
    """Like a tensor of PyTorch, which gives itself away only where the thread is on its device."""

    def __init__(self, array: ig.Array, driver: FakeDriver, context: int) -> None:
        self.array, self.driver, self.context = array, driver, context

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked: object) -> object:
        assert self.driver.thread_context() == self.context, "the thread is on another device"
        return self.array.__dlpack__()


def test_arrays_are_taken_where_they_are(gpus: FakeDriver) -> None:
    x = ig.array(np.arange(5, dtype=np.float32), device="cuda:1")
    gpus.current_context(gpus.primary_context(0))
    y = ig.from_dlpack(Exporter(x, gpus, gpus.primary_context(1)))
    assert gpus.thread_context() == gpus.primary_context(0)
    assert y.device == "cuda:1"
    assert y.numpy().tolist() == [0, 1, 2, 3, 4]


def test_launches_that_change_the_device_stay_native(gpus: FakeDriver) -> None:
    """The driver refuses a launch in the context of another device; the stub goes there and comes back."""
    pairs = [(two_gpus.numbers(100, device), ig.zeros(100, ig.f32, device=device)) for device in ("cuda", "cuda:1")]
    kernels = [two_gpus.axpy.on(device) for device in ("cuda", "cuda:1")]
    bound = [kernel.bind(1.0, *pair) for kernel, pair in zip(kernels, pairs, strict=True)]
    for kernel, pair, again in zip(kernels, pairs, bound, strict=True):
        for _ in range(2):
            kernel(1.0, *pair)
            again()
    for current in (0, 1):
        context = gpus.primary_context(current)
        gpus.current_context(context)
        before = gpus.native_launches
        for kernel, pair, again in zip(kernels, pairs, bound, strict=True):
            kernel(1.0, *pair)
            again()
            assert gpus.thread_context() == context
        assert gpus.native_launches == before + 4
    for x, y in pairs:
        expected = np.zeros(100, np.float32)
        for _ in range(8):
            expected += x.numpy()
        assert np.array_equal(y.numpy(), expected)


def test_one_value_serves_the_arrays_of_both(gpus: FakeDriver) -> None:
    pairs = [(two_gpus.numbers(100, device), ig.zeros(100, ig.f32, device=device)) for device in ("cuda", "cuda:1")]
    for _ in range(3):
        for x, y in pairs:
            two_gpus.axpy(1.0, x, y)
    before = gpus.native_launches
    for _ in range(5):
        for x, y in pairs:
            two_gpus.axpy(1.0, x, y)
    assert gpus.native_launches == before + 10


def test_a_thread_without_a_context_keeps_the_one_it_got(gpus: FakeDriver) -> None:
    x, y = two_gpus.numbers(100, "cuda:1"), ig.zeros(100, ig.f32, device="cuda:1")
    for _ in range(2):
        two_gpus.axpy(1.0, x, y)
    found: list[int] = []

    def work() -> None:
        before = gpus.native_launches
        two_gpus.axpy(1.0, x, y)
        found.extend((gpus.thread_context(), gpus.native_launches - before))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [gpus.primary_context(1), 1]


def test_a_launch_that_fails_elsewhere_too_is_told_by_python(gpus: FakeDriver) -> None:
    x, y = two_gpus.numbers(100, "cuda:1"), ig.zeros(100, ig.f32, device="cuda:1")
    for _ in range(2):
        two_gpus.axpy(1.0, x, y)
    context = gpus.primary_context(0)
    gpus.current_context(context)
    gpus.fail("launch", "CUDA_ERROR_LAUNCH_FAILED", 3)
    with pytest.raises(DriverError, match="LAUNCH_FAILED"):
        two_gpus.axpy(1.0, x, y)
    assert gpus.thread_context() == context
