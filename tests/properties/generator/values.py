"""Element types as the generator sees them, intervals of integers, and arrays full of corner values."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from isogrid.ir.types import Scalar

from .choices import Choices

CHECKED: Final = ("i32", "i64", "u32", "u64")
MODULAR: Final = ("w32", "w64")
INTEGERS: Final = CHECKED + MODULAR
FLOATS: Final = ("f32", "f64")
#: Floats of elements only: loaded as f32.
HALVES: Final = ("f16", "bf16")
NUMBERS: Final = INTEGERS + FLOATS
COMPUTING: Final = (*NUMBERS, "bool")
NARROW: Final = ("i8", "i16", "u8", "u16")
SIGNED: Final = ("i8", "i16", "i32", "i64")


def scalar(type: str) -> Scalar:
    return Scalar(type)


def computing(type: str) -> str:
    return scalar(type).computing.value


def least(type: str) -> int:
    return scalar(type).minimum


def most(type: str) -> int:
    return scalar(type).maximum


def full(type: str) -> tuple[int, int]:
    """The interval of all values of an integer type; floats and bools have none that matters."""
    return (least(type), most(type)) if type in INTEGERS or type in NARROW else (0, 1)


@dataclass(frozen=True, slots=True)
class Value:
    """An expression: its text, its type, for integers the interval that it stays in. `number` is a literal's value.

    `simple` expressions have no effect worth counting when they are written twice.
    """

    text: str
    type: str
    low: int = 0
    high: int = 0
    number: int | float | None = None
    simple: bool = False

    def within(self, low: int, high: int) -> bool:
        return low <= self.low and self.high <= high


FLOAT_CORNERS: Final = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, float("inf"), float("-inf"), float("nan"),
    1e-45, -1e-45, 1e-40, 1.1754943508222875e-38, 3.4028234663852886e38, -3.4028234663852886e38, 16777217.0,
    2147483648.0, -2147483648.0, 2147483647.0, 4294967296.0, 9.2233720368547758e18, 1.8446744073709552e19, 1e300,
    5e-324, 1e-310, 0.1, 1 / 3, 255.0, 256.0, -129.0, 65535.5,
)  # fmt: skip


def integer_corners(low: int, high: int) -> list[int]:
    raw = {
        low,
        low + 1,
        high,
        high - 1,
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        31,
        32,
        63,
        64,
        100,
        127,
        128,
        255,
        256,
        65535,
        low // 2,
        high // 2,
    }
    return sorted(value for value in raw if low <= value <= high)


def array(choices: Choices, element: str, shape: tuple[int, ...], low: int, high: int) -> "np.ndarray[Any, Any]":
    """An array whose values are corner cases, small numbers and uniform draws, from one number of `choices`."""
    random = np.random.default_rng(choices.below(1 << 30))
    count = int(np.prod(shape, dtype=np.int64))
    dtype = scalar(element).numpy
    if element == "bool":
        return (random.random(shape) < 0.5).astype(dtype)
    kind = random.integers(0, 4, count)
    if element in FLOATS or element in HALVES:
        with np.errstate(all="ignore"):
            corners = np.array(FLOAT_CORNERS).astype(dtype)
            values = corners[random.integers(0, len(corners), count)]
            values = np.where(kind >= 2, random.normal(0, 50, count).astype(dtype), values)
            values = np.where(kind == 3, random.integers(-8, 9, count).astype(dtype), values)
            # Any bits at all: every exponent is as likely, and a few are NaNs. Half of them next to a corner.
            word = np.dtype(f"u{dtype.itemsize}")
            bits = random.integers(0, np.iinfo(word).max, count, word, endpoint=True)
            near = corners[random.integers(0, len(corners), count)].view(word) ^ (bits & word.type(7))
            any_bits = np.where(random.random(count) < 0.5, bits, near).view(dtype)
            values = np.where(random.random(count) < 0.2, any_bits, values)
        return values.astype(dtype).reshape(shape)
    corners = np.array(integer_corners(low, high), dtype)
    values = corners[random.integers(0, len(corners), count)]
    spread = random.integers(low, high, count, dtype=dtype, endpoint=True)
    small = np.clip(random.integers(-9, 10, count), max(low, -(1 << 62)), min(high, 1 << 62)).astype(dtype)
    return np.where(kind == 0, values, np.where(kind == 1, small, spread)).astype(dtype).reshape(shape)
