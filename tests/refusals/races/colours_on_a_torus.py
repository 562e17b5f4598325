"""Two colours on a ring of odd length: the last cell and the first have one colour."""

import math

import isogrid as ig
from isogrid import InOut, f32, i32, w32
from isogrid.dims import H, N, W


@ig.kernel(grid=(H, W))
def ising(s: InOut[i32, H, W], beta: f32, colour: i32, step: w32) -> None:
    y, x = ig.gids()
    if (y + x) % 2 != colour:
        return
    up = s[y - 1 if y > 0 else H - 1, x]
    left = s[y, x - 1 if x > 0 else W - 1]
    change = 2 * s[y, x] * (up + left)
    u = f32(step * w32(y * W + x) >> 8) * 5.9604645e-08
    if u < math.exp(-beta * f32(change)):
        s[y, x] = -s[y, x]  # refuse: IG202


@ig.kernel(grid=N)
def three_colours(s: InOut[i32, N], colour: i32) -> None:
    i = ig.gid()
    if i % 3 == colour:
        s[i] = s[i + 1 if i < N - 1 else 0] + s[i - 1 if i > 0 else N - 1]  # refuse: IG201
