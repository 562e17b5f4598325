"""What a launch costs the host, and what a cold compile costs, on the real driver: a table, 1 if a bar is missed."""

import statistics
import sys
import time

import numpy as np
from benchmarks.cuda import latency

import isogrid as ig
from isogrid.launch import backends
from tests.arrays import kernels as k


def main() -> int:
    started = time.perf_counter()
    ig.device("cuda")
    backends.runtime("cuda")
    x, y = ig.ones(1024, ig.f32, device="cuda"), ig.ones(1024, ig.f32, device="cuda")
    print(f"driver, context and first array {1e3 * (time.perf_counter() - started):.1f} ms")
    rows = latency.measure()
    for row in rows:
        print(latency.line(row))
    at = ig.array(np.zeros(1024, np.int32), device="cuda")
    k.gather(at, x, y)
    gather = [latency.calls(lambda: k.gather(at, x, y)) for _ in range(9)]
    print(latency.line(latency.row("gather, which may trap", gather, None)))
    for count in (1 << 20, 1 << 27):
        seconds = latency.host_arrays(count)
        rate = 12 * count / seconds / 1e9
        print(f"{f'saxpy on host arrays of {4 * count >> 20} MiB':40} {1e3 * seconds:9.3f} ms  {rate:.1f} GB/s")
    big_x, big_y = ig.ones(1 << 28, ig.f32, device="cuda"), ig.ones(1 << 28, ig.f32, device="cuda")
    for name, call, arrays in (
        ("saxpy", lambda: k.saxpy(2.0, big_x, big_y), 3),
        ("copy", lambda: k.copy(big_x, big_y), 2),
    ):
        call()
        seconds = statistics.median(latency.device_seconds(call))
        print(f"{name + ' of 2^28 f32':40} {1e3 * seconds:9.3f} ms  {arrays * 2**30 / seconds / 1e9:.0f} GB/s")
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
