"""Regions that keep a whole group in registers, and load whole cache lines, give what the interpreter gives."""

import ctypes
import mmap
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import G, N

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")
on_intel = pytest.mark.skipif(not host_target().permutes, reason="this processor has no permutes of two registers")


@ig.kernel(groups=ig.cdiv(N, 512), block=256)
def products(x: In[f32, N], y: In[f32, N], sums: Out[f32, G]) -> None:
    group = ig.group_id()
    total = f32(0)
    for k in range(2):
        i = group * 512 + k * 256 + ig.lid()
        if i < len(x):
            total = ig.fma(x[i], y[i], total)
    total = ig.group_sum(total)
    if ig.lid() == 0 and group < len(sums):
        sums[group] = total


@ig.kernel(groups=ig.cdiv(N, 512), block=128)
def counts(x: In[i32, N], y: In[i32, N], sums: Out[i32, G]) -> None:
    group = ig.group_id()
    total = i32(0)
    for k in range(4):
        i = group * 512 + k * 128 + ig.lid()
        if i < len(x):
            total = total ^ (x[i] & y[i])
    total = ig.group_max(total)
    if ig.lid() == 0 and group < len(sums):
        sums[group] = total


@ig.kernel(groups=ig.cdiv(N, 1024), block=256)
def sums_of(x: In[f32, N], sums: Out[f32, G]) -> None:
    group = ig.group_id()
    total = f32(0)
    for k in range(4):
        i = group * 1024 + k * 256 + ig.lid()
        if i < len(x):
            total = total + x[i]
    total = ig.group_sum(total)
    if ig.lid() == 0 and group < len(sums):
        sums[group] = total


def inputs(kernel: Any, count: int, seed: int) -> list[Any]:
    """Arrays that begin at each place of a cache line in turn."""
    random = np.random.default_rng(seed)
    found: list[Any] = []
    for number in range(1 if kernel is sums_of else 2):
        room = np.empty(count + 48, np.float32)
        skip = (-room.ctypes.data // 4 + seed + 5 * number) % 16
        whole = room[skip : skip + count]
        whole[:] = random.standard_normal(count)
        assert whole.ctypes.data % 64 == (seed + 5 * number) % 16 * 4
        found.append(whole.view(np.int32) if kernel is counts else whole)
    return found


@pytest.mark.parametrize("kernel", [products, counts, sums_of], ids=lambda kernel: kernel.__name__)
def test_every_place_of_a_line(kernel: Any) -> None:
    for place in range(16):
        count = 2048 + (place % 3) * 7
        arrays = inputs(kernel, count, place)
        groups = -(-count // (1024 if kernel is sums_of else 512))
        found, expected = (np.full(groups, 9, arrays[0].dtype) for _ in range(2))
        kernel.on("cpu")(*arrays, found)
        kernel.on("interp")(*arrays, expected)
        assert (found.view(np.uint32) == expected.view(np.uint32)).all()


def at_the_edges() -> None:
    """Read arrays that begin or end where memory does, or begin and end within its first and last line."""
    size = 1024
    for skip, count in ((0, size), (4, size - 8), (0, size - 512), (3, 512)):
        arrays: list[Any] = []
        for _ in range(2):
            whole = np.frombuffer(mmap.mmap(-1, 3 * mmap.PAGESIZE), np.uint8)
            for page in (0, 2):
                address = ctypes.c_void_p(whole.ctypes.data + page * mmap.PAGESIZE)
                assert ctypes.CDLL(None, use_errno=True).mprotect(address, mmap.PAGESIZE, 0) == 0
            page = whole[mmap.PAGESIZE : 2 * mmap.PAGESIZE].view(np.float32)
            page[:] = 1
            arrays.append(page[skip : skip + count])
            if count == size - 512:
                arrays[-1] = page[512:]
        sums = np.zeros(-(-count // 512), np.float32)
        products.on("cpu")(*arrays, sums)
        assert sums.sum() == len(arrays[0])


@on_intel
def test_no_line_is_read_that_holds_no_element() -> None:
    subprocess.run([sys.executable, __file__], check=True, timeout=60)


def text_for(kernel: Any, target: HostTarget = INTEL) -> str:
    return emit_module(stages_of(kernel, (), wide=False).device, target, {}).text


def test_where_whole_groups_are_in_registers() -> None:
    for kernel, width in ((products, 256), (sums_of, 256), (counts, 128)):
        text = text_for(kernel)
        assert f"<{width} x " in text
        assert ("vpermi2var" in text) == (kernel is not sums_of)
    narrow = HostTarget(INTEL.triple, "haswell", "+avx2,+fma", "")
    assert "<256 x float>" not in text_for(products, narrow)
    assert "vpermi2var" not in text_for(products, narrow)


@ig.kernel(groups=ig.cdiv(N, 512), block=256)
def two_values(x: In[f32, N], y: In[f32, N], sums: Out[f32, G]) -> None:
    group = ig.group_id()
    total, most = f32(0), f32(0)
    for k in range(2):
        i = group * 512 + k * 256 + ig.lid()
        if i < len(x):
            total = ig.fma(x[i], y[i], total)
            most = max(most, x[i])
    total = ig.group_sum(total + most)
    if ig.lid() == 0 and group < len(sums):
        sums[group] = total


@ig.kernel(groups=ig.cdiv(N, 512), block=256)
def crossed(x: In[f32, N], y: In[f32, N], sums: Out[f32, G]) -> None:
    group = ig.group_id()
    total = f32(0)
    for k in range(2):
        i = group * 512 + k * 256 + ig.lid()
        if i < len(x):
            total = ig.fma(x[i], y[len(x) - 1 - i], total)
    total = ig.group_sum(total)
    if ig.lid() == 0 and group < len(sums):
        sums[group] = total


@ig.kernel(groups=ig.cdiv(N, 480), block=240)
def uneven(x: In[f32, N], y: In[f32, N], sums: Out[f32, G]) -> None:
    group = ig.group_id()
    total = f32(0)
    for k in range(2):
        i = group * 480 + k * 240 + ig.lid()
        if i < len(x):
            total = ig.fma(x[i], y[i], total)
    total = ig.group_sum(total)
    if ig.lid() == 0 and group < len(sums):
        sums[group] = total


@pytest.mark.parametrize("kernel", [two_values, crossed, uneven], ids=lambda kernel: kernel.__name__)
def test_other_regions_keep_their_width(kernel: Any) -> None:
    """Two values of each lane; elements that are not adjacent; a block that is no multiple."""
    text = text_for(kernel)
    assert "<256 x float>" not in text
    assert "vpermi2var" not in text


if __name__ == "__main__":
    at_the_edges()
