"""Lanes of small tables are picked from registers, under masks too, and have the elements that memory holds."""

import re
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, f32, i32, w32
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import N
from isogrid.runtimes.protocol import BoundLaunch

from .agree import compile_at, outcome

SIXTEEN = np.arange(16, dtype=np.float32) ** 3 - 7
THIRTY_TWO = np.arange(32, dtype=np.uint32) * 0x9E3779B1
THREE = np.array([1.5, -2.0, 7.25], np.float32)
for table in (SIXTEEN, THIRTY_TWO, THREE):
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


def wanted(k: Any) -> tuple[Any, Any]:
    y = np.where(k % 3 == 0, SIXTEEN[(k >> 1) & 15] + THREE[k % 2 + 1], SIXTEEN[k & 15])
    return y, np.where(k % 3 == 0, THIRTY_TWO[k & 31], THIRTY_TWO[(k >> 2) & 31])


@pytest.mark.parametrize("width", [None, 1, 8, 16, 32, 64])
def test_elements(width: int | None) -> None:
    k = np.random.default_rng(3).integers(-1000, 1000, 999).astype(np.int32)
    arrays = {"k": k, "y": np.empty(k.size, np.float32), "z": np.empty(k.size, np.uint32)}
    bound = BoundLaunch(arrays, {}, {"N": k.size}, (k.size,))
    program = stages_of(picked).built
    found, words = outcome(program, compile_at(program, width), bound)
    y, z = wanted(k)
    assert words == ""
    assert np.array_equal(found["y"], y)
    assert np.array_equal(found["z"], z)


def text_of(kernel: Any) -> str:
    return emit_module(stages_of(kernel).device, host_target(), {}).text


@pytest.mark.skipif(not host_target().permutes, reason="this processor has no permutes of two registers")
def test_small_tables_are_not_gathered() -> None:
    text = text_of(picked)
    assert "permvar.sf.512" in text
    assert "vpermi2var.d.512" in text
    # THREE has three elements and stays in memory: one gather for whole vectors, one for the last.
    assert len(re.findall("call .*@llvm.masked.gather", text)) == 2
