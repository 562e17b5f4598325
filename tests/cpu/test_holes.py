"""One lane that a guard leaves out parts a range in two; without AVX-512 narrower vectors run what whole ones leave."""

from typing import Any

import numpy as np
import pytest
from tests.cpu.harness import AVX2, Launch, compile_kernel, needs_avx2

import isogrid as ig
from isogrid import In, InOut, Out, f32, i64
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import M, N

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")


@ig.kernel(grid=(M, N))
def apart(x: In[f32, M, N], y: InOut[f32, M, N], m: i64) -> None:
    i, j = ig.gids()
    if j != m:
        y[i, j] = min(y[i, j], x[i, j] + f32(i))


@ig.kernel(grid=(M, N))
def moved(x: In[f32, M, N], y: InOut[f32, M, N], m: i64) -> None:
    i, j = ig.gids()
    if j < N - 2 and i != m and j - 3 != m and j > 1:
        y[i, j] = x[i, j + 1] * 2.0


@ig.kernel(grid=(M, N))
def edges(x: In[f32, M, N], y: InOut[f32, M, N], m: i64) -> None:
    i, j = ig.gids()
    if j != m:
        y[i, j] = x[i, j - 1 if j > 0 else N - 1] - x[i, j + 1 if j < N - 1 else 0]


@ig.kernel(grid=(M, N))
def two(x: In[f32, M, N], y: InOut[f32, M, N], m: i64) -> None:
    i, j = ig.gids()
    if j != m and j - 2 != m:
        y[i, j] = x[i, j]


@ig.kernel(grid=(M, N))
def middle(y: InOut[f32, M, N], m: i64) -> None:
    ig.require(m >= 0)
    ig.require(m < M)
    i, j = ig.gids()
    if i != m:
        y[i, j] = y[i, j] + y[m, j]


@ig.kernel(grid=(M, N))
def paths(y: InOut[f32, M, N], m: i64) -> None:
    ig.require(m >= 0)
    ig.require(m < M)
    ig.require(m < N)
    i, j = ig.gids()
    if i != m and j != m:
        y[i, j] = min(y[i, j], y[i, m] + y[m, j])


@ig.kernel(grid=N)
def line(x: In[f32, N], y: Out[f32, N], m: i64) -> None:
    i = ig.gid()
    if i != m:
        y[i] = x[i] + 1.0


KERNELS = {"apart": apart, "moved": moved, "edges": edges, "two": two, "middle": middle, "line": line, "paths": paths}
TARGETS = [pytest.param(AVX2, id="avx2", marks=needs_avx2), pytest.param(host_target(), id="host")]
PLACES = (-(1 << 63), -4, -3, -1, 0, 1, 7, 8, 20, 63, 64, 90, (1 << 63) - 1)


def device_of(kernel: Any) -> Any:
    return stages_of(kernel, (), wide=False).device


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_every_place(name: str, target: HostTarget) -> None:
    kernel = KERNELS[name]
    device = device_of(kernel)
    code = compile_kernel(device, target=target)
    random = np.random.default_rng(7)
    for count in (0, 1, 2, 7, 8, 9, 31, 65, 90):
        shape = (count,) if kernel is line else (3, count)
        x, start = (random.standard_normal(shape).astype(np.float32) for _ in range(2))
        x.flat[::5] = np.float32("nan")
        alone = kernel in (middle, paths)
        for m in PLACES if not alone else range(min(3, count)):
            expected, found = start.copy(), start.copy()
            given = (expected, m) if alone else (x, expected, m)
            kernel.on("interp")(*given)
            values = {"x": x, "y": found, "m": m}
            launch = Launch(device, values, {"M": 3, "N": count}, shape)
            assert launch(code.run, 0, shape[0]) == 0
            np.testing.assert_array_equal(found, expected, str((count, m)))


@pytest.mark.parametrize("target", [AVX2, INTEL], ids=["avx2", "avx512"])
def test_lanes_have_no_masks_but_at_the_end(target: HostTarget) -> None:
    text = emit_module(device_of(paths), target, {}).text
    assert text.count("call void @llvm.masked.store") == 1
    assert f"store <{16 if target is AVX2 else 64} x float>" in text
    # Narrow vectors run what is left of a row where masked stores are slow.
    assert ("store <8 x float>" in text) == (target is AVX2)
    assert ("@llvm.masked.store.v8f32" in text) == (target is AVX2)


@pytest.mark.parametrize("target", [AVX2, INTEL], ids=["avx2", "avx512"])
def test_rows_of_one_array_are_not_left_to_the_vectoriser(target: HostTarget) -> None:
    """It would test whether they overlap, as bounds of whole arrays, and run lane by lane where they may."""
    assert emit_module(device_of(middle), target, {}).pipeline == "plain"
