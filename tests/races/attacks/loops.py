"""Counters, buffers, loops one after the other, warp barriers."""

# Written to mislead a proof, not to please.
# ruff: noqa: B007, F841

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32, i64
from isogrid.dims import M, N


@ig.kernel(groups=1, block=8)
def same_counter(x: InOut[i32, N], n: i64) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for k in range(n):
        for k in range(3):
            if i < N:
                x[i] = s[(i + k) % 8]
        ig.barrier()
        s[i] = i32(k)


@ig.kernel(groups=1, block=8)
def same_counter_index(y: InOut[i32, N], n: i64) -> None:  # safe
    i = ig.lid()
    k = 0
    for k in range(n):
        for k in range(i, i + 2):
            pass
        if k < N:
            y[k] = 1


@ig.kernel(groups=1, block=8)
def same_counter_bounds(y: InOut[i32, Literal[4]], n: i64) -> None:  # safe
    i = ig.lid()
    for k in range(4):
        for k in range(n):
            pass
        if i == 0:
            y[k] = 1


@ig.kernel(groups=1, block=8)
def same_counter_bounds2(y: InOut[i32, Literal[4]], n: i64) -> None:  # safe
    i = ig.lid()
    for k in range(4):
        if i == 0:
            y[k] = 1
        for k in range(2, 6):
            if i == 0:
                y[k - 2] = 1
        if i == 0:
            y[k - 2] = 1


@ig.kernel(groups=1, block=8)
def same_counter_trips(y: InOut[i32, Literal[64]], n: i64) -> None:  # safe
    s = ig.shared(i32, 1)
    i = ig.lid()
    for k in range(4):
        for k in range(n):
            ig.atomic_add(s, 0, 1)
    ig.barrier()
    if i == 0 and s[0] < 64:
        y[s[0]] = 1


@ig.kernel(groups=1, block=8)
def counter_reassigned(y: InOut[i32, N], n: i64) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for k in range(n):
        k = k * 0
        if (k + i) < N and i == k:
            y[k] = 1


@ig.kernel(groups=1, block=8)
def parity_reassigned(y: InOut[i32, N], n: i64) -> None:  # unsafe
    s = ig.shared(i32, (2, 8))
    i = ig.lid()
    for k in range(n):
        s[k % 2, i] = s[1 - k % 2, 7 - i]
        k = k // 2
        ig.barrier()
        s[k % 2, i] = 0


@ig.kernel(groups=1, block=8)
def parity_step(y: InOut[i32, N], n: i64, d: i64) -> None:  # safe
    s = ig.shared(i32, (2, 8))
    i = ig.lid()
    for k in range(0, n, d):
        s[k % 2, i] = s[1 - k % 2, 7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def parity_step2(y: InOut[i32, N], n: i64) -> None:  # safe
    s = ig.shared(i32, (2, 8))
    i = ig.lid()
    for k in range(0, n, 2):
        s[k % 2, i] = s[1 - k % 2, 7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def three_buffers(y: InOut[i32, N], n: i64) -> None:  # safe
    s = ig.shared(i32, (3, 8))
    i = ig.lid()
    for k in range(n):
        s[k % 3, i] = s[(k + 2) % 3, 7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def three_buffers_behind(y: InOut[i32, N], n: i64) -> None:  # safe
    s = ig.shared(i32, (3, 8))
    i = ig.lid()
    for k in range(n):
        s[k % 3, i] = 1
        s[(k + 1) % 3, i] = s[(k + 2) % 3, 7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def two_loops_one_interval(y: InOut[i32, N], n: i64, m: i64) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for k in range(n):
        ig.barrier()
        s[i] = 1
    for k in range(m):
        if i < N:
            y[i] = s[7 - i]
        ig.barrier()


@ig.kernel(groups=1, block=8)
def two_loops_zero(y: InOut[i32, N], n: i64, m: i64) -> None:  # not proved
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 2
    for k in range(n):
        ig.barrier()
    for k in range(m):
        ig.barrier()
    if i < N and n > 0:
        y[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def two_loops_zero2(y: InOut[i32, N], n: i64, m: i64) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 2
    for k in range(n):
        ig.barrier()
    if i < N and n >= 0:
        y[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def loop_in_if(y: InOut[i32, N], n: i64, f: bool) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        if f:
            s[i] = 1
            ig.barrier()
        else:
            s[7 - i] = 2
            ig.barrier()
        f = not f


@ig.kernel(groups=1, block=8)
def flag_toggles(y: InOut[i32, N], n: i64, f: bool) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    g = f
    for t in range(n):
        if g:
            s[i] = 1
        else:
            s[7 - i] = 2
        g = not g


@ig.kernel(groups=1, block=8)
def flag_toggles_unsynced_data(y: InOut[i32, N], x: In[i32, M], n: i64) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    c = x[0]
    t = 0
    while t < n:
        if c > 0:
            s[i] = 1
        else:
            s[7 - i] = 2
        c = c - 1
        t += 1


@ig.kernel(groups=1, block=8)
def warp_in_loop(y: InOut[i32, N], n: i64) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        s[i] = s[(i + 1) % 8]


@ig.kernel(groups=1, block=8, warp=4)
def warp_sync(y: InOut[i32, N]) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 1
    ig.warp_barrier()
    if i < N:
        y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def warp_sync_loop(y: InOut[i32, N], n: i64) -> None:  # not proved
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(n):
        s[i] = 1
        ig.warp_barrier()
        if i < N:
            y[i] = s[i ^ 1]
        ig.warp_barrier()


@ig.kernel(groups=1, block=8, warp=4)
def warp_sync_loop3(y: InOut[i32, N], n: i64) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for t in range(3):
        s[i] = 1
        ig.warp_barrier()
        if i < N:
            y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def warp_cond(y: InOut[i32, N]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 1
    if ig.warp_id() == 0:
        ig.warp_barrier()
    if i < N:
        y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def warp_cond2(y: InOut[i32, N]) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 1
    if ig.warp_id() == 0:
        ig.warp_barrier()
        if i < N:
            y[i] = s[i ^ 1]


@ig.kernel(groups=1, block=8, warp=4)
def warp_helper(y: InOut[i32, N], n: i32) -> None:  # not proved
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 1
    if n > 3:
        ig.warp_barrier()
    if i < N and n > 3:
        y[i] = s[i ^ 1]


@ig.kernel(grid=N)
def step_of_one_trip(y: InOut[i32, M], x: In[i32, N], step: i32) -> None:  # not proved
    i = ig.gid()
    for k in range(i * step, i * step + step, step):
        y[k] = 1


@ig.kernel(grid=N)
def step_of_some_trips(y: InOut[i32, M], x: In[i32, N], step: i32) -> None:  # unsafe
    i = ig.gid()
    for k in range(i, M, step):
        y[k] = 1
