"""Streaming kernels of the speed targets that are not in the gallery: copy, map, triad and a chain, all in f32."""

import math

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N


@ig.kernel(grid=N, block=256)
def copy(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]


@ig.kernel(grid=N, block=256)
def shift(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1.0


@ig.kernel(grid=N, block=256)
def triad(s: f32, b: In[f32, N], c: In[f32, N], a: Out[f32, N]) -> None:
    i = ig.gid()
    a[i] = ig.fma(s, c[i], b[i])


@ig.kernel(grid=N, block=256)
def chain(x: In[f32, N], y: In[f32, N], z: Out[f32, N]) -> None:
    i = ig.gid()
    d = x[i] - y[i]
    z[i] = ig.fma(math.sqrt(ig.fma(d, d, 1.0)), 0.5, x[i])
