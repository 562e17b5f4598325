"""Lanes of small tables come from registers or rows, under masks too, and have the elements that memory holds."""

import re
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32, i32, w32
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import N
from isogrid.runtimes.protocol import BoundLaunch

from .agree import compile_at, outcome

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")
NARROW = HostTarget(INTEL.triple, "haswell", "+avx2,+fma", "")
on_eight = pytest.mark.skipif("avx2" not in host_target().enabled, reason="this processor does not run such code")

EIGHT = np.arange(8, dtype=np.float32) - 2.5
SIXTEEN = np.arange(16, dtype=np.float32) ** 3 - 7
WORDS = np.arange(16, dtype=np.uint32) * 0x85EBCA6B
THIRTY_TWO = np.arange(32, dtype=np.uint32) * 0x9E3779B1
THREE = np.array([1.5, -2.0, 7.25], np.float32)
A, B, C, D = ((np.arange(64, dtype=np.float32) + n) ** 2 - 7 for n in range(4))
E = np.arange(64, dtype=np.uint32) * 0xC2B2AE35 + 1
F = np.arange(64, dtype=np.float32) * 0.25
for table in (EIGHT, SIXTEEN, WORDS, THIRTY_TWO, THREE, A, B, C, D, E, F):
    table.flags.writeable = False


@ig.kernel(grid=N)
def picked(k: In[i32, N], y: Out[f32, N], z: Out[w32, N]) -> None:
    i = ig.gid()
    j = k[i]
    y[i] = SIXTEEN[j & 15]
    z[i] = w32(THIRTY_TWO[(j >> 2) & 31])
    if j % 3 == 0:
        y[i] = SIXTEEN[(j >> 1) & 15] + THREE[j % 2 + 1]
        z[i] = w32(THIRTY_TWO[j & 31])


def wanted_of_picked(k: Any) -> tuple[Any, Any]:
    y = np.where(k % 3 == 0, SIXTEEN[(k >> 1) & 15] + THREE[k % 2 + 1], SIXTEEN[k & 15])
    return y, np.where(k % 3 == 0, THIRTY_TWO[k & 31], THIRTY_TWO[(k >> 2) & 31])


@ig.kernel(grid=N)
def shorter(k: In[i32, N], y: Out[f32, N], z: Out[w32, N]) -> None:
    """One register's worth of eight lanes, and two of words."""
    i = ig.gid()
    j = k[i]
    y[i] = EIGHT[(j >> 1) & 7]
    z[i] = w32(WORDS[j & 15])


def wanted_of_shorter(k: Any) -> tuple[Any, Any]:
    return EIGHT[(k >> 1) & 7], WORDS[k & 15]


@ig.kernel(grid=N)
def beside(k: In[i32, N], y: Out[f32, N], z: Out[w32, N]) -> None:
    """Five tables with the same indices, one of which is outside of them where a lane is off; a sixth by itself."""
    i = ig.gid()
    n = k[i]
    j = n & 63
    s = A[j] + 2.0 * B[j] + 3.0 * C[j] - D[j]
    z[i] = w32(E[j]) + w32(1)
    if n >= 0 and n < 64:
        s = s + A[n] + B[n] * C[n] - D[n]
        z[i] = w32(E[n])
    y[i] = s + F[(n >> 3) & 63]


def wanted_of_beside(k: Any) -> tuple[Any, Any]:
    j = k & 63
    inside = (k >= 0) & (k < 64)
    s = A[j] + 2 * B[j] + 3 * C[j] - D[j]
    s = np.where(inside, s + A[j] + B[j] * C[j] - D[j], s)
    return s + F[(k >> 3) & 63], np.where(inside, E[j], E[j] + 1)


@pytest.mark.parametrize("width", [None, 1, 8, 16, 32, 64])
@pytest.mark.parametrize("target", [None, pytest.param(NARROW, marks=on_eight)], ids=["this", "eight"])
@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [(picked, wanted_of_picked), (shorter, wanted_of_shorter), (beside, wanted_of_beside)],
    ids=["picked", "shorter", "beside"],
)
def test_elements(kernel: Any, wanted: Any, target: HostTarget | None, width: int | None) -> None:
    rng = np.random.default_rng(3)
    k = rng.integers(-1000, 1000, 999).astype(np.int32)
    k[::4] = rng.integers(-(2**31), 2**31, k[::4].size)
    k[::5] = rng.integers(0, 64, k[::5].size)
    arrays = {"k": k, "y": np.empty(k.size, np.float32), "z": np.empty(k.size, np.uint32)}
    bound = BoundLaunch(arrays, {}, {"N": k.size}, (k.size,))
    program = stages_of(kernel).built
    found, words = outcome(program, compile_at(program, width, target=target), bound)
    y, z = wanted(k)
    assert words == ""
    assert np.array_equal(found["y"], y)
    assert np.array_equal(found["z"], z)


def text_of(kernel: Any, target: HostTarget) -> str:
    return emit_module(stages_of(kernel).device, target, {}).text


def gathers(text: str) -> int:
    return len(re.findall("call .*@llvm.masked.gather", text))


def test_sixteen_lanes_are_picked_from_registers() -> None:
    text = text_of(picked, INTEL)
    assert "permvar.sf.512" in text
    assert "vpermi2var.d.512" in text
    # THREE has three elements and stays in memory: one gather for whole vectors, one for the last.
    assert gathers(text) == 2


def test_eight_lanes_are_picked_from_registers() -> None:
    text = text_of(shorter, NARROW)
    # Two registers of whole vectors and two of the last: EIGHT, and both halves of WORDS.
    assert text.count("call <8 x float> @llvm.x86.avx2.permps(") == 4
    assert text.count("call <8 x i32> @llvm.x86.avx2.permd(") == 8
    assert gathers(text) == 0
    # THIRTY_TWO at one place in all lanes and at another in some: four registers each; THREE.
    text = text_of(picked, NARROW)
    assert text.count("call <8 x i32> @llvm.x86.avx2.permd(") == 2 * 2 * 4
    assert gathers(text) == 2


def test_tables_with_the_same_indices_lie_side_by_side() -> None:
    text = text_of(beside, NARROW)
    # Whole vectors and the last, at j and at n; F is read alone.
    assert text.count("load <4 x float>, ptr") == 2 * 2 * 8 * 2
    assert gathers(text) == 2
    assert '@"table.A.rows" = internal constant [2048 x i8]' in text
    assert ".rows" not in text_of(beside, INTEL)
