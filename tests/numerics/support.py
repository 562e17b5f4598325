"""Kernels that apply one function to arrays, and the functions under test."""

from pathlib import Path
from typing import Any

import numpy as np

from isogrid.builtins.elementary import ELEMENTARY, NOT_YET
from isogrid.builtins.table import Builtin
from isogrid.ir.types import Scalar
from tests.conformance.support import kernel, name_of

HERE = Path(__file__).parent
Array = np.ndarray[Any, Any]

ROWS = {row.name: row for row in ELEMENTARY}
#: Functions with one float operand and a float result of the same type.
UNARY = [row.name for row in ELEMENTARY if len(row.parameters) == 1 and not row.name.startswith("frexp")]
assert NOT_YET


def applied(row: Builtin, *operands: Scalar) -> Any:
    """A kernel `z[i] = f(a[i], ...)` for operands of these types."""
    result = next(s.result for s in row.signatures if s.parameters == operands)
    call = row.spellings[0].replace("isogrid.", "ig.")
    letters = "abc"[: len(operands)]
    arrays = ", ".join(f"{a}: ig.In[{name_of(t)}, N]" for a, t in zip(letters, operands, strict=True))
    return kernel(f"""
@ig.kernel(grid=N)
def k({arrays}, z: ig.Out[{name_of(result)}, N]) -> None:
    i = ig.gid()
    z[i] = {call}({", ".join(f"{a}[i]" for a in letters)})
""")


def bits_of(values: Array) -> Array:
    """IEEE bits, every NaN made the canonical one."""
    return np.where(np.isnan(values), np.array(np.nan, values.dtype), values).view(f"u{values.dtype.itemsize}")


def hard_cases(name: str) -> tuple[Array, Array]:
    """Inputs that are hard to round and their results, as u32 bits."""
    path = HERE / "hard" / f"{name}.txt"
    if not path.exists():
        return np.zeros(0, np.uint32), np.zeros(0, np.uint32)
    pairs = [line.split() for line in path.read_text().splitlines()]
    return tuple(np.array([int(p[at], 16) for p in pairs], np.uint32) for at in (0, 1))  # type: ignore[return-value]


def subset_digest(name: str) -> int | None:
    """The digest of a function over the subset of inputs, where one is kept."""
    found = dict(line.split() for line in (HERE / "subset.txt").read_text().splitlines())
    return int(found[name], 16) if name in found else None
