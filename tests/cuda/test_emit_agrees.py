"""The emitter on the simulator: gallery, random kernels, traps and totals give the interpreter's bits and words."""

from typing import Any

import numpy as np
import pytest

import gallery
from tests.conformance.support import agree, kernel
from tests.properties.generator.choices import Choices
from tests.properties.generator.execute import run
from tests.properties.generator.program import program


@pytest.mark.parametrize("name", gallery.NAMES)
def test_gallery_agrees(name: str) -> None:
    example = gallery.load(name)
    for size in example.sizes[2:5:2]:
        inputs = example.make_inputs(size, seed=11)
        want = example.run(inputs, "interp")
        found = example.run(inputs, "simulated")
        for output, values in want.items():
            assert not gallery.difference(found[output], values), (output, size)


@pytest.mark.parametrize("first", range(60_000, 60_030, 15))
def test_random_kernels_agree(first: int) -> None:
    for seed in range(first, first + 15):
        outcome = run(program(Choices(seed)), f"random kernel {seed}", ("interp", "simulated"))
        assert not outcome.trouble, (seed, outcome.trouble)


def _both(text: str, *arguments: Any) -> str:
    words, _ = agree(kernel(text), "simulated", *arguments)
    return words


@pytest.mark.parametrize("size", [1, 3, 4, 5, 1023, 1024, 1025])
def test_the_lowest_of_neighbouring_threads_traps(size: int) -> None:
    """Four threads run in one: the first bad one is named, whichever place it has among them."""
    text = """
@ig.kernel(grid=N, block=256)
def k(p: ig.In[ig.i32, N], x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = x[p[i]] + 1
"""
    x = np.arange(size, dtype=np.float32)
    for bad in range(min(size, 6)):
        p = np.arange(size, dtype=np.int32)[::-1].copy()
        p[bad] = size
        p[size - 1] = -1
        assert "index" in _both(text, p, x, np.zeros_like(x))


@pytest.mark.parametrize("groups", ["N", "(N, 3)", "(2, N, 2)"])
def test_groups_of_a_kernel_that_has_none_are_threads(groups: str) -> None:
    rank = groups.count(",") + 1
    text = f"""
@ig.kernel(groups={groups}, block={(2, 2, 4)[-rank:]})
def k(p: ig.In[ig.i32, N], y: ig.Out[ig.i64, M]) -> None:
    i = ig.gid()
    if i < M:
        y[i] = 7 // p[i % len(p)] + ig.grid_size() + ig.grid_size({rank - 1})
"""
    y = np.zeros(30, np.int64)
    assert not _both(text, np.ones(3, np.int32), y)
    assert "thread" in _both(text, np.array([1, 1, 0], np.int32), y)


@pytest.mark.parametrize("trips", [0, 1, 7, 8, 9, 16, 21])
def test_checks_of_eight_trips_name_the_right_trip(trips: int) -> None:
    text = """
@ig.kernel(grid=R, block=32)
def k(n: ig.i32, p: ig.In[ig.i32, N], x: ig.In[ig.f32, M], y: ig.Out[ig.f32, R]) -> None:
    acc = 0.0
    for k in range(n):
        acc += x[p[k]]
    y[ig.gid()] = acc
"""
    x = np.random.default_rng(trips).random(9).astype(np.float32)
    for bad in (None, 0, 3, 8, 20):
        p = np.arange(trips, dtype=np.int32) % 9
        if bad is not None and bad < trips:
            p[bad] = 9 + bad
        words = _both(text, trips, p, x, np.zeros(3, np.float32))
        assert bool(words) == (bad is not None and bad < trips)


@pytest.mark.parametrize("block", [8, 32, 33, 64])
def test_a_group_leaves_after_the_first_interval_with_a_trap(block: int) -> None:
    text = f"""
@ig.kernel(grid=N, block={block})
def k(n: ig.i32, x: ig.In[ig.i32, N], y: ig.InOut[ig.i32, N]) -> None:
    i = ig.gid()
    t = ig.lid()
    s = ig.shared(ig.i32, {block})
    if i < len(x):
        assert x[i] < 8, "first"
    ig.barrier()
    s[t] = t
    some = ig.group_any(t > 3 and i < len(x) and x[min(i, len(x) - 1)] > 5)
    assert t > 1 or (n < 3 and not some), "second"
    ig.barrier()
    if i < len(y):
        y[i] = s[{block - 1} - t]
"""
    for n, bad, value in ((0, block - 1, 9), (3, block - 1, 9), (3, 2 * block - 2, 9), (0, block + 4, 7), (0, None, 0)):
        x = np.zeros(3 * block - 1, np.int32)
        if bad is not None:
            x[bad] = value
        assert bool(_both(text, n, x, x.copy())) == (bad is not None)
