"""Roots without a test of their own: a look behind the loop finds where one was taken of infinity."""

import math
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.emit_witness import witnesses
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import N
from isogrid.ir import device as d
from isogrid.ir.walk import visit

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")
on_intel = pytest.mark.skipif(not host_target().divides_slowly, reason="this processor divides as fast: none is made")


@ig.kernel(grid=N)
def reach(x: In[f32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    total, count = f32(0), f32(1)
    for j in range(len(x)):
        a = x[j] - x[i]
        total = total + 1.0 / (2.0 + math.sqrt(ig.fma(a, a, 0.5)))
        count = count + 1.0
    out[i] = total / count


@ig.kernel(grid=N)
def guarded(x: In[f32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    near, far, last = f32(0), f32(5), f32(3)
    if x[i] > -0.5:
        for j in range(1, len(x)):
            a, b = x[j] - x[i], x[j] + x[i]
            near = near - 1.0 / math.sqrt(0.25 + a * a)
            far = ig.fma(f32(j), 1.0 / math.sqrt(max(abs(b), 1.0)), far)
            last = a
    out[i] = near + far + (last if abs(last) < 9.0 else 9.0)


KERNELS = [reach, guarded]


@on_intel
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("strange", [[], [np.inf], [-np.inf, 0.0], [np.nan], [3e38, 1e-30]], ids=str)
def test_what_the_interpreter_says(kernel: Any, strange: list[float]) -> None:
    for count in (1, 3, 4, 9, 16, 33):
        x = np.random.default_rng(count).standard_normal(count).astype(np.float32)
        places = [place for place in (count - 1, 5) if place < count] if strange else []
        x[places] = np.resize(strange, len(places)) if strange else 0
        found, expected = np.full_like(x, 9), np.full_like(x, 8)
        kernel.on("cpu")(x, found)
        with np.errstate(all="ignore"):
            kernel.on("interp")(x, expected)
        assert (np.isnan(found) == np.isnan(expected)).all()
        assert (found.view(np.uint32) == expected.view(np.uint32))[~np.isnan(found)].all()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_no_root_of_the_rounds_is_tested(kernel: Any) -> None:
    text = emit_module(stages_of(kernel, (), wide=False).device, INTEL, {}).text
    trips = text[text.index("\nfor.body") : text.index("\nfor.again")]
    assert "rsqrt14" in trips
    assert "@llvm.sqrt" not in trips
    assert "fcmp uno" not in trips
    assert "fcmp uno" in text


def seen(kernel: Any) -> tuple[str, ...]:
    device = stages_of(kernel, (), wide=False).device
    return witnesses(next(node for node in visit(device.body) if isinstance(node, d.For)).body)


@ig.kernel(grid=N)
def small(x: In[f32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(x)):
        a = x[j] - x[i]
        total = total + 1.0 / math.sqrt(ig.fma(a, a, 1e-30))
    out[i] = total


@ig.kernel(grid=N)
def signed(x: In[f32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(x)):
        a = x[j] - x[i]
        total = total + math.sqrt(a * 2.0 + 1.0)
    out[i] = total


@ig.kernel(grid=N)
def hidden(x: In[f32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(x)):
        a = x[j] - x[i]
        total = total + min(math.copysign(1.0, math.sqrt(ig.fma(a, a, 1.0))), 2.0)
    out[i] = total


@ig.kernel(grid=N)
def latest(x: In[f32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(x)):
        a = x[j] - x[i]
        total = 1.0 / math.sqrt(ig.fma(a, a, 1.0))
    out[i] = total


@ig.kernel(grid=N)
def reloaded(x: In[f32, N], y: Out[f32, N], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(x)):
        y[i] = x[j]
        total = total + math.sqrt(ig.fma(x[j], x[i], 1.0))
    out[i] = total


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_a_sum_that_keeps_its_nan_is_a_witness(kernel: Any) -> None:
    assert len(seen(kernel)) == (1 if kernel is reach else 2)


@pytest.mark.parametrize("kernel", [small, signed, hidden, latest, reloaded], ids=lambda kernel: kernel.__name__)
def test_others_are_none(kernel: Any) -> None:
    """A root of less than 2^-96, or of any sign; its NaN is lost on its way, or in the next trip; a store."""
    assert seen(kernel) == ()
