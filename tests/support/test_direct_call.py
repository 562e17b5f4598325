"""Values that are called without a way through Python: the same results, errors and lifetimes as with it."""

import ctypes
import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from tests.arrays import kernels as k
from tests.cuda.fake_gpu import fake_gpu

import isogrid as ig
from isogrid.backends.cpu import pool
from isogrid.dims import N
from isogrid.launch.kernel_value import Kernel
from isogrid.support import direct_call

pytestmark = pytest.mark.skipif(sys.implementation.name != "cpython", reason="only CPython has such calls")

_FLAG = 1 << 11


def for_a_test(*_: Any) -> str:
    return "for a test"


def fresh() -> Any:
    saxpy: Any = k.saxpy
    return ig.kernel(grid=N, block=64)(saxpy.definition.function)


def warm(kernel: Any, *arguments: Any) -> Any:
    for _ in range(2):
        kernel(*arguments)
    assert "builtin" in type(kernel.__call__).__name__
    return kernel


def function_of(value: Any) -> int:
    return ctypes.c_uint64.from_address(id(value) + object.__basicsize__).value


def test_kernels_have_a_function_once_a_device_gives_one() -> None:
    assert Kernel.__flags__ & _FLAG
    with fake_gpu():
        x, y = ig.ones(100, ig.f32, device="cuda"), ig.ones(100, ig.f32, device="cuda")
        kernel = fresh()
        kernel(2.0, x, y)
        warm(kernel, 2.0, x, y)
        assert function_of(kernel)
        kernel(2.0, x, y=y)
        kernel(*(2.0, x), y=y)
        assert np.array_equal(y.numpy(), np.full(100, 11, np.float32))
        for wrong in ((), (1.0,), (1.0, x, y, y)):
            with pytest.raises(ig.LaunchTypeError):
                kernel(*wrong)
        with pytest.raises(ig.LaunchTypeError, match="nothing"):
            kernel(2.0, x, nothing=y)


@pytest.mark.skipif(not pool.is_supported(), reason="this platform has no native callable")
def test_the_cpu_gives_one_too() -> None:
    x, y = np.ones(50, np.float32), np.ones(50, np.float32)
    kernel = warm(fresh().on("cpu"), 2.0, x, y)
    assert function_of(kernel)
    kernel(2.0, x, y)
    kernel(2.0, y=y, x=x)
    assert y.tolist() == [9] * 50
    with pytest.raises(ig.LaunchTypeError):
        kernel(2.0, x)


@ig.offload
def total(x: ig.In[ig.f32, N]) -> ig.f32:
    s = ig.f32(0)
    for i in range(len(x)):
        s += x[i]
    return s


@pytest.mark.skipif(not pool.is_supported(), reason="this platform has no native callable")
def test_offloaded_functions_are_entered_too() -> None:
    x: Any = np.arange(100, dtype=np.float32)
    function: Any = total.on("cpu")
    assert [function(x) for _ in range(4)] == [4950.0] * 4
    assert "builtin" in type(function.__call__).__name__ and function_of(function)
    assert function(x=x) == function(x[::-1]) == 4950.0
    with pytest.raises(TypeError):
        function(x, x)


def test_whatever_is_in_the_slot_is_called() -> None:
    with fake_gpu():
        x, y = ig.ones(10, ig.f32, device="cuda"), ig.ones(10, ig.f32, device="cuda")
        kernel: Any = warm(fresh(), 2.0, x, y)

        def plus(a: int, *, b: int = 1) -> int:
            return a + b

        cases: list[tuple[Any, Any, int]] = [(len, ([1, 2],), 2), (max, (1, 5, 3), 5), (plus, (2,), 3)]
        for call, given, expected in cases:
            object.__setattr__(kernel, "__call__", call)
            assert kernel(*given) == expected
        assert kernel(2, b=4) == 6
        object.__delattr__(kernel, "__call__")
        with pytest.raises(TypeError):
            kernel(2)
        other, z = warm(fresh(), 2.0, x, y), np.ones(4, np.float32)
        with ig.use("cpu"):
            other(2.0, np.ones(4, np.float32), z)
        assert function_of(other) and z.tolist() == [3, 3, 3, 3]


def test_a_callable_that_replaces_itself_lives_until_it_returns() -> None:
    with fake_gpu():
        x, y = ig.ones(10, ig.f32, device="cuda"), ig.ones(10, ig.f32, device="cuda")
        kernel: Any = warm(fresh(), 2.0, x, y)

        class Once:
            def __call__(self) -> str:
                object.__setattr__(kernel, "__call__", len)
                gc.collect()
                return f"{type(self).__name__} is here"

        object.__setattr__(kernel, "__call__", Once())
        assert kernel() == "Once is here"
        assert kernel("four") == 4


def test_kernels_are_freed_and_builtins_keep_their_counts() -> None:
    with fake_gpu():
        x, y = ig.ones(10, ig.f32, device="cuda"), ig.ones(10, ig.f32, device="cuda")
        kernel = warm(fresh(), 2.0, x, y)
        before = sys.getrefcount(kernel.__call__), sys.getrefcount(kernel)
        for _ in range(100):
            kernel(2.0, x, y)
        assert (sys.getrefcount(kernel.__call__), sys.getrefcount(kernel)) == before
        seen = weakref.ref(kernel)
        del kernel
        gc.collect()
        assert seen() is None


def test_classes_that_do_not_say_so_are_called_as_ever() -> None:
    class Value(direct_call.DirectlyCalled):
        __slots__ = ("__call__",)

    value: Any = Value()
    direct_call.put_call(value, lambda: 7)
    assert value() == 7


@pytest.mark.skipif(not pool.is_supported(), reason="this platform has no native callable")
def test_calls_may_be_replaced_and_put_back() -> None:
    x: Any = np.ones(9, np.float32)
    kernel, function = warm(fresh().on("cpu"), 2.0, x, x.copy()), total.on("cpu")
    values: list[tuple[Any, tuple[Any, ...]]] = [(kernel, (0.0, x, x.copy())), (function, (x,))]
    for value, given in values:
        expected = [value(*given) for _ in range(3)][-1]
        with mock.patch.object(value, "__call__", for_a_test):
            assert value(*given) == "for a test"
        assert value(*given) == expected
    # A class stays changed for good, so this is a process of its own.
    code, root = "from tests.support.test_direct_call import patched_classes as p; p()", Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=root)


def patched_classes() -> None:
    x: Any = np.ones(9, np.float32)
    kernel, function = warm(fresh().on("cpu"), 2.0, x, x.copy()), total.on("cpu")
    values: list[tuple[Any, tuple[Any, ...]]] = [(kernel, (0.0, x, x.copy())), (function, (x,))]
    for value, given in values:
        expected = [value(*given) for _ in range(3)][-1]
        assert function_of(value)
        with mock.patch.object(type(value), "__call__", for_a_test):
            assert value(*given) == "for a test"
        assert value(*given) == expected


def test_nothing_is_loaded_at_import() -> None:
    code = "import isogrid, sys; from isogrid.support import direct_call as d; print(d._Entry.address)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
