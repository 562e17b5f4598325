"""Strides that a loop doubles or halves, from numbers known only at run time."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.dims import N


@ig.kernel(groups=1, block=8)
def up_sweep(n: i32, x: InOut[i32, Literal[16]]) -> None:  # safe
    ig.require(ig.is_power_of_two(n) and n >= 2 and n <= 16)
    s = ig.shared(i32, 16)
    t = ig.lid()
    s[2 * t] = x[2 * t]
    s[2 * t + 1] = x[2 * t + 1]
    offset = 1
    d = n >> 1
    while d > 0:
        ig.barrier()
        if t < d:
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1]
        offset *= 2
        d >>= 1
    ig.barrier()
    x[2 * t] = s[2 * t]
    x[2 * t + 1] = s[2 * t + 1]


@ig.kernel(groups=1, block=8)
def up_sweep_from_any_offset(n: i32, first: i32, x: InOut[i32, Literal[64]]) -> None:  # unsafe
    """With a first offset of 0 all threads meet in one cell."""
    ig.require(first >= 0 and first < 4)
    s = ig.shared(i32, 64)
    t = ig.lid()
    offset = first
    d = n
    while d > 0:
        ig.barrier()
        if t < d and offset * (2 * t + 2) < 64:
            s[offset * (2 * t + 2)] += 1
        offset *= 2
        d >>= 1
    ig.barrier()
    x[t] = s[t]


@ig.kernel(groups=1, block=8)
def stride_halved_below_one(n: i32, x: InOut[i32, Literal[64]]) -> None:  # unsafe
    """The stride reaches 0 before the trips are over."""
    t = ig.lid()
    stride = 4
    for _ in range(n):
        if stride * t < 64:
            x[stride * t] += 1
        stride //= 2
        ig.barrier()


@ig.kernel(groups=1, block=8)
def stride_halved_while_it_lasts(x: InOut[i32, Literal[64]], first: i32) -> None:  # safe
    t = ig.lid()
    stride = first
    while stride > 0:
        if stride * t < 64:
            x[stride * t] += 1
        stride //= 2
        ig.barrier()


@ig.kernel(groups=1, block=8)
def stride_doubled_or_negated(n: i32, x: InOut[i32, Literal[64]]) -> None:  # unsafe
    t = ig.lid()
    stride = 1
    for k in range(n):
        if 0 <= stride * t + 8 < 64:
            x[stride * t + 8] += x[0] if k == 2 else 1
        stride *= 2
        if k == 0:
            stride -= 2
        ig.barrier()


@ig.kernel(groups=1, block=8)
def own_stride(n: i32, x: InOut[i32, Literal[64]]) -> None:  # unsafe
    """Every thread doubles a stride of its own."""
    t = ig.lid()
    stride = 1 + t % 2
    for _ in range(n):
        if stride * t < 64:
            x[stride * t] += 1
        stride *= 2
        ig.barrier()


@ig.kernel(groups=1, block=8)
def behind_the_loop(n: i32, y: In[i32, N], x: InOut[i32, Literal[64]]) -> None:  # unsafe
    """No trip may have run, and what comes of halving may be 0."""
    t = ig.lid()
    width = 4
    for _ in range(n):
        width //= 2
    if width * t < 64:
        x[width * t] = t


@ig.kernel(groups=1, block=8)
def butterflies_of_any_length(n: i32, x: InOut[i32, Literal[16]]) -> None:  # safe
    """Stages of a transform of n elements."""
    ig.require(n <= 16)
    t = ig.lid()
    half = 1
    while half < n:
        low = t // half * 2 * half + t % half
        if low + half < 16:
            x[low], x[low + half] = x[low] + x[low + half], x[low] - x[low + half]
        ig.barrier()
        half *= 2


@ig.kernel(groups=1, block=8)
def butterflies_half_a_stage_apart(n: i32, x: InOut[i32, Literal[16]]) -> None:  # unsafe
    ig.require(n <= 16)
    t = ig.lid()
    half = 1
    while half < n:
        low = t // half * half + t % half
        if low + half < 16:
            x[low], x[low + half] = x[low] + x[low + half], x[low] - x[low + half]
        ig.barrier()
        half *= 2
