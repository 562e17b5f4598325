"""Arrays of f16 and bf16: made, filled, exchanged by DLPack, given to kernels; and bf16 without ml_dtypes."""

import sys
from typing import Any, TypeVar

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, Out, bf16, f16, f32
from isogrid.arrays import dlpack, fields
from isogrid.dims import N
from isogrid.support.bfloat16 import bfloat16_dtype, is_bfloat16, rounded_to_bfloat16

BF16 = bfloat16_dtype()
# The constraints are objects, which only the stub shows as types.
_type_variable: Any = TypeVar
T = _type_variable("T", f16, bf16, f32)


@ig.kernel(grid=N)
def scaled(a: f32, x: In[T, N], y: Out[T, N]) -> None:
    i = ig.gid()
    y[i] = y.dtype(a * x[i])


class Foreign:
    """Another library's array on the host, which only speaks DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **wishes: Any) -> Any:
        return self.array.__dlpack__(**wishes)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", [f16, bf16], ids=str)
def test_arrays_on_devices(dtype: Any, device: str) -> None:
    third = float(np.asarray(1 / 3, dtype.scalar.numpy))
    made = ig.array([1, 2.5, 1 / 3], dtype, device=device)
    assert made.dtype == dtype.scalar.numpy and made.tolist() == [1.0, 2.5, third]
    assert made[2].item() == third and made.nbytes == 6
    assert made.view(np.uint16).tolist() == made.numpy().view(np.uint16).tolist()
    assert ig.ones(2, dtype, device=device).tolist() == [1.0, 1.0]
    assert ig.full((2, 1), 3.5, dtype, device=device).tolist() == [[3.5], [3.5]]
    result = ig.zeros(3, dtype, device=device)
    scaled.on(device)(2.0, made, result)
    assert result.tolist() == [2.0, 5.0, 2 * third]
    result.fill(1 / 3)
    result[1:] = made[:2]
    assert result.tolist() == [third, 1.0, 2.5]
    with pytest.raises(TypeError, match="elements of float64"):
        result[:2] = np.zeros(2)


def test_the_generic_takes_the_type_of_the_arrays() -> None:
    for dtype in (np.dtype(np.float16), BF16, np.dtype(np.float32)):
        x = np.arange(7).astype(dtype)
        found = []
        for device in ("interp", "cpu"):
            y = np.zeros(7, dtype)
            scaled.on(device)(1.1, x, y)
            found.append(y.tobytes())
        assert found[0] == found[1]
    with pytest.raises(ig.LaunchTypeError, match="`T` is one of f16, bf16, f32"):
        scaled(1.0, np.zeros(3, np.uint16), np.zeros(3, np.uint16))


def test_wrong_elements_are_named_with_the_remedy() -> None:
    @ig.kernel(grid=N)
    def k(x: In[bf16, N], y: Out[f16, N]) -> None:
        i = ig.gid()
        y[i] = f16(x[i])

    with pytest.raises(ig.LaunchTypeError, match=r"holds uint16.*\.astype\(ml_dtypes\.bfloat16\)"):
        k(np.zeros(3, np.uint16), np.zeros(3, np.float16))
    with pytest.raises(ig.LaunchTypeError, match=r"holds bfloat16.*\.astype\(np\.float16\)"):
        k(np.zeros(3, BF16), np.zeros(3, BF16))


@pytest.mark.parametrize("dtype", [f16, bf16], ids=str)
def test_dlpack(dtype: Any, device: str) -> None:
    """bf16 has a number of its own there; arrays of others are used in place."""
    made = ig.array([0.5, -2.0, 3.0], dtype, device="cpu")
    again = ig.from_dlpack(Foreign(made))
    again[0] = 1.5
    assert again.dtype == made.dtype and made.tolist() == [1.5, -2.0, 3.0]
    y = np.zeros(3, made.dtype)
    scaled.on(device)(2.0, Foreign(made), y)
    assert y.tolist() == [3.0, -4.0, 6.0]


class Older(Foreign):
    """One that knows no versions, and so cannot say whether it may be written."""

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()


def test_what_may_be_written_through_dlpack() -> None:
    made = ig.array([0.5, -2.0, 3.0], bf16, device="cpu")
    y = np.zeros(3, BF16)
    scaled.on("cpu")(2.0, y, Foreign(made))
    assert made.tolist() == [0.0, 0.0, 0.0]
    scaled.on("cpu")(2.0, Older(made), y)
    for closed in (Older(made), Foreign(made.read_only())):
        with pytest.raises(ig.LaunchValueError, match="read-only"):
            scaled.on("cpu")(2.0, y, closed)


def test_a_failing_import_leaves_nothing_behind() -> None:
    made = ig.array([0.5], bf16, device="cpu")
    before = len(dlpack._EXPORTED)
    with pytest.raises((BufferError, RuntimeError), match="dtype"):
        np.from_dlpack(made)
    dlpack.sweep()
    assert len(dlpack._EXPORTED) == before


def test_numbers_round_once() -> None:
    """`astype` of ml_dtypes goes through f32 and meets a tie that the f64 is not."""
    above = 1 + 2.0**-8 + 2.0**-40
    assert np.asarray(above).astype(BF16) == 1
    assert ig.array([above], bf16, device="cpu").tolist() == [1 + 2.0**-7]
    assert ig.full(1, above, bf16, device="cpu").tolist() == [1 + 2.0**-7]
    values = np.array(
        [1e300, -1e300, 3.3895313892515355e38, 3.3961776e38, np.nan, -0.0, 1e-60, 2.0**-134, 3 * 2.0**-134]
    )
    words = rounded_to_bfloat16(np.array(values)).view(np.uint16)
    assert [hex(w) for w in words] == [
        "0x7f80", "0xff80", "0x7f7f", "0x7f80", "0x7fc0", "0x8000", "0x0", "0x0", "0x2"
    ]  # fmt: skip
    assert rounded_to_bfloat16(np.array([257, 259, -(1 << 62)])).astype(float).tolist() == [256.0, 260.0, -(2.0**62)]


def test_the_number_of_the_dtype_fits_its_place() -> None:
    """NumPy numbers added dtypes from 256 on, which would reach into the rank."""
    assert BF16.num > 255 and fields.number_of(BF16) == fields.BF16_NUMBER
    taken = {np.dtype(c).num for c in "?bhilqBHILQefd"}
    assert fields.BF16_NUMBER not in taken and max(taken) < 256
    assert is_bfloat16(BF16) and not is_bfloat16(np.dtype(np.float16)) and not is_bfloat16(np.dtype("V2"))


def test_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are checked and emitted all the same; an array is refused with the remedy."""

    @ig.kernel(grid=N)
    def k(x: In[bf16, N], y: Out[f32, N]) -> None:
        i = ig.gid()
        y[i] = x[i]

    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    assert k.check() == []
    with pytest.raises(TypeError, match=r"pip install 'isogrid\[bf16\]'"):
        ig.zeros(3, bf16, device="cpu")
    with pytest.raises(ig.LaunchTypeError, match=r"holds float32, and the parameter is In\[bf16\]"):
        k(np.zeros(3, np.float32), np.zeros(3, np.float32))


def test_preconditions_on_elements(device: str) -> None:
    @ig.kernel(grid=N)
    def k(x: In[f16, N], z: In[bf16, N], y: Out[f32, N]) -> None:
        ig.require(ig.all_finite(x))
        ig.require(ig.all_in_range(x, -1.0, 2.5))
        ig.require(ig.is_sorted(z))
        i = ig.gid()
        y[i] = x[i] + z[i]

    good, rising, y = np.array([-1, 2], np.float16), np.array([0, 3], BF16), np.zeros(2, np.float32)
    k.on(device)(good, rising, y)
    assert y.tolist() == [-1.0, 5.0]
    for bad, words in ((np.inf, r"all_finite\(x\)`: x\[1\] is inf"), (2.5, r"x\[1\] is 2.5")):
        with pytest.raises(ig.RequirementError, match=words):
            k.on(device)(np.array([0, bad], np.float16), rising, y)
    with pytest.raises(ig.RequirementError, match=r"z\[1\] is 0.0, and z\[0\] is 3.0"):
        k.on(device)(good, rising[::-1].copy(), y)


def test_limits_and_offload() -> None:
    @ig.kernel(grid=N)
    def limits(y: Out[f32, N]) -> None:
        i = ig.gid()
        y[i] = ig.limits(f16).max if i == 0 else ig.limits(bf16).min

    y = np.zeros(2, np.float32)
    limits.on("interp")(y)
    assert y.tolist() == [65504.0, -float(np.asarray(0x7F7F, np.uint16).view(BF16))]

    @ig.offload
    def halved(x: In[f16, N], y: Out[bf16, N]) -> f32:
        s = 0.0
        for i in range(len(x)):
            s += x[i] * x[i]
            y[i] = bf16(0.5 * x[i])
        return s

    assert halved.check() == []
    x = (np.arange(600) / 16).astype(np.float16)
    found = []
    for run in (halved.on("cpu"), halved.on("interp"), halved.reference):
        z = np.zeros(600, BF16)
        found.append((np.float32(run(x, z)).tobytes(), z.tobytes()))
    assert len(set(found)) == 1
