"""What the numeric contract says besides: `fastmath` and strict code, float sums in the fixed pairing, conversions."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32, f64
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import N

from .support import bits_of

BLOCKS = (1, 3, 32, 96, 256, 1024)


@ig.kernel(grid=N)
def strict(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = (x[i] * 3.0 + 1.0) - 1.0 / x[i]


@ig.kernel(grid=N)
def elementary(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = math.exp(x[i]) * 3.0 + x[i]


def emitted(kernel: Any) -> str:
    stages = stages_of(kernel)
    return emit_module(stages.device, host_target(), stages.options).text


def test_strict_code_has_no_fast_flags() -> None:
    fast = (" reassoc ", " contract ", " arcp ", " fast ", " nnan ", " ninf ", " nsz ", " afn ")
    assert not [flag for flag in fast if flag in emitted(strict)]
    assert " reassoc " in emitted(strict.options(fastmath=True))


def test_fastmath_leaves_elementary_functions_alone() -> None:
    assert emitted(elementary.options(fastmath=True)) == emitted(elementary)


def test_strict_code_does_not_depend_on_fastmath() -> None:
    """The same kernel, compiled before and after its `fastmath` variant: the same bytes."""
    before = emitted(strict)
    x = np.linspace(0.1, 9, 1000).astype(np.float32)
    first, second = np.empty_like(x), np.empty_like(x)
    strict.on("cpu")(x, first)
    strict.options(fastmath=True).on("cpu")(x, np.empty_like(x))
    strict.on("cpu")(x, second)
    assert emitted(strict) == before and first.tobytes() == second.tobytes()


def paired(values: list[Any]) -> Any:
    """The sum of a group by the pairing of the language, from its definition: padded with -0.0 to a power of two."""
    slots = list(values)
    while len(slots) & (len(slots) - 1):
        slots.append(type(values[0])(-0.0))
    half = len(slots) // 2
    while half:
        slots = [slots[t] + slots[t + half] for t in range(half)]
        half //= 2
    return slots[0]


def sums(type: Any, block: int) -> Any:
    @ig.kernel(groups=N, block=block)
    def total(x: In[type, N, block], y: Out[type, N]) -> None:  # type: ignore[valid-type]
        whole = ig.group_sum(x[ig.group_id(), ig.lid()])
        if ig.lid() == 0:
            y[ig.group_id()] = whole

    return total


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("type", [f32, f64], ids=str)
def test_sums_are_paired_as_written(type: Any, block: int, device: str) -> None:
    number = {"f32": np.float32, "f64": np.float64}[str(type)]
    rng = np.random.default_rng(block)
    x = (rng.normal(size=(6, block)) * np.exp(rng.uniform(-20, 20, (6, block)))).astype(number)
    x[1] = -0.0
    x[2, block // 2] = np.nan
    x[3, 0], x[3, -1] = np.inf, -np.inf
    x[4] = number(1e-45) if number is np.float32 else number(5e-324)
    x[5, : block // 2] = 0.0
    y = np.empty(6, number)
    sums(type, block).on(device)(x, y)
    with np.errstate(all="ignore"):
        wanted = np.array([paired(list(row)) for row in x], number)
    assert np.array_equal(bits_of(y), bits_of(wanted))
    assert np.signbit(y[1])


def test_float_atomic_add_is_refused() -> None:
    @ig.kernel(grid=N)
    def add(x: In[f32, N], y: ig.InOut[f32, N]) -> None:
        ig.atomic_add(y, 0, x[ig.gid()])

    with pytest.raises(ig.KernelRefused, match="deterministic=False"):
        add.on("cpu")(np.ones(4, np.float32), np.zeros(4, np.float32))


@ig.kernel(grid=N)
def extremes(x: In[f32, N], y: In[f32, N], low: Out[f32, N], high: Out[f32, N], bits: Out[ig.u32, N]) -> None:
    i = ig.gid()
    low[i] = min(x[i], y[i])
    high[i] = max(x[i], y[i])
    bits[i] = ig.bitcast(ig.u32, x[i])


def test_minimum_maximum_and_canonical_nan(device: str) -> None:
    assert_extremes(extremes.on(device), np.float32, 0xFFC12345, 0x7FC00000)
    assert_extremes(extremes_f64.on(device), np.float64, 0xFFF0000012345678, 0x7FF8000000000000)


def assert_extremes(run: Any, type: Any, payload: int, canonical: int) -> None:
    values = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan]
    pairs = list(itertools.product(values, values))
    x, y = (np.array(column, type) for column in zip(*pairs, strict=True))
    word = np.dtype(f"u{x.itemsize}")
    x.view(word)[np.isnan(x)] = payload
    low, high, bits = np.empty_like(x), np.empty_like(x), np.empty(x.size, word)
    run(x, y, low, high, bits)
    for a, b, least, most in zip(x, y, low, high, strict=True):
        if a != a or b != b:
            assert least != least and most != most
        elif a == b:
            assert np.signbit(least) == (np.signbit(a) | np.signbit(b)), (a, b)
            assert np.signbit(most) == (np.signbit(a) & np.signbit(b)), (a, b)
        else:
            assert least == np.minimum(a, b) and most == np.maximum(a, b)
    assert set(bits[np.isnan(x)].tolist()) == {canonical}


@ig.kernel(grid=N)
def extremes_f64(x: In[f64, N], y: In[f64, N], low: Out[f64, N], high: Out[f64, N], bits: Out[ig.u64, N]) -> None:
    i = ig.gid()
    low[i] = min(x[i], y[i])
    high[i] = max(x[i], y[i])
    bits[i] = ig.bitcast(ig.u64, x[i])


@ig.kernel(grid=N)
def looks_at_nan(x: In[f64, N], w: In[ig.w64, N], y: Out[ig.w64, N, 5]) -> None:
    i = ig.gid()
    v = ig.bitcast(f64, w[i])
    y[i, 0] = ig.w64(ig.bitcast(ig.w32, f32(x[i])))
    y[i, 1] = ig.bitcast(ig.w64, x[i] * 2.0 - x[i])
    y[i, 2] = ig.bitcast(ig.w64, v)
    y[i, 3] = ig.w64(1 if ig.signbit(v) or ig.signbit(-abs(x[i])) else 0)
    y[i, 4] = ig.bitcast(ig.w64, math.copysign(1.0, v))


def test_every_way_to_look_at_a_nan(device: str) -> None:
    words = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF], np.uint64)
    y = np.zeros((words.size, 5), np.uint64)
    looks_at_nan.on(device)(words.view(np.float64), words, y)
    nan, one = 0x7FF8000000000000, 0x3FF0000000000000
    assert y.tolist() == [[0x7FC00000, nan, nan, 0, one]] * words.size


@ig.kernel(grid=N)
def narrowed(x: In[f64, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = f32(x[i])


def test_f64_to_f32_is_rounded_once(device: str) -> None:
    """Ties and their neighbours at every exponent, subnormal results and the edge of overflow included."""
    base = np.exp2(np.arange(-152, 130, dtype=np.float64))
    half = 1 + 2.0**-24
    x = np.concatenate([base * factor for factor in (1.0, half, 1 + 3 * 2.0**-24, 2 - 2.0**-24)])
    x = np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, 0), -x, [np.nan, np.inf, -np.inf, 0.0, -0.0]])
    y = np.empty(x.size, np.float32)
    narrowed.on(device)(x, y)
    with np.errstate(all="ignore"):
        assert np.array_equal(bits_of(y), bits_of(x.astype(np.float32)))
