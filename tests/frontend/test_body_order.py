"""Order of evaluation, by which of several traps comes first, and by what is evaluated at all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out
from isogrid.dims import N
from isogrid.ir import kernel as k

from .bodies import built, f32, i32, i64, refusal_codes, run_one, statements

# Three faults that tell their order: an index out of range, a division by zero, a shift out of range.
INDEX, ZERO, SHIFT = ig.KernelIndexError, ig.KernelZeroDivisionError, ig.KernelValueError


def operands_left_to_right(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[0] = (n[9] + (1 << n[1])) + 1 // n[0]


def shift_first(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[0] = (1 << n[1]) + n[9] + 1 // n[0]


def value_before_index(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[1 // n[0]] = 1 << n[1]


def index_before_bounds(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[9 + 1 // n[0]] = 1


def bounds_after_value(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[9] = 1 << n[1]


def augmented_bounds_before_value(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[9] += 1 << n[1]


def augmented_index_first(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[1 // n[0]] += 1 << n[1]


def right_side_whole_then_targets(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    a, y[9] = 1, 1 << n[1]
    y[0] = a


def targets_left_to_right(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[9], y[1 // n[0]] = 1, 2


def chained_targets_left_to_right(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[1 // n[0]] = y[9] = n[1]


def atomic_arguments_before_bounds(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    ig.atomic_add(y, 9, 1 << n[1])


@ig.func
def shifted(v, k):  # type: ignore[no-untyped-def]
    return 1 << k


@ig.func
def divided(v):  # type: ignore[no-untyped-def]
    if v > 100:
        return v
    return 1 // v


def arguments_complete_before_the_body(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[0] = shifted(n[1], n[9])


def helper_before_the_operand_on_its_right(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[0] = divided(n[0]) + n[9]


def operand_before_the_helper_on_its_right(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    y[0] = n[9] + divided(n[0])


def axes_left_to_right(n: In[ig.i32, N], y: InOut[ig.i32, N]) -> None:
    grid = ig.local(ig.i32, (2, 2))
    y[0] = grid[n[1], 1 // n[0]]


@pytest.mark.parametrize(
    ("body", "first"),
    [
        (operands_left_to_right, INDEX),
        (shift_first, SHIFT),
        (value_before_index, SHIFT),
        (index_before_bounds, ZERO),
        (bounds_after_value, SHIFT),
        (augmented_bounds_before_value, INDEX),
        (augmented_index_first, ZERO),
        (right_side_whole_then_targets, SHIFT),
        (targets_left_to_right, INDEX),
        (chained_targets_left_to_right, ZERO),
        (atomic_arguments_before_bounds, SHIFT),
        (arguments_complete_before_the_body, INDEX),
        (helper_before_the_operand_on_its_right, ZERO),
        (operand_before_the_helper_on_its_right, INDEX),
        (axes_left_to_right, ZERO),
    ],
    ids=lambda value: value.__name__,
)
def test_the_first_trap(body: Callable[..., Any], first: type[ig.Trap]) -> None:
    with pytest.raises(first):
        run_one(body, i32(0, 40), i32(0, 0))


def test_only_what_python_evaluates() -> None:
    def body(n: In[ig.i32, N], y: Out[ig.i32, N]) -> None:
        zero = n[0] == 0
        y[0] = 1 if zero or 1 // n[0] > 0 else 2
        y[1] = 1 if not zero and 1 // n[0] > 0 else 2
        y[2] = 7 if zero else 1 // n[0]
        y[3] = 1 if n[1] < n[0] < 1 // n[0] else 2
        y[4] = 1 if zero or divided(n[0]) > 0 else 2
        y[5] = 1 if n[1] < n[0] < divided(n[0]) else 2

    run_one(body, i32(0, 5, 0, 0, 0, 0), y := i32(0, 0, 0, 0, 0, 0))
    assert y.tolist() == [1, 2, 7, 2, 1, 2]


def test_a_middle_is_evaluated_once() -> None:
    @ig.func
    def counted(counter, value):  # type: ignore[no-untyped-def]
        counter[0] += 1
        return value

    def body(y: InOut[ig.i32, N]) -> None:
        y[1] = 1 if 0 < counted(y, 5) < 9 < 10 else 0

    run_one(body, y := i32(0, 0))
    assert y.tolist() == [1, 1]


def test_targets_see_the_assignments_before_them() -> None:
    def body(y: Out[ig.i64, N]) -> None:
        i = 3
        i, y[i] = 1, i
        i = y[i + 2] = i + 1
        a, b = 1, 2
        a, b = b, a
        y[0] = a * 10 + b

    run_one(body, y := i64(0, 0, 0, 0, 0))
    assert y.tolist() == [21, 3, 0, 0, 2]


def test_a_row_keeps_the_index_it_was_taken_with() -> None:
    def body(y: InOut[ig.f32, N, N]) -> None:
        i = 0
        row = y[i]
        i = 1
        row[1] = 5.0
        y[i][0] = 7.0

    run_one(body, y := np.zeros((2, 2), np.float32))
    assert y.tolist() == [[0.0, 5.0], [7.0, 0.0]]


def test_range_bounds_are_read_once() -> None:
    def body(y: Out[ig.i64, N]) -> None:
        n = 3
        count = 0
        for i in range(n):
            n = 10
            count += 1
            i = 100  # noqa: F841
        y[0] = count
        y[1] = n

    run_one(body, y := i64(0, 0))
    assert y.tolist() == [3, 10]


def test_an_unused_value_is_still_evaluated() -> None:
    def body(n: In[ig.i32, N], y: Out[ig.i32, N]) -> None:
        1 // n[0]
        y[0] = 1

    with pytest.raises(ZERO):
        run_one(body, i32(0), i32(0))


def test_an_iterated_element_is_loaded_at_the_start_of_its_trip() -> None:
    def body(y: InOut[ig.f32, N]) -> None:
        for v in y:
            y[1] = v + 1.0
            y[2] = v

    run_one(body, y := f32(1.0, 0.0, 0.0))
    assert y.tolist() == [1.0, 3.0, 2.0]


def test_an_augmented_element_checks_its_bounds_once() -> None:
    def body(y: InOut[ig.f32, N]) -> None:
        i = ig.gid()
        y[i - 1] += 1.0

    store = next(s for s in statements(built(body).body) if isinstance(s, k.Store))
    assert store.checked == (False,)


def test_walrus_is_refused_where_it_could_change_a_local() -> None:
    def body(y: Out[ig.i64, N]) -> None:
        a = 1
        y[0] = a + (a := 2)

    assert refusal_codes(body) == ["IG101"]
