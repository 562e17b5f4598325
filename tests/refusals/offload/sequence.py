"""Loops that an offloaded function runs in sequence: one for each rule, and a function of the wrong shape."""

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import M, N


@ig.func
def noted(x, i, v):
    x[i] = v


@ig.offload
def steps(x: InOut[f32, N], stride: i32) -> None:
    for i in range(0, 100, stride):  # refuse: IG8070
        x[i] = 1.0


@ig.offload
def first(x: In[f32, N]) -> i32:
    at = i32(-1)
    for i in range(len(x)):
        if x[i] > 1.0:
            at = i32(i)
            break  # refuse: IG8070
    return at


@ig.offload
def scattered(x: In[f32, N], at: In[i32, N], y: InOut[f32, M]) -> None:
    for i in range(len(x)):
        y[at[i]] += x[i]  # refuse: IG8070


@ig.offload
def smoothed(x: InOut[f32, N]) -> None:
    for i in range(1, len(x)):
        x[i] = (x[i] + x[i - 1]) / 2.0  # refuse: IG8070


@ig.offload
def running(x: In[f32, N], y: Out[f32, N]) -> None:
    last = f32(0)
    for i in range(len(x)):
        y[i] = x[i] - last
        last = x[i]  # refuse: IG8070


@ig.offload
def helped(x: In[f32, N], y: InOut[f32, N]) -> None:
    for i in range(len(x)):
        noted(y, i, x[i])  # refuse: IG8070


@ig.offload
def threads(y: Out[i32, N]) -> None:
    for i in range(len(y)):
        y[i] = ig.gid()  # refuse: IG8070


@ig.offload
def normalised(x: In[f32, N], y: Out[f32, N]) -> None:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    for i in range(len(x)):
        y[i] = x[i] / s  # refuse: IG8070
