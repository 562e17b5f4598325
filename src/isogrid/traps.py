"""Traps as Python exceptions, and the one place that words them, so that every device says the same bytes."""

import linecache
from collections.abc import Sequence
from typing import Any

import numpy as np

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
            return f"{_operation_text(site.subject, values)} does not fit {site.detail}"
        case TrapKind.TOTAL:
            if site.subject.startswith("group_"):
                return f"the total of `{site.subject}` does not fit {site.detail}: it is {values[-1]}"
            return f"the total of `{site.subject}[{values[0]}]` does not fit {site.detail}: it is {values[1]}"
        case TrapKind.ZERO_DIVISION:
            return f"{values[0]} {site.subject} 0 is a division by zero"
        case TrapKind.VALUE:
            return f"{site.subject} {values[0]} is outside {site.detail}"
        case TrapKind.ASSERTION:
            return f"assertion failed: {site.subject}"


def _operation_text(operator: str, values: Sequence[str]) -> str:
    match operator:
        case "-x":
            return f"-({values[0]})"
        case "abs":
            return f"abs({values[0]})"
        case "store":
            return f"stored value {values[0]}"
        case _:
            return f"{values[0]} {operator} {values[1]}"


def _value_text(value: Any, type: Scalar) -> str:
    if type is Scalar.BOOL:
        return "True" if value else "False"
    if type.is_float:
        number = np.float32(value) if type is Scalar.F32 else np.float64(value)
        return "nan" if np.isnan(number) else str(number)
    return str(int(value))
