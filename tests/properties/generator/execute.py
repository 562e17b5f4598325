"""Run one random kernel on the interpreter and on another device, and say how they differ."""

import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import isogrid as ig

from .program import Program


@dataclass(slots=True)
class Outcome:
    """What happened to one kernel: `trouble` is empty when both devices agree; `traps` are those of its launches."""

    trouble: str = ""
    traps: list[str] = field(default_factory=list)
    refused: str = ""
    launches: int = 0
    trapped: int = 0


def load(program: Program, file: str) -> Any:
    """The kernel value of the program's text."""
    linecache.cache[file] = (len(program.source), None, program.source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "random_kernels"}
    exec(compile(program.source, file, "exec"), namespace)
    return namespace["random_kernel"]


def run(program: Program, name: str, devices: tuple[str, str] = ("interp", "cpu")) -> Outcome:
    """Every launch on both devices: same traps in the same words, same bytes in every array."""
    outcome = Outcome()
    file = f"<{name}>"
    try:
        try:
            kernel = load(program, file)
        except Exception as error:
            outcome.trouble = f"crash: loading: {type(error).__name__}: {error}"
            return outcome
        compiled = kernel.options(disable=program.disable) if program.disable else kernel
        for arguments in program.launches:
            outcome.launches += 1
            first = _launch(kernel, arguments, devices[0])
            if first.refused:
                outcome.refused = first.text
                return outcome
            second = _launch(compiled, arguments, devices[1])
            if first.text and first.trap:
                outcome.trapped += 1
                outcome.traps.append(first.text)
            outcome.trouble = _compare(first, second, arguments)
            if outcome.trouble:
                return outcome
    finally:
        linecache.cache.pop(file, None)
    return outcome


@dataclass(slots=True)
class _Result:
    arrays: dict[str, "np.ndarray[Any, Any]"]
    text: str = ""
    trap: bool = False
    refused: bool = False


def _launch(kernel: Any, arguments: dict[str, Any], device: str) -> _Result:
    copies = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    result = _Result({name: value for name, value in copies.items() if isinstance(value, np.ndarray)})
    action: Callable[..., None] = kernel.on(device)
    try:
        action(**copies)
    except ig.Trap as trap:
        result.text, result.trap = f"{type(trap).__name__}: {trap}", True
    except ig.KernelRefused as refusal:
        result.text, result.refused = str(refusal), True
    except Exception as error:
        import traceback

        result.text = f"{device}: {type(error).__name__}: {error}\n{traceback.format_exc(limit=-4)}"
    return result


def _compare(first: _Result, second: _Result, arguments: dict[str, Any]) -> str:
    if first.text and not first.trap:
        return f"crash: {first.text}"
    if second.text != first.text:
        return f"message:\n    {first.text or 'no trap'}\n    {second.text or 'no trap'}"
    for name, want in first.arrays.items():
        if first.trap and not np.array_equal(_bits(want), _bits(arguments[name])):
            return f"bytes: `{name}` changed by a trapping launch on the first device"
        a, b = _bits(want), _bits(second.arrays[name])
        if not np.array_equal(a, b):
            at = tuple(int(axis[0]) for axis in np.nonzero(a != b))
            return f"bytes: `{name}`{list(at)} is {want[at]!r} and {second.arrays[name][at]!r}"
    return ""


def _bits(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    if values.dtype.kind != "f":
        return values
    clean = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return np.ascontiguousarray(clean).view(f"u{values.dtype.itemsize}")
