"""Two GPUs of one host: launches on each, copies between them, traps, streams, recordings and native calls apart.

    python -m tests.cuda_device.two_gpus

Needs a machine with at least two; elsewhere it says so and fails.
"""

import importlib
import sys
import threading
import time
from typing import Any

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import N

FIRST, SECOND = "cuda", "cuda:1"
SIZES = [1, 1000, (1 << 20) + 3, 1 << 26]


@ig.kernel(grid=N, block=256)
def axpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = ig.fma(a, x[i], y[i])


@ig.kernel(grid=N, block=256)
def gather(at: In[i32, N], x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[at[i]]


@ig.kernel(grid=N, block=256)
def group_totals(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = ig.group_sum(x[i])


@ig.offload(parallel="require")
def total(x: In[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    return s


def numbers(size: int, device: str, seed: int = 0) -> ig.Array:
    return ig.array(np.random.default_rng(seed).standard_normal(size, dtype=np.float32), device=device)


def copies_between() -> None:
    """Whole arrays and views, both ways, each behind the launch that wrote what it reads."""
    for size in SIZES:
        for here, there in ((FIRST, SECOND), (SECOND, FIRST)):
            x, y = numbers(size, here), ig.zeros(size, f32, device=there)
            expected = x.numpy() * np.float32(2)
            axpy(1.0, x[:].copy(), x)
            y[...] = x
            x.fill(7)
            assert np.array_equal(y.numpy(), expected), (size, here)
            assert np.array_equal(ig.array(y, device=here).numpy(), expected)
    x, y = numbers(4096, FIRST), ig.zeros(4096, f32, device=SECOND)
    y[100:200] = x[1000:1100]
    assert np.array_equal(y.numpy()[100:200], x.numpy()[1000:1100]) and not y.numpy()[200:].any()


def same_bits() -> None:
    """Every kind of kernel gives the same bits on both and on the processor, by native calls too."""
    x = np.random.default_rng(1).standard_normal(1 << 16, dtype=np.float32)
    at = np.random.default_rng(2).integers(0, 1 << 16, 1 << 16, dtype=np.int32)
    expected: dict[str, Any] = {}
    for device in ("cpu", FIRST, SECOND):
        given, places = ig.array(x, device=device), ig.array(at, device=device)
        results = [ig.zeros(1 << 16, f32, device=device) for _ in range(3)]
        for _ in range(4):
            results[0].fill(1)
            axpy(np.float32(0.1), given, results[0])
            gather(places, given, y=results[1])
            group_totals.on(device)(given, results[2])
        found = [result.numpy() for result in results] + [np.float32(total.on(device)(given))]
        for number, value in enumerate(found):
            assert np.array_equal(value, expected.setdefault(str(number), value)), (device, number)
    with ig.use(SECOND):
        y = np.ones(1 << 16, np.float32)
        axpy(0.1, x, y)
        assert np.array_equal(y, expected["0"])
    for options in ({"codegen": "nvrtc"}, {"max_registers": 32}):
        y = np.ones(1 << 16, np.float32)
        axpy.options(cuda=options).on(SECOND)(0.1, x, y)
        assert np.array_equal(y, expected["0"]), options


def arrays_of_two_devices() -> None:
    """A launch takes the arrays of one device."""
    x, y = numbers(100, FIRST), numbers(100, SECOND)
    for call in (
        lambda: axpy(1.0, x, y),
        lambda: axpy.on(SECOND)(1.0, x, y),
        lambda: axpy.on(FIRST)(1.0, y, y[:].copy()),
    ):
        try:
            call()
        except ig.LaunchTypeError as error:
            assert "and the launch runs on" in str(error), error
        else:
            raise AssertionError("arrays of two devices were taken")


def traps_apart() -> None:
    """A trap on one device is raised at its synchronisation, and leaves the other alone."""
    wrong = ig.array(np.full(1000, 1000, np.int32), device=SECOND)
    right = ig.array(np.arange(1000, dtype=np.int32), device=FIRST)
    x, y, z = numbers(1000, FIRST), ig.zeros(1000, f32, device=FIRST), numbers(1000, SECOND)
    kept, untouched = ig.zeros(1000, f32, device=SECOND), z.numpy()
    for _ in range(200):
        gather(right, x, y)
        gather(wrong, z, kept)
        ig.synchronize(FIRST)
        assert np.array_equal(y.numpy(), x.numpy())
        try:
            ig.synchronize(SECOND)
        except ig.KernelIndexError as error:
            assert "index 1000" in str(error), error
        else:
            raise AssertionError("no trap was raised")
        assert not kept.numpy().any() and np.array_equal(z.numpy(), untouched)


def at_once() -> None:
    """Threads on both devices, with streams, recordings and host arrays."""
    failed: list[str] = []

    def work(device: str, seed: int) -> None:
        try:
            whole = np.random.default_rng(seed).integers(-999, 999, 1 << 18).astype(np.float32)
            x, y = ig.array(whole, device=device), ig.zeros(1 << 18, f32, device=device)
            stream = ig.Stream(device)
            for _ in range(300):
                axpy.launch(0.5, x, y, stream=stream)
            stream.synchronize()
            with ig.record() as graph:
                for _ in range(10):
                    axpy(0.5, x, y)
            for _ in range(20):
                graph()
            host = x.numpy()
            if not np.array_equal(y.numpy(), host * np.float32(0.5 * (300 + 20 * 10))):
                failed.append(f"{device}: wrong numbers")
            other = np.zeros_like(host)
            for _ in range(20):
                other[:] = 1
                axpy.on(device)(2.0, host, other)
            if not np.array_equal(other, host * np.float32(2) + np.float32(1)):
                failed.append(f"{device}: wrong numbers on the host")
        except Exception as error:
            failed.append(f"{device}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(device, n)) for n, device in enumerate((FIRST, SECOND) * 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def memory_apart() -> None:
    """Statistics and release are those of one device."""
    before = [ig.memory_statistics(device)["used"] for device in (FIRST, SECOND)]
    x = ig.zeros(1 << 26, f32, device=SECOND)
    after = [ig.memory_statistics(device)["used"] for device in (FIRST, SECOND)]
    assert after[0] == before[0] and after[1] - before[1] >= 1 << 28, (before, after)
    del x
    ig.release_memory(SECOND)
    assert [ig.memory_statistics(device)["used"] for device in (FIRST, SECOND)] == before


def tensors() -> None:
    """PyTorch's tensors go to the device that holds them, in its current stream."""
    torch: Any = importlib.import_module("torch")

    for number, device in enumerate((FIRST, SECOND)):
        x = torch.arange(1000, dtype=torch.float32, device=f"cuda:{number}")
        y = torch.ones_like(x)
        stream = torch.cuda.Stream(device=number)
        stream.wait_stream(torch.cuda.current_stream(number))
        with torch.cuda.device(number), torch.cuda.stream(stream):
            for _ in range(5):
                axpy(1.0, x, y)
            y += 1
        stream.synchronize()
        assert torch.equal(y, 5 * x + 2), device
        assert ig.from_dlpack(x).device == device


def contexts_stay() -> None:
    """What runs on one device leaves the thread where it was: other libraries take that for their device."""
    torch: Any = importlib.import_module("torch")
    for current, other in ((0, SECOND), (1, FIRST)):
        torch.cuda.set_device(current)
        torch.zeros(1, device=f"cuda:{current}")
        x, y = numbers(1000, other), ig.zeros(1000, f32, device=other)
        mark = ig.Stream(other).record()
        for _ in range(4):
            axpy(1.0, x, y)
        total.on(other)(x)
        y.fill(2)
        ig.synchronize(other)
        mark.synchronize()
        del x, y, mark
        assert torch.cuda.current_device() == current
        assert torch.ones(1, device="cuda").device.index == current
    torch.cuda.set_device(0)


def in_turn() -> str:
    """Launches of one thread that change the device each time give the right numbers; what one costs."""
    pairs = [(numbers(1000, device), ig.zeros(1000, f32, device=device)) for device in (FIRST, SECOND)]
    started = time.perf_counter()
    for _ in range(1000):
        for x, y in pairs:
            axpy(1.0, x, y)
    seconds = time.perf_counter() - started
    for x, y in pairs:
        expected = np.zeros(1000, np.float32)
        for _ in range(1000):
            expected += x.numpy()
        assert np.array_equal(y.numpy(), expected)
    return f"launches on two devices in turn: {seconds / 2000 * 1e6:.1f} us each"


def rate() -> str:
    """What a copy from one to the other carries."""
    x, y = ig.zeros(1 << 28, f32, device=FIRST), ig.zeros(1 << 28, f32, device=SECOND)
    seconds = 1e9
    for _ in range(5):
        ig.synchronize()
        started = time.perf_counter()
        y[...] = x
        ig.synchronize()
        seconds = min(seconds, time.perf_counter() - started)
    return f"a copy of 1 GiB from {FIRST} to {SECOND}: {(1 << 30) / seconds / 1e9:.0f} GB/s"


PARTS = [copies_between, same_bits, arrays_of_two_devices, traps_apart, at_once, memory_apart, tensors, contexts_stay]


def main() -> int:
    if SECOND not in [device.name for device in ig.devices()]:
        print(f"this machine has no {SECOND}:\n{ig.devices()}")
        return 1
    wrong = 0
    for part in PARTS:
        started = time.perf_counter()
        try:
            part()
            verdict = "ok"
        except Exception as error:
            wrong += 1
            verdict = f"FAILED {type(error).__name__}: {error}"
        print(f"{part.__name__:24} {time.perf_counter() - started:6.1f} s  {verdict}")
    print(in_turn())
    print(rate())
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
