"""Kernels from text, corner values, and the comparison with the interpreter that every conformance test makes."""

import itertools
import linecache
from typing import Any

import numpy as np

import isogrid as ig
from isogrid.ir.types import Scalar
from isogrid.support.bfloat16 import is_bfloat16

HEAD = """import math
from typing import Literal, TypeVar

import numpy as np

import isogrid as ig
from isogrid.dims import C, D, G, H, K, M, N, R, W

"""
_NUMBER = itertools.count()
Array = np.ndarray[Any, Any]

INTEGER_CORNERS = (0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 63, 64, 100, -100, 127, 255, 46341, 65535, 65536)
FLOAT_CORNERS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.0, 0.1, 255.5, 1e-45, -1e-40, 1.1754943508222875e-38,
    3.4028234663852886e38, -3.4028234663852886e38, 16777217.0, 2147483647.0, 2147483648.0, -2147483648.0,
    -2147483904.0, 4294967295.0, 4294967296.0, 9.2233720368547758e18, -9.2233720368547758e18, 1.8446744073709552e19,
    5e-324, 1e300, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def kernel(text: str) -> Any:
    """The kernel `k` of this text; the usual imports stand before it."""
    source = HEAD + text
    file = f"<conformance {next(_NUMBER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "conformance_kernels"}
    exec(compile(source, file, "exec"), namespace)
    return namespace["k"]


def name_of(type: Scalar) -> str:
    """How a kernel's text spells the type."""
    return "bool" if type is Scalar.BOOL else f"ig.{type.value}"


def corners(type: Scalar) -> list[Any]:
    """Corner values of a type, as scalars of its array's dtype."""
    if type is Scalar.BOOL:
        return [np.bool_(False), np.bool_(True)]
    if type.is_float:
        with np.errstate(all="ignore"):
            return [type.numpy.type(value) for value in FLOAT_CORNERS]
    edges = {type.minimum, type.minimum + 1, type.maximum, type.maximum - 1, type.maximum // 2, type.maximum // 2 + 1}
    return [type.numpy.type(v) for v in sorted(edges | {v for v in INTEGER_CORNERS if type.holds(v)})]


def column(values: list[Any], type: Scalar) -> Array:
    return np.array(values, type.numpy)


def reference_value(type: Scalar, value: Any) -> Any:
    """A NumPy scalar as the builtin tables want it: Python int or bool, NumPy float."""
    if type is Scalar.BOOL:
        return bool(value)
    return value if type.is_float else int(value)


def bits(values: Array) -> Array:
    """The values with every NaN made equal, as something that compares bit for bit."""
    if is_bfloat16(values.dtype):
        words = values.view(np.uint16)
        return np.where(words & 0x7FFF > 0x7F80, np.uint16(0x7FC0), words)
    if values.dtype.kind != "f":
        return values
    clean = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return np.ascontiguousarray(clean).view(f"u{values.dtype.itemsize}")


def launch(kernel: Any, device: str, arguments: tuple[Any, ...], **geometry: Any) -> tuple[str, list[Array]]:
    """The trap's class and text ("" if none) and every array after a launch on copies of the arguments."""
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    text = ""
    try:
        kernel.launch(*copies, device=device, **geometry)
    except ig.Trap as trap:
        text = f"{type(trap).__name__}: {trap}"
    return text, [value for value in copies if isinstance(value, np.ndarray)]


def agree(kernel: Any, device: str, *arguments: Any, **geometry: Any) -> tuple[str, list[Array]]:
    """Launch on the interpreter and on `device`, assert that they agree, and give what the interpreter says."""
    text, want = launch(kernel, "interp", arguments, **geometry)
    found_text, found = launch(kernel, device, arguments, **geometry)
    assert found_text == text
    originals = [value for value in arguments if isinstance(value, np.ndarray)]
    for number, (a, b, before) in enumerate(zip(want, found, originals, strict=True)):
        if text:
            assert np.array_equal(bits(a), bits(before)), f"array {number} changed by a trapping launch"
        wrong = np.nonzero(bits(a) != bits(b))
        assert not wrong[0].size, (
            f"array {number} differs at {[w[0] for w in wrong]}: {a[wrong][0]!r}, found {b[wrong][0]!r}"
        )
    return text, want
