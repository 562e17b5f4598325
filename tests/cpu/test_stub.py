"""The native launch stub: launches what is usual, refuses the rest by giving the sentinel back with nothing changed."""

import dataclasses
import gc
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from isogrid.backends.cpu import pool
from isogrid.backends.cpu.runtime import CpuRuntime
from isogrid.backends.cpu.stub import native_call, whole_call
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar, Space

pytestmark = pytest.mark.skipif(not pool.is_supported(), reason="the native launcher is for Linux on x86-64")

N, M = k.DimValue("N"), k.DimValue("M")
F32, I64 = Scalar.F32, Scalar.I64
UNUSUAL = object()


def index(value: int) -> k.Const:
    return k.Const(value, I64)


def load(array: str, *indices: k.Expr, type: Scalar = F32) -> k.Load:
    return k.Load(array, indices, type, Space.GLOBAL, (True,) * len(indices))


def store(array: str, value: k.Expr, *indices: k.Expr, element: Scalar = F32) -> k.Store:
    return k.Store(array, indices, value, element, Space.GLOBAL, (True,) * len(indices))


def saxpy(**changes: Any) -> k.Kernel:
    i = k.Local("i", I64)
    kernel = k.Kernel(
        name="saxpy",
        parameters=(
            k.ScalarParameter("a", F32),
            k.ArrayParameter("x", F32, (N,), Access.IN),
            k.ArrayParameter("y", F32, (N,), Access.INOUT),
        ),
        dims=("N",),
        geometry=k.Geometry("grid", (N,), (256,)),
        grouped=False,
        shared=(),
        tables=(),
        requires=(),
        body=(
            k.Assign("i", k.Query("gid", None)),
            store(
                "y", k.Binary("add", k.Binary("mul", k.ScalarValue("a", F32), load("x", i), F32), load("y", i), F32), i
            ),
        ),
    )
    return dataclasses.replace(kernel, **changes)


def stub_of(kernel: k.Kernel, **keywords: Any) -> Callable[..., object]:
    artifact = CpuRuntime().compile(kernel, {})
    names = [p.name for p in kernel.parameters]
    call = native_call(kernel, artifact.small, names, UNUSUAL, **keywords)
    assert call is not None
    return call


@pytest.fixture(scope="module")
def call() -> Callable[..., object]:
    return stub_of(saxpy())


def arrays(size: int = 64) -> tuple[Any, Any]:
    return np.arange(size, dtype=np.float32), np.ones(size, np.float32)


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 1024, 100_000, 2_000_000])
def test_launches(call: Callable[..., object], size: int) -> None:
    x, y = arrays(size)
    assert call(2.0, x, y) is None
    assert (y == np.float32(2) * x + 1).all()


@pytest.mark.parametrize("a", [2, 2.0, 0.1, -0.0, float("inf"), float("-inf"), 2**53])
def test_scalars_are_rounded_once(call: Callable[..., object], a: float) -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    assert call(a, x, y) is None
    assert (y == np.float32(a)).all()


X, Y = arrays()
UNUSUAL_CALLS: dict[str, tuple[Any, ...]] = {
    "no argument": (),
    "one too few": (2.0, X),
    "one too many": (2.0, X, Y, 1),
    "text": ("2", X, Y),
    "None": (2.0, None, Y),
    "bool for float": (True, X, Y),
    "NumPy scalar of another type": (np.float64(2), X, Y),
    "NumPy integer for a float": (np.int32(2), X, Y),
    "NumPy bool for a float": (np.True_, X, Y),
    "0-d array": (np.array(2, np.float32), X, Y),
    "overflows f32": (1e300, X, Y),
    "integer above 2^53": (2**53 + 1, X, Y),
    "huge integer": (10**400, X, Y),
    "list": (2.0, [1.0], Y),
    "other dtype": (2.0, X.astype(np.float64), Y),
    "integers": (2.0, X.astype(np.int32), Y),
    "byte order": (2.0, X.astype(">f4"), Y),
    "objects": (2.0, X.astype(object), Y),
    "strided": (2.0, np.zeros(128, np.float32)[::2], Y),
    "reversed": (2.0, X[::-1], Y),
    "misaligned": (2.0, np.frombuffer(bytes(257), np.uint8)[1:].view(np.float32), Y),
    "other size": (2.0, X[:63], Y),
    "rank 0": (2.0, np.float32(1) * np.ones(()), Y),
    "rank 2": (2.0, X.reshape(8, 8), Y),
    "subclass": (2.0, X.view(np.recarray), Y),
    "same array": (2.0, Y, Y),
    "overlap": (2.0, np.zeros(65, np.float32)[:64], None),
    "read-only": (2.0, X, np.frombuffer(bytes(256), np.float32)),
}


@pytest.mark.parametrize("case", UNUSUAL_CALLS)
def test_unusual_calls_change_nothing(call: Callable[..., object], case: str) -> None:
    arguments = UNUSUAL_CALLS[case]
    if case == "overlap":
        base = np.zeros(65, np.float32)
        arguments = (2.0, base[:64], base[1:])
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    assert call(*arguments) is UNUSUAL
    for now, then in zip(arguments, before, strict=True):
        if isinstance(now, np.ndarray):
            assert (now == then).all()


def test_keywords_are_pythons_error(call: Callable[..., object]) -> None:
    with pytest.raises(TypeError):
        call(2.0, X, y=Y)


def test_a_whole_call_hands_what_is_unusual_to_the_slow_path(call: Callable[..., object]) -> None:
    seen: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def slow(*arguments: Any, **keywords: Any) -> None:
        seen.append((arguments, keywords))

    whole = whole_call(call, slow, UNUSUAL)
    x, y = arrays()
    objects = (x, y, UNUSUAL, slow)
    before = [sys.getrefcount(o) for o in objects]
    for _ in range(1000):
        assert whole(2.0, x, y) is None
    assert seen == []
    assert y[1] == 2001
    for _ in range(1000):
        assert whole(2.0, x) is None
        assert whole(2.0, x, y=y) is None
        assert whole(a=2.0) is None
    assert seen[:3] == [((2.0, x), {}), ((2.0, x), {"y": y}), ((), {"a": 2.0})]
    assert len(seen) == 3000
    seen.clear()
    assert [sys.getrefcount(o) for o in objects] == before


def test_a_whole_call_raises_what_the_slow_path_raises(call: Callable[..., object]) -> None:
    def slow(*arguments: Any) -> None:
        raise ValueError(len(arguments))

    with pytest.raises(ValueError, match="1"):
        whole_call(call, slow, UNUSUAL)(2.0)


def test_a_whole_call_frees_its_slow_path(call: Callable[..., object]) -> None:
    class Slow:
        whole: Any = None

        def __call__(self, *arguments: Any) -> None: ...

    slow = Slow()
    slow.whole = whole_call(call, slow, UNUSUAL)
    gone = weakref.ref(slow)
    del slow
    gc.collect()
    assert gone() is None


def test_unpickled_arrays_are_usual(call: Callable[..., object]) -> None:
    x, y = pickle.loads(pickle.dumps(arrays()))
    assert call(2.0, x, y) is None


def test_references_are_kept_in_balance(call: Callable[..., object]) -> None:
    x, y = arrays()
    objects = (x, y, UNUSUAL, None)
    before = [sys.getrefcount(o) for o in objects[:3]]
    for _ in range(10_000):
        call(2.0, x, y)
        call(2.0, x, x)
        call(2.0, x)
    assert [sys.getrefcount(o) for o in objects[:3]] == before


def test_callable_outlives_everything_else() -> None:
    call = stub_of(saxpy(name="other"))
    gc.collect()
    x, y = arrays()
    assert call(2.0, x, y) is None
    assert y[1] == 3


# --- geometry, sizes, preconditions ----------------------------------------------------------------------------------


def copy_kernel(extent: k.Expr, **changes: Any) -> k.Kernel:
    """Counts threads: y[min(i, M - 1)] += 1 for a grid of `extent`, without atomics but one thread per element."""
    i = k.Local("i", I64)
    return saxpy(
        parameters=(
            k.ScalarParameter("n", Scalar.I32),
            k.ArrayParameter("x", Scalar.I32, (N,), Access.IN),
            k.ArrayParameter("y", Scalar.I32, (M,), Access.INOUT),
        ),
        dims=("N", "M"),
        geometry=k.Geometry("grid", (extent,), (64,)),
        body=(
            k.Assign("i", k.Query("gid", None)),
            store("y", k.Const(1, Scalar.I32), i, element=Scalar.I32),
        ),
        **changes,
    )


def binary(op: str, left: k.Expr, right: k.Expr) -> k.Expr:
    return k.Binary(op, left, right, I64)


SCALAR = k.Cast(k.ScalarValue("n", Scalar.I32), I64)


@pytest.mark.parametrize(
    ("extent", "threads"),
    [
        (N, 20),
        (index(7), 7),
        (binary("floordiv", N, index(3)), 6),
        (binary("add", binary("floordiv", binary("sub", N, index(1)), index(8)), index(1)), 3),
        (binary("mod", N, index(7)), 6),
        (binary("min", N, index(5)), 5),
        (binary("max", N, index(25)), 25),
        (binary("mul", SCALAR, index(2)), 8),
        (binary("sub", N, N), 0),
    ],
)
def test_extents(extent: k.Expr, threads: int) -> None:
    call = stub_of(copy_kernel(extent))
    x, y = np.zeros(20, np.int32), np.zeros(100, np.int32)
    assert call(4, x, y) is None
    assert y.tolist() == [1] * threads + [0] * (100 - threads)


@pytest.mark.parametrize(
    "extent", [binary("sub", index(1), N), binary("floordiv", N, SCALAR), binary("mul", N, index(2**60))]
)
def test_extents_that_are_an_error_are_unusual(extent: k.Expr) -> None:
    call = stub_of(copy_kernel(extent))
    assert call(0, np.zeros(20, np.int32), np.zeros(100, np.int32)) is UNUSUAL


def test_preconditions() -> None:
    even = k.Compare("eq", binary("mod", N, index(2)), index(0))
    small = k.Logical("or", k.Compare("lt", N, index(4)), k.Unary("not", k.Compare("ge", M, N), Scalar.BOOL))
    clause = k.Require(k.Logical("and", even, small), "N is even and ...")
    call = stub_of(copy_kernel(N, requires=(clause,)))
    y = np.zeros(10, np.int32)
    assert call(0, np.zeros(2, np.int32), y) is None
    assert call(0, np.zeros(3, np.int32), y) is UNUSUAL
    assert call(0, np.zeros(6, np.int32), y) is UNUSUAL
    assert y.tolist() == [1, 1] + [0] * 8


def test_derived_and_constant_dimensions() -> None:
    kernel = saxpy(
        parameters=(
            k.ScalarParameter("a", F32),
            k.ArrayParameter("x", F32, (N,), Access.IN),
            k.ArrayParameter("y", F32, (M,), Access.INOUT),
        ),
        dims=("N", "M"),
    )
    call = stub_of(kernel, derived=[("M", binary("add", N, index(1)))], constants={"T": 4})
    assert call(2.0, np.ones(4, np.float32), np.ones(5, np.float32)) is None
    assert call(2.0, np.ones(4, np.float32), np.ones(4, np.float32)) is UNUSUAL


def test_fixed_extents_and_two_dimensions() -> None:
    rows, columns = k.Local("r", I64), k.Local("c", I64)
    kernel = saxpy(
        parameters=(
            k.ArrayParameter("x", F32, (N, index(3)), Access.IN),
            k.ArrayParameter("y", F32, (N, M), Access.OUT),
        ),
        dims=("N", "M"),
        geometry=k.Geometry("grid", (N, index(3)), (1, 64)),
        body=(
            k.Assign("r", k.Query("gid", 0)),
            k.Assign("c", k.Query("gid", 1)),
            store("y", load("x", rows, columns), rows, columns),
        ),
    )
    call = stub_of(kernel)
    x = np.arange(30, dtype=np.float32).reshape(10, 3)
    y = np.zeros((10, 5), np.float32)
    assert call(x, y) is None
    assert (y[:, :3] == x).all() and not y[:, 3:].any()
    assert call(x.reshape(3, 10), y) is UNUSUAL
    assert call(x, np.zeros((9, 5), np.float32)) is UNUSUAL


def test_absent_arrays_must_be_none() -> None:
    kernel = saxpy()
    artifact = CpuRuntime().compile(kernel, {})
    call = native_call(kernel, artifact.small, ["a", None, "x", "y"], UNUSUAL)
    assert call is not None
    x, y = arrays()
    assert call(1.0, None, x, y) is None
    assert call(1.0, x, x, y) is UNUSUAL


@pytest.mark.parametrize(
    ("type", "good", "bad"),
    [
        (
            Scalar.I32,
            [0, 5, -(2**31) + 1, np.int32(1), np.int32(-7)],
            [2**31, -(2**31), 1.0, True, 10**30, "1", np.int32(-(2**31)), np.int64(1), np.uint32(1), np.True_],
        ),
        (Scalar.U32, [0, 2**31 - 1, np.uint32(2**31 - 1)], [-1, 2**31, 2**32, np.uint32(2**31), np.int32(1)]),
        (Scalar.I64, [-(2**31) + 1, np.int64(-(2**31) + 1)], [2**31, 2**63, 1.5, np.int64(2**31), np.int32(1)]),
        (Scalar.W32, [0, 2**32 - 1, np.uint32(2**32 - 1)], [-1, 2**32, np.int32(1)]),
        (Scalar.W64, [0, 2**63 - 1, np.uint64(2**63 - 1)], [-1, 2**63, 2**64, np.uint64(2**63)]),
        (Scalar.BOOL, [True, False, np.True_, np.False_], [1, 0, None, np.int8(1)]),
    ],
)
def test_integers_and_bools(type: Scalar, good: list[Any], bad: list[Any]) -> None:
    kernel = saxpy(
        parameters=(k.ScalarParameter("v", type), k.ArrayParameter("y", type, (N,), Access.OUT)),
        body=(
            k.Assign("i", k.Query("gid", None)),
            store("y", k.ScalarValue("v", type), k.Local("i", I64), element=type),
        ),
    )
    call = stub_of(kernel)
    for value in good:
        y = np.zeros(3, type.numpy)
        assert call(value, y) is None
        assert (y == value).all()
    for value in bad:
        assert call(value, np.zeros(3, type.numpy)) is UNUSUAL


@pytest.mark.parametrize("type", [Scalar.F32, Scalar.F64])
def test_numpy_floats_keep_their_bits(type: Scalar) -> None:
    kernel = saxpy(
        parameters=(k.ScalarParameter("v", type), k.ArrayParameter("y", type, (N,), Access.OUT)),
        body=(
            k.Assign("i", k.Query("gid", None)),
            store("y", k.ScalarValue("v", type), k.Local("i", I64), element=type),
        ),
    )
    call, y = stub_of(kernel), np.zeros(3, type.numpy)
    word = np.uint32 if type is Scalar.F32 else np.uint64
    quiet = np.array([~0 << (22 if type is Scalar.F32 else 51) & np.iinfo(word).max], word).view(type.numpy)[0]
    for value in (1.5, -0.0, float("inf"), quiet):
        assert call(type.numpy.type(value), y) is None
        assert (y.view(word) == np.array(value, type.numpy).view(word)).all()
    other = np.float64 if type is Scalar.F32 else np.float32
    assert call(other(1), y) is UNUSUAL


def test_both_names_of_a_64_bit_integer() -> None:
    kernel = saxpy(
        parameters=(k.ArrayParameter("y", I64, (N,), Access.OUT),),
        body=(k.Assign("i", k.Query("gid", None)), store("y", k.Local("i", I64), k.Local("i", I64), element=I64)),
    )
    call = stub_of(kernel)
    for kind in (np.int_, np.longlong, np.int64):
        y = np.zeros(5, kind)
        assert call(y) is None
        assert y.tolist() == [0, 1, 2, 3, 4]


# --- traps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [10, 1000, 16384, 16385, 100_000, 3_000_001])
def test_a_trap_puts_the_arrays_back_and_leaves_the_rest_to_python(size: int) -> None:
    """From 64 KiB on, what is written is kept by all processors, in pieces of 4 KiB."""
    grid = binary("add", N, index(1))
    call = stub_of(saxpy(geometry=k.Geometry("grid", (grid,), (256,))))
    x, _ = arrays(size)
    y = np.arange(size, 0, -1, dtype=np.float32)
    before = y.copy()
    for _ in range(3):
        assert call(2.0, x, y) is UNUSUAL
        assert (y == before).all()


def test_what_has_no_native_form_has_no_stub() -> None:
    floats = k.Require(k.Compare("lt", k.ScalarValue("a", F32), k.Const(0, F32)), "a < 0")
    kernel = saxpy(requires=(floats,))
    artifact = CpuRuntime().compile(kernel, {})
    assert native_call(kernel, artifact.small, ["a", "x", "y"], UNUSUAL) is None


def test_totals_are_counted_and_undone() -> None:
    i = k.Local("i", I64)
    kernel = saxpy(
        parameters=(
            k.ArrayParameter("x", Scalar.I32, (N,), Access.IN),
            k.ArrayParameter("y", Scalar.I32, (M,), Access.INOUT),
        ),
        dims=("N", "M"),
        body=(
            k.Assign("i", k.Query("gid", None)),
            k.Atomic("add", "y", (index(1),), load("x", i, type=Scalar.I32), None, Scalar.I32, Space.GLOBAL, (True,)),
        ),
    )
    call = stub_of(kernel)
    y = np.array([7, 8, 9], np.int32)
    assert call(np.array([2**31 - 1, 2**31 - 1, -(2**31) + 1, -(2**31) + 1], np.int32), y) is None
    assert y.tolist() == [7, 8, 9]
    assert call(np.array([2**31 - 1], np.int32), y) is UNUSUAL
    assert y.tolist() == [7, 8, 9]
