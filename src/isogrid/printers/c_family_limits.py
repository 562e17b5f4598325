"""What a target cannot express, as reports: the capability, why it is missing, and the line that asks for it."""

from typing import Final

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.printers.c_family_spelling import Spelling
from isogrid.support.errors import KernelRefused

_WIDE: Final = frozenset({Scalar.I64, Scalar.U64, Scalar.W64, Scalar.F64})


def refuse_what_lacks(kernel: d.Kernel, spelling: Spelling) -> None:
    """Raise `KernelRefused` with the first place for each capability that the kernel needs and the target lacks."""
    reports: dict[str, Report] = {}
    for parameter in kernel.parameters:
        type = getattr(parameter, "element", None) or getattr(parameter, "type", None)
        if type is Scalar.F64 and "f64" in spelling.lacks:
            reports.setdefault("f64", _no_f64(kernel, spelling, Label(kernel.span, f"`{parameter.name}` is f64")))
    for node in visit(kernel.body):
        if "f64" in spelling.lacks and getattr(node, "type", None) is Machine.F64:
            reports.setdefault("f64", _no_f64(kernel, spelling, Label(node.span, "computes in f64")))
        if isinstance(node, d.Atomic) and "atomics_64" in spelling.lacks and node.element in _WIDE:
            reports.setdefault("atomics_64", _no_wide_atomics(kernel, spelling, node))
    if reports:
        raise KernelRefused(list(reports.values()))


def _no_f64(kernel: d.Kernel, spelling: Spelling, label: Label) -> Report:
    return Report(
        "IG501",
        f"{spelling.language} cannot compute in f64 here",
        label,
        why=f"{spelling.lacks['f64']}; the capability is `f64`",
        remedies=(Remedy("use f32, or run the kernel on a device with 64-bit floats, such as cpu or cuda"),),
        kernel=kernel.name,
    )


def _no_wide_atomics(kernel: d.Kernel, spelling: Spelling, node: d.Atomic) -> Report:
    return Report(
        "IG502",
        f"{spelling.language} has no atomic update of {node.element.value} elements here",
        Label(node.span, f"updates a 64-bit element of `{node.buffer}`"),
        why=f"{spelling.lacks['atomics_64']}; the capability is `atomics_64`",
        remedies=(Remedy("use 32-bit elements, or run the kernel on a device with 64-bit atomics"),),
        kernel=kernel.name,
    )
