"""Matrices kept in vectors: triangles by rows, and neighbours on a grid of one colour at a time."""

import isogrid as ig
from isogrid import In, InOut, f32, i32
from isogrid.dims import H, K, M, N, W


class HW(ig.Dim, equals=H * W):
    """Cells of a grid."""


@ig.kernel(grid=(N, N), block=(2, 4))
def lower_triangle(x: In[f32, N, N], a: InOut[f32, K]) -> None:
    i, j = ig.gids()
    if j <= i:
        a[i * (i + 1) // 2 + j] = x[i, j]


@ig.kernel(grid=(N, N), block=(2, 4))
def upper_triangle(x: In[f32, N, N], a: InOut[f32, K]) -> None:
    i, j = ig.gids()
    if i <= j:
        a[i + j * (j + 1) // 2] = x[i, j]


@ig.kernel(grid=(N, N), block=(2, 4))
def distances(x: In[f32, N, M], a: InOut[f32, K]) -> None:
    i, j = ig.gids()
    if i < j:
        total = f32(0.0)
        for k in range(M):
            total += abs(x[i, k] - x[j, k])
        a[N * i - i * (i + 1) // 2 + (j - i - 1)] = total


@ig.kernel(grid=N, block=4)
def row_below_the_diagonal(x: In[i32, N], a: InOut[i32, K]) -> None:
    i = ig.gid()
    for j in range(i):
        a[i * (i - 1) // 2 + j] = x[j]


@ig.kernel(grid=N, block=4)
def squares(x: In[i32, N], a: InOut[i32, K]) -> None:
    i = ig.gid()
    for j in range(2 * i + 1):
        a[i * i + j] = x[i]


@ig.kernel(grid=HW, block=4)
def two_colours(colour: i32, h: In[f32, H], w: In[f32, W], u: InOut[f32, HW]) -> None:
    t = ig.gid()
    r, c = t // W, t % W
    if 0 < r < H - 1 and 0 < c < W - 1 and (r + c) % 2 == colour:
        u[t] = 0.25 * (u[t - 1] + u[t + 1] + u[t - W] + u[t + W])


@ig.kernel(grid=N, block=4)
def diagonal_of_a_table(d: i32, h: In[i32, H], w: In[i32, W], x: In[i32, N], t: InOut[i32, HW]) -> None:
    """One launch for each diagonal, cells (i, d - i)."""
    i = ig.gid() + 1
    j = d - i
    if i < H and j >= 1 and j < W:
        t[i * W + j] = min(t[(i - 1) * W + j], t[i * W + j - 1], t[(i - 1) * W + j - 1]) + x[i - 1]
