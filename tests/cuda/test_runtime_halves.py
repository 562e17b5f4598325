"""Kernels that may trap, on a simulated GPU: large arrays are checked first and never copied, small ones are copied."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, i32
from isogrid.backends.cuda import loader
from isogrid.dims import M, N
from isogrid.lowering.split import split
from tests.arrays import kernels as k
from tests.conformance.support import kernel
from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu

TOP = 2**31 - 1


@ig.kernel(grid=N, block=64)
def add(x: In[i32, N], y: InOut[i32, N]) -> None:
    i = ig.gid()
    y[i] += x[i]


@ig.kernel(groups=ig.cdiv(N, 64), block=64)
def scan(x: In[i32, N], y: Out[i32, N], totals: Out[i32, M]) -> None:
    i = ig.gid()
    inclusive = ig.group_scan(x[i] if i < len(x) else 0)
    if i < len(y):
        y[i] = inclusive
    if ig.lid() == 63 and ig.group_id() < len(totals):
        totals[ig.group_id()] = inclusive


@ig.kernel(grid=N, block=64)
def count(x: In[i32, N], bins: InOut[i32, M]) -> None:
    ig.atomic_add(bins, x[ig.gid()], 1)


@ig.kernel(grid=M, block=64)
def fold(x: In[i32, N], y: Out[i32, M]) -> None:
    i = ig.gid()
    total = i32(0)
    for at in range(8):
        if 8 * i + at < len(x):
            total += x[8 * i + at]
    y[i] = total


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    monkeypatch.setattr(loader, "_LEAST_SAVED", 256)
    with fake_gpu() as driver:
        yield driver


def arrays(*contents: Any) -> list[Any]:
    return [ig.array(np.array(c, np.int32), device="cuda") for c in contents]


def copies(gpu: FakeDriver, call: Any) -> int:
    """How many copies on the device a call queues."""
    gpu.calls.clear()
    call()
    return gpu.calls.count("copy_within")


def test_large_arrays_are_not_copied(gpu: FakeDriver) -> None:
    x, y = arrays(range(100), range(100))
    for step in range(1, 4):
        assert copies(gpu, lambda: add(x, y)) == 0
        assert (y.numpy() == (1 + step) * np.arange(100)).all()


def test_small_arrays_are(gpu: FakeDriver) -> None:
    x, y = arrays([1, 2], [3, 4])
    for _ in range(3):
        assert copies(gpu, lambda: add(x, y)) == 1
    assert y.numpy().tolist() == [6, 10]


def test_they_are_copied_where_checks_read_more(gpu: FakeDriver) -> None:
    x, y = arrays(np.ones(800), np.zeros(100))
    assert copies(gpu, lambda: fold(x, y)) == 1
    assert (y.numpy() == 8).all()


@pytest.mark.parametrize("bad", [0, 63, 64, 199])
def test_a_trap_leaves_everything_and_stops_what_follows(gpu: FakeDriver, bad: int) -> None:
    for _ in range(3):  # through the launcher, then through the stub
        x, y, totals = arrays(np.ones(200), np.arange(1, 201), np.zeros(4))
        other = ig.zeros(200, ig.i32, device="cuda")
        x[bad : bad + 1] = TOP
        expected = _message(add.on("interp"), x.numpy(), y.numpy())
        add(x, y)
        scan(y, other, totals)
        k.double(other)
        assert _message(ig.synchronize) == expected
        assert expected and (y.numpy() == np.arange(1, 201)).all()
        assert not other.numpy().any() and not totals.numpy().any()
        add(y, other)
        ig.synchronize()
        assert (other.numpy() == np.arange(1, 201)).all()


@pytest.mark.parametrize("bad", [1, 70, 130])
def test_totals_of_groups(gpu: FakeDriver, bad: int) -> None:
    for _ in range(3):
        x, y, totals = arrays(np.ones(200), np.full(200, 7), np.full(4, 7))
        scan(x, y, totals)
        ig.synchronize()
        assert totals.numpy().tolist() == [64, 64, 64, 8]
        x[bad : bad + 1] = TOP
        y.fill(7)
        expected = _message(scan.on("interp"), x.numpy(), y.numpy(), totals.numpy())
        scan(x, y, totals)
        assert _message(ig.synchronize) == expected
        assert expected and (y.numpy() == 7).all()


def test_sums_that_are_watched_are_started_by_the_stub(gpu: FakeDriver) -> None:
    x, bins = arrays([0, 1, 1, 2], [5, 6, TOP])
    for _ in range(3):
        count(x, bins)
        assert "bins" in _message(ig.synchronize)
    assert bins.numpy().tolist() == [5, 6, TOP]


def _message(call: Any, *arguments: Any) -> str:
    """The trap of a call, "" where there is none."""
    try:
        call(*arguments)
    except ig.Trap as trap:
        return str(trap)
    return ""


WHOLE = {
    "reads what it wrote": "    y[i] = x[i] + 1\n    y[i] = y[i] + 1",
    "reads it in the next trip": "    for _ in range(3):\n        y[i] = y[i] + x[i]",
    "reads what its group wrote": "    y[i] = x[i] + 1\n    ig.barrier()\n    z[i] = y[ig.group_id() * 64] + 1",
}


@pytest.mark.parametrize("name", WHOLE)
def test_kernels_that_stay_whole(name: str) -> None:
    body = f"    i = ig.gid()\n{WHOLE[name]}"
    text = f"""
@ig.kernel(grid=N, block=64)
def k(x: ig.In[ig.i32, N], y: ig.InOut[ig.i32, N], z: ig.InOut[ig.i32, N]) -> None:
{body}
"""
    assert _halves(text) is None


def test_relaxed_kernels_stay_whole() -> None:
    text = """
@ig.kernel(grid=N, block=64{})
def k(x: ig.In[ig.i32, N], y: ig.InOut[ig.i32, N]) -> None:
    i = ig.gid()
    y[i] += x[i]
"""
    assert _halves(text.format(", deterministic=False")) is None
    assert _halves(text.format("")) is not None


def _halves(text: str) -> Any:
    from isogrid import pipeline
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.cli.stages import stages_of

    facts = LaunchFacts(small=True)
    built = stages_of(kernel(text), (), wide=False).built
    return split(pipeline.lower(pipeline.optimise(built, frozenset(), facts, {}), facts))


def test_only_launches_in_graphs_start_early(gpu: FakeDriver) -> None:
    x, y = ig.ones(64, ig.f32, device="cuda"), ig.zeros(64, ig.f32, device="cuda")
    with ig.record() as graph:
        k.copy(x, y)
        k.saxpy(2.0, x, y)
    graph()
    assert gpu.early == 2 and y.numpy()[0] == 3
    k.copy(x, y)
    add(*arrays(range(100), range(100)))
    ig.synchronize()
    assert gpu.early == 2
