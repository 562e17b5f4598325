"""Overlap of strided views against a count of every byte."""

from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from isogrid.launch import overlap
from isogrid.launch.overlap import Overlap, arrays_overlap, self_overlap


def offsets(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> list[int]:
    starts = [sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(*shape)]
    return [start + byte for start in starts for byte in range(itemsize)]


axes = st.lists(st.tuples(st.integers(0, 5), st.integers(-40, 40)), min_size=1, max_size=4)


@settings(max_examples=400, deadline=None)
@example(axes=[(3, 6), (2, 9)], itemsize=4)  # interleaved without nesting: no byte twice
@example(axes=[(8, 4), (2, 4)], itemsize=4)  # sliding windows
@given(axes=axes, itemsize=st.sampled_from([1, 2, 4, 8]))
def test_self_overlap(axes: list[tuple[int, int]], itemsize: int) -> None:
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    found = offsets(shape, strides, itemsize)
    expected = Overlap.YES if len(set(found)) < len(found) else Overlap.NO
    assert self_overlap(shape, strides, itemsize) is expected


view = st.tuples(
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 16)), min_size=1, max_size=2),
    st.booleans(),
)


def view_of(memory: "np.ndarray[Any, Any]", start: int, axes: list[tuple[int, int]]) -> "np.ndarray[Any, Any]":
    shape, strides = tuple(n for n, _ in axes), tuple(4 * s for _, s in axes)
    return np.lib.stride_tricks.as_strided(memory[start:], shape, strides)


@settings(max_examples=300, deadline=None)
@given(first=view, second=view)
def test_arrays_overlap(first: Any, second: Any) -> None:
    memory = np.zeros(200, np.float32)
    a, b = view_of(memory, first[0], first[1]), view_of(memory, second[0], second[1])
    a, b = (a[::-1] if first[2] else a), (b[::-1] if second[2] else b)
    bytes_of = [{v.__array_interface__["data"][0] + o for o in offsets(v.shape, v.strides, v.itemsize)} for v in (a, b)]
    assert arrays_overlap(a, b) is (Overlap.YES if bytes_of[0] & bytes_of[1] else Overlap.NO)


def test_beyond_the_work_limit_the_answer_is_perhaps(monkeypatch: Any) -> None:
    monkeypatch.setattr(overlap, "WORK_LIMIT", 3)
    assert self_overlap((50, 50, 50), (700, 500, 300), 8) is Overlap.PERHAPS


def test_regular_views_take_few_steps() -> None:
    assert self_overlap((1 << 20, 1 << 20), (1 << 24, 8), 4) is Overlap.NO
    assert self_overlap((1 << 20, 3, 1 << 10), (12 << 10, 4, 12), 4) is Overlap.NO
    assert self_overlap((1 << 20, 4, 1 << 10), (12 << 10, 4, 12), 4) is Overlap.YES
