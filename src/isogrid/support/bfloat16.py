"""The NumPy dtype of bf16 arrays, which the package ml_dtypes adds; it is imported when such a dtype is asked for."""

import importlib
from typing import Any, Final, TypeAlias

import numpy as np

_Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

#: How a host array of bf16 elements is asked for.
SPELLING: Final = "ml_dtypes.bfloat16"
_CANONICAL_NAN: Final = 0x7FC0


def bfloat16_dtype() -> "np.dtype[Any]":
    """`np.dtype(ml_dtypes.bfloat16)`; a TypeError with the remedy where the package is missing."""
    try:
        types: Any = importlib.import_module("ml_dtypes")
    except ImportError:
        raise TypeError("NumPy has bf16 arrays only with the package ml_dtypes: pip install 'isogrid[bf16]'") from None
    return np.dtype(types.bfloat16)


def is_bfloat16(dtype: "np.dtype[Any]") -> bool:
    """Whether a dtype is that of bf16 arrays; needs no import, since who has such an array has the package."""
    return dtype.itemsize == 2 and dtype.name == "bfloat16"


def rounded_to_bfloat16(values: _Array) -> _Array:
    """Numbers as bf16, each rounded once; integers through f32. (`astype` rounds an f64 twice.)"""
    with np.errstate(over="ignore", invalid="ignore"):
        single = values.astype(np.float32)
        if values.dtype == np.float64:
            single = _rounded_to_odd(values, single)
    words = single.view(np.uint32)
    bits = (words + np.uint32(0x7FFF) + (words >> 16 & 1)) >> 16
    bits = np.where(np.isnan(single), np.uint32(_CANONICAL_NAN), bits)
    return bits.astype(np.uint16).view(bfloat16_dtype())


def _rounded_to_odd(values: _Array, near: _Array) -> _Array:
    """Of the two f32 beside a value that f32 does not hold, the one whose last bit is set: `lowering/stored_floats`."""
    back, words = near.astype(np.float64), near.view(np.int32)
    step = np.where(np.abs(values) < np.abs(back), np.int32(-1), np.int32(1))
    keep = (back == values) | (words & 1 != 0) | np.isnan(values)
    return np.where(keep, words, words + step).astype(np.int32).view(np.float32)
