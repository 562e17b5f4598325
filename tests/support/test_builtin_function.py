"""Builtin functions made here: what they point to outlives them, also where the collector takes a cycle apart."""

import gc
import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, f32
from isogrid.backends.cpu import pool
from isogrid.dims import N
from isogrid.support.builtin_function import FASTCALL, lasting, new_builtin, with_slow

#: A dict is known to the collector from the first value on that it must look at, so it is cleared after all others.
_CYCLES = """
import ctypes, gc
from isogrid.support.builtin_function import FASTCALL, lasting, new_builtin
for number in range(20):
    cell = {}
    cell["self"] = new_builtin("f", 1, FASTCALL, (cell, *lasting((ctypes.c_int64 * 4)())))
    del cell
    gc.collect()
print("whole")
"""


@ig.kernel(grid=N)
def kernel(x: InOut[f32, N]) -> None:
    x[ig.gid()] += 1.0


@ig.offload
def total(x: In[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    return s


def test_a_cycle_with_a_builtin_is_collected_without_touching_freed_memory() -> None:
    # Freed memory is filled with ones, among them the flag of a definition that has a class to let go of.
    environment = {**os.environ, "PYTHONPATH": "src", "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"}
    done = subprocess.run([sys.executable, "-c", _CYCLES], capture_output=True, text=True, check=False, env=environment)
    assert (done.stdout, done.returncode) == ("whole\n", 0), done.stderr


@pytest.mark.skipif(not pool.is_supported(), reason="this platform has no native callable")
def test_the_collector_knows_no_memory_that_a_native_call_reads() -> None:
    x: Any = np.ones(300, np.float32)
    for function in (kernel.on("cpu"), total.on("cpu")):
        for _ in range(2):
            function(x)
        memory, code = [], function.__call__
        waiting: list[Any] = [getattr(code, "__self__")]  # noqa: B009
        while waiting:
            one = waiting.pop()
            waiting += one if isinstance(one, tuple) else []
            memory += [one] if isinstance(one, bytearray | np.ndarray) else []
            assert not type(type(one)).__module__.startswith("_ctypes"), one
        assert len(memory) >= 3 and not any(map(gc.is_tracked, memory))


@pytest.mark.skipif(not pool.is_supported(), reason="this platform has no native callable")
def test_callables_behind_each_other_need_little_stack() -> None:
    """A call leaves its frame, of up to 22 KiB, before it goes on to the callable behind it."""
    x: Any = np.ones(300, np.float32)
    given: list[Any] = []
    chains: list[Any] = []
    for function in (kernel.on("cpu"), total.on("cpu")):
        for _ in range(2):
            function(x)
        chain: Any = given.append
        for _ in range(100):
            chain = with_slow(function.__call__, chain)
        chains.append(chain)
    usual = threading.stack_size(256 << 10)
    try:
        threads = [threading.Thread(target=chain, args=("unusual",)) for chain in chains]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        threading.stack_size(usual)
    assert given == ["unusual", "unusual"]


def test_lasting_memory_is_a_copy() -> None:
    import ctypes

    words = (ctypes.c_int64 * 2)(3, 4)
    capsule, kept = lasting(words)
    words[0] = 5
    assert list((ctypes.c_int64 * 2).from_buffer(kept)) == [3, 4]
    assert type(capsule).__name__ == "PyCapsule"
    made: Any = new_builtin("größe", 1, FASTCALL, (capsule, kept))
    assert made.__name__ == "größe" and made.__self__[:2] == (capsule, kept)
