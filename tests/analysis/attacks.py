"""Kernels written to mislead the bounds proof: branches, loops, powers, remainders, casts that look like others."""

# Written to mislead a proof, not to please.
# ruff: noqa: B007, SIM102

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32, i64, u8, u32, w32
from isogrid.dims import H, M, N, W


@ig.kernel(grid=N)
def loop_in_branch_trips(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64, f: bool) -> None:
    i = ig.gid()
    t = 0
    if f:
        for k in range(n):
            if t > 4:
                return
            t += 1
    if i == 0 and n >= 0:
        z[n] = 1


@ig.kernel(grid=N)
def while_in_branch(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64, f: bool) -> None:
    i = ig.gid()
    t = 0
    if f:
        while t < n:
            if t > 4:
                return
            t += 1
    if i == 0 and n >= 0:
        z[n] = 1


@ig.kernel(grid=N)
def nested_loops_break(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64) -> None:
    i = ig.gid()
    s = 0
    for a in range(n):
        for b in range(a):
            if s >= 5:
                break
            s += 1
        else_ = s
        if else_ > 4:
            break
    if i == 0:
        z[s] = 1


@ig.kernel(grid=N)
def nested_continue(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64) -> None:
    i = ig.gid()
    s = 0
    for a in range(n):
        if a % 2 == 0:
            continue
        s += 1
        if s > 5:
            s = 0
    if i == 0:
        z[s] = 1


@ig.kernel(grid=N)
def nested_continue_bad(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64) -> None:
    i = ig.gid()
    s = 0
    for a in range(n):
        s += 1
        if a % 3 == 0:
            continue
        if s > 5:
            s = 0
    if i == 0:
        z[s] = 1


@ig.kernel(grid=N)
def counter_after(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64) -> None:
    i = ig.gid()
    last = 0
    for a in range(0, 6, 1):
        last = a
        if a == n:
            break
    if i == 0:
        z[last] = 1


@ig.kernel(grid=N)
def counter_down(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64) -> None:
    i = ig.gid()
    last = 5
    for a in range(5, -1, -1):
        last = a
    if i == 0:
        z[last - 1] = 1


@ig.kernel(grid=N)
def counter_step(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64) -> None:
    i = ig.gid()
    for a in range(0, 7, 3):
        if i == 0:
            z[a] = 1


@ig.kernel(grid=N)
def swap_vars(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64) -> None:
    i = ig.gid()
    a, b = 0, 5
    for k in range(n):
        a, b = b, a + 1
    if i == 0:
        z[a] = 1


@ig.kernel(grid=N)
def mod_self(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64, m: i64) -> None:
    i = ig.gid()
    if i == 0 and m > 0 and m <= 6:
        z[n % m] = 1


@ig.kernel(grid=N)
def mod_neg(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64, m: i64) -> None:
    i = ig.gid()
    if i == 0 and m != 0 and m <= 6 and m >= -6:
        z[n % m] = 1


@ig.kernel(grid=N)
def div_range(x: In[i32, N], z: InOut[i32, Literal[6]], n: i64, m: i64) -> None:
    i = ig.gid()
    if i == 0 and n >= -1 and n < 6 and m >= 1:
        z[n // m] = 1


@ig.kernel(grid=N)
def shift_range(x: In[i32, N], z: InOut[i32, Literal[6]], n: i32, m: i32) -> None:
    i = ig.gid()
    if i == 0 and n >= 0 and n < 24 and m >= 0 and m < 31:
        z[(n << m) >> (m + 2)] = 1


@ig.kernel(grid=N)
def shift_two_amounts(x: In[i32, N], z: InOut[i32, Literal[9]], n: i32, m: i32) -> None:
    i = ig.gid()
    if i == 0 and n >= 0 and n < 4 and m >= 0 and m < 4:
        z[1 << n] = 1
        z[(1 << n) * (1 << m) - 1] = 1


@ig.kernel(grid=N)
def power_multiple(x: In[i32, N], z: InOut[i32, Literal[8]], n: i32, k: i32) -> None:
    i = ig.gid()
    if n >= 0 and n < 3:
        p = 1 << n
        j = (k & 7) // p
        if i == 0:
            z[p * j + p - 1] = 1  # safe: aligned block end


@ig.kernel(grid=N)
def power_multiple_bad(x: In[i32, N], z: InOut[i32, Literal[8]], n: i32, k: i32) -> None:
    i = ig.gid()
    if n >= 0 and n < 5:
        p = 1 << n
        j = (k & 7) // p
        if i == 0:
            z[p * j + p - 1] = 1


@ig.kernel(grid=N)
def power_from_two(x: In[i32, N], z: InOut[i32, Literal[8]], n: i32, k: i32) -> None:
    i = ig.gid()
    if n >= 0 and n < 3 and k >= 0 and k < 8:
        p = (1 << n) * 3
        j = k // p
        if i == 0 and j >= 0:
            z[p * j + p - 1] = 1


@ig.kernel(grid=N)
def min_of_three(x: In[i32, N], z: InOut[i32, Literal[6]], a: i64, b: i64) -> None:
    if ig.gid() == 0:
        z[max(min(a, b, 5), 0)] = 1
        z[min(max(a, b, 0), 5)] = 1
        z[min(max(a, 0), b)] = 1


@ig.kernel(grid=N)
def cast_unsigned(x: In[i32, N], z: InOut[i32, Literal[6]], a: i32) -> None:
    if ig.gid() == 0:
        u = u32(a)
        if u < 6:
            z[u] = 1
        w = w32(a)
        if w < 6:
            z[w] = 2
        if w >= 6 and w - 6 < 6:
            z[w - 6] = 3


@ig.kernel(grid=N)
def cast_w_wrap(x: In[i32, N], z: InOut[i32, Literal[6]], a: w32) -> None:
    if ig.gid() == 0:
        if a + 1 > a:
            z[a - a] = 1
        if a < 6:
            z[a + 1] = 1
        if a - 1 < 6:
            z[a] = 1


@ig.kernel(grid=N)
def select_idx(x: In[i32, N], z: InOut[i32, Literal[6]], a: i64) -> None:
    if ig.gid() == 0:
        j = a if a >= 0 and a < 6 else 0
        z[j] = 1
        m = a if a >= 0 or a < 6 else 0
        z[m] = 1


@ig.kernel(grid=N)
def invert_idx(x: In[i32, N], z: InOut[i32, Literal[6]], a: i64) -> None:
    if ig.gid() == 0:
        if a < 0 and a >= -6:
            z[~a] = 1
            z[-a] = 1


@ig.kernel(grid=N)
def xor_idx(x: In[i32, N], z: InOut[i32, Literal[6]], a: i64, b: i64) -> None:
    if ig.gid() == 0:
        if a >= 0 and a < 4 and b >= 0 and b < 4:
            z[a ^ b] = 1
            z[a | b] = 1
            z[a + b] = 1
        if a >= 0 and a < 5 and b >= 0 and b < 4:
            z[a ^ b] = 1


@ig.kernel(grid=N)
def product(x: In[i32, N], z: InOut[i32, H, W], y: InOut[i32, H * W], a: i64, b: i64) -> None:
    if ig.gid() == 0:
        if a < H and b < W and a >= 0 and b >= 0:
            y[a * W + b] = 1
            y[b * H + a] = 1
        if a < W and b < H and a >= 0 and b >= 0:
            y[a * W + b] = 1


@ig.kernel(groups=1, block=8)
def scan_range(z: InOut[i32, Literal[9]], a: i64) -> None:
    i = ig.lid()
    v = ig.group_scan(i32(1) if i < a else i32(0))
    ig.atomic_max(z, v, 1)
    e = ig.group_scan(i32(1) if i < a else i32(0), exclusive=True)
    ig.atomic_max(z, e + 1, 1)
    t = ig.group_sum(i32(1))
    ig.atomic_max(z, t, 1)


@ig.kernel(grid=N)
def element_types(x: In[u8, N], z: InOut[i32, Literal[256]], s: In[i32, M]) -> None:
    i = ig.gid()
    ig.atomic_add(z, x[i], 1)
    ig.atomic_add(z, x[i] + 1, 1)


@ig.kernel(grid=N)
def dims_derived(x: In[i32, N], z: InOut[i32, N // 2], a: i64) -> None:
    i = ig.gid()
    if i % 2 == 0:
        z[i // 2] = 1


@ig.kernel(grid=N)
def two_arrays(x: In[i32, N], y: InOut[i32, M], p: In[i32, M]) -> None:
    i = ig.gid()
    if x[i] >= 0 and x[i] < M:
        if p[x[i]] >= 0 and p[x[i]] < N:
            ig.atomic_add(y, x[p[x[i]]], 1)


@ig.kernel(grid=N)
def abs_idx(x: In[i32, N], z: InOut[i32, Literal[6]], a: i64) -> None:
    if ig.gid() == 0 and abs(a) < 6:
        z[abs(a)] = 1
        z[a] = 1


@ig.kernel(grid=N)
def pow_idx(x: In[i32, N], z: InOut[i32, Literal[9]], a: i64, b: i64) -> None:
    if ig.gid() == 0 and a >= -2 and a <= 2:
        z[a**2] = 1
        z[a**3] = 1
    if ig.gid() == 0 and a >= 0 and a <= 2 and b >= 0 and b <= 3:
        z[a**b] = 1
