"""Large launches that may trap check first and write then: the same results, traps and arrays as those that save."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64
from isogrid.backends.cpu import artifact, pool
from isogrid.backends.cpu.caches import most_cached
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import M, N

pytestmark = pytest.mark.skipif(not pool.is_supported(), reason="there is no native pool here")


@ig.kernel(grid=N)
def tripled(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * 3


@ig.kernel(grid=N)
def shifted(x: In[f32, N], y: Out[f32, M], by: i64) -> None:
    i = ig.gid()
    y[i + by] = x[i] + 1.0


@ig.kernel(grid=N)
def raised(x: In[i32, N], y: InOut[i32, N]) -> None:
    i = ig.gid()
    y[i] = y[i] + x[i]


@ig.kernel(grid=N)
def added(x: In[i32, N], y: InOut[i32, N]) -> None:
    i = ig.gid()
    y[i] = y[i] + x[i]


@ig.kernel(grid=N)
def gathered(k: In[i32, N], x: In[f32, M], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[k[i]]


@ig.kernel(grid=N)
def quotients(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = 1000 // x[i]


@ig.kernel(grid=N)
def chosen(x: In[i32, N], k: In[i32, N], y: InOut[i32, M]) -> None:
    i = ig.gid()
    if k[i] > 0:
        y[i] = x[i]


@ig.kernel(grid=N)
def large(x: In[i32, N], y: InOut[i32, N]) -> None:
    i = ig.gid()
    v = x[i] * 3
    if v > 100:
        y[i] = v


@ig.kernel(grid=N)
def scattered(k: In[i32, N], y: InOut[f32, M]) -> None:
    ig.require(ig.distinct(k))
    y[k[ig.gid()]] = 1.0


@ig.kernel(grid=N)
def twice(x: In[i32, N], y: InOut[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1
    y[i] = y[i] * 5


@ig.kernel(grid=N)
def much(x: In[i32, N], z: In[i32, N], w: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * z[i] + w[i]


@ig.kernel(grid=N)
def proved(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1.0


CASES: dict[str, tuple[Any, bool]] = {
    "a sum": (tripled, True), "a place": (shifted, True), "its own array": (raised, True),
    "a place that was loaded": (gathered, False), "a divisor that was loaded": (quotients, False),
    "a check where something was loaded": (chosen, False), "a store where something was loaded": (large, False),
    "a store to where something was loaded": (scattered, False), "what was written": (twice, False),
    "more to read than to copy": (much, False), "no checks": (proved, False),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_which_kernels(name: str) -> None:
    kernel, halves = CASES[name]
    device = stages_of(kernel, (), wide=False).device
    assert emit_module(device, host_target(), {}).halves == halves
    assert not emit_module(device, host_target(), {"disable": frozenset({"halves"})}).halves
    assert not emit_module(device, host_target(), {"fastmath": True}).halves


@pytest.fixture
def low() -> Iterator[None]:
    native = pool.native_pool()
    native.set_streams(1 << 16, 0)
    try:
        yield
    finally:
        native.set_streams(most_cached(pool.usable_processors()), pool.STREAMS_WORTH)


def last_halves() -> Any:
    kept = artifact._KEPT  # pyright: ignore[reportPrivateUsage]
    return next(one[2] for one in reversed(kept) if one[2] is not None)


@pytest.mark.usefixtures("low")
@pytest.mark.parametrize("kernel", [tripled, raised], ids=["out", "inout"])
def test_traps_change_nothing(kernel: Any) -> None:
    launch = kernel.on("cpu")
    for count in (200_001, 100):
        x, start = np.arange(count, dtype=np.int32), np.full(count, 7, np.int32)
        wanted = x * 3 if kernel is tripled else x + 7
        for bad in (None, 0, count // 2, count - 1, None):
            y = start.copy()
            if bad is None:
                launch(x, y)
                assert (y == wanted).all()
                continue
            kept, x[bad] = int(x[bad]), (1 << 31) - 1
            with pytest.raises(ig.KernelOverflowError) as caught:
                launch(x, y)
            x[bad] = kept
            assert (y == start).all() and f"thread {bad}\n" in str(caught.value)
    assert last_halves().check and last_halves().write


@pytest.mark.usefixtures("low")
def test_places_outside() -> None:
    launch = shifted.on("cpu")
    count = 100_000
    x, y = np.arange(count, dtype=np.float32), np.zeros(count + 10, np.float32)
    for by in (0, 10, 3):
        y[...] = 0
        launch(x, y, by)
        assert (y[by : by + count] == x + 1).all() and not y[:by].any() and not y[by + count :].any()
    for by in (11, -1, 1 << 40):
        before = y.copy()
        with pytest.raises(ig.KernelIndexError):
            launch(x, y, by)
        assert (y == before).all()


def test_the_halves_are_made_when_it_pays() -> None:
    count = most_cached(pool.usable_processors()) // 4
    launch = added.on("cpu")
    x, y = np.zeros(count, np.int32), np.ones(count, np.int32)
    launch(x[:-64], y[:-64])
    halves = last_halves()
    assert (halves.written, halves.check) == (0, None), "a launch below the threshold counts"
    launch(x, y)
    assert (halves.written, halves.check) == (4 * count, None)
    halves.written = pool.STREAMS_WORTH - 4 * count - 1
    launch(x, y)
    assert (halves.written, halves.check) == (pool.STREAMS_WORTH - 1, None)
    halves.written = pool.STREAMS_WORTH - 4 * count
    launch(x, y)
    assert halves.check and halves.write and (y == 1).all()
    # Only the halves run now: with the other one in its place nothing is written.
    halves.write = halves.check
    launch(x + 1, y)
    assert (y == 1).all()
    launch(x[:-64] + 1, y[:-64])
    assert (y[:-64] == 2).all() and y[-1] == 1
