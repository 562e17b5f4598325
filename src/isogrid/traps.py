"""Traps as Python exceptions, and the one place that words them, so that every device says the same bytes."""

import linecache
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from isogrid.ir.sites import range_text
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.ir.types import Scalar


class Trap(Exception):
    """A thread did something the language does not allow; every array holds what it held before the launch."""


class KernelIndexError(Trap, IndexError):
    """A subscript or atomic index outside its array."""


class KernelOverflowError(Trap, OverflowError):
    """An exact integer result, narrowing store or total that does not fit its type."""


class KernelZeroDivisionError(Trap, ZeroDivisionError):
    """Integer `//` or `%` by zero."""


class KernelValueError(Trap, ValueError):
    """A shift amount, conversion, step or exponent outside its range."""


class KernelAssertionError(Trap, AssertionError):
    """An `assert` of the kernel failed."""


class KernelRaceError(Trap):
    """Two threads touched one element, one of them writing, with no barrier between (`races="check"`)."""


_CLASSES: dict[TrapKind, type[Trap]] = {
    TrapKind.INDEX: KernelIndexError,
    TrapKind.OVERFLOW: KernelOverflowError,
    TrapKind.TOTAL: KernelOverflowError,
    TrapKind.ZERO_DIVISION: KernelZeroDivisionError,
    TrapKind.VALUE: KernelValueError,
    TrapKind.ASSERTION: KernelAssertionError,
    TrapKind.RACE: KernelRaceError,
}


def trap_exception(site: TrapSite, kernel: str, thread: Sequence[int] | None, operands: Sequence[Any]) -> Trap:
    """The exception for one trap.

    `thread` holds the gid of the thread along each axis (None for a total); `operands` are values of the types that
    `site.operands` lists, as Python ints, bools or NumPy floats.
    """
    where = "" if thread is None else f", thread {_thread_text(thread)}"
    source = linecache.getline(site.span.file, site.span.line).strip()
    lines = [_sentence(site, operands), f"  in kernel `{kernel}`, {site.span}{where}"]
    if source:
        lines.append(f"    {source}")
    return _CLASSES[site.kind]("\n".join(lines))


def _thread_text(thread: Sequence[int]) -> str:
    return str(thread[0]) if len(thread) == 1 else "(" + ", ".join(str(t) for t in thread) + ")"


def _sentence(site: TrapSite, operands: Sequence[Any]) -> str:
    values = [_value_text(v, t) for v, t in zip(operands, site.operands, strict=True)]
    match site.kind:
        case TrapKind.INDEX:
            return (
                f"index {values[0]} is out of range for axis {site.detail} of `{site.subject}` with extent {values[1]}"
            )
        case TrapKind.OVERFLOW:
            return _overflow_text(site, values)
        case TrapKind.TOTAL:
            of = f"element {values[0]} of `{site.subject}`" if values else f"`{site.subject}`"
            return f"the total of {of} does not fit {site.detail}"
        case TrapKind.ZERO_DIVISION:
            return f"{values[0]} {site.subject} 0 is a division by zero"
        case TrapKind.VALUE:
            return _value_sentence(site, values[0])
        case TrapKind.ASSERTION:
            return f"assertion failed: {site.subject}" if site.subject else "assertion failed"
        case TrapKind.RACE:
            first, second, place = site.detail.split(" ", 2)
            return (
                f"two threads touched element {values[0]} of `{site.subject}` with no barrier between them: "
                f"thread {_thread_text(operands[1:])} {_verb(first)} it at {place}, and this one {_verb(second)} it"
            )


def _verb(kind: str) -> str:
    """What an access does, in words."""
    return {"read": "reads", "write": "writes"}.get(kind, f"updates ({kind})")


def _overflow_text(site: TrapSite, values: Sequence[str]) -> str:
    if site.subject.startswith("store "):
        array = site.subject.removeprefix("store ")
        element = Scalar(site.detail)
        return (
            f"stored value {values[0]} does not fit `{array}`, whose {site.detail} elements hold {range_text(element)}"
        )
    if site.subject == "-x":
        operation = f"-({values[0]})"
    elif site.subject == "abs":
        operation = f"abs({values[0]})"
    else:
        operation = f"{values[0]} {site.subject} {values[1]}"
    return f"{operation} does not fit {site.detail}"


def _value_sentence(site: TrapSite, value: str) -> str:
    match site.subject:
        case "conversion":
            return f"{site.detail}({value}) is outside the range {range_text(Scalar(site.detail))}"
        case "step":
            return f"range step {value} is not allowed: any other integer is"
        case "exponent":
            return f"integer power with the negative exponent {value}: the range is 0 and up"
        case subject:
            return f"{subject} {value} is outside the range {site.detail}"


def _value_text(value: Any, type: Scalar) -> str:
    if type is Scalar.BOOL:
        return "True" if value else "False"
    if type is Scalar.F32:
        return _f32_text(float(value))
    return repr(float(value)) if type.is_float else str(int(value))


def _f32_text(value: float) -> str:
    """The shortest decimal that is this f32, laid out as Python lays out floats (NumPy's text has print options)."""
    if not math.isfinite(value):
        return repr(value)
    with np.errstate(over="ignore"):
        for digits in range(1, 10):
            short = float(f"{value:.{digits}g}")
            if np.float32(short) == np.float32(value):
                return repr(short)
    return repr(value)
