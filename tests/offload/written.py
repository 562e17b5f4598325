"""Functions made of text, as a user's file would hold them, with their plain Python twins on NumPy arrays."""

import linecache
import textwrap
import warnings
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

import isogrid as ig
from isogrid.frontend.captures import Captures
from isogrid.launch.errors import LaunchError
from isogrid.launch.specialise import check_specialisations
from isogrid.offloading.analysis import analyse
from isogrid.traps import Trap

#: What the texts may use. The second half is that of the twins.
HEAD = """
import math
import random
import numpy as np
import isogrid as ig
from isogrid import In, InOut, Out, bf16, f16, f32, f64, i16, i32, i64, i8, u16, u32, u64, u8, w32, w64
"""
PYTHON_HEAD = """
import math
import random
import numpy as np
import numpy as ig
from numpy import float32 as f32, float64 as f64, int8 as i8, int16 as i16
from numpy import uint8 as u8, uint32 as u32
def i32(x): return int(x)
i64 = w32 = w64 = i32
"""


def function(text: str, name: str, head: str = HEAD, result: str = "f") -> FunctionType:
    """The function that a text defines; reports and warnings show lines of the text, counted from 1."""
    file = f"<{name}>"
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "offload_text"}
    linecache.cache[f"<head of {name}>"] = (len(head), None, head.splitlines(keepends=True), f"<head of {name}>")
    exec(compile(head, f"<head of {name}>", "exec"), space)
    exec(compile(text, file, "exec"), space)
    return space[result]


def called(f: Any, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any], list[str], Exception | None]:
    """Result, arguments afterwards, texts of the warnings, and the trap or launch error of one call on copies."""
    copies = copied(arguments)
    result: Any = None
    error: Exception | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = f(**copies)
        except (LaunchError, Trap) as raised:
            error = raised
    said = [str(w.message) for w in caught if issubclass(w.category, ig.OffloadWarning)]
    return result, copies, said, error


def copied(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of the arrays; two parameters that share one array share its copy."""
    known: dict[int, Any] = {}
    return {
        name: known.setdefault(id(value), value.copy()) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }


def bits(value: Any) -> Any:
    """A value that compares as its bits do, every NaN being the same."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.array(np.nan, value.dtype), value)
        return value.dtype.name, value.tobytes()
    if isinstance(value, tuple):
        return tuple(bits(part) for part in value)
    return "nan" if value != value else (value, str(value)) if isinstance(value, float) else value


def same(first: Any, second: Any) -> bool:
    """Equality of two outcomes of `called` in every bit, warnings apart."""
    (a, arrays, _, failed), (b, others, _, failed_too) = first, second
    if (type(failed), str(failed)) != (type(failed_too), str(failed_too)):
        return False
    return bits(a) == bits(b) and all(bits(arrays[name]) == bits(others[name]) for name in arrays)


def words_of(f: Any) -> list[str]:
    """What an author reads: the warnings of a function, or the findings that refuse it."""
    try:
        specialisation = next(check_specialisations(f.definition, {}))
        return [refusal.text for refusal in analyse(f.definition, specialisation, Captures()).refusals]
    except ig.KernelRefused as refused:
        return [
            f"{r.code}: {r.title}{r.why and ': ' + r.why if r.code == 'IG8070' else ''}. "
            f"{r.remedies[0].text if r.remedies else ''}."
            for r in refused.reports
        ]


Twin = Callable[..., Any]
