"""Locks and forks: what other threads held is open in the child, and no thread is inside the compiler meanwhile."""

import gc
import os
import subprocess
import sys
import warnings
import weakref
from pathlib import Path

import pytest

from isogrid.support import locks
from isogrid.support.locks import new_lock

SCRIPT = """
import os, threading, time
import numpy as np
import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N
from isogrid.backends.cpu import loader
from isogrid.launch import backends, devices, observe, options

@ig.kernel(grid=N)
def known(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1

@ig.kernel(grid=N)
def unknown(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * {factor}

@ig.offload
def total(x: In[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    return s

x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
known(x, y)
import llvmlite.binding.ffi as ffi
held, asked = threading.Event(), threading.Event()
ours = [loader._LOCK, backends._LOCK, devices.SCOPES.lock, devices.SCOPES.opening, options._PROCESS.lock,
        observe.WATCHING.lock, known.compiled.lock, unknown.compiled.lock, total.shared.lock]

def hold():
    with ffi.lib._lock:
        for lock in ours:
            lock.acquire()
        held.set()
        time.sleep(0.3)
    time.sleep(60)

threading.Thread(target=hold, daemon=True).start()
held.wait()
number = os.fork()
if number == 0:
    with ig.use("cpu"):
        known(x, y)
    known(x, y)
    unknown(x, y)
    ig.default_options(unroll=None)
    os._exit(0 if (y == {factor}).all() and total(x) == 100 else 3)
for _ in range(600):
    done, status = os.waitpid(number, os.WNOHANG)
    if done:
        break
    time.sleep(0.05)
else:
    os.kill(number, 9)
    os._exit(4)
# The compiler is at hand again here.
os._exit(os.waitstatus_to_exitcode(status) if ffi.lib._lock._lock.acquire(timeout=5) else 5)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_finds_every_lock_open(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    # A factor of its own, so that no stored kernel spares the compiler.
    script.write_text(SCRIPT.format(factor=3 + os.getpid() % 1000))
    environment = os.environ | {"ISOGRID_CACHE_DIR": str(tmp_path / "cache")}
    ended = subprocess.run([sys.executable, script], env=environment, timeout=60, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_the_thread_that_forks_keeps_its_lock() -> None:
    lock = new_lock()
    # Newer Pythons warn of forks where there are threads, as there are when tests run side by side.
    with lock, lock, warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        number = os.fork()
        if number == 0:
            try:
                lock.release()
                lock.release()
                os._exit(0)
            finally:
                os._exit(3)
    _, status = os.waitpid(number, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_locks_that_go_are_forgotten() -> None:
    lock = new_lock()
    gone, number = weakref.ref(lock), id(lock)
    assert number in locks._ALL  # pyright: ignore[reportPrivateUsage]
    del lock
    gc.collect()
    assert gone() is None
    assert number not in locks._ALL  # pyright: ignore[reportPrivateUsage]
