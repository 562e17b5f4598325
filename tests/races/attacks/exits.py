"""Ways out of loops and helpers, votes, leaders and equalities in guards."""

# Written to mislead a proof, not to please.
# ruff: noqa: F841, SIM102, SIM202

import isogrid as ig
from isogrid import In, InOut, Out, i32
from isogrid.dims import K, M, N


@ig.func
def early(s, i, n):
    if n > 2:
        return i
    ig.barrier()
    return i + 1


@ig.kernel(groups=1, block=8)
def helper_barrier_skipped(n: i32, y: InOut[i32, N]) -> None:  # unsafe
    s = ig.shared(i32, 16)
    i = ig.lid()
    s[i] = 1
    j = early(s, i, n)
    if i < N:
        y[i] = s[7 - i]


@ig.func
def find(x, v):
    for k in range(x.shape[0]):
        if x[k] == v:
            return k
    return -1


@ig.kernel(groups=1, block=8)
def found_index(x: In[i32, N], y: InOut[i32, M]) -> None:  # not proved
    i = ig.lid()
    j = find(x, i32(i))
    if j >= 0:
        y[j] = 1


@ig.kernel(groups=1, block=8)
def found_index_uniform(x: In[i32, N], v: i32, y: InOut[i32, M]) -> None:  # safe
    i = ig.lid()
    j = find(x, v)
    if j >= 0:
        y[j * 8 + i] = 1


@ig.kernel(groups=1, block=8)
def found_then_barrier(x: In[i32, N], v: i32, y: InOut[i32, M]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 1
    j = find(x, v)
    if j >= 0:
        ig.barrier()
    if i < M:
        y[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def found_thread_then_barrier(x: In[i32, N], v: i32, y: InOut[i32, M]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    s[i] = 1
    j = find(x, i32(i))
    if j >= 0:
        ig.barrier()
    if i < M:
        y[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def shared_then_uniform_break(x: InOut[i32, N]) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    k = 0
    while True:
        s[i] = i32(k)
        ig.barrier()
        if s[0] > 2:
            break
        k += 1
    if i < N:
        x[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def shared_then_uniform_break2(x: InOut[i32, N]) -> None:  # not proved
    s = ig.shared(i32, 8)
    i = ig.lid()
    k = 0
    while True:
        s[i] = i32(k)
        ig.barrier()
        if s[0] > 2:
            break
        ig.barrier()
        k += 1
    if i < N:
        x[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def after_break_write(x: InOut[i32, N], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for k in range(n):
        ig.barrier()
        if i < N:
            x[i] = s[7 - i]
        if k == 2:
            break
        ig.barrier()
        s[i] = i32(k)
    s[i] = 9


@ig.kernel(groups=1, block=8)
def nested_break(x: InOut[i32, N], n: i32) -> None:  # unsafe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for k in range(n):
        for m in range(3):
            if m == k:
                break
            ig.barrier()
        s[i] = s[7 - i] + 1


@ig.kernel(groups=1, block=8)
def two_loops_tags(x: InOut[i32, N], n: i32) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    for k in range(n):
        if k % 2 == 0:
            s[i] = 1
            ig.barrier()
        else:
            if i < N:
                x[i] = s[7 - i]
            ig.barrier()


@ig.kernel(groups=1, block=8)
def uniform_flag_tags(x: InOut[i32, N], f: bool) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    if f:
        s[i] = 1
    if not f:
        if i < N:
            x[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def flag_from_load_tags(x: InOut[i32, N]) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    if x[0] == 0:
        s[i] = 1
    else:
        if i < N and i > 0:
            x[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def flag_changed_between(x: InOut[i32, N], y: InOut[i32, M]) -> None:  # safe
    s = ig.shared(i32, 8)
    i = ig.lid()
    f = x[0]
    if f == 0:
        s[i] = 1
    if i == 0:
        y[0] = 1


@ig.kernel(grid=N, block=8)
def group_leader_flag(x: In[i32, N], y: InOut[i32, M], g: In[i32, K]) -> None:  # unsafe
    i = ig.lid()
    if i == 0 and ig.group_id() < M:
        y[ig.group_id() // 2] = 1


@ig.kernel(grid=N, block=8)
def group_pair_guard(x: In[i32, N], y: InOut[i32, M]) -> None:  # safe
    i = ig.lid()
    if i == 0 and ig.group_id() % 2 == 0:
        y[ig.group_id() // 2] = 1


@ig.kernel(grid=N, block=8)
def group_pair_guard2(x: In[i32, N], y: InOut[i32, M]) -> None:  # not proved
    i = ig.lid()
    if i == 0 and ig.group_id() % 3 == 0:
        y[ig.group_id() // 2] = 1


@ig.kernel(grid=N, block=8)
def group_pair_guard3(x: In[i32, N], y: InOut[i32, M]) -> None:  # unsafe
    i = ig.lid()
    if i == 0 and ig.group_id() % 2 <= 1:
        y[ig.group_id() // 2] = 1


@ig.kernel(groups=1, block=8)
def le_guard(x: InOut[i32, N], a: i32, b: i32) -> None:  # unsafe
    i = ig.lid()
    if i * a + b == 3:
        x[0] = 1


@ig.kernel(groups=1, block=8)
def eq_guard_ok(x: InOut[i32, N], b: i32) -> None:  # safe
    i = ig.lid()
    if i + b == 3:
        x[0] = 1


@ig.kernel(groups=1, block=8)
def eq_guard_two(x: InOut[i32, N], b: i32, c: i32) -> None:  # unsafe
    i = ig.lid()
    if i + b == 3 or i + c == 3:
        x[0] = 1


@ig.kernel(groups=1, block=8)
def eq_guard_half(x: InOut[i32, N], b: i32) -> None:  # unsafe
    i = ig.lid()
    if i // 2 == b:
        x[0] = 1


@ig.kernel(groups=1, block=8)
def eq_guard_neg(x: InOut[i32, N], b: i32) -> None:  # safe
    i = ig.lid()
    if not (i != b):
        x[0] = 1


@ig.kernel(groups=1, block=8)
def mixed_atomics(x: InOut[i32, N]) -> None:  # unsafe
    i = ig.lid()
    if i == 0:
        ig.atomic_add(x, 0, 1)
    else:
        ig.atomic_max(x, 0, 1)


@ig.kernel(groups=1, block=8)
def atomic_then_read(x: InOut[i32, N], y: Out[i32, M]) -> None:  # safe
    i = ig.lid()
    ig.atomic_add(x, 0, 1)
    ig.barrier()
    if i < M:
        y[i] = x[0]


@ig.kernel(groups=2, block=8)
def atomic_then_read2(x: InOut[i32, N], y: Out[i32, M]) -> None:  # unsafe
    i = ig.gid()
    ig.atomic_add(x, 0, 1)
    ig.barrier()
    if i < M:
        y[i] = x[0]


@ig.kernel(groups=1, block=8)
def zip_swap(x: InOut[i32, N], n: i32) -> None:  # not proved
    s = ig.shared(i32, (2, 8))
    i = ig.lid()
    a, b = 0, 1
    for t in range(n):
        s[b, i] = s[a, 7 - i]
        a, b = b, a
        ig.barrier()
        if t == 3:
            a, b = 0, 1


@ig.kernel(groups=1, block=8)
def parity_from_data(x: In[i32, N], n: i32) -> None:  # safe
    s = ig.shared(i32, (2, 8))
    i = ig.lid()
    for t in range(n):
        p = x[t] % 2
        s[p, i] = s[1 - p, 7 - i]
        ig.barrier()
