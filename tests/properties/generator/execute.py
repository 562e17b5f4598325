"""Run one random kernel on the interpreter and on other devices, and say how they differ."""

import contextlib
import linecache
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import isogrid as ig

from .program import Program
from .together import Deferred


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
    ready = prepare(program, name)
    try:
        answer(ready, devices[0])
        return compared(ready, devices[1])
    finally:
        forget(ready)


@dataclass(slots=True)
class Result:
    """What one launch left behind: the arrays, and the trap or refusal in words."""

    arrays: dict[str, "np.ndarray[Any, Any]"]
    text: str = ""
    trap: bool = False
    refused: bool = False


@dataclass(slots=True)
class Ready:
    """A program that is loaded: `compiled` is the kernel with the options of the compared devices, `answers` what the
    first device does with each launch, up to one that it refuses."""

    program: Program
    file: str
    kernel: Any = None
    compiled: Any = None
    trouble: str = ""
    answers: list[Result] = field(default_factory=list[Result])


def prepare(program: Program, name: str) -> Ready:
    """Load a program; what goes wrong is noted."""
    ready = Ready(program, f"<{name}>")
    try:
        ready.kernel = load(program, ready.file)
        ready.compiled = ready.kernel.options(disable=program.disable) if program.disable else ready.kernel
    except Exception as error:
        ready.trouble = f"crash: loading: {type(error).__name__}: {error}"
    return ready


def answer(ready: Ready, device: str = "interp") -> None:
    """Launch on the device that decides."""
    if ready.trouble:
        return
    for arguments in ready.program.launches:
        ready.answers.append(_launch(ready.kernel, arguments, device))
        if ready.answers[-1].refused:
            return


def compile_later(ready: Ready, device: str) -> None:
    """Get every launch as far as its compilation, which a group of kernels then does together."""
    for arguments, first in zip(ready.program.launches, ready.answers, strict=False):
        # What else goes wrong shows again when the launch is compared.
        with contextlib.suppress(Deferred, Exception):
            if not first.refused:
                ready.compiled.on(device)(**_copies(arguments))


def compared(ready: Ready, device: str) -> Outcome:
    """Every launch of a loaded program on a device, against the answers."""
    outcome = Outcome(ready.trouble)
    for arguments, first in zip(ready.program.launches, ready.answers, strict=False):
        outcome.launches += 1
        if first.refused:
            outcome.refused = first.text
            return outcome
        second = _launch(ready.compiled, arguments, device)
        if first.text and first.trap:
            outcome.trapped += 1
            outcome.traps.append(first.text)
        outcome.trouble = _compare(first, second, arguments)
        if outcome.trouble:
            return outcome
    return outcome


def forget(ready: Ready) -> None:
    """The text is not needed any more."""
    linecache.cache.pop(ready.file, None)


def _launch(kernel: Any, arguments: dict[str, Any], device: str) -> Result:
    copies = _copies(arguments)
    result = Result({name: value for name, value in copies.items() if isinstance(value, np.ndarray)})
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


def _copies(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


def _compare(first: Result, second: Result, arguments: dict[str, Any]) -> str:
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
    if values.dtype.kind in "iub":
        return values
    with np.errstate(invalid="ignore"):  # ml_dtypes says so of NaNs
        clean = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return np.ascontiguousarray(clean).view(f"u{values.dtype.itemsize}")
