"""What an f16 or bf16 element keeps of every f32, as digests: `python -m tools.mathlib.stored_floats` (some minutes).

Rounding is done in f64, where every step but the rounding to a whole number is exact: no code of isogrid, and no other
conversion to a narrow type. The digests are those of `isogrid numerics f16 bf16`, which any device computes.
"""

from pathlib import Path
from typing import Any

import numpy as np

from isogrid.mathlib import digests as kept_digests
from isogrid.mathlib.digests import BLOCK, digest_of

Array = np.ndarray[Any, Any]
STEP = 1 << 18
FOLDER = Path(kept_digests.__file__).parent / "digests"
#: Digits, exponent of the least subnormal, and greatest finite value.
FORMATS = {"f16": (11, -24, 65504.0), "bf16": (8, -133, float(np.ldexp(255.0, 120)))}


def kept(name: str, values: Array) -> Array:
    """The nearest values of the narrow type, ties to even, as f64; `values` are f64."""
    digits, least, largest = FORMATS[name]
    unit = np.maximum(np.frexp(values)[1] - digits, least)
    near = np.ldexp(np.rint(np.ldexp(values, -unit)), unit)
    return np.where(np.abs(near) > largest, np.copysign(np.inf, values), np.where(np.isfinite(values), near, values))


def kept_bits(name: str, inputs: Array) -> Array:
    """For u32 bits of f32 inputs: the u32 bits of what is kept of each, a NaN as the canonical one."""
    with np.errstate(all="ignore"):
        results = kept(name, inputs.view(np.float32).astype(np.float64)).astype(np.float32)
    return np.where(np.isnan(results), np.uint32(0x7FC00000), results.view(np.uint32))


def digests(name: str) -> Array:
    found = np.zeros((1 << 32) // BLOCK, np.uint64)
    for first in range(0, 1 << 32, STEP):
        inputs = np.arange(first, first + STEP, dtype=np.uint64).astype(np.uint32)
        found[first // BLOCK] += np.uint64(digest_of(inputs, kept_bits(name, inputs)))
    return found


def main() -> None:
    with np.errstate(over="ignore"):
        for name in FORMATS:
            (Path(kept_digests.__file__).parent / "digests" / f"{name}.bin").write_bytes(
                digests(name).astype("<u8").tobytes()
            )


if __name__ == "__main__":
    main()
