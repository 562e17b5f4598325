"""Forks and finalisers while another thread, or this one, imports the compiler for the first time."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from isogrid.support.imports import imported

KERNELS = """
import gc, importlib.machinery, os, sys, threading, time
import numpy as np
import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N

@ig.kernel(grid=N)
def doubled(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * 2

@ig.kernel(grid=N)
def tripled(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * 3

class AtImport:
    '''Calls a function when a module begins to run, in the midst of importing others.'''

    def __init__(self, name, call):
        self.name, self.call = name, call
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path, target=None):
        if name == self.name:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            run = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (self.call(), run(module))
            return spec

x, y, z = np.ones(100, np.float32), np.zeros(100, np.float32), np.zeros(100, np.float32)
"""

FORK = """
midst = threading.Event()
def slowly():
    midst.set()
    time.sleep(0.5)
AtImport(MODULE, slowly)
thread = threading.Thread(target=doubled, args=(x, y))
thread.start()
assert midst.wait(20)
number = os.fork()
if number == 0:
    tripled(x, z)
    os._exit(0 if (z == 3).all() else 3)
tripled(x, z)
thread.join()
_, status = os.waitpid(number, 0)
os._exit(os.waitstatus_to_exitcode(status) or (0 if (y == 2).all() and (z == 3).all() else 4))
"""

FINALISER = """
said = []
sys.unraisablehook = lambda what: said.append(repr(what.exc_value))
done = []

class Launches:
    def __init__(self):
        self.me = self

    def __del__(self):
        tripled(x, z)
        done.append(True)

def leave():
    '''A cycle that the next collection finds, while another thread waits for the modules and holds the kernel.'''
    thread = threading.Thread(target=tripled, args=(x, z.copy()), daemon=True)
    thread.start()
    time.sleep(0.3)
    Launches()
    gc.set_threshold(1, 1, 1)
    for _ in range(1000):
        [[]]

AtImport("isogrid.analysis.ranges", leave)
doubled(x, y)
gc.set_threshold(700, 10, 10)
gc.collect()
assert gc.isenabled()
for _ in range(400):  # the other thread may be the one that collects
    if done or said:
        break
    time.sleep(0.05)
os._exit(0 if done and not said and (z == 3).all() and (y == 2).all() else print(done, said) or 3)
"""


def run(script: str, tmp_path: Path) -> "subprocess.CompletedProcess[str]":
    file = tmp_path / "script.py"
    file.write_text(KERNELS + script)
    environment = os.environ | {"ISOGRID_CACHE_DIR": ""}
    return subprocess.run([sys.executable, file], env=environment, timeout=40, capture_output=True, text=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("module", ["isogrid.analysis.ranges", "isogrid.pipeline", "isogrid.backends.cpu.compile"])
def test_a_fork_waits_for_the_import_of_another_thread(module: str, tmp_path: Path) -> None:
    ended = run(FORK.replace("MODULE", repr(module)), tmp_path)
    assert ended.returncode == 0, ended.stderr


def test_a_finaliser_launches_after_the_import(tmp_path: Path) -> None:
    ended = run(FINALISER, tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


ENDLESS = """
from isogrid.support import imports
imports.LONGEST_WAIT = 0.3
midst = threading.Event()
AtImport("isogrid.analysis.ranges", lambda: (midst.set(), time.sleep(60)))
threading.Thread(target=doubled, args=(x, y), daemon=True).start()
assert midst.wait(20)
number = os.fork()
if number == 0:
    os._exit(0)
_, status = os.waitpid(number, 0)
import textwrap  # others may be imported again
os._exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_does_not_wait_for_ever(tmp_path: Path) -> None:
    ended = run(ENDLESS, tmp_path)
    assert ended.returncode == 0, ended.stderr


def test_a_collector_that_is_off_stays_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("late_module_1", "late_module_2"):
        (tmp_path / f"{name}.py").write_text("import gc\non = gc.isenabled()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    was_on = gc.isenabled()
    try:
        gc.enable()
        assert not imported("late_module_1").on and gc.isenabled()
        gc.disable()
        assert not imported("late_module_2").on and not gc.isenabled()
    finally:
        (gc.enable if was_on else gc.disable)()
