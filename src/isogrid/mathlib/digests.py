"""Digests of the true values of the f32 functions: what any device can be compared with in seconds.

The digest of a block of inputs is the sum over the block of a 64-bit mixture of input and result, modulo 2^64. The
files hold one u64 per 2^22 inputs, in the order of the inputs' bits; `tools.mathlib.reference` computed them with MPFR.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np

#: Inputs of one digest that is kept.
BLOCK: Final = 1 << 22
_FOLDER: Final = Path(__file__).parent / "digests"
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


def mixed(inputs: "np.ndarray[Any, Any]", results: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """A u64 for each input and result, both given as u32 bits; a NaN is 0x7FC00000."""
    value = (results.astype(np.uint64) << np.uint64(32)) | inputs
    value *= _FIRST
    value ^= value >> np.uint64(32)
    value *= _SECOND
    value ^= value >> np.uint64(29)
    return value


def digest_of(inputs: "np.ndarray[Any, Any]", results: "np.ndarray[Any, Any]") -> int:
    """The digest of inputs and results given as u32 bits."""
    return int(mixed(inputs, results).sum(dtype=np.uint64))


def subset() -> "np.ndarray[Any, Any]":
    """2^20 inputs, as u32 bits: one of each 4,096 neighbours, by a fixed formula."""
    count = np.arange(1 << 20, dtype=np.uint64)
    offset = (count * np.uint64(0x9E3779B1) & np.uint64(0xFFFFFFFF)) >> np.uint64(20)
    return (count * np.uint64(4096) + offset).astype(np.uint32)


def known_functions() -> tuple[str, ...]:
    """The functions whose digests are kept."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.bin")))


def known(name: str) -> "np.ndarray[Any, Any]":
    """The 1,024 digests of a function."""
    return np.frombuffer((_FOLDER / f"{name}.bin").read_bytes(), "<u8").astype(np.uint64)
