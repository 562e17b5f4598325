"""Elementary functions where expressions may stand: branches, loops, conditions, groups, helpers, uniform values."""

import math
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32
from isogrid.dims import N
from tests.conformance.support import agree


@ig.func
def softplus(v: f32) -> f32:
    if v > 20.0:
        return v
    return math.log1p(math.exp(v))


@ig.kernel(grid=N)
def branches(x: In[f32, N], k: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    if k[i] % 3 == 0:
        v = math.sin(v) if v > 0.0 else math.cos(v)
    elif math.exp(v) > 1.5 and math.tanh(v) < 0.9:
        v = softplus(v) + v**1.5
    y[i] = v


@ig.kernel(grid=N)
def loops(x: In[f64, N], k: In[i32, N], y: Out[f64, N]) -> None:
    i = ig.gid()
    v = abs(x[i]) + 0.5
    for j in range(k[i] % 5):
        v = math.sqrt(v) + math.log(v + f64(j + 1))
        if v > 3.0:
            break
    while math.exp(-v) < 0.25:
        v *= 0.75
    y[i] = math.sin(1e22 * v)


@ig.kernel(grid=N)
def uniform(a: f32, b: f64, x: InOut[f32, N]) -> None:
    i = ig.gid()
    s, c = ig.sincos(a)
    m, e = math.frexp(b)
    x[i] = s * x[i] + c + f32(m) * f32(e) + math.atan2(x[i], a) + f32(math.ldexp(b, i32(i) - 3))


@ig.kernel(groups=N, block=64)
def groups(x: In[f32, N, 64], y: Out[f32, N]) -> None:
    t = ig.lid()
    shared = ig.shared(f32, 64)
    shared[t] = math.exp(x[ig.group_id(), t])
    ig.barrier()
    total = ig.group_sum(shared[63 - t] * math.erf(shared[t]))
    if t == 0:
        y[ig.group_id()] = math.log(total) + math.gamma(1.0 + total * 0.001)


def inputs(count: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(count)
    x = rng.normal(size=count) * 4
    x[:: max(count // 5, 1)] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], x[:: max(count // 5, 1)].size)
    return x, rng.integers(0, 100, count).astype(np.int32)


@pytest.mark.parametrize("count", [1, 7, 45])
def test_wherever_an_expression_may_stand(count: int, device: str) -> None:
    x, k = inputs(count)
    narrow = x.astype(np.float32)
    finite = np.where(np.isfinite(x), x, 1.0)
    agree(branches, device, narrow, k, np.zeros_like(narrow))
    agree(loops, device, finite, k, np.zeros_like(x))
    for a, b in ((0.7, 1e300), (-3e30, -5e-324), (math.nan, math.inf)):
        agree(uniform, device, a, b, narrow)


def test_in_groups(device: str) -> None:
    x = inputs(3 * 64)[0].astype(np.float32).reshape(3, 64)
    agree(groups, device, x, np.zeros(3, np.float32))


def test_literals_fold_to_the_same_bits(device: str) -> None:
    @ig.kernel(grid=N)
    def folded(x: In[f32, N], y: Out[f32, N]) -> None:
        i = ig.gid()
        y[i] = math.exp(x[i]) if i == 0 else math.exp(1.0)

    one = np.ones(2, np.float32)
    _, (_, y) = agree(folded, device, one, np.zeros(2, np.float32))
    assert y[0] == y[1] == np.float32(math.e)
