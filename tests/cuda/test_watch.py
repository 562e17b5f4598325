"""Sums of arrays that leave their type on a simulated GPU: counted per element for few elements, listed for many."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, i32
from isogrid.backends.cuda import launch, watches
from isogrid.dims import M, N
from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu

TOP = 2**31 - 1


@ig.kernel(grid=N, block=64)
def added(where: In[i32, N], what: In[i32, N], totals: InOut[i32, M], others: InOut[i32, M]) -> None:
    i = ig.gid()
    ig.atomic_add(totals, where[i], what[i])
    ig.atomic_add(others, where[i], -what[i])


@pytest.fixture
def gpu() -> Iterator[FakeDriver]:
    with fake_gpu() as driver:
        yield driver


def on(device: str, where: Any, what: Any, length: int, first: int) -> tuple[str, Any, Any]:
    """The trap, and both arrays, of a launch on arrays of the device."""
    totals = ig.array(np.full(length, first, np.int32), device=device)
    others = ig.array(np.zeros(length, np.int32), device=device)
    indices, values = (ig.array(np.array(x, np.int32), device=device) for x in (where, what))
    trap = ""
    try:
        added.on(device)(indices, values, totals, others)
        ig.synchronize()
    except ig.Trap as raised:
        trap = str(raised)
    return trap, totals.numpy(), others.numpy()


CASES = {
    "in range": ([0, 1, 2, 3], [1, 2, 3, 4]),
    "leaves and comes back": ([2, 2, 2, 1], [TOP, 5, -TOP, 7]),
    "leaves for good": ([2, 0, 2, 3], [TOP, 1, 5, 2]),
    "the lowest element": ([3, 3, 1, 1], [TOP, 9, TOP, 9]),
    "out of range": ([1, 9, 1, 1], [TOP, 9, TOP, 9]),
}


@pytest.mark.parametrize("room", ["counts", "list"])
def test_totals_are_those_of_the_interpreter(gpu: FakeDriver, room: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, so that each launch takes the watch that the one before left."""
    if room == "list":
        monkeypatch.setattr(watches, "_MOST_COUNTS", 0)
        monkeypatch.setattr(launch, "_WATCHED", 1)
    for repeat in range(2):
        for name, (where, what) in CASES.items():
            expected, found = on("interp", where, what, 5, repeat), on("cuda", where, what, 5, repeat)
            assert found[0] == expected[0], name
            assert (found[1] == expected[1]).all() and (found[2] == expected[2]).all(), name


def test_launches_with_counts_do_not_wait(gpu: FakeDriver) -> None:
    """The trap of a total surfaces at the next synchronisation, like any other."""
    where, what = (ig.array(np.array(x, np.int32), device="cuda") for x in ([2, 2], [TOP, 5]))
    totals, others = (ig.zeros(5, ig.i32, device="cuda") for _ in range(2))
    added.on("cuda")(where, what, totals, others)
    with pytest.raises(ig.Trap, match="totals"):
        ig.synchronize()
    assert (totals.numpy() == 0).all()
