"""Packed triangles and grids in vectors, with rows that overlap and neighbours of the wrong colour."""

import isogrid as ig
from isogrid import In, InOut, f32, i32
from isogrid.dims import H, K, M, N, W


class HW(ig.Dim, equals=H * W):
    """Cells of a grid."""


class N2(ig.Dim, equals=N * 2):
    """Twice N."""


@ig.kernel(grid=(N, N), block=(2, 4))
def triangle_with_one_more(x: In[f32, N, N], a: InOut[f32, K]) -> None:  # unsafe
    i, j = ig.gids()
    if j <= i + 1:
        a[i * (i + 1) // 2 + j] = x[i, j]


@ig.kernel(grid=(N, N), block=(2, 4))
def triangle_of_short_rows(x: In[f32, N, N], a: InOut[f32, K]) -> None:  # unsafe
    i, j = ig.gids()
    if j <= i:
        a[i * (i - 1) // 2 + j] = x[i, j]


@ig.kernel(grid=(N, N), block=(2, 4))
def triangle_from_the_left(x: In[f32, N, N], a: InOut[f32, K]) -> None:  # unsafe
    i, j = ig.gids()
    if j <= i:
        a[j * (j + 1) // 2 + i] = x[i, j]


@ig.kernel(grid=(N, N), block=(2, 4))
def triangle_in_place(x: In[f32, N, N], a: InOut[f32, K]) -> None:  # unsafe
    i, j = ig.gids()
    if j <= i and j > 0:
        a[i * (i + 1) // 2 + j] = a[i * (i + 1) // 2 + j - 1]


@ig.kernel(grid=(N, N), block=(2, 4))
def rows_longer_by_a_number(x: In[f32, N, N], m: i32, a: InOut[f32, K]) -> None:  # safe
    i, j = ig.gids()
    if j <= i + m:
        a[i * (i + 1) // 2 + m * i + j] = x[i, j]


@ig.kernel(grid=(N, N), block=(2, 4))
def rows_longer_by_twice_a_number(x: In[f32, N, N], m: i32, a: InOut[f32, K]) -> None:  # unsafe
    i, j = ig.gids()
    if j <= i + 2 * m:
        a[i * (i + 1) // 2 + m * i + j] = x[i, j]


@ig.kernel(grid=(N, N), block=(2, 4))
def distances_with_the_diagonal(x: In[f32, N], a: InOut[f32, K]) -> None:  # unsafe
    i, j = ig.gids()
    if i <= j and j < N:
        at = N * i - i * (i + 1) // 2 + (j - i)
        if at < K:
            a[at] = x[i] - x[j] if i < N else 0.0


@ig.kernel(grid=N, block=4)
def packed_cholesky_of_all(k: i32, x: In[f32, N], a: InOut[f32, K]) -> None:  # unsafe
    i = ig.gid()
    if k >= 0 and k <= i:
        for j in range(k, i + 1):
            a[i * (i + 1) // 2 + j] -= a[i * (i + 1) // 2 + k] * a[j * (j + 1) // 2 + k]


@ig.kernel(grid=N, block=4)
def halves_of_squares(x: In[f32, N], a: InOut[f32, K]) -> None:  # unsafe
    i = ig.gid()
    for j in range(i + 1):
        a[i * i // 2 + j] = x[j]


@ig.kernel(grid=HW, block=4)
def grid_with_a_diagonal(colour: i32, h: In[f32, H], w: In[f32, W], u: InOut[f32, HW]) -> None:  # unsafe
    t = ig.gid()
    r, c = t // W, t % W
    if r > 0 and c > 0 and (r + c) % 2 == colour:
        u[t] = u[t - W - 1]


@ig.kernel(grid=HW, block=4)
def grid_over_the_edge(colour: i32, h: In[f32, H], w: In[f32, W], u: InOut[f32, HW]) -> None:  # unsafe
    t = ig.gid()
    r, c = t // W, t % W
    if (r + c) % 2 == colour and t > 0:
        u[t] = u[t - 1]


@ig.kernel(grid=HW, block=4)
def grid_of_another_width(colour: i32, h: In[f32, H], w: In[f32, W], u: InOut[f32, HW]) -> None:  # unsafe
    t = ig.gid()
    r, c = t // H, t % H
    if (r + c) % 2 == colour and t >= W:
        u[t] = u[t - W]


@ig.kernel(grid=N, block=4)
def grid_of_any_width(colour: i32, w: i32, u: InOut[f32, N]) -> None:  # unsafe
    t = ig.gid()
    if w != 0 and t // w % 2 == colour and t + w >= 0 and t + w < N:
        u[t] = u[t + w + 1] if t + w + 1 < N else 0.0


@ig.kernel(grid=N, block=4)
def grid_of_columns(colour: i32, m: In[f32, M], u: InOut[f32, N]) -> None:  # unsafe
    t = ig.gid()
    if t % M % 2 == colour and t + M < N:
        u[t] = u[t + M]


@ig.kernel(grid=N, block=4)
def quotient_known_to_others(w: i32, u: InOut[i32, N]) -> None:  # unsafe
    """Threads that never divide know nothing of quotient and remainder."""
    t = ig.gid()
    at = t
    if t > 2:
        at = t // w * w
    if at >= 0 and at < N:
        u[at] = 1


@ig.kernel(grid=(N, N), block=(2, 4))
def distances_from_the_end(x: In[f32, N], a: InOut[f32, K]) -> None:  # safe
    i, j = ig.gids()
    if i < j:
        a[N * (N - 1) // 2 - (N - i) * (N - i - 1) // 2 + j - i - 1] = x[i] - x[j]


@ig.kernel(grid=N, block=4)
def packed_cholesky(k: i32, x: In[f32, N], a: InOut[f32, K]) -> None:  # safe
    i = ig.gid()
    if k >= 0 and i > k:
        for j in range(k + 1, i + 1):
            a[i * (i + 1) // 2 + j] -= a[i * (i + 1) // 2 + k] * a[j * (j + 1) // 2 + k]


@ig.kernel(grid=N, block=4)
def two_colours_of_a_width(colour: i32, w: i32, u: InOut[f32, N]) -> None:  # safe
    ig.require(w > 0)
    t = ig.gid()
    r, c = t // w, t % w
    if (r + c) % 2 == colour:
        total = f32(0.0)
        if c > 0:
            total += u[t - 1]
        if c + 1 < w and t + 1 < N:
            total += u[t + 1]
        if r > 0:
            total += u[t - w]
        if t + w < N:
            total += u[t + w]
        u[t] = 0.25 * total


@ig.kernel(grid=N, block=4)
def two_colours_of_eight(colour: i32, u: InOut[f32, N]) -> None:  # safe
    t = ig.gid()
    r, c = t // 8, t % 8
    if (r + c) % 2 == colour and 0 < c < 7 and r > 0 and t + 8 < N:
        u[t] = 0.25 * (u[t - 1] + u[t + 1] + u[t - 8] + u[t + 8])


@ig.kernel(grid=N, block=4)
def cells_of_one_colour(colour: i32, w: i32, x: In[f32, N], u: InOut[f32, N2]) -> None:  # safe
    """`w` is half the width: only cells of the colour have threads."""
    ig.require(w > 0 and colour >= 0 and colour < 2)
    i = ig.gid()
    r = i // w
    c = 2 * (i % w) + (r + colour) % 2
    t = r * (2 * w) + c
    if 0 < c < 2 * w - 1 and r > 0 and t + 2 * w < N2:
        u[t] = 0.25 * (u[t - 1] + u[t + 1] + u[t - 2 * w] + u[t + 2 * w])
