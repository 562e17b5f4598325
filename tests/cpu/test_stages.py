"""Loops in stages at a distance give what the same loops give with the divider, whatever the trips and elements."""

import ctypes
import math
import mmap
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.emit_stages import Stages, plan_stages
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import M, N
from isogrid.ir import device as d
from isogrid.ir.walk import visit

Floats = np.ndarray[Any, np.dtype[np.float32]]

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")
on_intel = pytest.mark.skipif(not host_target().divides_slowly, reason="this processor divides as fast: none is made")


@ig.kernel(grid=N)
def pulled(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    i = ig.gid()
    a, b, c = f32(0), f32(1), f32(2)
    for j in range(len(y)):
        d = y[j] - x[i]
        e = d * 0.5 + x[i]
        square = ig.fma(d, d, ig.fma(e, e, 0.01))
        p = y[j] / (square * math.sqrt(square))
        a = ig.fma(d, p, a)
        b = ig.fma(e, p, b) * 0.5
        c = ig.fma(a, b, c)
    out[i] = a + b + c


@ig.kernel(grid=N)
def backwards(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    """A dividend of each lane, a counter that falls, a guard, and what comes before the loop."""
    i = ig.gid()
    a, b = f32(3), f32(1)
    if x[i] > -0.25:
        for j in range(len(y) - 1, -1, -1):
            d = y[j] - x[i]
            near = ig.fma(d, d, 1.0)
            q = d / math.sqrt(near)
            e = ig.fma(d, 0.25, x[i])
            far = ig.fma(e, e, 0.5)
            a = ig.fma(q, near, a) * 0.5 + ig.fma(e, far, d)
            b = ig.fma(f32(j), q, b) * 0.25 + ig.fma(far, near, e)
    out[i] = a - b


@ig.kernel(grid=N, block=48)
def chained(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    """A root of a root, in a group that another interval follows: what the first stage leaves is read by the last."""
    i = ig.gid()
    kept = ig.shared(f32, 48)
    a, b = f32(0), f32(1)
    if i < len(x):
        for j in range(1, len(y)):
            d = y[j] - x[i]
            e = ig.fma(d, 0.5, x[i])
            s = ig.fma(d, d, ig.fma(e, e, ig.fma(d, d, ig.fma(e, e, 0.5))))
            r = math.sqrt(ig.fma(e, e, ig.fma(d, d, 1.0)) + math.sqrt(s))
            q = 2.0 / (r * s)
            a = ig.fma(d, q, ig.fma(e, s, a))
            b = ig.fma(e, q, ig.fma(d, r, b))
    kept[ig.lid()] = a
    ig.barrier()
    if i < len(x):
        out[i] = kept[47 - ig.lid()] * 0.5 + b


@ig.kernel(grid=N)
def named(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    """Infinite distances leave the sum finite."""
    i = ig.gid()
    total = f32(0)
    for j in range(len(y)):
        weight = y[j]
        distance = weight - x[i]
        square = ig.fma(distance, distance, 0.5)
        root = math.sqrt(square)
        volume = square * root
        share = weight / volume
        total = total + share
    out[i] = total


@ig.kernel(grid=N)
def lengthy(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    """So long that elsewhere only two trips are put together."""
    i = ig.gid()
    total = f32(0)
    for j in range(len(y)):
        a = y[j] - x[i]
        b0 = ig.bitcast(ig.w32, a)
        b1 = (b0 << 2) ^ b0
        b2 = (b1 << 3) ^ b1
        b3 = (b2 << 4) ^ b2
        b4 = (b3 << 5) ^ b3
        b5 = (b4 << 1) ^ b4
        b6 = (b5 << 2) ^ b5
        b7 = (b6 << 3) ^ b6
        b8 = (b7 << 4) ^ b7
        b9 = (b8 << 5) ^ b8
        b10 = (b9 << 1) ^ b9
        b11 = (b10 << 2) ^ b10
        b12 = (b11 << 3) ^ b11
        b13 = (b12 << 4) ^ b12
        b14 = (b13 << 5) ^ b13
        b15 = (b14 << 1) ^ b14
        b16 = (b15 << 2) ^ b15
        b17 = (b16 << 3) ^ b16
        b18 = (b17 << 4) ^ b17
        c = f32(b18 >> 8) * 2.0**-24
        square = ig.fma(a, a, ig.fma(c, c, 1.0))
        total = total + c / (square * math.sqrt(square))
    out[i] = total


@ig.kernel(grid=N)
def in_step(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    """The index of a variable that keeps step with the counter is 0 in every trip, and in no trip that is not there."""
    i = ig.gid()
    total, n = f32(0), 0
    if len(y) > 320:
        for j in range(len(y)):
            e = y[j] - x[i]
            root = math.sqrt(ig.fma(e, e, 0.5))
            total = ig.fma(root, y[n - 100000000 * j], total)
            n = n + 100000000
    out[i] = total


@ig.kernel(grid=N)
def looked_up(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    """An index that follows from a quotient."""
    i = ig.gid()
    total = f32(0)
    if len(y) > 255:
        for j in range(len(y)):
            e = y[j] - x[i]
            root = math.sqrt(ig.fma(e, e, 0.5))
            q = 1.0 / root
            total = ig.fma(q, y[ig.i32(ig.saturate(ig.u8, q * 100.0))], total)
    out[i] = total


KERNELS = [pulled, backwards, chained, named, lengthy]


def elements(count: int, odd: bool) -> Floats:
    """Ordinary numbers; `odd` ones have infinities, zeros, NaN, and numbers that overflow or vanish among them."""
    generator = np.random.default_rng(count)
    x = generator.standard_normal(count).astype(np.float32)
    if odd:
        strange = np.array([np.inf, 0, np.nan, 1e-30, 3e38, -np.inf, 1e-42], np.float32)
        places = generator.random(count) < 0.1
        x[places] = generator.choice(strange, places.sum())
    return x


def same(found: Floats, expected: Floats) -> bool:
    number = ~np.isnan(expected)
    bits = found.view(np.uint32) == expected.view(np.uint32)
    return bool((np.isnan(found) == ~number).all() and bits[number].all())


@on_intel
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("trips", [323, 324, 325, 326, 327, 328, 401, 1026])
def test_every_number_of_trips(kernel: Any, trips: int) -> None:
    for count, odd, strange in ((1, False, False), (47, False, False), (64, True, False), (100, False, True)):
        x, y = elements(count, odd), elements(trips, strange)
        found, expected = np.full_like(x, 9), np.full_like(x, 8)
        kernel.on("cpu")(x, y, found)
        kernel.options(disable={"fast_division"}).on("cpu")(x, y, expected)
        assert same(found, expected)


@on_intel
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("odd", [False, True])
def test_the_interpreter_agrees(kernel: Any, odd: bool) -> None:
    x, y = elements(19, odd), elements(331, False)
    found, expected = np.full_like(x, 9), np.full_like(x, 8)
    kernel.on("cpu")(x, y, found)
    kernel.on("interp")(x, y, expected)
    assert same(found, expected)


def page_of(y: Floats, at_end: bool) -> Floats:
    """The same numbers at an end of a page, with pages on both sides that cannot be read."""
    memory = mmap.mmap(-1, 3 * mmap.PAGESIZE)
    whole = np.frombuffer(memory, np.uint8)
    for page in (0, 2):
        address = whole.ctypes.data + page * mmap.PAGESIZE
        assert ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address), mmap.PAGESIZE, 0) == 0
    start = 2 * mmap.PAGESIZE - y.nbytes if at_end else mmap.PAGESIZE
    copy = whole[start : start + y.nbytes].view(np.float32)
    copy[:] = y
    return copy


def at_the_edges() -> None:
    """Read arrays that end where memory does."""
    x = elements(48, False)
    for kernel in (named, lengthy, in_step, looked_up):
        for trips in (1024, 1022, 1023):
            for at_end in (False, True):
                kernel.on("cpu")(x, page_of(elements(trips, False), at_end), np.zeros_like(x))


@on_intel
def test_nothing_outside_of_arrays_is_read() -> None:
    """Stages of earlier and of later trips than there are run at both ends."""
    subprocess.run([sys.executable, __file__], check=True, timeout=60)


def text_for(kernel: Any, **options: Any) -> str:
    return emit_module(stages_of(kernel, (), wide=False).device, INTEL, options).text


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_these_loops_run_in_stages(kernel: Any) -> None:
    text = text_for(kernel, cpu_width=16)
    assert "rsqrt14.ps.256" in text
    assert "fdiv <8 x float>" in text
    assert "<8 x float>" not in text_for(kernel, cpu_width=16, disable={"fast_division"})


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_other_widths_run_in_another_way(kernel: Any) -> None:
    assert "rsqrt14.ps.256" not in text_for(kernel, cpu_width=32)


# --- the plan --------------------------------------------------------------------------------------------------------


def planned(kernel: Any) -> Stages | None:
    loop = next(node for node in visit(stages_of(kernel, (), wide=False).device.body) if isinstance(node, d.For))
    return plan_stages(loop.body, loop.counter)


def test_each_root_and_quotient_ends_a_stage() -> None:
    stages = planned(named)
    assert stages is not None
    own = [[s.name for s in step.body if s.name[0] not in "xy"] for step in stages.steps]
    assert own == [["total"], ["weight", "share"], ["root", "volume"], ["root"], ["weight", "distance", "square"]]
    assert [(step.lag, step.slow) for step in stages.steps] == [
        (40, False),
        (24, True),
        (20, False),
        (4, True),
        (0, False),
    ]
    assert set(stages.kept) == {"square", "root.estimate", "volume", "share"}
    assert stages.longest == 40


@ig.kernel(grid=N)
def waiting(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(y)):
        e = y[j] - x[i]
        total = total + 1.0 / math.sqrt(ig.fma(total, e, 0.5))
    out[i] = total


@ig.kernel(grid=N)
def deep(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(y)):
        e = y[j] - x[i]
        r = math.sqrt(ig.fma(e, e, 0.5))
        r = math.sqrt(r)
        r = math.sqrt(r)
        r = math.sqrt(r)
        total = total + r
    out[i] = total


@ig.kernel(grid=N)
def counting(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(y)):
        e = y[j] - x[i]
        places = ig.w32(ig.bitcast(ig.w32, e)) >> 3
        total = total + math.sqrt(ig.fma(e, e, 0.5)) + f32(places)
    out[i] = total


@ig.kernel(grid=N)
def single(x: In[f32, N], y: In[f32, M], out: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(y)):
        e = y[j] - x[i]
        total = ig.fma(e, e, total)
    out[i] = total


@pytest.mark.parametrize(
    "kernel", [waiting, deep, counting, single, in_step, looked_up], ids=lambda kernel: kernel.__name__
)
def test_loops_that_have_no_stages(kernel: Any) -> None:
    """A root that waits for the trip before; more stages than places; integers that would wait; one stage alone;
    reading by way of what a trip leaves to the next or to a later stage."""
    assert planned(kernel) is None


if __name__ == "__main__":
    at_the_edges()
