"""Operations that trap whenever they are reached are refused; those that trap for some launches or data are not."""

import inspect
from typing import Any, Literal

import pytest

import isogrid as ig
from isogrid import In, InOut, i32, i64, u32
from isogrid.checks.failures import check_failures
from isogrid.dims import N
from tests.analysis.built import built


@ig.kernel(grid=N)
def beyond_the_end(y: InOut[i32, N]) -> None:
    y[len(y)] = 1  # IG401


@ig.kernel(grid=4)
def beyond_a_fixed_extent(y: InOut[i32, Literal[4]]) -> None:
    y[ig.gid() + 4] = 1  # IG401


@ig.kernel(grid=N)
def overflowing(y: InOut[i32, N]) -> None:
    big = i32(2147483647)
    y[ig.gid()] = big + 1  # IG402


@ig.kernel(grid=N)
def zero_divisor(y: InOut[i32, N]) -> None:
    zero = i32(0)
    y[ig.gid()] = y[ig.gid()] // zero  # IG403


@ig.kernel(grid=N)
def wide_shift(y: InOut[i32, N]) -> None:
    amount = 32
    y[ig.gid()] = y[ig.gid()] >> amount  # IG404


@ig.kernel(grid=N)
def negative_power(y: InOut[i32, N]) -> None:
    exponent = i32(-1)
    y[ig.gid()] = y[ig.gid()] ** exponent  # IG405


@ig.kernel(grid=N)
def converted(y: InOut[u32, N]) -> None:
    minus = i32(-1)
    y[ig.gid()] = u32(minus)  # IG406


@ig.kernel(grid=N)
def stored(y: InOut[i32, N]) -> None:
    y[ig.gid()] = ig.gid() + 5000000000  # IG407


@ig.kernel(grid=N)
def no_step(y: InOut[i32, N]) -> None:
    step = 0
    for k in range(0, len(y), step):  # IG408
        y[k] = 1


REFUSED = [
    beyond_the_end, beyond_a_fixed_extent, overflowing, zero_divisor, wide_shift, negative_power, converted, stored,
    no_step,
]  # fmt: skip


@ig.kernel(grid=N)
def only_for_small_arrays(y: InOut[i32, N]) -> None:
    y[3] = 1


@ig.kernel(grid=N)
def in_unreachable_code(y: InOut[i32, N]) -> None:
    i = ig.gid()
    if i < 0:
        y[i] = 1
    if i >= len(y):
        y[i] = 2


@ig.kernel(grid=N)
def for_some_data(x: In[i32, N], y: InOut[i32, N], n: i64) -> None:
    i = ig.gid()
    y[i] = x[i] // x[0] + x[i] ** x[0] + (x[i] << n)


@ig.kernel(grid=0)
def steps_of_zero_in_no_thread(y: InOut[i32, N]) -> None:
    step = 0
    for j in range(0, 10, step):
        y[ig.gid()] = i32(j)


ACCEPTED = [only_for_small_arrays, in_unreachable_code, for_some_data, steps_of_zero_in_no_thread]


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda kernel: kernel.definition.name)
def test_refused(kernel: Any) -> None:
    source, first = inspect.getsourcelines(kernel.definition.function)
    marked = [(first + n, line.rsplit("# ", 1)[1].strip()) for n, line in enumerate(source) if "# IG" in line]
    assert [(report.primary.span.line, report.code) for report in check_failures(built(kernel))] == marked


@pytest.mark.parametrize("kernel", ACCEPTED, ids=lambda kernel: kernel.definition.name)
def test_accepted(kernel: Any) -> None:
    assert check_failures(built(kernel)) == []
