"""Upper halves of products whose operands LLVM knows to be narrow, in every shape of lane loop."""

from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.loader import compile_text
from isogrid.backends.cpu.target import HostTarget
from isogrid.cli.stages import stages_of
from isogrid.dims import M, N

AVX512 = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")


@ig.kernel(grid=N)
def of_streams(x: In[ig.i8, M], y: InOut[ig.i16, N], z: Out[ig.u32, N]) -> None:
    i = ig.gid()
    z[i] = ig.mulhi(ig.u32(x[0] & 127), ig.u32(y[i] & 255))
    y[i] = (ig.mulhi(x[0], y[i]) | abs(y[i])) & 32767


@ig.kernel(grid=N, block=32)
def of_groups(x: In[ig.i8, M], y: InOut[ig.i16, N], z: Out[ig.u32, N]) -> None:
    i = ig.gid()
    tile = ig.shared(ig.i16, 32)
    t = ig.lid()
    if i < N:
        tile[t] = y[i]
    ig.barrier()
    if i < N:
        for k in range(1, 1 + len(x) % 3):
            z[i] = ig.mulhi(ig.u32(tile[t] & 255), ig.u32(x[0] & 127)) + ig.u32(k)
        y[i] = (ig.mulhi(x[0], tile[t]) | abs(tile[t])) & 32767


@pytest.mark.parametrize("kernel", [of_streams, of_groups], ids=lambda kernel: kernel.definition.name)
@pytest.mark.parametrize("factor", [0, 1, -1, 127, -128])
def test_narrow_operands(kernel: Any, factor: int) -> None:
    y = np.array([-32768, -1, 0, 1, 5, 32767, -2, -5] * 9, np.int16)
    results: list[Any] = []
    for device in ("interp", "cpu"):
        given = y.copy()
        z = np.zeros(len(y), np.uint32)
        kernel.on(device)(np.full(4, factor, np.int8), given, z)
        results.append((given, z))
    assert (results[0][0] == results[1][0]).all()
    assert (results[0][1] == results[1][1]).all()


@ig.kernel(grid=N)
def both_halves(
    a: In[ig.w32, N], b: In[ig.w32, N], s: In[ig.i32, N], hi: Out[ig.w32, N], lo: Out[ig.w32, N], up: Out[ig.i32, N]
) -> None:
    i = ig.gid()
    high = ig.w32(0)
    low = ig.w32(0)
    for k in range(1 + len(a) % 4):
        factor = b[i] + ig.w32(k)
        high = high ^ ig.mulhi(a[i], factor)
        low = low + a[i] * factor
        high = high + ig.mulhi(low, ig.w32(0xD256D193))
        low = low ^ low * ig.w32(0xD256D193)
    hi[i] = high
    lo[i] = low
    up[i] = ig.mulhi(s[i], ig.i32(s[len(s) - 1 - i]))


@pytest.mark.parametrize("size", [1, 31, 67])
def test_both_halves_of_one_product(size: int) -> None:
    """The lower half comes from the products that the upper half made."""
    generator = np.random.default_rng(size)
    a, b = (generator.integers(0, 1 << 32, size, np.uint32) for _ in range(2))
    a[: size // 4] = np.uint32(0xFFFFFFFF)
    b[: size // 5] = np.uint32(0x80000000)
    s = generator.integers(-(1 << 31), 1 << 31, size, np.int32)
    s[: size // 6] = np.int32(-(1 << 31))
    results: list[list[Any]] = []
    for device in ("interp", "cpu"):
        hi, lo, up = np.zeros(size, np.uint32), np.zeros(size, np.uint32), np.zeros(size, np.int32)
        both_halves.on(device)(a, b, s, hi, lo, up)
        results.append([hi, lo, up])
    for one, other in zip(*results, strict=True):
        assert (one == other).all()


@ig.kernel(grid=N)
def chained(x: In[ig.w32, N], s: In[ig.i32, N], key: ig.w32, out: Out[ig.w32, N]) -> None:
    """Products of what products left: sums, differences and bits of halves, of shared values and of other lanes'."""
    i = ig.gid()
    a, b = x[i], ig.w32(i)
    c, shared, bump = s[i], ig.bitcast(ig.i32, key), key
    for k in range(3):
        high = ig.mulhi(a, ig.w32(0xD256D193))
        low = a * ig.w32(0xD256D193)
        a = high ^ bump ^ b
        b = (low + bump) & (high | ig.w32(0x00FFFF00))
        a = a - ig.mulhi(b, a ^ low) + ig.mulhi(high - low, x[i])
        up = ig.mulhi(c, shared ^ ig.i32(k))
        c = (ig.mulhi(up ^ c, up) | shared) ^ (up & ig.i32(-77))
        bump += ig.w32(0x9E3779B9)
    out[i] = a ^ (b + ig.bitcast(ig.w32, c))


@ig.kernel(grid=N)
def rounds(key: ig.w32, out: Out[ig.w32, N]) -> None:
    """Philox as the gallery has it: halves and shared values."""
    i = ig.gid()
    total = ig.w32(0)
    for dart in range(3):
        left, right, bump = ig.w32(dart), ig.w32(i), key
        for _ in range(10):
            high = ig.mulhi(left, ig.w32(0xD256D193))
            low = left * ig.w32(0xD256D193)
            left, right = high ^ bump ^ right, low
            bump += ig.w32(0x9E3779B9)
        total = total + (left ^ right)
    out[i] = total


@pytest.mark.parametrize("disabled", [[], ["vectorise"]], ids=["lanes", "one lane"])
@pytest.mark.parametrize("size", [1, 70, 200])
def test_chains_of_products(disabled: list[str], size: int) -> None:
    generator = np.random.default_rng(7)
    x, s = generator.integers(0, 1 << 32, size, np.uint32), generator.integers(-(1 << 31), 1 << 31, size, np.int32)
    x[::5], s[::6] = 0xFFFFFFFF, -(1 << 31)
    results: list[Any] = []
    for device in ("interp", "cpu"):
        found, drawn = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
        chained.options(disable=disabled).on(device)(x, s, 0x9ABCDEF1, found)
        rounds.options(disable=disabled).on(device)(0x9ABCDEF1, drawn)
        results.append((found, drawn))
    assert (results[0][0] == results[1][0]).all()
    assert (results[0][1] == results[1][1]).all()


@ig.kernel(groups=ig.cdiv(N, 2), block=2)
def of_two(x: In[ig.w32, N], key: ig.w32, out: Out[ig.w32, N]) -> None:
    i = ig.gid()
    held = ig.shared(ig.w32, 2)
    if i < N:
        held[ig.lid()] = x[i]
    ig.barrier()
    if i < N:
        a = held[1 - ig.lid()]
        b = ig.mulhi(a, x[i]) ^ (a * x[i] + key)
        out[i] = ig.mulhi(b, ig.w32(0xD256D193)) - ig.mulhi(b ^ key, a)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_vectors_of_two_lanes(size: int) -> None:
    x = np.random.default_rng(3).integers(0, 1 << 32, size, np.uint32)
    found, expected = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
    of_two.on("cpu")(x, 0xFFFF0001, found)
    of_two.on("interp")(x, 0xFFFF0001, expected)
    assert (found == expected).all()


def assembly_of(kernel: Any) -> str:
    text = emit_module(stages_of(kernel, (), wide=False).device, AVX512, {}).text
    return compile_text(text, "plain", assembly=True, target=AVX512)


def test_lanes_stay_apart_between_products() -> None:
    """Each round multiplies the even and the odd lanes as the round before left them: only results are merged."""
    body = assembly_of(rounds)
    products, merges = body.count("vpmuludq"), body.count("vpermt2d") + body.count("vpermi2d")
    assert products >= 9 * 8
    assert merges * 4 < products


@ig.kernel(grid=N)
def counted_by_lanes(key: ig.w32, place: In[ig.i32, N], sums: InOut[ig.w32, M]) -> None:
    i = ig.gid()
    value = ig.w32(i)
    for _ in range(5):
        value = ig.mulhi(value, ig.w32(0xD256D193)) ^ key
        value = ig.mulhi(value, ig.w32(0xD256D193)) ^ key
    ig.atomic_add(sums, place[i], value)


def test_the_last_of_many_lanes_update_memory_in_turn() -> None:
    """Of 128 lanes, whose mask is wider than a lane's number."""
    module = emit_module(stages_of(counted_by_lanes).device, AVX512, {"cpu_width": 128})
    assert "cttz.i128" in module.text
    assert "i128" in compile_text(module.text, module.pipeline, assembly=False, target=AVX512)
