"""Kernels for the tests of the command line: proved, with a kept check, and refused. Line numbers matter."""

import isogrid as ig
from isogrid import In, InOut, f32, i32
from isogrid.dims import N


@ig.kernel(grid=N, block=256)
def saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = a * x[i] + y[i]


@ig.kernel(grid=N, block=256)
def gather(p: In[i32, N], x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[p[i]]


@ig.kernel(grid=N, block=256)
def mixed(n: i32, x: InOut[f32, N]) -> None:
    i = ig.gid()
    x[i] = n * x[i]
