"""A proof holds only where its reasons do: not past a check that failed, a loop that never ends, a value that another
thread may change, or out of the guard that it was made under. Each is shown in the checks kept, and by running."""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64
from isogrid.dims import M, N
from tests.analysis.built import kept

ROOT = Path(__file__).parents[2]
DEVICES = ("interp", "cpu")


class Fenced:
    """An array with elements before and behind it that no kernel may touch."""

    def __init__(self, size: int, type: Any, value: int = 0) -> None:
        self.whole = np.full(size + 128, 77, type)
        self.inside = self.whole[64:-64]
        self.inside[...] = value

    @property
    def untouched(self) -> bool:
        return bool((self.whole[:64] == 77).all() and (self.whole[-64:] == 77).all())


# --- a check that failed ----------------------------------------------------------------------------------------------


@ig.kernel(grid=M)
def same_index_twice(at: In[i64, M], y: InOut[i32, N], z: InOut[i32, N]) -> None:
    j = at[ig.gid()]
    y[j] += 1
    z[j] += 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("bad", [-1, 8, 40, -40])
def test_what_a_failed_check_would_have_shown_is_not_used(device: str, bad: int) -> None:
    racy = same_index_twice.definition
    assert racy is not None
    kernel = ig.kernel(grid=M, races=ig.trust("the indices of this test differ"))(racy.function)
    assert kept(kernel) == ["y", "add", "add"]
    y, z = Fenced(8, np.int32), Fenced(8, np.int32)
    with pytest.raises(ig.KernelIndexError, match="`y`"):
        kernel.on(device)(np.array([0, 1, bad, 3]), y.inside, z.inside)
    assert y.untouched and z.untouched
    assert not y.inside.any() and not z.inside.any()


# --- a loop that never ends -------------------------------------------------------------------------------------------

ENDLESS = """
import numpy as np
import isogrid as ig
from isogrid import InOut, i32, i64
from isogrid.dims import N

@ig.kernel(grid=N)
def odd(start: i64, y: InOut[i32, N]) -> None:
    k = start
    while k != 6:
        k = (k + 2) % 8
    if k == 6:
        y[ig.gid()] = 1

y = np.zeros(4, np.int32)
odd.on("cpu")(2, y)
print(y.tolist(), flush=True)
odd.on("cpu")(1, y)
print("ended", flush=True)
"""


def test_a_loop_without_a_bound_is_not_taken_to_end(tmp_path: Path) -> None:
    """No compiler may conclude from what stands behind the loop that it ends: with an odd start it never does."""
    file = tmp_path / "endless.py"
    file.write_text(textwrap.dedent(ENDLESS))
    process = subprocess.Popen(
        [sys.executable, str(file)], stdout=subprocess.PIPE, text=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT / "src")}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "[1, 1, 1, 1]\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=0.8)
    process.kill()
    assert process.communicate()[0] == ""


# --- values that may change -------------------------------------------------------------------------------------------


@ig.kernel(grid=N)
def two_loads(next: InOut[i64, N], y: Out[i32, N]) -> None:
    """The array is written, so the second load need not give what the guard saw."""
    i = ig.gid()
    next[i] = next[i] + 1
    if next[i] >= 0 and next[i] < N:
        y[next[i]] = 1


@ig.kernel(grid=N)
def one_load(next: InOut[i64, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    next[i] = next[i] + 1
    j = next[i]
    if j >= 0 and j < N:
        y[j] = 1


@ig.kernel(grid=N)
def only_read(next: In[i64, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    if next[i] >= 0 and next[i] < N:
        y[next[i]] = 1


def test_a_written_array_is_loaded_anew() -> None:
    assert kept(two_loads) == ["add", "y"]
    assert kept(one_load) == ["add"]
    assert kept(only_read) == []


def test_a_fact_about_an_array_is_not_for_those_that_the_kernel_writes() -> None:
    @ig.kernel(grid=N)
    def written(p: InOut[i64, N], y: Out[i32, N]) -> None:
        ig.require(ig.all_in_range(p, 0, N))
        y[p[ig.gid()]] = 1
        p[ig.gid()] = 10

    with pytest.raises(ig.KernelRefused):
        written.on("cpu")(np.zeros(4, np.int64), np.zeros(4, np.int32))


@ig.kernel(groups=1, block=8, races=ig.trust("the flag is set before the launch"))
def racy_flag(flag: InOut[i32, Literal[1]], y: Out[i32, Literal[8]]) -> None:
    i = ig.lid()
    if flag[0] == 0:
        flag[0] = 0
        ig.barrier()
    y[i] = 1


def test_a_racy_load_is_not_the_same_for_the_group() -> None:
    assert [report.code for report in racy_flag.check()] == ["IG301"]


# --- out of a guard ---------------------------------------------------------------------------------------------------


@ig.kernel(grid=N)
def guarded_in_a_loop(x: In[f32, N], y: Out[f32, N], far: i64) -> None:
    s = f32(0.0)
    for _ in range(64):
        if far >= 0 and far < N:
            s += x[far]
    y[ig.gid()] = s


@pytest.mark.parametrize("device", DEVICES)
def test_a_guarded_load_stays_behind_its_guard(device: str) -> None:
    """Moved in front of the loop it would read far outside of every mapping."""
    assert kept(guarded_in_a_loop) == []
    x, y = np.ones(8, np.float32), np.ones(8, np.float32)
    guarded_in_a_loop.on(device)(x, y, 1 << 45)
    assert not y.any()
    guarded_in_a_loop.on(device)(x, y, 3)
    assert (y == 64).all()


@ig.kernel(grid=N)
def nan_in_a_guard(x: In[f32, N], y: InOut[i32, Literal[8]]) -> None:
    v = x[ig.gid()]
    if not (v < 0.0) and not (v >= 8.0):
        ig.atomic_max(y, i64(v), 1)


@pytest.mark.parametrize("device", DEVICES)
def test_nan_passes_both_guards_and_traps(device: str) -> None:
    y = np.zeros(8, np.int32)
    nan_in_a_guard.on(device)(np.array([0.5, 7.9, -1.0, 8.0], np.float32), y)
    assert y.tolist() == [1, 0, 0, 0, 0, 0, 0, 1]
    with pytest.raises(ig.KernelValueError):
        nan_in_a_guard.on(device)(np.array([0.5, np.nan], np.float32), y)


@ig.kernel(grid=1)
def floors(a: i64, y: InOut[i32, Literal[4]]) -> None:
    ig.require(a >= -8 and a < 8)
    y[a % 4] += 1
    y[(a >> 2) + 2] += 1
    y[(a + 8) // 4] += 1
    y[a // 4] += 1


@pytest.mark.parametrize("device", DEVICES)
def test_floors_of_negatives_are_in_range_where_they_are(device: str) -> None:
    assert kept(floors).count("y") == 1, "only the load of y[a // 4], which speaks for the store as well"
    for a in range(-8, 8):
        y = Fenced(4, np.int32)
        if a < 0:
            with pytest.raises(ig.KernelIndexError):
                floors.on(device)(a, y.inside)
            assert not y.inside.any()
        else:
            floors.on(device)(a, y.inside)
            assert y.inside.sum() == 4
        assert y.untouched


# --- intermediates ----------------------------------------------------------------------------------------------------


@ig.kernel(grid=N)
def there_and_back(x: In[i32, N], y: Out[i32, N], far: i64) -> None:
    i = ig.gid()
    y[i] = x[i + far - far] + i32((far * 4) // 4 - far)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("far", [0, 1, -1, 1 << 29, 1 << 30, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 32, 1 << 60])
def test_intermediates_may_need_more_bits_than_the_index(device: str, far: int) -> None:
    """In 32 bits, `far * 4` and `i + far` would wrap: the proof for small launches is about 64-bit values."""
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    there_and_back.on(device)(x, y, far)
    assert (x == y).all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("far", [(1 << 63) - 1, -(1 << 63), 1 << 61])
def test_intermediates_that_leave_64_bits_trap(device: str, far: int) -> None:
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    with pytest.raises(ig.KernelOverflowError):
        there_and_back.on(device)(x, y, far)
    assert not y.any()
