"""IG401 to IG408: checks that fail in every thread that reaches them, whatever the launch."""

from typing import Final

from isogrid.analysis.bounds import certain_failures
from isogrid.analysis.evaluator import Failure
from isogrid.analysis.facts import LaunchFacts
from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.ir import kernel as k
from isogrid.ir.sites import SYMBOLS, range_text
from isogrid.ir.types import Scalar
from isogrid.support.errors import CompilerBug

_CODES: Final = {
    "index": "IG401",
    "overflow": "IG402",
    "zero": "IG403",
    "shift": "IG404",
    "exponent": "IG405",
    "cast": "IG406",
    "store": "IG407",
    "step": "IG408",
}
_REMEDIES: Final = {
    "index": "use an index from 0 to the extent minus 1, or guard the access with `if`",
    "overflow": "compute in a wider type, or in `w32` or `w64` where wrapping is meant",
    "zero": "divide by a number that is not 0",
    "shift": "shift by an amount that the type has bits for",
    "exponent": "use an exponent of 0 or more, or convert the base to a float",
    "cast": "convert a value that the type holds, or clamp it with `ig.saturate`",
    "store": "store a value that the element type holds, or clamp it with `ig.saturate`",
    "step": "give the loop a step other than 0",
}


def check_failures(kernel: k.Kernel) -> list[Report]:
    """One report for each operation that traps whenever a thread gets there, for launches of any size."""
    return [_report(kernel, failure) for failure in certain_failures(kernel, LaunchFacts(small=False))]


def _report(kernel: k.Kernel, failure: Failure) -> Report:
    return Report(
        code=_CODES[failure.kind],
        title=_title(failure),
        primary=Label(failure.node.span, _label(failure)),
        why="every thread that reaches this place stops with a trap",
        remedies=(Remedy(_REMEDIES[failure.kind]),),
        kernel=kernel.name,
    )


def _title(failure: Failure) -> str:
    node = failure.node
    match node:
        case k.Load() | k.Store() | k.Atomic() if failure.kind == "index":
            return f"the subscript of `{node.array}` along axis {failure.axis} is never in range"
        case k.Store():
            return f"the value stored in `{node.array}` never fits {node.element.value}"
        case k.For():
            return "the step of this loop is 0"
        case k.Cast():
            return f"the value converted here never fits {node.type.value}"
        case k.Binary() if failure.kind == "zero":
            return f"`{SYMBOLS[node.op]}` divides by zero"
        case k.Binary() if failure.kind == "shift":
            return f"the shift amount is never within 0..{node.type.bits - 1}"
        case k.Binary() if failure.kind == "exponent":
            return "the exponent of this integer power is negative"
        case k.Binary() | k.Unary():
            return f"the result of `{SYMBOLS[node.op]}` never fits {node.type.value}"
        case _:
            return "this check never holds"


def _label(failure: Failure) -> str:
    """The values in numbers, where they are known."""
    node = failure.node
    first = failure.shown[0] if failure.shown else ""
    match failure.kind:
        case "index":
            return _index_label(failure)
        case "zero":
            return "the divisor is 0"
        case "step":
            return "the step is 0"
        case "shift":
            return f"the amount is {first}" if first else "the amount is never in range"
        case "exponent":
            return f"the exponent is {first}" if first else "the exponent is below 0"
        case _:
            type = node.element if isinstance(node, k.Store) else _type_of(node)
            held = f"{type.value} holds {range_text(type)}"
            return f"the value is {first}; {held}" if first else held


def _index_label(failure: Failure) -> str:
    index, extent = failure.shown
    if index and extent:
        return f"the index is {index}, the extent {extent}"
    return f"the index is {index}" if index else "the index is outside for every thread"


def _type_of(node: k.Node) -> Scalar:
    match node:
        case k.Unary() | k.Binary() | k.Cast():
            return node.type
        case _:
            raise CompilerBug(f"{node.span}: no value of this node can be too large")
