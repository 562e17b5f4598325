"""Offloaded functions on disk and in pickles: the code of every section is found again, by the same function alone."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, Real, f32, i32
from isogrid.dims import M, N
from isogrid.offloading.function import Offloaded
from tests.offload.written import HEAD, function

_TEXT = """
def f(x: In[f32, N], y: Out[f32, N], n: i64) -> f32:
    s = 0.0
    for i in range(n):
        s += GAIN * x[i]
        y[i] = helper(x[i])
    for i in range(1, n):
        y[i] = x[i - 1]
    return s
"""
_HEAD = HEAD + "class N(ig.Dim): pass\nGAIN = {gain}\n@ig.func\ndef helper(v):\n    return v * {factor}\n"


def made(gain: float = 2.0, factor: float = 3.0, text: str = _TEXT) -> Offloaded:
    return ig.offload(function(text, "stored", _HEAD.format(gain=gain, factor=factor)))


def compiled(f: Offloaded, capfd: pytest.CaptureFixture[str]) -> tuple[Any, int, int]:
    """The result of a call, and how many kernels it compiled and found."""
    x, y = np.ones(600, np.float32), np.zeros(600, np.float32)
    capfd.readouterr()
    result = f(x, y, 600)
    said = capfd.readouterr().err
    return result, said.count(": compiled for"), said.count(": found in the cache")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_second_process_compiles_nothing(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ISOGRID_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("ISOGRID_TRACE", "1")
    assert compiled(made().on(device), capfd) == (1200.0, 3, 0), "the loop, the fold and the other loop"
    assert compiled(made().on(device), capfd) == (1200.0, 0, 3)
    assert compiled(made(gain=2.5).on(device), capfd) == (1500.0, 3, 0)
    assert compiled(made(factor=4.0).on(device), capfd)[1] == 3
    shorter = _TEXT.replace("range(1, n)", "range(2, n)")
    assert compiled(made(text=shorter).on(device), capfd)[1] == 3
    assert compiled(made().on(device), capfd) == (1200.0, 0, 3)


def test_loops_alike_from_outside_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGRID_CACHE_DIR", str(tmp_path))
    for _ in range(2):

        @ig.offload(parallel="require")
        def twice(y: InOut[f32, N]) -> None:
            for i in range(len(y)):
                y[i] = y[i] + 1.0
            for i in range(len(y)):
                y[i] = y[i] * 2.0

        y = np.full(5, 3, np.float32)
        twice(y)
        assert (y == 8).all()


# --- pickles ---------------------------------------------------------------------------------------------------------


@ig.offload
def scaled(x: In[f32, N], y: Out[f32, N], a: f32) -> f32:
    s = 0.0
    for i in range(len(x)):
        y[i] = a * x[i]
        s += x[i]
    return s


@ig.offload(parallel="require")
def recurrence(x: InOut[f32, N]) -> None:
    for i in range(1, len(x)):
        x[i] = x[i - 1] + 1.0


def test_pickles_by_name_share_what_is_known() -> None:
    again = pickle.loads(pickle.dumps(scaled))
    assert again is scaled
    other = scaled.on("interp").options(unroll=False)
    back = pickle.loads(pickle.dumps(other))
    assert back.definition is scaled.definition and back.device == other.device
    assert back.option_values == other.option_values
    with pytest.raises(ig.KernelRefused):
        pickle.loads(pickle.dumps(recurrence.on("cpu")))(np.ones(3, np.float32))


def test_pickles_of_functions_made_in_functions_carry_their_source() -> None:
    gain = 5.0

    @ig.offload(parallel="require")
    def local(x: In[Real, N]) -> Real:
        s = x.dtype(0)
        for v in x:
            s += v * x.dtype(gain)
        return s

    back = pickle.loads(pickle.dumps(local.on("cpu")))
    assert isinstance(back, Offloaded) and back.definition is not local.definition
    assert back(np.ones(7)) == 35.0


_PROGRAM = """
import pickle, sys
import numpy as np
import isogrid as ig
from isogrid import In, f32
from isogrid.dims import N

@ig.offload
def total(x: In[f32, N]) -> f32:
    s = 0.0
    for v in x:
        s += v
    return s

sys.stdout.buffer.write(pickle.dumps(total))
"""


def test_a_pickle_of_a_program_works_in_another_process(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    written = subprocess.run([sys.executable, str(program)], capture_output=True, check=True, env=environment).stdout
    assert pickle.loads(written)(np.full(600, 2, np.float32)) == 1200.0


def test_threads_may_call_one_function() -> None:
    import threading

    @ig.offload
    def counted(x: In[i32, N], bins: InOut[i32, M]) -> i32:
        s = i32(0)
        for i in range(len(x)):
            bins[x[i]] += 1
            s += x[i]
        return s

    found: list[Any] = []

    def work(seed: int) -> None:
        x = np.random.default_rng(seed).integers(0, 4, 3000).astype(np.int32)
        for _ in range(20):
            bins = np.zeros(4, np.int32)
            found.append(counted(x, bins) == x.sum() and np.array_equal(bins, np.bincount(x, minlength=4)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80
