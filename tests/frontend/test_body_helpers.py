"""Helpers: typed per call, several returns, rows and shared arrays, recursion in last place, own dimensions."""

import math
from typing import Any, TypeVar

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, f64
from isogrid.dims import M, N
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar

from .bodies import built, f32, i32, i64, refusal_codes, run, run_one, statements, types_of

T = TypeVar("T", ig.f32, ig.f64)


@ig.func
def square(v: Any) -> Any:
    return v * v


@ig.func
def sign(v: ig.f32) -> ig.f32:
    if v < 0.0:
        return -1.0
    if v > 0.0:
        return 1.0
    return 0.0


@ig.func
def first_negative(x: Any, missing: ig.i64 = -1) -> ig.i64:
    for j in range(len(x)):
        for _ in range(1):
            if x[j] < 0.0:
                return j
    return missing


@ig.func
def minmax(a: Any, b: Any) -> Any:
    if a < b:
        return a, b
    return b, a


@ig.func
def greatest_common_divisor(a: ig.i32, b: ig.i32) -> ig.i32:
    return a if b == 0 else greatest_common_divisor(b, a % b)


@ig.func
def collatz(n: Any, steps: Any = 0) -> Any:
    if n == 1:
        return steps
    if n % 2 == 0:
        return collatz(n // 2, steps + 1)
    return collatz(3 * n + 1, steps + 1)


@ig.func
def bubble(row: Any, j: Any) -> Any:
    if j + 1 == len(row):
        return ig.i32(j)
    row[j], row[j + 1] = minmax(row[j], row[j + 1])
    return bubble(row, j + 1)


@ig.func
def i32_of(v: Any) -> ig.i32:
    return ig.i32(v)


@ig.func
def count_down(y: Any, n: Any) -> None:
    if n > 0:
        y[n] = n
        return count_down(y, n - 1)
    return None


@ig.func
def total(row: In[T, N]) -> T:
    s = T(0)
    for v in row:
        s += v
    return s / T(int(N))


def test_a_helper_is_typed_per_call() -> None:
    def body(x: In[ig.f32, N], n: In[ig.i32, N], y: Out[ig.f32, N]) -> None:
        i = ig.gid()
        a = square(x[i])
        b = square(n[i])
        y[i] = a + ig.f32(b) + square(2) * square(0.5)

    found = types_of(built(body))
    assert (found["a"], found["b"]) == (Scalar.F32, Scalar.I32)
    run(body, f32(3.0, 1.0), i32(2, 0), y := f32(0, 0))
    assert y.tolist() == [14.0, 2.0]


def test_several_returns() -> None:
    def body(x: InOut[ig.f32, N]) -> None:
        i = ig.gid()
        x[i] = sign(x[i]) + 10.0 * sign(-x[i])

    run(body, x := f32(-4.0, 0.0, 2.0))
    assert x.tolist() == [9.0, 0.0, -9.0]


def test_returns_out_of_loops_defaults_and_keywords() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.i64, M]) -> None:
        y[0] = first_negative(x)
        y[1] = first_negative(missing=7, x=x)

    run_one(body, f32(1.0, -2.0, -3.0), y := i64(0, 0))
    assert y.tolist() == [1, 1]
    run_one(body, f32(1.0), y)
    assert y.tolist() == [-1, 7]


def test_tuples_are_returned_and_unpacked() -> None:
    def body(x: InOut[ig.f32, N]) -> None:
        for j in range(len(x) - 1):
            low, high = minmax(x[j], x[j + 1])
            x[j], x[j + 1] = low, high
        x[0] = minmax(x[0], 5.0)[1]

    run_one(body, x := f32(3.0, 1.0, 2.0))
    assert x.tolist() == [5.0, 2.0, 3.0]


def test_a_call_of_itself_in_last_place_is_a_loop() -> None:
    def body(n: In[ig.i32, N], y: Out[ig.i32, N], z: InOut[ig.i64, M]) -> None:
        i = ig.gid()
        y[i] = greatest_common_divisor(n[i], 36) + 1000 * collatz(n[i])
        if i == 0:
            count_down(z, 3)

    run(body, i32(24, 7), y := i32(0, 0), z := i64(9, 9, 9, 9))
    assert y.tolist() == [12 + 10_000, 1 + 16_000]
    assert z.tolist() == [9, 1, 2, 3]
    assert any(isinstance(s, k.While) for s in statements(built(body).body))


def test_a_row_stays_the_same_in_a_call_of_itself() -> None:
    def body(x: InOut[ig.i32, N, M], y: Out[ig.i32, N]) -> None:
        i = ig.gid()
        y[i] = bubble(x[i + 1 - 1], 0)

    run(body, x := np.array([[3, 2, 1], [0, 5, 4]], np.int32), y := i32(0, 0))
    assert x.tolist() == [[2, 1, 3], [0, 4, 5]] and y.tolist() == [2, 2]


def test_one_of_two_tuples_of_tuples() -> None:
    def body(x: In[ig.i32, N], y: Out[ig.i32, N]) -> None:
        i = ig.gid()
        (a, (b, c)), d = ((x[i], (1, 2)), 3) if x[i] > 4 else ((7, (x[i], minmax(x[i], 3)[0])), x[i])
        y[i] = a * 1000 + i32_of(b) * 100 + c * 10 + i32_of(d)

    run(body, i32(5, 2), y := i32(0, 0))
    assert y.tolist() == [5123, 7222]


def test_rows_and_dimensions_of_a_helper() -> None:
    def body(x: In[ig.f32, N, M], y: Out[ig.f32, N]) -> None:
        i = ig.gid()
        y[i] = total(x[i])

    run(body, np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]], np.float32), y := f32(0, 0))
    assert y.tolist() == [3.0, 1.0]


def test_generic_helpers_follow_their_arguments() -> None:
    def body(x: In[f64, N], y: Out[f64, N]) -> None:
        y[0] = total(x)

    run_one(body, np.array([1.0, 2.0]), y := np.zeros(2))
    assert y[0] == 1.5


def test_helpers_use_shared_arrays_barriers_and_atomics() -> None:
    @ig.func
    def reduce(tile: Any, t: Any, counter: Any) -> Any:
        half = 2
        while half > 0:
            if t < half:
                tile[t] += tile[t + half]
            ig.barrier()
            half = half // 2
        ig.atomic_add(counter, 0, 1)
        return tile[0]

    def body(x: In[ig.f32, N], y: Out[ig.f32, N], counter: InOut[ig.i32, M]) -> None:
        tile = ig.shared(ig.f32, 4)
        t = ig.lid()
        tile[t] = x[ig.gid()]
        ig.barrier()
        y[ig.gid()] = reduce(tile, t, counter)

    kernel = built(body, block=4)
    assert kernel.grouped
    run(body, f32(1, 2, 3, 4), y := f32(0, 0, 0, 0), counter := i32(0), block=4)
    assert (y.tolist(), counter.tolist()) == ([10.0] * 4, [4])


def test_helpers_call_helpers_and_have_locals_of_their_own() -> None:
    @ig.func
    def twice(v: Any) -> Any:
        i = v
        i += v
        return i

    @ig.func
    def hypotenuse(a: Any, b: Any) -> Any:
        i = square(a)
        j = twice(square(b)) - square(b)
        return math.sqrt(i + j)

    def body(x: InOut[ig.f32, N]) -> None:
        i = ig.gid()
        x[i] = hypotenuse(x[i], twice(2.0))

    run(body, x := f32(3.0, 0.0))
    assert x.tolist() == [5.0, 4.0]


def test_a_parameter_that_the_helper_assigns_is_its_own() -> None:
    @ig.func
    def halved(n: Any) -> Any:
        steps = 0
        while n > 1:
            n = n // 2
            steps += 1
        return steps

    def body(n: In[ig.i32, N], y: Out[ig.i64, N]) -> None:
        i = ig.gid()
        m = n[i]
        y[i] = halved(m) * 100 + halved(m)

    run(body, i32(8, 1), y := i64(0, 0))
    assert y.tolist() == [303, 0]


def test_helpers_in_conditions_of_loops() -> None:
    @ig.func
    def below(x: Any, j: Any, limit: Any) -> Any:
        if j >= len(x):
            return False
        return x[j] < limit

    def body(x: In[ig.f32, N], y: Out[ig.i64, N]) -> None:
        j = 0
        while below(x, j, 3.0):
            j += 1
            if j == 1:
                continue
        y[0] = j

    run_one(body, f32(1.0, 2.0, 3.0, 0.0), y := i64(0, 0, 0, 0))
    assert y[0] == 2


def test_two_dimensions_of_one_name_must_be_equal() -> None:
    @ig.func
    def dot(a: In[ig.f32, M], b: In[ig.f32, M]) -> ig.f32:
        s = 0.0
        for u, v in zip(a, b, strict=False):
            s += u * v
        return s

    def good(x: In[ig.f32, N], y: Out[ig.f32, M]) -> None:
        y[0] = dot(x, x)

    def bad(x: In[ig.f32, N], z: In[ig.f32, M], y: Out[ig.f32, N]) -> None:
        y[0] = dot(x, z)

    assert refusal_codes(good) == []
    assert refusal_codes(bad) == ["IG155"]


def test_a_fault_in_a_helper_is_reported_once() -> None:
    @ig.func
    def faulty(v: Any) -> Any:
        return v + missing  # type: ignore[name-defined]  # noqa: F821

    def body(x: InOut[ig.f32, N]) -> None:
        i = ig.gid()
        x[i] = faulty(x[i]) * faulty(2.0)
        x[i] = faulty(x[i])

    assert refusal_codes(body) == ["IG105"]
