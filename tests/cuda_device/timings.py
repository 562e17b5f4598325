"""What a launch costs the host, and what a cold compile costs, on the real driver."""

import ctypes
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import isogrid as ig
from isogrid.backends.cuda.artifact import CudaArtifact
from isogrid.backends.cuda.host_code import load_function
from isogrid.backends.cuda.machine import machine
from isogrid.launch import backends
from tests.arrays import kernels as k


def per_call(call: Callable[[], Any], calls: int = 1000, batches: int = 9) -> str:
    """Least and median nanoseconds of batches of calls that are only queued."""
    found = []
    for _ in range(batches):
        ig.synchronize()
        started = time.perf_counter_ns()
        for _ in range(calls):
            call()
        found.append((time.perf_counter_ns() - started) / calls)
        ig.synchronize()
    return f"{min(found):8.0f} {statistics.median(found):8.0f}"


def repeated(kernel: Any, a: Any, x: Any, y: Any) -> str:
    """The same for a launch written in a plain loop."""
    kernel(a, x, y)
    kernel(a, x, y)
    found = []
    for _ in range(15):
        ig.synchronize()
        started = time.perf_counter_ns()
        for _ in range(1000):
            kernel(a, x, y)
        found.append((time.perf_counter_ns() - started) / 1000)
        ig.synchronize()
    return f"{min(found):8.0f} {statistics.median(found):8.0f}"


def main() -> int:
    started = time.perf_counter()
    ig.device("cuda")
    backends.runtime("cuda")
    x, y = ig.ones(1024, ig.f32, device="cuda"), ig.ones(1024, ig.f32, device="cuda")
    print(f"driver, context and first array {1e3 * (time.perf_counter() - started):.1f} ms")
    started = time.perf_counter()
    k.saxpy(2.0, x, y)
    ig.synchronize()
    print(f"first launch of saxpy with its compile {1e3 * (time.perf_counter() - started):.1f} ms")
    fresh = ig.kernel(grid=k.N, block=64)(k.saxpy.definition.function)
    started = time.perf_counter()
    fresh(2.0, x, y)
    ig.synchronize()
    print(f"the same from the disk cache {1e3 * (time.perf_counter() - started):.2f} ms")
    at = ig.array(np.zeros(1024, np.int32), device="cuda")
    print(f"{'ns per call, least and median':40}")
    saxpy = k.saxpy
    print(f"{'saxpy, arrays':40} {repeated(saxpy, 2.0, x, y)}")
    print(f"{'saxpy, arrays, the builtin itself':40} {repeated(saxpy.__call__, 2.0, x, y)}")
    print(f"{'gather (may trap), arrays':40} {per_call(lambda: k.gather(at, x, y), 200)}")
    bound = k.saxpy.bind(2.0, x, y)
    print(f"{'saxpy bound':40} {per_call(bound)}")
    print(f"{'C loop of cuLaunchKernel':40} {floor()}")
    print(f"{'saxpy, arrays, again':40} {repeated(saxpy, 2.0, x, y)}")
    print(f"{'C loop of cuLaunchKernel, again':40} {floor()}")
    cold()
    print(f"{'saxpy, PyTorch tensors':40} {with_torch()}")
    print(f"{'graph of 100 saxpy, each':40} {graph_of_small_kernels()}")
    host_x, host_y = np.ones(1 << 20, np.float32), np.ones(1 << 20, np.float32)
    on = k.saxpy.on("cuda")
    print(f"{'saxpy on host arrays of 4 MiB':40} {per_call(lambda: on(2.0, host_x, host_y), 20)}")
    host_x, host_y = np.ones(1 << 27, np.float32), np.ones(1 << 27, np.float32)
    on(2.0, host_x, host_y)
    started = time.perf_counter()
    on(2.0, host_x, host_y)
    seconds = time.perf_counter() - started
    print(f"{'saxpy on host arrays of 512 MiB':40} {1e3 * seconds:8.1f} ms, {3 * 2**29 / seconds / 1e9:.1f} GB/s")
    big_x, big_y = ig.ones(1 << 28, ig.f32, device="cuda"), ig.ones(1 << 28, ig.f32, device="cuda")
    for name, call, arrays in (
        ("saxpy", lambda: k.saxpy(2.0, big_x, big_y), 3),
        ("copy", lambda: k.copy(big_x, big_y), 2),
    ):
        seconds = device_seconds(call)
        print(f"{name + ' of 2^28 f32':40} {arrays * 2**30 / seconds / 1e9:8.0f} GB/s")
    return 0


def device_seconds(call: Callable[[], Any]) -> float:
    """Median of device events around single launches."""
    driver = machine().driver
    first, last = driver.create_event(True), driver.create_event(True)
    found = []
    for _ in range(12):
        driver.record_event(first, 0)
        call()
        driver.record_event(last, 0)
        driver.synchronise_event(last)
        found.append(driver.milliseconds(first, last))
    return statistics.median(found) / 1e3


def cold() -> None:
    """Milliseconds from source to loaded module, the compiler itself being loaded, without any cache."""
    from isogrid.support import diskcache

    kept = diskcache.default_cache
    off = diskcache.DiskCache(None)
    import isogrid.backends.cuda.loader as loader
    import isogrid.launch.stored as stored

    loader.default_cache = stored.default_cache = lambda: off  # type: ignore[assignment]
    for _ in range(3):
        fresh = ig.kernel(grid=k.N, block=128)(k.saxpy.definition.function)
        x, y = ig.ones(64, ig.f32, device="cuda"), ig.ones(64, ig.f32, device="cuda")
        started = time.perf_counter()
        fresh(2.0, x, y)
        print(f"{'cold compile and launch of saxpy':40} {1e3 * (time.perf_counter() - started):8.2f} ms")
    loader.default_cache = stored.default_cache = kept  # type: ignore[assignment]


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


def floor() -> str:
    """Least and median ns of the driver's own launch of the same kernel in a loop of machine code."""
    driver: Any = machine().driver
    (artifact,) = (a for a in k.saxpy.compiled.artifacts.values() if isinstance(a, CudaArtifact))
    loaded = artifact.loaded[True, True]
    x, y = ig.ones(1024, ig.f32, device="cuda"), ig.ones(1024, ig.f32, device="cuda")
    words = [0, 0x40000000, x.address, y.address, 1024, 1024]
    slots = (ctypes.c_uint64 * len(words))(*words)
    pointers = (ctypes.c_void_p * len(words))(*(ctypes.addressof(slots) + 8 * n for n in range(len(words))))
    kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p, ctypes.c_int64)
    loop = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(load_function(LOOP, "loop"))
    module = loaded.variant.module
    blocks, start = -(-1024 // module.tile[0]), ctypes.addressof(pointers)
    found = []
    for _ in range(9):
        ig.synchronize()
        began = time.perf_counter_ns()
        assert loop(driver.address_of("cuLaunchKernel"), loaded.run, blocks, module.block, start, 1000) == 0
        found.append((time.perf_counter_ns() - began) / 1000)
        ig.synchronize()
    assert slots[1] == 0x40000000
    return f"{min(found):8.0f} {statistics.median(found):8.0f}"


def graph_of_small_kernels() -> str:
    """Device microseconds of each of 100 dependent launches in a graph."""
    x, y = ig.ones(1024, ig.f32, device="cuda"), ig.ones(1024, ig.f32, device="cuda")
    with ig.record() as graph:
        for _ in range(100):
            k.saxpy(2.0, x, y)
    graph()
    ig.synchronize()
    return f"{1e4 * device_seconds(graph):.2f} us"


def with_torch() -> str | None:
    """The same launch on tensors of PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    x, y = torch.ones(1024, device="cuda"), torch.ones(1024, device="cuda")
    return repeated(k.saxpy, 2.0, x, y)


if __name__ == "__main__":
    sys.exit(main())
