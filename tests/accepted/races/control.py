"""Control flow that a proof must follow: early returns of helpers, loops left in several ways, tests that read."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import M, N


class G(ig.Dim):
    """Number of groups."""


class G4(ig.Dim, equals=G * 4):
    """Elements of G groups of 4."""


class N3(ig.Dim, equals=N * 3):
    """Three for each of N."""


@ig.func
def first_above(x, i, limit):
    for k in range(3):
        if x[i] + k > limit:
            return k
    return 0


@ig.func
def clamp_to(i, n):
    if i < 0:
        return 0
    if i >= n:
        return n - 1
    return i


@ig.kernel(grid=N, block=4)
def slot_of_own_three(x: In[i32, N], limit: i32, y: Out[i32, N3]) -> None:
    i = ig.gid()
    y[3 * i + first_above(x, i, limit)] = 1


@ig.kernel(grid=N, block=4)
def clamped_neighbours(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[clamp_to(i - 1, len(x))] + x[clamp_to(i + 1, len(x))]


@ig.kernel(groups=1, block=4)
def while_on_shared_flag(x: InOut[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    rounds = ig.shared(i32, 1)
    i = ig.lid()
    while rounds[0] < 3:
        s[i] = x[i]
        ig.barrier()
        x[i] = s[3 - i] + 1
        if i == 0:
            rounds[0] += 1
        ig.barrier()
    ig.barrier()
    s[i] = x[i]


@ig.kernel(groups=G, block=4)
def helper_leaves_loop(k: In[i32, G], x: In[i32, G4], y: Out[i32, G4]) -> None:
    s = ig.shared(i32, 4)
    i = ig.lid()
    n = spread(s, i, k[ig.group_id()])
    ig.barrier()
    y[ig.gid()] = s[3 - i] + n


@ig.func
def spread(s, i, n):
    for t in range(4):
        s[i] = i32(t)
        ig.barrier()
        if t == n:
            return 7
        ig.barrier()
    return 9


@ig.kernel(grid=N, block=4)
def two_counters(x: In[i32, N], n: i32, y: Out[i32, N]) -> None:
    i = ig.gid()
    a = 0
    b = 0
    while a < n:
        a += 1
        if x[i] > a:
            break
        b += 1
    y[i] = a - b


@ig.kernel(groups=1, block=8)
def uniform_break_value(n: i32, x: In[i32, Literal[8]], y: Out[i32, Literal[16]]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    v = 0
    for k in range(n):
        s[i] = x[i] + k
        ig.barrier()
        if s[0] > 3:
            v = 8
            break
        ig.barrier()
    y[i + v] = 1


@ig.kernel(groups=1, block=4)
def skip_odd_rounds(n: i32, x: InOut[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    i = ig.lid()
    for t in range(n):
        if t % 2 == 1:
            continue
        s[i] = x[i]
        ig.barrier()
        x[i] = s[(i + 1) % 4]
        ig.barrier()


@ig.kernel(groups=1, block=4)
def barrier_in_some_rounds(n: i32, x: InOut[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    i = ig.lid()
    for t in range(n):
        if t % 3 == 0:
            ig.barrier()
            s[i] = x[i]
            ig.barrier()
        x[i] = s[3 - i] + t


@ig.kernel(groups=G, block=4)
def table_in_shared(k: In[i32, G], x: In[i32, G4], y: Out[i32, G4]) -> None:
    s = ig.shared(i32, 4)
    base = ig.shared(i32, 1)
    i = ig.lid()
    if i == 0:
        base[0] = k[ig.group_id()]
    s[i] = x[ig.gid()]
    ig.barrier()
    for j in range(base[0]):
        y[ig.gid()] = s[(i + j) % 4]


@ig.kernel(grid=N, block=4)
def float_guards(v: f32, x: In[f32, N], y: Out[i32, N], z: Out[i32, N]) -> None:
    i = ig.gid()
    if x[i] < v:
        y[i] = 1
    else:
        z[N - 1 - i] = 1


@ig.kernel(groups=1, block=4)
def assigned_counter(x: InOut[i32, Literal[4]]) -> None:
    s = ig.shared(i32, 4)
    i = ig.lid()
    t = 0
    for t in range(3):
        s[i] = x[i] + t
        ig.barrier()
        x[i] = s[3 - i]
        t = 3 - t
        ig.barrier()
    s[i] = x[i]


@ig.kernel(groups=G, block=4)
def leader_only_first(k: In[i32, G], y: InOut[i32, M]) -> None:
    if ig.gid() == 0:
        for j in range(len(y)):
            y[j] = j


@ig.kernel(grid=N, block=4)
def descending(x: In[i32, N], y: Out[i32, N3]) -> None:
    i = ig.gid()
    for j in range(2, -1, -1):
        y[3 * i + j] = x[i]


@ig.kernel(grid=N, block=4)
def strided_by_scalar(step: i32, x: In[i32, N], y: InOut[i32, N, M]) -> None:
    i = ig.gid()
    for j in range(0, int(M), step):
        y[i, j] = x[i]


@ig.kernel(groups=1, block=8)
def parted_by_a_flag(forward: bool, x: In[i32, N], y: Out[i32, N]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    if forward and i < N:
        s[i] = x[i]
    if not forward and i < N:
        y[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def parted_by_a_float(a: f32, x: In[f32, N], y: Out[i32, N]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    if a * a > 2.0:
        s[i] = 1
    if i < N and not a * a > 2.0:
        y[i] = s[7 - i] + s[i]
