"""Every wrong launch has its own message, raises the class that the contract names, and changes nothing."""

import array
import sys
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest
from tests.launch import kernels as k

import isogrid as ig

F32 = np.float32


def ones(*shape: int, dtype: Any = F32) -> "np.ndarray[Any, Any]":
    return np.ones(shape, dtype)


def readonly(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    values.flags.writeable = False
    return values


SWAPPED = ">f4" if sys.byteorder == "little" else "<f4"
SHARED = ones(8)
WINDOWS = np.lib.stride_tricks.as_strided(ones(9), (8, 2), (4, 4))

BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "too many": (
        lambda: k.saxpy(1.0, ones(4), ones(4), 3),
        ig.LaunchTypeError,
        "saxpy() takes 3 arguments but 4 were given: (a, x, y)",
    ),
    "too few": (lambda: k.saxpy(1.0), ig.LaunchTypeError, "saxpy() misses `x`, `y`: it takes (a, x, y)"),
    "unknown keyword": (
        lambda: k.saxpy(1.0, ones(4), z=ones(4)),
        ig.LaunchTypeError,
        "saxpy() has no parameter `z`; it takes (a, x, y)",
    ),
    "mistyped keyword": (
        lambda: k.add_bias(ones(4), ones(4), bais=ones(4)),
        ig.LaunchTypeError,
        "add_bias() has no parameter `bais`; did you mean `bias`?",
    ),
    "given twice": (
        lambda: k.saxpy(1.0, ones(4), ones(4), a=2.0),
        ig.LaunchTypeError,
        "saxpy() got argument `a`, which was given twice",
    ),
    "list": (
        lambda: k.saxpy(1.0, [1.0, 2.0], ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() is a Python list, whose elements are no array; pass np.asarray(values, dtype=...)",
    ),
    "launch in brackets": (
        lambda: k.saxpy[1, 256](1.0, ones(4), ones(4)),
        ig.LaunchTypeError,
        "a kernel is launched without brackets: saxpy(...); grid= or groups= and block= are arguments of @ig.kernel, "
        "or of .launch(...) where the decorator leaves them open",
    ),
    "an endless integer": (
        lambda: k.fill(10**5000, True, 1, 1, ones(1, dtype=np.int64)),
        OverflowError,
        "argument `n` of fill() is an integer of 16610 bits, and i32 holds -2147483648 to 2147483647",
    ),
    "vector for a scalar": (
        lambda: k.saxpy(ones(4), ones(4), ones(4)),
        ig.LaunchTypeError,
        "argument `a` of saxpy() is an array of 1 axis, and the parameter is f32",
    ),
    "None for an array": (
        lambda: k.saxpy(1.0, None, ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() is None where an array is expected",
    ),
    "number for an array": (
        lambda: k.saxpy(1.0, 2.0, ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() is the float 2.0 where an array is expected",
    ),
    "object without memory": (
        lambda: k.saxpy(1.0, object(), ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() is a builtins.object, which is no array; pass np.asarray(...) or an object with an "
        "array interface",
    ),
    "masked array": (
        lambda: k.saxpy(1.0, np.ma.masked_array(ones(2)), ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() is a masked array, whose mask a kernel cannot see; pass its `.data` or `.filled(...)`",
    ),
    "object array": (
        lambda: k.saxpy(1.0, ones(2).astype(object), ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() holds Python objects; convert it, e.g. with `.astype(np.float32)`",
    ),
    "wrong dtype": (
        lambda: k.saxpy(1.0, ones(2, dtype=np.float64), ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() holds float64, and the parameter is In[f32]; convert it with `.astype(np.float32)`",
    ),
    "no member of the generic": (
        lambda: k.scale(1.0, ones(2, dtype=np.int32), ones(2)),
        ig.LaunchTypeError,
        "argument `x` of scale() holds int32, and `T` is one of f32, f64",
    ),
    "two members of one generic": (
        lambda: k.scale(1.0, ones(2), ones(2, dtype=np.float64)),
        ig.LaunchTypeError,
        "argument `y` of scale() holds float64, but `T` is f32 because of argument `x`",
    ),
    "scalar of another type": (
        lambda: k.saxpy("2", ones(2), ones(2)),
        ig.LaunchTypeError,
        "argument `a` of saxpy() is '2', and the parameter is f32",
    ),
    "NumPy scalar of another type": (
        lambda: k.saxpy(np.float64(2), ones(2), ones(2)),
        ig.LaunchTypeError,
        "argument `a` of saxpy() is a NumPy float64, and the parameter is f32",
    ),
    "array for a scalar": (
        lambda: k.saxpy(np.array(2.0, F32), ones(2), ones(2)),
        ig.LaunchTypeError,
        "argument `a` of saxpy() is an array of 0 axes, and the parameter is f32; pass `.item()` of it",
    ),
    "fraction for an integer": (
        lambda: k.fill(1.5, True, 0, 0, ones(1, dtype=np.int64)),
        ig.LaunchTypeError,
        "argument `n` of fill() is 1.5, which is no integer, and the parameter is i32",
    ),
    "bool for an integer": (
        lambda: k.fill(True, True, 0, 0, ones(1, dtype=np.int64)),
        ig.LaunchTypeError,
        "argument `n` of fill() is True, and the parameter is i32; pass int(...)",
    ),
    "integer for a bool": (
        lambda: k.fill(1, 1, 0, 0, ones(1, dtype=np.int64)),
        ig.LaunchTypeError,
        "argument `flag` of fill() is 1, and the parameter is bool; pass True or False",
    ),
    "integer out of range": (
        lambda: k.fill(2**31, True, 0, 0, ones(1, dtype=np.int64)),
        OverflowError,
        "argument `n` of fill() is 2147483648, and i32 holds -2147483648 to 2147483647",
    ),
    "negative for unsigned": (
        lambda: k.fill(0, True, -1, 0, ones(1, dtype=np.int64)),
        ig.LaunchValueError,
        "argument `big` of fill() is -1, and u32 holds 0 to 4294967295",
    ),
    "0-d array": (
        lambda: k.saxpy(1.0, np.array(1.0, F32), ones(2)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() is a 0-d array, and the parameter has 1 axis; pass it with `.reshape(1)`",
    ),
    "rank": (
        lambda: k.transpose(ones(6), ones(2, 3)),
        ig.LaunchTypeError,
        "argument `x` of transpose() has 1 axis, and the parameter has 2 axes",
    ),
    "rank of a strided array": (
        lambda: k.saxpy(1.0, ones(2, 3).T, ones(6)),
        ig.LaunchTypeError,
        "argument `x` of saxpy() has 2 axes and is not C-contiguous, so it cannot stand for one axis; pass "
        "np.ascontiguousarray(...)",
    ),
    "byte order": (
        lambda: k.saxpy(1.0, ones(2).astype(SWAPPED), ones(2)),
        ig.LaunchValueError,
        "argument `x` of saxpy() is not in the byte order of this machine; convert it with `.astype(np.float32)`",
    ),
    "read-only": (
        lambda: k.saxpy(1.0, ones(2), readonly(ones(2))),
        ig.LaunchValueError,
        "argument `y` of saxpy() is a read-only array, and the parameter is InOut; pass a copy",
    ),
    "read-only buffer": (
        lambda: k.weigh(ones(2, 3, dtype=np.uint8), memoryview(bytes(8)).cast("i")),
        ig.LaunchValueError,
        "argument `y` of weigh() is a read-only array, and the parameter is Out; pass a copy",
    ),
    "sizes": (
        lambda: k.saxpy(1.0, ones(4), ones(5)),
        ig.LaunchValueError,
        "saxpy(): axis 0 of `y` has 5 elements but axis 0 of `x` has 4, and both are the dimension `N`",
    ),
    "sizes along another axis": (
        lambda: k.transpose(ones(2, 3), ones(4, 2)),
        ig.LaunchValueError,
        "transpose(): axis 0 of `y` has 4 elements but axis 1 of `x` has 3, and both are the dimension `W`",
    ),
    "derived size": (
        lambda: k.differences(ones(4, dtype=np.int32), ones(4, dtype=np.int32)),
        ig.LaunchValueError,
        "differences(): axis 0 of `ptr` has 4 elements, and `R1` = R + 1 is 5 (R = 4, axis 0 of `out`)",
    ),
    "fixed size": (
        lambda: k.weigh(ones(2, 4, dtype=np.uint8), ones(2, dtype=np.int32)),
        ig.LaunchValueError,
        "weigh(): axis 1 of `x` has 4 elements, and the parameter asks for 3",
    ),
    "written elements overlap": (
        lambda: k.transpose(ones(2, 8), WINDOWS),
        ig.LaunchValueError,
        "argument `y` of transpose() has elements that share memory (shape (8, 2), strides (4, 4)), and the parameter "
        "is Out; pass a copy",
    ),
    "written broadcast": (
        lambda: k.transpose(ones(2, 8), np.lib.stride_tricks.as_strided(ones(8), (8, 2), (4, 0))),
        ig.LaunchValueError,
        "argument `y` of transpose() has elements that share memory (shape (8, 2), strides (4, 0)), and the parameter "
        "is Out; pass a copy",
    ),
    "same array read and written": (
        lambda: k.saxpy(1.0, SHARED, SHARED),
        ig.LaunchValueError,
        "arguments `x` and `y` of saxpy() share memory, and `y` is InOut; pass a copy of one, or use one InOut "
        "parameter",
    ),
    "overlapping views": (
        lambda: k.saxpy(1.0, SHARED[:5], SHARED[3:]),
        ig.LaunchValueError,
        "arguments `x` and `y` of saxpy() share memory, and `y` is InOut; pass a copy of one, or use one InOut "
        "parameter",
    ),
    "open geometry": (
        lambda: k.open_fill(1, ones(2, dtype=np.int32)),
        ig.LaunchValueError,
        "open_fill() leaves its geometry open; launch it with open_fill.launch(..., grid=...) or groups=...",
    ),
    "geometry that is not open": (
        lambda: k.saxpy.launch(1.0, ones(2), ones(2), grid=2),
        ig.LaunchTypeError,
        "saxpy(): grid= cannot be given, the decorator fixes grid=",
    ),
    "block that is not open": (
        lambda: k.saxpy.launch(1.0, ones(2), ones(2), block=32),
        ig.LaunchTypeError,
        "saxpy(): block= cannot be given, the decorator fixes it",
    ),
    "grid and groups": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=1, groups=1),
        ig.LaunchTypeError,
        "open_fill(): both grid= and groups= are given; keep one",
    ),
    "grid of floats": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=2.0),
        ig.LaunchTypeError,
        "open_fill(): grid=2.0 is no integer or tuple of integers",
    ),
    "negative grid": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=(2, -1)),
        ig.LaunchValueError,
        "open_fill(): grid=(2, -1) has a negative extent",
    ),
    "negative extent": (
        lambda: k.by_scalar(1, ones(2, dtype=np.int32)),
        ig.LaunchValueError,
        "by_scalar(): the extent `n - 2` of grid= is -1, with n = 1",
    ),
    "huge grid": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=(2**40, 2**30)),
        ig.LaunchValueError,
        f"open_fill(): grid=(1099511627776, 1073741824) asks for {2**70} threads, 2^63 or more",
    ),
    "an endless grid": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=-(10**5000)),
        ig.LaunchValueError,
        "open_fill(): grid=an integer of 16610 bits has a negative extent",
    ),
    "an endless integer for an array": (
        lambda: k.open_fill.launch(1, 10**5000, grid=1),
        ig.LaunchTypeError,
        "argument `out` of open_fill() is an integer of 16610 bits where an array is expected",
    ),
    "grid of four": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=(1, 1, 1, 1)),
        ig.LaunchValueError,
        "open_fill(): grid=(1, 1, 1, 1) has 4 extents; 1 to 3 are allowed",
    ),
    "block over 1024": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=2, block=1025),
        ig.LaunchValueError,
        "open_fill(): block=1025 has 1025 threads, and the device cpu allows 1024",
    ),
    "block of zero": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=2, block=0),
        ig.LaunchValueError,
        "open_fill(): block=0 has an extent below 1",
    ),
    "block rank": (
        lambda: k.open_fill.launch(1, ones(2, dtype=np.int32), grid=2, block=(2, 2)),
        ig.LaunchValueError,
        "open_fill(): block=(2, 2) has 2 entries for a launch of 1 extent",
    ),
    "block over max_threads": (
        lambda: k.open_fill.options(max_threads=(8, 8)).launch(1, ones(2, dtype=np.int32), grid=2, block=65),
        ig.LaunchValueError,
        "open_fill(): block=65 has 65 threads, and max_threads=(8, 8) allows 64",
    ),
    "stream": (
        lambda: k.saxpy.launch(1.0, ones(2), ones(2), stream=1),
        ig.LaunchValueError,
        "saxpy(): the device cpu has no streams; drop stream=",
    ),
    "grouped kernel with an open block": (
        lambda: k.open_block(ones(2, dtype=np.int32), ones(2, dtype=np.int32)),
        ig.LaunchValueError,
        "open_block() leaves its block open, and a kernel of whole groups needs one; write block= in its decorator or "
        "launch it with open_block.launch(..., block=...)",
    ),
}


@pytest.fixture(scope="module")
def launched() -> None:
    """Launch every kernel as it should be, so that bad calls meet the native path of the device."""
    i32, i64, u8 = np.int32, np.int64, np.uint8
    for _ in range(2):
        k.saxpy(1.0, ones(4), ones(4))
        k.scale(1.0, ones(4), ones(4))
        k.fill(1, True, 1, 1, ones(1, dtype=i64))
        k.transpose(ones(2, 3), ones(3, 2))
        k.differences(ones(4, dtype=i32), ones(3, dtype=i32))
        k.add_bias(ones(4), ones(4), None, 1.0)
        k.weigh(ones(2, 3, dtype=u8), ones(2, dtype=i32))
        k.by_scalar(4, ones(4, dtype=i32))
    assert isinstance(k.saxpy.__call__, BuiltinFunctionType)


@pytest.mark.usefixtures("launched")
@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    call, kind, message = BAD[name]
    SHARED[:] = 7.0
    with pytest.raises(ig.LaunchError) as caught:
        call()
    assert isinstance(caught.value, kind)
    assert str(caught.value) == message
    assert (SHARED == 7.0).all()


@pytest.mark.parametrize("number", [10**39, -(10**400), 2**1024 - 1, 10**5000], ids=int.bit_length)
@pytest.mark.filterwarnings("error")
def test_an_integer_beyond_every_float_is_rounded_to_infinity(number: int) -> None:
    y = ones(1)
    k.saxpy(number, ones(1), y)
    assert y[0] == (np.inf if number > 0 else -np.inf)


def test_error_classes() -> None:
    assert issubclass(ig.LaunchTypeError, TypeError) and issubclass(ig.LaunchTypeError, ig.LaunchError)
    assert issubclass(ig.LaunchValueError, ValueError) and issubclass(ig.LaunchValueError, ig.LaunchError)
    assert issubclass(ig.RequirementError, ValueError) and not issubclass(ig.RequirementError, ig.LaunchError)


def test_the_first_failure_of_the_order_is_raised() -> None:
    wrong = ones(3).astype(SWAPPED)
    with pytest.raises(ig.LaunchTypeError, match="misses"):
        k.saxpy([1.0])
    with pytest.raises(ig.LaunchTypeError, match="holds float64"):
        k.transpose(ones(3, dtype=np.float64), ones(3))
    with pytest.raises(ig.LaunchTypeError, match="has 1 axis"):
        k.transpose(wrong, ones(2, 3))
    with pytest.raises(ig.LaunchValueError, match="byte order"):
        k.saxpy(1.0, wrong, readonly(ones(4)))
    with pytest.raises(ig.LaunchValueError, match="read-only"):
        k.saxpy(1.0, ones(3), readonly(ones(4)))
    with pytest.raises(ig.LaunchValueError, match="has 4 elements"):
        k.saxpy(1.0, SHARED[:3], SHARED[:4])
    with pytest.raises(ig.LaunchValueError, match="share memory"):
        k.open_fill.launch(1, np.lib.stride_tricks.as_strided(ones(1, dtype=np.int32), (2,), (0,)), grid=-1)
    with pytest.raises(ig.LaunchValueError, match="negative extent"):
        k.open_fill.launch(1, ones(2, dtype=np.int32), grid=-1, block=2000)


def test_requirement() -> None:
    out = np.zeros(8, np.int32)
    k.with_requirement(8, out)
    k.with_requirement(4, out)
    assert (out == 4).all()
    with pytest.raises(ig.RequirementError) as caught:
        k.with_requirement(6, out)
    first, place = str(caught.value).split("\n")
    assert first == "with_requirement() requires `n % 4 == 0 and n <= N`: n = 6, N = 8"
    assert "kernels.py:" in place
    with pytest.raises(ig.RequirementError, match="requires `N > 0`: N = 0"):
        k.with_requirement(0, np.zeros(0, np.int32))
    assert (out == 4).all()


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_zero_extents_launch_nothing(device: str) -> None:
    k.saxpy.on(device)(1.0, ones(0), ones(0))
    k.transpose.on(device)(ones(0, 3), ones(3, 0))
    out = ones(2, dtype=np.int32)
    k.open_fill.on(device).launch(5, out, grid=(3, 0))
    assert (out == 1).all()


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_arrays_of_any_strides(device: str) -> None:
    base = np.arange(24, dtype=F32)
    y = np.zeros(16, F32)
    k.saxpy.on(device)(2.0, base[16:0:-2], y[::2])
    assert (y[::2] == 2 * base[16:0:-2]).all() and (y[1::2] == 0).all()
    k.saxpy.on(device)(1.0, np.broadcast_to(F32(3), 4), y[3::-1])
    assert (y[:4] == [35, 3, 31, 3]).all()
    out = np.zeros((2, 3), F32)
    k.transpose.on(device)(base.reshape(6, 4)[::2, ::2].copy().T.copy().T, out)
    assert (out == base.reshape(6, 4)[::2, ::2].T).all()
    records = np.zeros(4, np.dtype([("pad", "u1"), ("value", F32)]))
    k.saxpy.on(device)(1.0, base[1:5], records["value"])
    assert (records["value"] == base[1:5]).all()


@pytest.mark.usefixtures("launched")
def test_interleaved_views_are_no_overlap() -> None:
    memory = np.arange(16, dtype=F32)
    k.saxpy(1.0, memory[::2], memory[1::2])
    assert (memory[1::2] == [1, 5, 9, 13, 17, 21, 25, 29]).all()


@pytest.mark.usefixtures("launched")
def test_contiguous_arrays_of_any_rank_bind_one_axis() -> None:
    y = np.zeros((2, 3), F32)
    k.saxpy(1.0, np.arange(6, dtype=F32).reshape(3, 2), y)
    assert (y == [[0, 1, 2], [3, 4, 5]]).all()


class Interface:
    def __init__(self, values: "np.ndarray[Any, Any]") -> None:
        self.__array_interface__ = values.__array_interface__
        self.values = values


class Exchanged:
    def __init__(self, values: "np.ndarray[Any, Any]", device: int = 1) -> None:
        self.values = values
        self.device = device

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


@pytest.mark.usefixtures("launched")
def test_other_arrays() -> None:
    y = array.array("f", [1.0, 2.0])
    k.saxpy(3.0, memoryview(array.array("f", [1.0, 1.0])), y)
    assert y.tolist() == [4.0, 5.0]
    target = ones(2)
    k.saxpy(3.0, Exchanged(ones(2)), Interface(target))
    assert (target == 4).all()
    with pytest.raises(
        ig.LaunchTypeError, match=r"Exchanged on cuda, and the launch runs on cpu; copy it to the host first"
    ):
        k.saxpy(3.0, Exchanged(ones(2), device=2), target)


@pytest.mark.usefixtures("launched")
def test_scalars() -> None:
    out = np.zeros(1, np.int64)
    k.fill(np.int32(-5), np.bool_(True), 7.0, 2**32 - 1, out)
    assert out[0] == -5 + 7 + 2**32 - 1
    y = np.zeros(1, F32)
    k.saxpy(16777217, ones(1), y)  # 2^24 + 1 is rounded once, to even
    assert y[0] == 16777216
    k.saxpy(1e300, ones(1), y)
    assert y[0] == np.inf
    z = np.zeros(1, F32)
    k.saxpy(2**60 + 2**36 + 1, ones(1), z)  # a detour through double would lose the last 1 and round down
    assert int(z[0]) == 2**60 + 2**37
