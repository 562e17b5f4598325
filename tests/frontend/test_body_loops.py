"""Loops and branches: what is gone over, leaving early, and which names are assigned afterwards."""

from typing import Any, Literal

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out
from isogrid.dims import M, N
from isogrid.ir import kernel as k

from .bodies import built, f32, i32, i64, refusal_codes, run_one, statements

OFFSETS = ((0, 1), (1, 0), (0, -1))


def loops(body: Any) -> list[k.For]:
    return [s for s in statements(built(body).body) if isinstance(s, k.For)]


def test_arrays_rows_and_their_elements() -> None:
    def body(x: In[ig.f32, N, Literal[3]], y: Out[ig.f32, N]) -> None:
        for i, row in enumerate(x):
            s = 0.0
            for v in row:
                s += v
            y[i] = s

    run_one(body, np.arange(6, dtype=np.float32).reshape(2, 3), y := f32(0, 0))
    assert y.tolist() == [3.0, 12.0]


def test_tuples_break_and_continue() -> None:
    def body(y: InOut[ig.i64, N]) -> None:
        for at, (dy, dx) in enumerate(OFFSETS, 10):
            if dx == 0:
                continue
            if dx < 0:
                break
            y[0] += at + dy
        for v in (5, 6, 7):
            for w in (1, 2):
                if w == 2 and v == 6:
                    break
                y[1] += v * w
            else_ = v
        y[2] = else_

    run_one(body, y := i64(0, 0, 0))
    assert y.tolist() == [10, 5 + 10 + 6 + 7 + 14, 7]


def test_zip_ends_with_the_shortest() -> None:
    def body(x: In[ig.f32, N], z: In[ig.f32, M], y: Out[ig.f32, Literal[4]]) -> None:
        s = 0.0
        for u, v in zip(x, z, strict=False):
            s += u * v
        y[0] = s
        s = 0.0
        for u, w in zip(x, (10, 20, 30), strict=False):
            s += u * ig.f32(w)
        y[1] = s
        count = 0
        for i, (_, j) in enumerate(zip(x, range(2), strict=False), 5):
            count += i * 10 + j
        y[2] = ig.f32(count)
        y[3] = 0.0

    run_one(body, f32(1, 2), f32(3, 4, 5), y := f32(0, 0, 0, 0))
    assert y.tolist() == [11.0, 50.0, 50 + 61, 0.0]


def test_ranges_of_every_step() -> None:
    def body(p: In[ig.i32, N], y: InOut[ig.i64, M]) -> None:
        for i in range(5, 0, -2):
            y[0] = y[0] * 10 + i
        for j in range(p[0], p[1], p[2]):
            y[1] = y[1] * 10 + j
        for at, i in enumerate(range(3, 9, 3)):
            y[2] = y[2] * 10 + i + at

    run_one(body, i32(1, 8, 3), y := i64(0, 0, 0))
    assert y.tolist() == [531, 147, 37]
    kernel = built(body)
    assert [s.step_checked for s in statements(kernel.body) if isinstance(s, k.For)] == [False, True, False]


def test_while_true_with_breaks_assigns_what_every_break_did() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.f32, N]) -> None:
        j = 0
        while True:
            if x[j] < 0.0:
                found = 1.0
                break
            j += 1
            if j == len(x):
                found = 0.0
                break
        y[0] = found

    run_one(body, f32(1.0, -1.0), y := f32(9, 9))
    assert y[0] == 1.0


def test_names_after_a_loop_that_surely_runs() -> None:
    def body(y: Out[ig.i64, N]) -> None:
        for j in range(3):
            last = j * j
        y[0] = last + j

    run_one(body, y := i64(0))
    assert y[0] == 6

    def maybe(y: Out[ig.i64, N]) -> None:
        for j in range(3):
            if j == 1:
                break
            last = j
        y[0] = last

    assert refusal_codes(maybe) == ["IG106"]


def test_names_of_branches() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.f32, N]) -> None:
        if x[0] > 0.0:
            v = 1.0
        elif x[0] < 0.0:
            v = -1.0
        else:
            y[0] = 0.0
            return
        y[0] = v

    run_one(body, f32(-3.0), y := f32(9.0))
    assert y[0] == -1.0


def test_unroll_factors_reach_the_loops() -> None:
    def body(y: InOut[ig.i64, N]) -> None:
        for i in ig.unroll(range(9), 4):
            y[0] += i
        for i in ig.unroll(range(9)):
            y[0] += i
        j = 0
        while ig.unroll(j < 5, 2):
            j += 1

    kernel = built(body)
    factors = [s.unroll for s in statements(kernel.body) if isinstance(s, k.For | k.While)]
    assert factors == [4, 0, 2]


def test_code_that_nothing_reaches_is_judged_and_dropped() -> None:
    def body(y: Out[ig.i64, N]) -> None:
        y[0] = 1
        return
        y[0] = 2

    assert len([s for s in statements(built(body).body) if isinstance(s, k.Store)]) == 1

    def faulty(y: Out[ig.i64, N]) -> None:
        return
        y[0] = missing  # type: ignore[name-defined]  # noqa: F821

    assert refusal_codes(faulty) == ["IG105"]


def test_a_loop_over_an_array_is_one_loop_without_checks() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.f32, N]) -> None:
        s = 0.0
        for v in x:
            s += v
        y[0] = s

    (loop,) = loops(body)
    first = loop.body[0]
    assert isinstance(first, k.Assign) and isinstance(first.value, k.Load) and first.value.checked == (False,)


def test_counting_down_to_the_least_value_does_not_overflow() -> None:
    def body(y: InOut[ig.i64, N]) -> None:
        for _ in range(-(2**63) + 1, -(2**63), -1):
            y[0] += 1
        for _ in range(2**63 - 2, 2**63 - 1):
            y[0] += 1

    run_one(body, y := i64(0))
    assert y[0] == 2
