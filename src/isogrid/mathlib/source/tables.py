"""Tables of constants as the kernel language takes them: arrays that nobody can write."""

from typing import Any

import numpy as np


def floats(*rows: float) -> Any:
    """A table of f32."""
    return _read_only(np.array(rows, np.float32))


def doubles(*rows: float | tuple[float, ...]) -> Any:
    """A table of f64, of as many axes as its rows have and one more."""
    return _read_only(np.array(rows, np.float64))


def words(*rows: int) -> Any:
    """A table of u32."""
    return _read_only(np.array(rows, np.uint32))


def long_words(*rows: int) -> Any:
    """A table of u64."""
    return _read_only(np.array(rows, np.uint64))


def _read_only(table: Any) -> Any:
    table.flags.writeable = False
    return table
