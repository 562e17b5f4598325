"""Control flow, order of evaluation, memory, group operations: a lowering agrees with the kernel that it came from."""

import itertools
from typing import Any, Literal

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64, u8, u64
from isogrid.analysis.facts import LaunchFacts
from isogrid.dims import N
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space
from isogrid.ir.verify import verify
from isogrid.ir.walk import visit
from isogrid.pipeline import lower, optimise
from tests.analysis.built import built
from tests.lowering.agree import Pair


def both_ways(kernel: k.Kernel) -> list[Pair]:
    """The kernel lowered as it is, and lowered after every pass; the reference is the kernel itself."""
    optimised = optimise(kernel, frozenset(), LaunchFacts(), {})
    verify(optimised, "optimise")
    return [Pair(kernel), Pair(optimised, kernel)]


def counting_loop(type: Scalar) -> k.Kernel:
    """Mixes the counters of the first 6 trips of `range(a, b, c)`, in w64 so that nothing but the step traps."""
    w64 = Scalar.W64
    local, one = k.Local("t", w64), k.Const(1, INDEX)
    counter = k.Cast(k.Local("i", type), w64, False)
    mixed = k.Binary("add", k.Binary("mul", local, k.Const(31, w64), w64, False), counter, w64, False)
    trips = k.Local("n", w64)
    body = (
        k.Assign("t", mixed),
        k.Assign("n", k.Binary("add", trips, k.Const(1, w64), w64, False)),
        k.If(k.Compare("ge", trips, k.Const(6, w64)), (k.Break(),)),
    )
    bounds = [k.ScalarValue(name, type) for name in "abc"]
    statements = (
        k.Assign("t", k.Const(0, w64)),
        k.Assign("n", k.Const(0, w64)),
        k.For("i", bounds[0], bounds[1], bounds[2], body, type),
        k.Store("y", (k.Const(0, INDEX),), local, w64, Space.GLOBAL, (False,), False),
    )
    parameters = (*(k.ScalarParameter(name, type) for name in "abc"), k.ArrayParameter("y", w64, (one,), Access.OUT))
    return k.Kernel("count", parameters, (), k.Geometry("grid", (one,), (1,)), False, (), (), (), statements)


@pytest.mark.parametrize("type", [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64])
def test_trips_are_counted_exactly(type: Scalar) -> None:
    """Any start, stop and step, where differences leave the type and steps are the type's extremes."""
    pair = Pair(counting_loop(type))
    ends = [type.minimum, type.minimum + 1, 0, 5, type.maximum - 1, type.maximum]
    steps = [0, 1, 2, 3, type.maximum] + ([-1, -3, type.minimum] if type.is_signed else [])
    for start, stop, step in itertools.product(dict.fromkeys(ends), dict.fromkeys(ends), steps):
        trapped = pair.compare({"y": np.zeros(1, np.uint64)}, (1,), {"a": start, "b": stop, "c": step})
        assert bool(trapped) == (step == 0)


@ig.func
def digits(n: i64, y: InOut[i64, N]) -> i64:
    count = 0
    while True:
        if n < 10:
            return count + 1
        for digit in range(10):
            if digit == n % 10:
                break
        else_digit = n // 10
        n = else_digit
        count += 1
        if count > 30:
            return -1


@ig.kernel(grid=N)
def returns_out_of_loops(y: InOut[i64, N]) -> None:
    i = ig.gid()
    y[i] = digits(y[i], y)


@ig.kernel(grid=N)
def guarded_by_logic(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    if (x[i] != 0 and 100 // x[i] > 3) or x[i] + 1 == 0:
        y[i] = 1
    y[i] = (7 // x[i]) if x[i] > 0 else (x[i] * x[i])


@ig.kernel(grid=N)
def evaluation_order(x: InOut[i32, N], k: InOut[i32, Literal[1]]) -> None:
    i = ig.gid()
    old = x[i]
    x[i], x[(i + 1) % len(x)] = x[(i + 1) % len(x)] + old, old
    x[i] += x[i] // k[0]


@ig.kernel(grid=N)
def counter_assigned(y: Out[i64, N]) -> None:
    i = ig.gid()
    total = 0
    for j in range(5):
        j = j * 2
        if j == 4:
            continue
        total += j
    for j in range(2):
        for j in range(3):
            total += j
        total += 10 * j
    y[i] = total + j


@ig.kernel(grid=N)
def private_array(x: In[u8, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    total = 0
    for turn in range(3):
        mine = ig.local(u8, (2, 3))
        mine[turn % 2, x[i]] = 200
        for row in range(2):
            for column in range(3):
                total += mine[row, column] * (turn + 1)
    y[i] = total


@ig.kernel(grid=N, block=8)
def group_operations(x: In[i32, N], y: Out[i32, N], bins: InOut[i32, Literal[4]]) -> None:
    i = ig.gid()
    v = x[i] if i < len(x) else 0
    shared = ig.shared(i32, 8)
    shared[ig.lid()] = v
    total = ig.group_sum(v)
    high = ig.group_max(v)
    before = ig.group_scan(v, exclusive=True)
    loud = ig.group_any(v > 100)
    other = shared[7 - ig.lid()]
    ig.atomic_add(bins, v & 3, v)
    if i < len(x):
        y[i] = total ^ high ^ before ^ other ^ (1 if loud else 0)


KERNELS: list[tuple[Any, dict[str, Any], str]] = [
    (returns_out_of_loops, {"y": np.array([0, 9, 10, 123456, 10**17, -5])}, ""),
    (guarded_by_logic, {"x": np.array([0, 1, -1, 50, 46341], np.int32), "y": np.zeros(5, np.int32)}, ""),
    (guarded_by_logic, {"x": np.array([0, 1, -46341], np.int32), "y": np.zeros(3, np.int32)}, "OverflowError"),
    (evaluation_order, {"x": np.array([1, 2, 3], np.int32), "k": np.array([2], np.int32)}, ""),
    (evaluation_order, {"x": np.array([1, 2, 3], np.int32), "k": np.array([0], np.int32)}, "ZeroDivision"),
    (counter_assigned, {"y": np.zeros(2, np.int64)}, ""),
    (private_array, {"x": np.array([0, 1, 2], np.uint8), "y": np.zeros(3, np.int64)}, ""),
    (private_array, {"x": np.array([0, 3], np.uint8), "y": np.zeros(2, np.int64)}, "IndexError"),
    *(
        (
            group_operations,
            {"x": np.array(x, np.int32), "y": np.zeros(len(x), np.int32), "bins": np.array(bins, np.int32)},
            trap,
        )
        for x, bins, trap in [
            ([1, 2, 3], [0, 0, 0, 0], ""),
            (list(range(20)), [5, 6, 7, 8], ""),
            ([2**31 - 1, 1], [0, 0, 0, 0], "group_sum"),
            ([2**31 - 1, -5], [0, 0, 0, 2**31 - 1], "bins"),
            ([2**31 - 4, 4], [2**31 - 1, 0, 0, 0], "group_sum"),
        ]
    ),
]


@pytest.mark.parametrize(("kernel", "arrays", "trap"), KERNELS)
def test_agrees(kernel: Any, arrays: dict[str, Any], trap: str) -> None:
    source = built(kernel)
    count = len(arrays["x"] if "x" in arrays else arrays["y"])
    for pair in both_ways(source):
        text = pair.compare(arrays, (count,), dims={"N": count})
        assert trap in text and bool(trap) == bool(text)


def test_single_assignments_become_lets() -> None:
    """What is assigned once, above its reads, is a value; only what changes is a variable."""
    device = lower(built(counter_assigned), LaunchFacts())
    assert {name for name, _ in device.variables} == {"total", "j"}
    assert "i" in {node.name for node in visit(device.body) if isinstance(node, d.Let)}


@pytest.mark.parametrize("factor", [1, 2, 3, 8])
def test_factors_keep_results(factor: int) -> None:
    """Trips around every multiple of the factor, with `break` and `continue`, counting up and down."""
    loop = counting_loop(Scalar.I32)
    (first, second, head, store) = loop.body
    assert isinstance(head, k.For)
    skipping = k.If(k.Compare("eq", k.Local("i", Scalar.I32), k.Const(2, Scalar.I32)), (k.Continue(),))
    again = k.For(head.counter, head.start, head.stop, head.step, (skipping, *head.body), head.type, factor)
    kernel = k.Kernel("factor", loop.parameters, (), loop.geometry, False, (), (), (), (first, second, again, store))
    pair = Pair(kernel)
    pair.use(_verified(lower(kernel, LaunchFacts())))
    for stop in range(12):
        for start, end, step in ((0, stop, 1), (1, stop, 2), (stop, 0, -1)):
            assert pair.compare({"y": np.zeros(1, np.uint64)}, (1,), {"a": start, "b": end, "c": step}) == ""


def test_a_factor_makes_copies() -> None:
    @ig.kernel(grid=N)
    def summed(x: In[f32, N], y: Out[f32, N], n: i64) -> None:
        total = 0.0
        for j in ig.unroll(range(n), 4):
            total += x[j % len(x)]
        y[ig.gid()] = total

    device = _verified(lower(built(summed), LaunchFacts()))
    loops = [node for node in visit(device.body) if isinstance(node, d.For)]
    loads = [sum(isinstance(node, d.Load) for node in visit(loop)) for loop in loops]
    assert loads == [4, 1]


def test_rounds_of_known_trips_are_known() -> None:
    """What a loop that surely runs assigns may be read behind it, in copies too."""

    @ig.kernel(grid=N)
    def last(x: In[f32, N], y: Out[f32, N]) -> None:
        for j in ig.unroll(range(4), 2):
            v = x[j % len(x)]
        y[ig.gid()] = v

    device = _verified(lower(built(last), LaunchFacts()))
    trips = [node.trips for node in visit(device.body) if isinstance(node, d.For)]
    assert isinstance(trips[0], d.Literal) and trips[0].bits == 2


def _verified(kernel: d.Kernel) -> d.Kernel:
    verify(kernel, "lower")
    return kernel


def test_divisions_of_indices_need_no_correction() -> None:
    @ig.kernel(grid=N)
    def split(y: Out[u64, N]) -> None:
        i = ig.gid()
        y[i] = u64(i // 12 + i % 12 + i // 8 + i % 8)

    names = {node.op for node in visit(lower(built(split), LaunchFacts()).body) if isinstance(node, d.Op)}
    assert {"udiv", "urem", "lshr", "iand"} <= names
    assert not names & {"sdiv", "srem", "ashr"}


def test_loops_that_end_are_known_to() -> None:
    @ig.kernel(grid=N)
    def loops(y: InOut[i32, N]) -> None:
        i = ig.gid()
        s = 128
        while s > 0:
            s //= 2
        n = i32(0)
        while n < y[i]:
            n += 1
        while y[i] > 0:
            y[i] = y[i] // 2

    device = lower(built(loops), LaunchFacts())
    assert [node.bounded for node in visit(device.body) if isinstance(node, d.Loop)] == [True, False, False]
