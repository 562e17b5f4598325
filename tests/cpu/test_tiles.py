"""Rows of a group side by side, and rows of which no lane lies outside, give what the interpreter gives."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.cpu.harness import runner, without_avx512

import isogrid as ig
from isogrid import In, Out, f32, i32
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import H, K, M, N, W

AVX2 = HostTarget("x86_64-unknown-linux-gnu", "haswell", "+avx2,+fma", "")
AVX512 = HostTarget(AVX2.triple, "emeraldrapids", "+avx512f,+avx2,+fma", "")


@ig.kernel(groups=(ig.cdiv(M, 16), ig.cdiv(N, 16)), block=(16, 16))
def product(a: In[f32, M, K], b: In[f32, K, N], c: Out[f32, M, N]) -> None:
    ta, tb = ig.shared(f32, (16, 16)), ig.shared(f32, (16, 16))
    row, col = ig.gids()
    y, x = ig.lids()
    rows, inner = a.shape
    cols = b.shape[1]
    total = 0.0
    for t in range(ig.cdiv(inner, 16)):
        ta[y, x] = a[row, t * 16 + x] if row < rows and t * 16 + x < inner else 0.0
        tb[y, x] = b[t * 16 + y, col] if t * 16 + y < inner and col < cols else 0.0
        ig.barrier()
        for k in range(16):
            total = ig.fma(ta[y, k], tb[k, x], total)
        ig.barrier()
    if row < rows and col < cols:
        c[row, col] = total


@ig.kernel(groups=(ig.cdiv(H, 8), ig.cdiv(W, 32)), block=(8, 32))
def weighed(x: In[f32, H, W], weights: In[f32, 6], y: Out[f32, H, W]) -> None:
    """Two values of each thread and one of each row, and rows that differ in what they load."""
    tile = ig.shared(f32, (8, 38))
    i, j = ig.gids()
    ly, lx = ig.lids()
    if i < x.shape[0] and j < x.shape[1]:
        tile[ly, lx] = x[i, j]
        if lx < 6:
            tile[ly, lx + 32] = x[i, (j + 32) % x.shape[1]]
    ig.barrier()
    total, product, level = f32(0), f32(1), f32(1)
    for step in range(2 + x.shape[0] // 1000):
        for k in range(6):
            total += weights[k] * tile[ly, lx + k]
            product *= weights[k] + ig.f32(ly)
        level = level * weights[step % 6] + ig.f32(ly)
        total += level
        ig.barrier()
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = total + product * level


@ig.kernel(groups=(ig.cdiv(H, 8), ig.cdiv(W, 16)), block=(8, 16))
def corner(x: In[i32, H, W], y: Out[i32, H, W]) -> None:
    """Which lanes of a row are on depends on the row: no part of the group is known to be whole."""
    tile = ig.shared(i32, (8, 16))
    i, j = ig.gids()
    ly, lx = ig.lids()
    tile[ly, lx] = x[i, j] if i < x.shape[0] and j < x.shape[1] and i + j < x.shape[0] else 7
    ig.barrier()
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = tile[7 - ly, 15 - lx]


@ig.kernel(groups=(ig.cdiv(H, 6), ig.cdiv(W, 16)), block=(6, 16))
def above(x: In[i32, H, W], y: Out[i32, H, W]) -> None:
    """Rows that begin below the first one, in groups of which the number of rows is no multiple of four."""
    tile = ig.shared(i32, (6, 16))
    i, j = ig.gids()
    ly, lx = ig.lids()
    tile[ly, lx] = x[i - 2, j] if 1 < i < x.shape[0] + 1 and j < x.shape[1] else -1
    ig.barrier()
    if i < x.shape[0] and 0 < j < x.shape[1] - 1:
        y[i, j] = tile[ly, 15 - lx]


SIZES = ((16, 32), (17, 16), (16, 33), (24, 64), (3, 50), (40, 3), (1, 1))


@pytest.mark.parametrize("target", [without_avx512(), host_target()], ids=["narrow", "host"])
@pytest.mark.parametrize("kernel", [weighed, corner, above], ids=lambda kernel: kernel.__name__)
def test_every_edge(kernel: Any, target: HostTarget) -> None:
    random = np.random.default_rng(4)
    block = {weighed: (8, 32), corner: (8, 16), above: (6, 16)}[kernel]
    run = runner(target, kernel)
    for height, width in SIZES:
        type = np.float32 if kernel is weighed else np.int32
        x = (random.standard_normal((height, width)) * 100).astype(type)
        more = [random.standard_normal(6).astype(np.float32)] if kernel is weighed else []
        found, wanted = np.full_like(x, 3), np.full_like(x, 3)
        kernel.on("interp")(x, *more, wanted)
        groups = [-(-height // block[0]), -(-width // block[1])]
        run([x, *more, found], {"H": height, "W": width}, groups)
        assert np.array_equal(found.view(np.int32), wanted.view(np.int32)), (height, width)


@pytest.mark.parametrize("target", [without_avx512(), host_target()], ids=["narrow", "host"])
def test_products_of_every_edge(target: HostTarget) -> None:
    random, run = np.random.default_rng(5), runner(target, product)
    for rows, inner, cols in (
        (16, 16, 16),
        (32, 16, 48),
        (17, 16, 16),
        (16, 17, 16),
        (16, 16, 17),
        (5, 40, 37),
        (1, 1, 1),
    ):
        a, b = (random.standard_normal(shape, dtype=np.float32) for shape in ((rows, inner), (inner, cols)))
        found, wanted = (np.full((rows, cols), 9, np.float32) for _ in range(2))
        product.on("interp")(a, b, wanted)
        dims = {"M": rows, "K": inner, "N": cols}
        run([a, b, found], dims, [-(-rows // 16), -(-cols // 16)])
        assert np.array_equal(found.view(np.int32), wanted.view(np.int32)), (rows, inner, cols)


def products_in(kernel: Any, target: HostTarget) -> list[str]:
    """The fused products of the text in order: which sum each one goes on with."""
    text = emit_module(stages_of(kernel).device, target, {}).text
    return [line for line in text.splitlines() if "@llvm.fma" in line and "=" in line]


def test_sums_of_rows_take_turns() -> None:
    """With 16 registers no product goes on with the sum before it: four rows stand between."""

    def follows(lines: list[str]) -> int:
        return sum(f" {first.split()[0]})" in then for first, then in pairwise(lines))

    turns, others = products_in(product, AVX2), products_in(product, AVX512)
    assert all("<16 x float>" in line for line in turns)
    assert follows(turns) == 0
    assert follows(others) > 32


def test_whole_groups_need_no_tests() -> None:
    """Both tiles of a whole group are filled in one block, without a comparison or a mask."""
    for target in (AVX2, AVX512):
        text = emit_module(stages_of(product).device, target, {}).text
        filled = [
            block
            for block in re.split(r"^[\w.]+:$", text, flags=re.MULTILINE)
            if len(re.findall(r"= load <16 x float>.*align 4$", block, re.MULTILINE)) == 2
            and len(re.findall(r"store <16 x float>.*align 4$", block, re.MULTILINE)) == 2
        ]
        assert any("masked" not in block and "select" not in block for block in filled)
