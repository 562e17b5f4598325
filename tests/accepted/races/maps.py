"""Each thread owns what it writes: guards, strides, rows, chunks, diagonals, halves."""

from typing import Literal

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, u8
from isogrid.dims import H, K, N, W


class N1(ig.Dim, equals=N + 1):
    """One more than N."""


class N2(ig.Dim, equals=N * 2):
    """Two for each of N."""


class N3(ig.Dim, equals=N * 3):
    """Three fields for each of N."""


class N4(ig.Dim, equals=N * 4):
    """A chunk of four for each of N."""


@ig.kernel(grid=N, block=4)
def guarded(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    if i < N:
        y[i] = a * x[i] + y[i]


@ig.kernel(grid=N, block=4)
def early_return(n: i32, x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    if i >= n:
        return
    y[i] = x[i]


@ig.kernel(grid=K, block=4)
def grid_stride_while(k: In[i32, K], x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    while i < N:
        y[i] = x[i] + 1
        i += ig.grid_size()


@ig.kernel(grid=K, block=4)
def grid_stride_range(k: In[i32, K], x: In[i32, N], y: Out[i32, N]) -> None:
    for i in range(ig.gid(), int(N), ig.grid_size()):
        y[i] = x[i] * 2


@ig.kernel(grid=N, block=4)
def reversed_index(x: In[i32, N], y: Out[i32, N]) -> None:
    y[N - 1 - ig.gid()] = x[ig.gid()]


@ig.kernel(grid=N, block=4)
def in_place(x: InOut[i32, N]) -> None:
    x[ig.gid()] += 1


@ig.kernel(grid=K, block=4)
def block_cyclic(k: In[i32, K], y: Out[i32, N]) -> None:
    for r in range(3):
        i = ig.gid() + r * ig.grid_size()
        if i < N:
            y[i] = i


@ig.kernel(grid=N, block=4)
def chunk_of_four(x: In[i32, N], y: Out[i32, N4]) -> None:
    i = ig.gid()
    for j in range(4):
        y[4 * i + j] = x[i] + j


@ig.kernel(grid=K, block=4)
def chunk_by_size(c: i32, k: In[i32, K], y: InOut[i32, N]) -> None:
    for j in range(ig.gid() * c, (ig.gid() + 1) * c):
        if j < N:
            y[j] = j


@ig.kernel(grid=N, block=4)
def three_fields(x: In[i32, N], y: Out[i32, N3]) -> None:
    i = ig.gid()
    y[3 * i] = x[i]
    y[3 * i + 1] = x[i] + 1
    y[3 * i + 2] = x[i] + 2


@ig.kernel(grid=N, block=4)
def even_and_odd(x: In[i32, N], y: Out[i32, N2]) -> None:
    i = ig.gid()
    y[2 * i] = x[i]
    y[2 * i + 1] = -x[i]


@ig.kernel(grid=H, block=4)
def row_of_a_flat_matrix(w: i32, k: In[i32, H], y: InOut[i32, N]) -> None:
    ig.require(w * H <= N)
    i = ig.gid()
    for x in range(w):
        y[i * w + x] = x


@ig.kernel(grid=H, block=4)
def row(y: Out[i32, H, W]) -> None:
    i = ig.gid()
    for x in range(W):
        y[i, x] = x


@ig.kernel(grid=N, block=4)
def diagonal(y: InOut[i32, N, N]) -> None:
    y[ig.gid(), ig.gid()] = 1


@ig.kernel(grid=N, block=4)
def flat_diagonal(k: In[i32, N], y: InOut[i32, K]) -> None:
    i = ig.gid()
    j = i * (N + 1)
    if j < K:
        y[j] = 1


@ig.kernel(groups=1, block=8)
def parity_halves(x: In[i32, Literal[8]], y: Out[i32, Literal[8]]) -> None:
    i = ig.lid()
    if i % 2 == 0:
        y[i // 2] = x[i]
    else:
        y[4 + i // 2] = x[i]


@ig.kernel(grid=N, block=4)
def swap(x: InOut[i32, N], y: InOut[i32, N]) -> None:
    i = ig.gid()
    u = x[i]
    x[i] = y[i]
    y[i] = u


@ig.kernel(grid=N, block=4)
def private_array(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    t = ig.local(i32, 4)
    for j in range(4):
        t[j] = x[i] + j
    s = i32(0)
    for j in range(4):
        s += t[3 - j]
    y[i] = s


@ig.kernel(grid=N, block=4)
def gather(x: In[i32, K], p: In[i32, N], y: Out[i32, N]) -> None:
    y[ig.gid()] = x[p[ig.gid()]]


@ig.kernel(grid=N, block=4)
def upsample(x: In[i32, N], y: Out[i32, N2]) -> None:
    for j in range(2):
        y[2 * ig.gid() + j] = x[ig.gid()]


@ig.kernel(grid=(H, W), block=(2, 4))
def pixels(x: In[u8, H, W], y: Out[u8, H, W]) -> None:
    r, c = ig.gids()
    y[r, c] = 255 - x[r, c]


@ig.kernel(grid=(H, W), block=(2, 4))
def flat_pixels(x: In[i32, H, W], y: Out[i32, N]) -> None:
    r, c = ig.gids()
    i = r * W + c
    if i < N:
        y[i] = x[r, c]


@ig.kernel(grid=(K, H, W), block=(1, 2, 4))
def volume(y: Out[i32, K, H, W]) -> None:
    z, r, c = ig.gids()
    y[z, r, c] = z


@ig.kernel(grid=(K, H, W), block=(1, 2, 4))
def flat_volume(k: In[i32, K, H, W], y: Out[i32, N]) -> None:
    z, r, c = ig.gids()
    i = (z * H + r) * W + c
    if i < N:
        y[i] = 1


@ig.kernel(grid=N, block=4)
def one_of_two_arrays(flag: In[i32, N], x: Out[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    if flag[i] > 2:
        x[i] = 1
    else:
        y[i] = 1


@ig.kernel(grid=N, block=4)
def by_division(y: Out[i32, N]) -> None:
    i = ig.gid()
    y[(i // 4) * 4 + i % 4] = i


@ig.kernel(grid=N, block=4)
def split_by_width(w: i32, k: In[i32, N], y: InOut[i32, H, W]) -> None:
    i = ig.gid()
    y[i // w, i % w] = 1


@ig.kernel(grid=N, block=4)
def running_index(x: In[i32, N], y: Out[i32, N3]) -> None:
    j = 3 * ig.gid()
    for r in range(3):
        y[j] = x[ig.gid()] + r
        j += 1


@ig.kernel(grid=N, block=4)
def last_neighbour(x: In[i32, N], y: Out[i32, N1]) -> None:
    i = ig.gid()
    y[i + 1] = x[i]
    if i == 0:
        y[0] = 0


@ig.kernel(grid=N)
def ring_of_two_colours(u: InOut[f32, N], colour: i32) -> None:
    ig.require(N % 2 == 0)
    i = ig.gid()
    if i % 2 == colour:
        left = i - 1 if i > 0 else N - 1
        right = i + 1 if i < N - 1 else 0
        u[i] = 0.5 * (u[left] + u[right])


@ig.kernel(grid=N)
def ring_by_branches(u: InOut[f32, N], colour: i32) -> None:
    ig.require(N % 2 == 0)
    i = ig.gid()
    if i % 2 == colour:
        if i > 0:
            u[i] += u[i - 1]
        else:
            u[i] += u[N - 1]


@ig.kernel(grid=(H, W))
def torus_of_two_colours(s: InOut[f32, H, W], colour: i32) -> None:
    ig.require(H % 2 == 0)
    ig.require(W % 2 == 0)
    i, j = ig.gids()
    if (i + j) % 2 == colour:
        up = s[i - 1 if i > 0 else H - 1, j]
        left = s[i, j - 1 if j > 0 else W - 1]
        s[i, j] = 0.5 * (up + left)


@ig.kernel(grid=N)
def mirrored_border(x: In[f32, N], y: InOut[f32, N2]) -> None:
    i = ig.gid()
    at = 2 * i if i > 0 else 1
    y[at] = x[i]


@ig.kernel(grid=N)
def exchanged_with_partners(x: InOut[i32, N], stride: i32) -> None:
    i = ig.gid()
    partner = i ^ stride
    if partner > i and partner < N:
        a = x[i]
        b = x[partner]
        x[i] = min(a, b)
        x[partner] = max(a, b)
