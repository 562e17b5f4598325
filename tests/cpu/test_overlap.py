"""Loops whose trips overlap give what the same loops give with the divider, whatever the trips, lanes and elements."""

import math
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import N

Floats = np.ndarray[Any, np.dtype[np.float32]]

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")
on_intel = pytest.mark.skipif(not host_target().divides_slowly, reason="this processor divides as fast: none overlap")


@ig.func
def pull(d: f32, weight: f32) -> f32:
    """Roots of zero (a lane with itself) and of infinity are none of those that are made without the divider."""
    square = ig.fma(d, d, ig.fma(d, d, d * d))
    return weight / (0.5 + square * math.sqrt(square))


@ig.kernel(grid=N)
def down(x: In[f32, N], first: i32, stop: i32, out: Out[f32, N]) -> None:
    i = ig.gid()
    a, b, c = f32(0), f32(1), f32(2)
    for j in range(first, stop, -2):
        d = x[abs(j) % len(x)] - x[i]
        p = pull(d, f32(j))
        a, b, c = ig.fma(d, p, b), ig.fma(d, p, c), ig.fma(d, p, a)
    out[i] = a + b + c


@ig.kernel(grid=N)
def nested(x: In[f32, N], first: i32, stop: i32, out: Out[f32, N]) -> None:
    i = ig.gid()
    a, b = f32(0), f32(1)
    for k in range(3):
        for j in range(stop, first):
            d = x[j % len(x)] - x[i] + f32(k)
            p = pull(d, x[k % len(x)])
            a, b = ig.fma(d, p, ig.fma(p, p, b)), ig.fma(d, p, a)
        a = a * 0.5
    out[i] = a + b


@ig.kernel(grid=N)
def guarded(x: In[f32, N], first: i32, stop: i32, out: Out[f32, N]) -> None:
    i = ig.gid()
    a, b, last = f32(0), f32(1), f32(7)
    if x[i] > 0.25:
        for j in range(stop, first):
            d = x[j % len(x)] - x[i]
            last = pull(d, 1.0)
            a, b = ig.fma(d, last, ig.fma(last, last, b)), ig.fma(d, last, a)
    out[i] = a + b + last


@ig.kernel(grid=N, block=32)
def grouped(x: In[f32, N], first: i32, stop: i32, out: Out[f32, N]) -> None:
    i = ig.gid()
    kept = ig.shared(f32, 32)
    a, b = f32(0), f32(1)
    if i < len(x):
        for j in range(stop, first):
            d = x[j % len(x)] - x[i]
            p = pull(d, f32(2))
            a, b = ig.fma(d, p, ig.fma(p, p, b)), ig.fma(d, p, a)
    kept[ig.lid()] = a + b
    ig.barrier()
    if i < len(x):
        out[i] = kept[31 - ig.lid()] + a


KERNELS = [down, nested, guarded, grouped]


def elements(count: int, odd: bool) -> Floats:
    """Ordinary numbers; `odd` ones have infinities, zeros, NaN and numbers outside the proof's range among them."""
    generator = np.random.default_rng(count)
    x = generator.standard_normal(count).astype(np.float32)
    if odd:
        strange = np.array([np.inf, 0, np.nan, 1e-30, 3e38, -np.inf], np.float32)
        places = generator.random(count) < 0.1
        x[places] = generator.choice(strange, places.sum())
    return x


@on_intel
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("trips", [0, 1, 3, 4, 5, 7, 8, 9, 12, 37])
def test_every_number_of_trips(kernel: Any, trips: int) -> None:
    for count, odd in ((1, False), (47, False), (64, True), (100, True)):
        x, stop = elements(count, odd), 3
        first = stop + trips * (2 if kernel is down else 1)
        found, expected = np.full_like(x, 9), np.full_like(x, 8)
        kernel.on("cpu")(x, first, stop, found)
        kernel.options(disable={"fast_division"}).on("cpu")(x, first, stop, expected)
        assert (np.isnan(found) == np.isnan(expected)).all()
        assert (found.view(np.uint32) == expected.view(np.uint32))[~np.isnan(found)].all()


@on_intel
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_the_interpreter_agrees(kernel: Any) -> None:
    x = elements(40, True)
    found, expected = np.full_like(x, 9), np.full_like(x, 8)
    kernel.on("cpu")(x, 25, 3, found)
    kernel.on("interp")(x, 25, 3, expected)
    assert (np.isnan(found) == np.isnan(expected)).all()
    assert (found.view(np.uint32) == expected.view(np.uint32))[~np.isnan(found)].all()


def text_for(kernel: Any, **options: Any) -> str:
    return emit_module(stages_of(kernel, (), wide=False).device, INTEL, options).text


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_these_loops_overlap(kernel: Any) -> None:
    assert "asm sideeffect" in text_for(kernel)
    assert "asm sideeffect" not in text_for(kernel, disable={"fast_division"})


@ig.kernel(grid=N)
def apart(x: In[f32, N], trips: In[i32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(trips[i]):
        d = x[j % len(x)] - x[i]
        total = ig.fma(d, pull(d, 1.0), ig.fma(d, d, total))
    out[i] = total


def test_loops_of_lanes_that_part_do_not() -> None:
    text = text_for(apart)
    assert "rsqrt14" in text
    assert "asm sideeffect" not in text
