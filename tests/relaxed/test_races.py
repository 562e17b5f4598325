"""`races="check"` and `races=ig.trust(...)`: conflicts as traps, the author's word, and what neither of them waives."""

from dataclasses import replace

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import host_target
from isogrid.cli.check import given_up
from isogrid.dims import H, N, W
from isogrid.frontend.build import build
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k
from isogrid.pipeline import check_kernel, lower, optimise
from isogrid.support.errors import KernelRefused

DEVICES = ("interp", "cpu")


@ig.kernel(grid=N, races="check")
def scatter(p: In[i64, N], x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[p[i]] = x[i]


@pytest.mark.parametrize("device", DEVICES)
def test_a_permutation_passes(device: str) -> None:
    p = np.random.default_rng(1).permutation(50)
    x, y = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    scatter.on(device)(p, x, y)
    assert (y[p] == x).all()


@pytest.mark.parametrize("device", DEVICES)
def test_the_first_conflict_is_a_trap_and_nothing_has_changed(device: str) -> None:
    p = np.arange(50)
    p[30], p[44] = 7, 12
    y = np.full(50, -1, np.float32)
    with pytest.raises(ig.KernelRaceError) as caught:
        scatter.on(device)(p, y, y.copy())
    words = str(caught.value)
    line = scatter.definition.span.line + 1
    assert words.startswith("two threads touched element 7 of `y` with no barrier between them: thread 7 writes it at ")
    assert f"test_races.py:{line + 1}:5, and this one writes it\n" in words
    assert ", thread 30\n" in words
    assert (y == -1).all()


@ig.kernel(grid=(H, W), races="check")
def neighbours(x: InOut[i32, H, W]) -> None:
    i, j = ig.gids()
    if i + 1 < x.shape[0]:
        x[i, j] = x[i + 1, j] + 1


def test_threads_of_a_grid_are_named_by_their_axes() -> None:
    with pytest.raises(ig.KernelRaceError, match=r"thread \(0, 0\) reads it .*this one writes it"):
        neighbours(np.zeros((3, 3), np.int32))


@ig.kernel(groups=2, block=8, races="check")
def halves(x: InOut[i32, N]) -> None:
    t = ig.gid()
    x[t] = i32(t)
    ig.barrier()
    other = x[(t + 4) % 16]
    ig.barrier()
    x[t] = other


def test_a_barrier_orders_its_group_only() -> None:
    with pytest.raises(ig.KernelRaceError, match=r"thread \d+ (reads|writes)"):
        halves(np.zeros(16, np.int32))


@ig.kernel(groups=1, block=8, races="check")
def first_trap(x: InOut[i32, N], d: In[i32, N]) -> None:
    t = ig.lid()
    x[t] = 8 // d[t]
    x[(t * 2) % 8] = 1


def test_traps_and_conflicts_rank_by_thread() -> None:
    d = np.ones(8, np.int32)
    with pytest.raises(ig.KernelRaceError, match="thread 1"):
        first_trap(np.zeros(8, np.int32), d)
    d[0] = 0
    with pytest.raises(ig.KernelZeroDivisionError):
        first_trap(np.zeros(8, np.int32), d)


@ig.kernel(grid=N, races=ig.trust("p is a permutation"))
def trusted(p: In[i64, N], x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[p[i]] = x[i]


def test_a_trusted_kernel_has_no_race_proof_and_keeps_its_bounds() -> None:
    assert trusted.check() == []
    y = np.zeros(8, np.float32)
    with pytest.raises(ig.KernelIndexError):
        trusted.on("cpu")(np.array([0, 1, 2, 3, 4, 5, 6, 8]), y, y.copy())
    assert given_up(trusted) == ["races trusted, no proof: p is a permutation"]
    assert given_up(scatter) == ['races="check": no proof; the interpreter runs it and follows every access']


def test_nothing_that_follows_from_race_freedom_reaches_the_code() -> None:
    """LLVM is told that written arrays alias nothing only where the proof says so; each index is loaded once."""

    def parameters(kernel: k.Kernel) -> dict[str, bool]:
        facts = LaunchFacts(small=True)
        text = emit_module(lower(optimise(kernel, frozenset(), facts, {}), facts), host_target(), {}).text
        (line,) = [line for line in text.splitlines() if line.startswith("define") and "%arg.0" in line][:1]
        return {part.split()[-1]: "noalias" in part for part in line.split(",") if part.split()[-1].startswith("%arg")}

    kernel = build(trusted.definition, Specialisation())
    assert parameters(kernel) == {"%arg.0": True, "%arg.1": True, "%arg.2": False}
    assert parameters(replace(kernel, races="prove")) == {"%arg.0": True, "%arg.1": True, "%arg.2": True}


def test_neither_waives_a_barrier_proof() -> None:
    @ig.kernel(groups=1, block=32, races=ig.trust("only one group"))
    def parted(x: InOut[i32, N]) -> None:
        t = ig.lid()
        x[t] = 1
        if x[0] == 1:
            ig.barrier()

    (report,) = parted.check()
    assert report.code == "IG301"
    assert "written in a kernel with `races=`" in report.secondary[-1].text


def test_kernels_carry_their_contract_in_text() -> None:
    from isogrid.ir.parse import parse_kernel
    from isogrid.ir.text import print_kernel

    kernel = build(trusted.definition, Specialisation())
    assert isinstance(kernel, k.Kernel)
    text = print_kernel(kernel)
    assert text.startswith('kernel trusted races trust "p is a permutation"\n')
    assert parse_kernel(text) == kernel
    assert check_kernel(kernel) == []


def test_bad_values_are_refused() -> None:
    with pytest.raises(KernelRefused, match="IG190"):

        @ig.kernel(grid=N, races=True)  # type: ignore[arg-type]
        def wrong(x: InOut[i32, N]) -> None:
            x[ig.gid()] = 1


@ig.kernel(groups=1, block=8)
def parted_by_a_float(a: f32, b: f32, y: InOut[i32, N]) -> None:
    """Safe because both conditions round alike."""
    s = ig.shared(i32, 8)
    i = ig.lid()
    if a * a + b > 1.0:
        s[i] = 1
    if not a * a + b > 1.0 and i < N:
        y[i] = s[7 - i]


@ig.kernel(groups=1, block=8)
def parted_by_one_value(a: f32, b: f32, y: InOut[i32, N]) -> None:
    s = ig.shared(i32, 8)
    i = ig.lid()
    large = a * a + b > 1.0
    if large:
        s[i] = 1
    elif i < N:
        y[i] = s[7 - i]


def test_a_proof_by_equal_floats_needs_floats_that_are_equal() -> None:
    assert parted_by_a_float.check() == []
    assert [report.code for report in parted_by_a_float.options(fastmath=True).check()] == ["IG202"]
    assert parted_by_one_value.options(fastmath=True).check() == []
    y = np.zeros(8, np.int32)
    parted_by_a_float.on("cpu")(1.0, 1.0, y)
    with pytest.raises(ig.KernelRefused):
        parted_by_a_float.on("cpu").options(fastmath=True)(1.0, 1.0, y)
    parted_by_one_value.on("cpu").options(fastmath=True)(1.0, 1.0, y)
