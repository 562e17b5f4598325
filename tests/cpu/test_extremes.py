"""Minima and maxima of groups in registers: values, zeros of both signs and NaN at every place, as the interpreter."""

from typing import Any

import numpy as np
import pytest
from tests.cpu.harness import runner, without_avx512

import isogrid as ig
from isogrid import In, Out, f32, f64
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import G, H, N, W

AVX2 = HostTarget("x86_64-unknown-linux-gnu", "haswell", "+avx2,+fma", "")
AVX512 = HostTarget(AVX2.triple, "emeraldrapids", "+avx512f,+avx2,+fma", "")


@ig.kernel(groups=ig.cdiv(N, 256), block=256)
def greatest(x: In[f32, N], result: Out[f32, G]) -> None:
    i = ig.gid()
    found = ig.group_max(x[i] * 2 if i < len(x) else -np.inf)
    if ig.lid() == 0 and ig.group_id() < len(result):
        result[ig.group_id()] = found


@ig.kernel(groups=ig.cdiv(N, 32), block=32)
def least(x: In[f64, N], result: Out[f64, G]) -> None:
    i = ig.gid()
    found = ig.group_min(x[i] if i < len(x) else np.inf)
    if ig.lid() == 0 and ig.group_id() < len(result):
        result[ig.group_id()] = found


@ig.kernel(groups=(ig.cdiv(H, 4), ig.cdiv(W, 32)), block=(4, 32))
def of_tiles(x: In[f32, H, W], result: Out[f32, G, G]) -> None:
    """The values of whole rows, and a second operation on the same scratch memory."""
    i, j = ig.gids()
    high = ig.group_max(x[i, j] if i < x.shape[0] and j < x.shape[1] else f32(0))
    low = ig.group_min(3 - x[i, j] if i < x.shape[0] and j < x.shape[1] else high)
    gy, gx = ig.group_ids()
    if ig.lid() == 0 and gy < result.shape[0] and gx < result.shape[1]:
        result[gy, gx] = high + low


def cases(count: int, type: Any) -> list[np.ndarray[Any, Any]]:
    """Arrays with what makes the comparing instruction wrong."""
    random = np.random.default_rng(6)
    plain = random.standard_normal(count).astype(type)
    found = [plain, np.full(count, -np.inf, type), np.full(count, np.inf, type)]
    for sign in (1, -1):
        zeros = np.copysign(np.zeros(count, type), -sign)
        mixed = sign * -np.abs(plain)
        for place in (0, 12, count - 1):
            one, other = zeros.copy(), mixed.copy()
            one[place] = np.copysign(0, sign)
            other[place], other[place - 1] = np.copysign(0, sign), np.copysign(0, -sign)
            nan = plain.copy()
            nan[place] = np.copysign(np.nan, sign)
            found += [one, other, nan]
    return found


def same(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> bool:
    """Equal bits, whatever a NaN carries."""
    bits = np.uint32 if found.dtype == np.float32 else np.uint64
    nan = np.isnan(wanted)
    return bool((np.isnan(found) == nan).all() and (found.view(bits)[~nan] == wanted.view(bits)[~nan]).all())


@pytest.mark.parametrize("target", [without_avx512(), host_target()], ids=["narrow", "host"])
@pytest.mark.parametrize(("kernel", "block"), [(greatest, 256), (least, 32)], ids=["greatest", "least"])
def test_every_place(kernel: Any, block: int, target: HostTarget) -> None:
    type, run = np.float32 if kernel is greatest else np.float64, runner(target, kernel)
    for count in (block, block + 40):
        for x in cases(count, type):
            groups = -(-count // block)
            found, wanted = np.full(groups, 7, type), np.full(groups, 7, type)
            kernel.on("interp")(x, wanted)
            run([x, found], {"N": count, "G": groups}, [groups])
            assert same(found, wanted), (x, found, wanted)


@pytest.mark.parametrize("target", [without_avx512(), host_target()], ids=["narrow", "host"])
def test_tiles(target: HostTarget) -> None:
    run = runner(target, of_tiles)
    for height, width in ((4, 32), (7, 40)):
        for x in cases(height * width, np.float32):
            whole = x.reshape(height, width)
            groups = (-(-height // 4), -(-width // 32))
            side = max(groups)
            found, wanted = np.full((side, side), 7, np.float32), np.full((side, side), 7, np.float32)
            of_tiles.on("interp")(whole, wanted)
            run([whole, found], {"H": height, "W": width, "G": side}, groups)
            assert same(found, wanted), (whole, found, wanted)


def test_where_extremes_are_in_registers() -> None:
    for kernel in (greatest, least, of_tiles):
        device = stages_of(kernel).device
        assert "extreme.found" in emit_module(device, AVX2, {}).text
        assert "extreme.found" not in emit_module(device, AVX512, {}).text
        assert "extreme.found" not in emit_module(device, AVX2, {"cpu_width": 8}).text
