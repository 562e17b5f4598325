"""Many launches, traps, failed compilations and allocations: device memory returns to its start, and very large arrays
and grids come out right."""

import gc
import sys
import time
from typing import Any

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, f32
from isogrid.backends.cuda.machine import machine
from isogrid.dims import N
from tests.arrays import kernels as k


@ig.kernel(grid=N, block=256)
def plus_one(x: InOut[f32, N]) -> None:
    i = ig.gid()
    x[i] = x[i] + 1.0


def free_memory() -> int:
    gc.collect()
    ig.synchronize()
    ig.release_memory("cuda")
    return machine().driver.memory_free()


def failing(number: int) -> Any:
    """A kernel that is refused."""
    space: dict[str, Any] = {}
    source = f"def wrong{number}(x: Out[f32, N]) -> None:\n    x[0] = ig.f32(ig.gid() + {number})\n"
    import linecache

    name = f"<wrong {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), {"ig": ig, "Out": Out, "f32": f32, "N": N, "In": In}, space)
    return ig.kernel(grid=N, block=64)(space[f"wrong{number}"])


def main() -> int:
    x, y = ig.ones(1000, ig.f32, device="cuda"), ig.zeros(1000, ig.f32, device="cuda")
    at = ig.array(np.full(1000, 5000, np.int32), device="cuda")
    k.saxpy(1.0, x, y)
    k.gather(at, x, y)
    try:
        ig.synchronize()
    except ig.KernelIndexError as trap:
        print(str(trap).splitlines()[0])
    start = free_memory()
    steps = (
        ("10,000 launches", launches),
        ("1,000 traps", traps),
        ("1,000 refusals", refusals),
        ("out of memory", oom),
    )
    for name, step in steps:
        began = time.perf_counter()
        step(x, y, at)
        print(
            f"{name:24} {time.perf_counter() - began:7.2f} s  memory off by {start - free_memory()} bytes", flush=True
        )
    large()
    return 0


def launches(x: Any, y: Any, at: Any) -> None:
    y.fill(0)
    for _ in range(10_000):
        k.saxpy(1.0, x, y)
    assert (y.numpy() == 10_000).all()


def traps(x: Any, y: Any, at: Any) -> None:
    for _ in range(1000):
        k.gather(at, x, y)
        try:
            ig.synchronize()
        except ig.KernelIndexError:
            continue
        raise AssertionError("no trap")
    assert (y.numpy() == 10_000).all()


def refusals(x: Any, y: Any, at: Any) -> None:
    for number in range(1000):
        try:
            failing(number)(y)
        except ig.KernelRefused:
            continue
        raise AssertionError("not refused")


def oom(x: Any, y: Any, at: Any) -> None:
    held = []
    try:
        for _ in range(100):
            held.append(ig.empty(1 << 34, ig.u8, device="cuda"))
    except ig.DeviceMemoryError as error:
        print(error)
    held.clear()
    k.saxpy(1.0, x, y)
    ig.synchronize()


def large() -> None:
    count = (1 << 31) + (1 << 20) + 5
    z = ig.zeros(count, ig.f32, device="cuda")
    began = time.perf_counter()
    plus_one(z)
    ig.synchronize()
    spots = (0, 1, (1 << 31) - 1, 1 << 31, count - 1)
    found = [z[i].item() for i in spots]
    print(f"{count} elements and threads: {found} in {1e3 * (time.perf_counter() - began):.1f} ms")
    assert found == [1.0] * 5
    assert (z[count - 100000 :].numpy() == 1).all()


if __name__ == "__main__":
    sys.exit(main())
