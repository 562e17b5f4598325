"""Quotients and roots without the divider have the hardware's bits: what the proof of 0055 leaves to a computer."""

import ctypes
import math
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.backends.cpu import emit_exact
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.loader import compile_object, load_object
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import N, R
from isogrid.printers.llvm_text import Writer

Floats = np.ndarray[Any, np.dtype[np.float32]]

on_intel = pytest.mark.skipif(
    not host_target().divides_slowly, reason="this processor divides as fast as it multiplies: nothing is emitted"
)
COLUMNS = 1 << 12


@ig.kernel(grid=N)
def quotients(a: In[f32, R, N], b: In[f32, R, N], q: Out[f32, R, N]) -> None:
    i = ig.gid()
    for r in range(len(a)):
        q[r, i] = a[r, i] / b[r, i]


@ig.kernel(grid=N)
def roots(x: In[f32, R, N], y: Out[f32, R, N]) -> None:
    i = ig.gid()
    for r in range(len(x)):
        y[r, i] = math.sqrt(x[r, i])


@ig.kernel(grid=N)
def shares(a: In[f32, R], b: In[f32, N], q: Out[f32, R, N]) -> None:
    i = ig.gid()
    for r in range(len(a)):
        q[r, i] = a[r] / b[i]


@ig.kernel(grid=N)
def parts(a: In[f32, N], b: In[f32, R], q: Out[f32, R, N]) -> None:
    i = ig.gid()
    for r in range(len(b)):
        q[r, i] = a[i] / b[r]


@ig.kernel(grid=N)
def constants(a: In[f32, R, N], q: Out[f32, R, N]) -> None:
    i = ig.gid()
    for r in range(len(a)):
        q[r, i] = a[r, i] / 3.0 + 7.0 / a[r, i] + a[r, i] / -0.1


@ig.kernel(grid=N)
def shrunk(a: In[f32, N], b: In[f32, N], trips: In[i32, N], q: Out[f32, N]) -> None:
    i = ig.gid()
    value, divisor = a[i], b[i]
    for _ in range(trips[i]):
        value = value / divisor
    q[i] = value


@ig.kernel(grid=N)
def rooted(a: In[f32, N], b: In[f32, N], trips: In[i32, N], q: Out[f32, N]) -> None:
    i = ig.gid()
    value, more = a[i], b[i]
    for _ in range(trips[i]):
        value = math.sqrt(value) + more
    q[i] = value


@ig.kernel(grid=N)
def mixed(a: In[f32, N], b: In[f32, N], trips: In[i32, N], q: Out[f32, N]) -> None:
    i = ig.gid()
    value = a[i]
    for _ in range(trips[i]):
        value = value / b[i] + math.sqrt(abs(value)) / b[i]
    q[i] = value


def rows(values: Floats) -> Floats:
    """As rows of COLUMNS; the last is filled up with ones."""
    count = -(-len(values) // COLUMNS)
    filled = np.ones(count * COLUMNS, np.float32)
    filled[: len(values)] = values
    return filled.reshape(count, COLUMNS)


def divided(kernel: Any, a: Floats, b: Floats) -> Floats:
    q = np.zeros((len(rows(a)), COLUMNS), np.float32)
    kernel.on("cpu")(rows(a), rows(b), q)
    return q.reshape(-1)[: len(a)]


def same(found: Floats, expected: Floats) -> bool:
    return bool((found.view(np.uint32) == expected.view(np.uint32)).all())


def hardware(kernel: Any) -> Any:
    return kernel.options(disable={"fast_division"})


# --- the cases of the proof ------------------------------------------------------------------------------------------


@on_intel
def test_all_roots_of_two_binades() -> None:
    x = np.arange(126 << 23, 128 << 23, dtype=np.uint32).view(np.float32).reshape(-1, COLUMNS)
    y = np.zeros_like(x)
    roots.on("cpu")(x, y)
    assert same(y, np.sqrt(x))


@on_intel
def test_all_reciprocals_of_a_binade_are_within_the_bound_of_the_proof() -> None:
    """The three conditions on eps = b y - 1, with b' the divisor's significand as an integer."""
    bits = np.arange(127 << 23, 128 << 23, dtype=np.uint32)
    inverses = np.zeros(1 << 23, np.float32)
    _reciprocal_function()(inverses.ctypes.data, bits.ctypes.data, bits.size)
    whole = (bits & 0x7FFFFF).astype(np.int64) + (1 << 23)
    scaled = (inverses.astype(np.float64) * 2.0**24).astype(np.int64)
    error = np.abs(whole * scaled - (1 << 47))
    assert (error * (whole + 1) < 1 << 47).all()
    assert (error * 2048 <= whole * 1025).all()
    far = whole[error * (whole - 1) >= whole * ((1 << 23) - 4)]
    assert far.tolist() == [(1 << 24) - 1]
    a, b = bits.view(np.float32), np.full(1 << 23, far[0], np.float32)
    assert same(divided(quotients, a, b), a / b)


def _reciprocal_function() -> Any:
    w, host = Writer(), host_target()
    w.do("%b = load <16 x float>, ptr %from, align 4")
    minus = w.emit("fneg <16 x float> %b")
    (result,) = emit_exact.reciprocals(w, ["%b"], [minus])
    lines = [
        *w.declarations.values(),
        "define void @all(ptr %out, ptr %in, i64 %n) #0 {",
        "entry:",
        "  br label %next",
        "next:",
        "  %i = phi i64 [ 0, %entry ], [ %j, %next ]",
        "  %from = getelementptr float, ptr %in, i64 %i",
        "  %to = getelementptr float, ptr %out, i64 %i",
        *w.lines,
        f"  store <16 x float> {result}, ptr %to, align 4",
        "  %j = add i64 %i, 16",
        "  %more = icmp ult i64 %j, %n",
        "  br i1 %more, label %next, label %end",
        "end:",
        "  ret void",
        "}",
        f'attributes #0 = {{ nounwind "target-cpu"="{host.cpu}" "target-features"="{host.features}" }}',
    ]
    code = load_object(compile_object("\n".join(lines), "plain"), ("all",))
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(code["all"])


@on_intel
def test_random_quotients() -> None:
    random = np.random.default_rng(55)
    for _ in range(4):
        a, b = (random.integers(1 << 23, 1 << 24, 1 << 22).astype(np.float32) for _ in range(2))
        assert same(divided(quotients, a, b), a / b)


@on_intel
def test_quotients_next_to_midpoints() -> None:
    """2^s a = b m + k for odd m of 25 bits and small k: a / b lies k / b from the midpoint m / 2."""
    random = np.random.default_rng(56)
    divisors = random.integers(1 << 22, 1 << 23, 6000) * 2 + 1
    divisors[:2000] = np.arange((1 << 24) - 3999, 1 << 24, 2)
    pairs: list[tuple[int, int]] = []
    values: list[int] = divisors.tolist()
    for b in values:
        for power in (24, 25):
            inverse: int = pow(2, -power, b)
            for k in (-3, -2, -1, 1, 2, 3):
                least: int = k * inverse % b
                pairs += [(a, b) for a in (least, least + b) if 1 << 23 <= a < 1 << 24]
    assert len(pairs) > 10000
    a, b = np.array(pairs, np.float32).T.copy()
    assert same(divided(quotients, a, b), a / b)


# --- everything around the range of the proof ------------------------------------------------------------------------


def corners() -> Floats:
    """Every exponent with both signs and telling significands: zeros, subnormals, infinities and NaN among them."""
    tails = np.array([0, 1, 0x400000, 0x7FFFFF, 0x2AAAAB], np.uint32)
    heads = np.arange(512, dtype=np.uint32) << 23
    return (heads[:, None] | tails[None, :]).reshape(-1).view(np.float32)


@on_intel
def test_extreme_operands() -> None:
    values = corners()
    tops, bottoms = np.repeat(values, len(values)), np.tile(values, len(values))
    for order in (np.arange(len(tops)), np.random.default_rng(57).permutation(len(tops))):
        a, b = tops[order], bottoms[order]
        assert same(divided(quotients, a, b), divided(hardware(quotients), a, b))
    x = rows(values)
    found, expected = np.zeros_like(x), np.zeros_like(x)
    roots.on("cpu")(x, found)
    hardware(roots).on("cpu")(x, expected)
    assert same(found, expected)


@on_intel
@pytest.mark.parametrize("kernel", [shares, parts])
def test_one_operand_the_same_in_all_lanes(kernel: Any) -> None:
    values = corners()
    found, expected = (np.zeros((len(values), len(values)), np.float32) for _ in range(2))
    kernel.on("cpu")(values, values, found)
    hardware(kernel).on("cpu")(values, values, expected)
    assert same(found, expected)


@on_intel
def test_constant_operands() -> None:
    random = np.random.default_rng(58).standard_normal(1 << 20).astype(np.float32)
    for values in (random, corners()):
        found, expected = np.zeros_like(rows(values)), np.zeros_like(rows(values))
        constants.on("cpu")(rows(values), found)
        hardware(constants).on("cpu")(rows(values), expected)
        assert same(found, expected)


@on_intel
@pytest.mark.parametrize("kernel", [shrunk, rooted, mixed])
@pytest.mark.parametrize("count", [1, 17, 1000])
def test_lanes_that_are_off(kernel: Any, count: int) -> None:
    random = np.random.default_rng(59)
    a, b = (random.standard_normal(count).astype(np.float32) for _ in range(2))
    b[::7] = 0
    trips = random.integers(0, 9, count, dtype=np.int32)
    found, expected = np.zeros_like(a), np.zeros_like(a)
    kernel.on("cpu")(a, b, trips, found)
    hardware(kernel).on("cpu")(a, b, trips, expected)
    assert same(found, expected)
    assert not same(found, a) or not trips.any()


# --- where it is emitted ---------------------------------------------------------------------------------------------


INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")


@ig.kernel(grid=N)
def forces(x: In[f32, N], pull: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(x)):
        d = x[j] - x[i]
        square = ig.fma(d, d, ig.fma(d, d, ig.fma(d, d, 0.01)))
        share = 1.0 / (square * math.sqrt(square))
        total = ig.fma(d, share, ig.fma(d, share, ig.fma(d, share, total)))
    pull[i] = total


def text_for(kernel: Any, target: HostTarget, **options: Any) -> str:
    return emit_module(stages_of(kernel, (), wide=False).device, target, options).text


@ig.kernel(grid=N)
def softened(x: In[f32, N], softening: f32, pull: Out[f32, N]) -> None:
    i = ig.gid()
    total = f32(0)
    for j in range(len(x)):
        d = x[j] - x[i]
        square = ig.fma(d, d, ig.fma(d, d, ig.fma(d, d, softening)))
        share = 1.0 / (square * math.sqrt(square))
        total = ig.fma(d, share, ig.fma(d, share, ig.fma(d, share, total)))
    pull[i] = total


def test_loops_share_the_work_between_divider_and_multipliers() -> None:
    text = text_for(softened, INTEL)
    # Four trips at a time. The divider makes one of their roots, and all four again for rare vectors.
    trips = text[text.index("\nfor.body") : text.index("\nfor.again")]
    assert trips.count("= fdiv") == 4
    assert trips.count("@llvm.x86.avx512.rsqrt14") == 3
    assert trips.count("@llvm.sqrt") == 1 + 4
    assert "rcp14" not in text
    assert "rcp14" in text_for(quotients, INTEL)


@on_intel
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 64, 131])
def test_trips_together_and_the_rest(count: int) -> None:
    x = np.random.default_rng(count).standard_normal(count).astype(np.float32)
    x[count // 2 :: 5] = np.inf
    found, expected = np.zeros_like(x), np.zeros_like(x)
    forces.on("cpu")(x, found)
    forces.on("interp")(x, expected)
    assert same(np.nan_to_num(found, nan=7), np.nan_to_num(expected, nan=7))


def test_wide_vectors_are_cut_into_registers() -> None:
    for kernel, estimate in ((shrunk, "rcp14"), (rooted, "rsqrt14")):
        text = text_for(kernel, INTEL)
        assert "<64 x float>" in text
        assert text.count(f"call <16 x float> @llvm.x86.avx512.{estimate}.ps.512") % 4 == 0
        assert estimate in text


def test_other_processors_and_options_keep_the_instructions() -> None:
    amd = HostTarget(INTEL.triple, "znver5", INTEL.features, "")
    narrow = HostTarget(INTEL.triple, INTEL.cpu, "+avx2,+fma", "")
    for kernel in (forces, quotients, roots):
        assert "14.ps.512" not in text_for(kernel, amd)
        assert "14.ps.512" not in text_for(kernel, narrow)
        assert "14.ps.512" not in text_for(kernel, INTEL, disable=frozenset({"fast_division"}))
        assert "14.ps.512" not in text_for(kernel, INTEL, fastmath=True)
