"""What a launch, a replay and a compile cost on the card, beside the driver's own launch in a loop of machine code."""

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import isogrid as ig
from isogrid import In, InOut, f32
from isogrid.backends.cuda.artifact import CudaArtifact
from isogrid.backends.cuda.host_code import load_function
from isogrid.backends.cuda.machine import machine
from isogrid.dims import N

CALLS: Final = 1000
BATCHES: Final = 31
GRAPH: Final = 100
REPLAYS: Final = 10


@ig.kernel(grid=N, block=256)
def saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = a * x[i] + y[i]


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of one step: the least and the median. `bar` is the most that the ratio to the C loop, or the seconds
    themselves, may be; None where nothing is asked."""

    name: str
    least: float
    median: float
    against_floor: float | None = None
    bar: float | None = None

    @property
    def met(self) -> bool:
        if self.bar is None:
            return True
        return (self.median if self.against_floor is None else self.against_floor) <= self.bar


def measure() -> list[Latency]:
    """All rows. The C loop is measured before and after each launch that is compared with it."""
    x, y = ig.ones(1024, ig.f32, device="cuda"), ig.ones(1024, ig.f32, device="cuda")
    bound = saxpy.bind(2.0, x, y)
    rows = [floor_row()]
    rows.append(against_floor("saxpy of two device arrays", lambda: launches(2.0, x, y), 1.08))
    rows.append(against_floor("the same bound", lambda: calls(bound), 1.05))
    if (tensors := torch_tensors()) is not None:
        rows.append(against_floor("saxpy of two PyTorch tensors", lambda: launches(2.0, *tensors), 1.25))
    rows.append(row("graph of 100 launches, each", [s / GRAPH for s in replays(x, y)], 0.8e-6))
    rows.append(row("source to first result", [first_result(cached=False) for _ in range(7)], 60e-3))
    rows.append(row("the same from the disk cache", [first_result(cached=True) for _ in range(7)], 2e-3))
    return rows


def row(name: str, samples: list[float], bar: float | None) -> Latency:
    return Latency(name, min(samples), statistics.median(samples), bar=bar)


def against_floor(name: str, batch: Callable[[], float], bar: float) -> Latency:
    """Batches of the launch and of the C loop in turn. The ratio is the median of those of neighbours: the driver is a
    fifth slower for some milliseconds now and then, which medians of each side alone may see on one side only."""
    batch()
    floor_batch = floor()
    samples, floors = list[float](), list[float]()
    for _ in range(BATCHES):
        floors.append(floor_batch())
        samples.append(batch())
    ratio = statistics.median(sample / least for sample, least in zip(samples, floors, strict=True))
    return Latency(name, min(samples), statistics.median(samples), ratio, bar)


def floor_row() -> Latency:
    batch = floor()
    return row("C loop of cuLaunchKernel", [batch() for _ in range(BATCHES)], None)


def launches(a: float, x: Any, y: Any) -> float:
    """Seconds of one of a thousand launches that are only queued, written in a plain loop."""
    kernel = saxpy
    ig.synchronize()
    started = time.perf_counter()
    for _ in range(CALLS):
        kernel(a, x, y)
    seconds = (time.perf_counter() - started) / CALLS
    ig.synchronize()
    return seconds


def calls(call: Callable[[], Any]) -> float:
    ig.synchronize()
    started = time.perf_counter()
    for _ in range(CALLS):
        call()
    seconds = (time.perf_counter() - started) / CALLS
    ig.synchronize()
    return seconds


def line(found: Latency) -> str:
    """One row as text: microseconds below a millisecond, else milliseconds."""
    scale, unit = (1e6, "us") if found.median < 1e-3 else (1e3, "ms")
    text = f"{found.name:40} {scale * found.median:9.3f} {unit}  least {scale * found.least:.3f}"
    if found.against_floor is not None:
        return f"{text}  {found.against_floor:.2f} of the C loop (bar {found.bar}){'' if found.met else '  MISSED'}"
    if found.bar is not None:
        text += f"  (bar {scale * found.bar:g} {unit})"
    return text if found.met else f"{text}  MISSED"


LOOP = """define i32 @loop(ptr %launch, ptr %function, i32 %blocks, i32 %threads, ptr %pointers, i64 %count) {
entry:
  br label %again
again:
  %k = phi i64 [ 0, %entry ], [ %next, %again ]
  %rc = call i32 %launch(ptr %function, i32 %blocks, i32 1, i32 1, i32 %threads, i32 1, i32 1, i32 0, ptr null, ptr %pointers, ptr null)
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %again, label %done
done:
  ret i32 %rc
}
"""  # noqa: E501


def floor() -> Callable[[], float]:
    """Seconds of the driver's own launch of the same kernel, in a loop of machine code."""
    driver: Any = machine().driver
    x, y = ig.ones(1024, ig.f32, device="cuda"), ig.ones(1024, ig.f32, device="cuda")
    saxpy(2.0, x, y)
    (artifact,) = (a for a in saxpy.compiled.artifacts.values() if isinstance(a, CudaArtifact))
    loaded = artifact.loaded[True, True]
    words = [0, 0x40000000, x.address, y.address, 1024, 1024]
    slots = (ctypes.c_uint64 * len(words))(*words)
    pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(slots) + 8 * n for n in range(len(words))))
    kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p, ctypes.c_int64)
    code = load_function(LOOP, "loop")
    loop = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(code)
    module = loaded.variant.module
    blocks, start = -(-1024 // module.tile[0]), ctypes.addressof(pointers)

    def batch(kept: Any = (x, y, slots, pointers, code)) -> float:
        ig.synchronize()
        began = time.perf_counter()
        code = loop(driver.address_of("cuLaunchKernel"), loaded.run, blocks, module.block, start, CALLS)
        seconds = (time.perf_counter() - began) / CALLS
        ig.synchronize()
        if code or slots[1] != 0x40000000:
            raise RuntimeError(f"cuLaunchKernel in the loop of machine code gave {code}")
        return seconds

    return batch


def replays(x: Any, y: Any) -> list[float]:
    """Device seconds of a replay, some in a row, of a graph of a hundred launches that each wait for the one before."""
    saxpy(2.0, x, y)
    with ig.record() as graph:
        for _ in range(GRAPH):
            saxpy(2.0, x, y)
    graph()
    return [seconds / REPLAYS for seconds in device_seconds(lambda: [graph() for _ in range(REPLAYS)])]


def device_seconds(call: Callable[[], Any]) -> list[float]:
    """Times between device events around single calls."""
    driver = machine().driver
    first, last = driver.create_event(True), driver.create_event(True)
    found: list[float] = []
    for _ in range(12):
        driver.record_event(first, 0)
        call()
        driver.record_event(last, 0)
        driver.synchronise_event(last)
        found.append(driver.milliseconds(first, last) / 1e3)
    return found


def first_result(cached: bool) -> float:
    """Seconds from a new kernel value to its result, the compiler itself being loaded."""
    x, y = ig.ones(64, ig.f32, device="cuda"), ig.ones(64, ig.f32, device="cuda")
    fresh = ig.kernel(grid=N, block=128)(saxpy.definition.function)
    if cached:
        fresh(2.0, x, y)  # now it is in the cache; the next value finds it there
        fresh = ig.kernel(grid=N, block=128)(saxpy.definition.function)
        return _timed(fresh, x, y)
    with no_cache():
        return _timed(fresh, x, y)


def _timed(kernel: Any, x: Any, y: Any) -> float:
    ig.synchronize()
    started = time.perf_counter()
    kernel(2.0, x, y)
    ig.synchronize()
    return time.perf_counter() - started


@contextmanager
def no_cache() -> Iterator[None]:
    """Everything is compiled anew."""
    import isogrid.backends.cuda.loader as loader
    import isogrid.launch.stored as stored
    from isogrid.support import diskcache

    kept, off = diskcache.default_cache, diskcache.DiskCache(None)
    loader.default_cache = stored.default_cache = lambda: off  # type: ignore[assignment]
    try:
        yield
    finally:
        loader.default_cache = stored.default_cache = kept  # type: ignore[assignment]


def torch_tensors() -> tuple[Any, Any] | None:
    """Two tensors of PyTorch, where it is installed."""
    try:
        import torch
    except ImportError:
        return None
    return torch.ones(1024, device="cuda"), torch.ones(1024, device="cuda")


def host_arrays(count: int, runs: int = 5) -> float:
    """Median seconds of saxpy on NumPy arrays of so many elements: two are copied in, one back."""
    on = saxpy.on("cuda")
    x, y = np.ones(count, np.float32), np.ones(count, np.float32)
    on(2.0, x, y)
    found = []
    for _ in range(runs):
        started = time.perf_counter()
        on(2.0, x, y)
        found.append(time.perf_counter() - started)
    return statistics.median(found)
