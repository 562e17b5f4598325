"""Kernels of the array tests: one that cannot trap, one that can, one that only passes data on."""

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import M, N


@ig.kernel(grid=N, block=64)
def saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = a * x[i] + y[i]


@ig.kernel(grid=N, block=64)
def gather(at: In[i32, N], x: In[f32, M], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[at[i]]


@ig.kernel(grid=N, block=64)
def copy(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]


@ig.kernel(grid=N, block=64)
def double(x: InOut[i32, N]) -> None:
    i = ig.gid()
    x[i] = x[i] * 2
