"""What a target cannot express, as reports: the capability, why it is missing, and the line that asks for it."""

from typing import Final

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.lacking import Lacking
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.support.errors import KernelRefused

_WIDE: Final = frozenset({Scalar.I64, Scalar.U64, Scalar.W64, Scalar.F64})


def refuse_what_lacks(kernel: d.Kernel, lacking: Lacking) -> None:
    """Raise `KernelRefused` with the first place for each capability that the kernel needs and the target lacks."""
    reports: dict[str, Report] = {}
    for parameter in kernel.parameters:
        type = getattr(parameter, "element", None) or getattr(parameter, "type", None)
        if type is Scalar.F64 and "f64" in lacking.why:
            reports.setdefault("f64", _no_f64(kernel, lacking, Label(kernel.span, f"`{parameter.name}` is f64")))
    for node in visit(kernel.body) if lacking.why else ():
        if "f64" in lacking.why and getattr(node, "type", None) is Machine.F64:
            reports.setdefault("f64", _no_f64(kernel, lacking, Label(node.span, "computes in f64")))
        if isinstance(node, d.Op) and node.op == "fma" and "fma" in lacking.why:
            reports.setdefault("fma", _no_fma(kernel, lacking, node))
        if isinstance(node, d.Atomic) and "atomics_64" in lacking.why and node.element in _WIDE:
            reports.setdefault("atomics_64", _no_wide_atomics(kernel, lacking, node))
    if reports:
        raise KernelRefused(list(reports.values()))


def _no_f64(kernel: d.Kernel, lacking: Lacking, label: Label) -> Report:
    return Report(
        "IG501",
        f"{lacking.target} cannot compute in f64 here",
        label,
        why=f"{lacking.why['f64']}; the capability is `f64`",
        remedies=(Remedy("use f32, or run the kernel on a device with 64-bit floats, such as cpu or cuda"),),
        kernel=kernel.name,
    )


def _no_fma(kernel: d.Kernel, lacking: Lacking, node: d.Op) -> Report:
    return Report(
        "IG504",
        f"{lacking.target} cannot compute `ig.fma` here",
        Label(node.span, "rounds once"),
        why=f"{lacking.why['fma']}; the capability is `fma`",
        remedies=(Remedy("write `a * b + c`, which rounds twice on every device, or run the kernel on cpu or cuda"),),
        kernel=kernel.name,
    )


def _no_wide_atomics(kernel: d.Kernel, lacking: Lacking, node: d.Atomic) -> Report:
    return Report(
        "IG502",
        f"{lacking.target} has no atomic update of {node.element.value} elements here",
        Label(node.span, f"updates a 64-bit element of `{node.buffer}`"),
        why=f"{lacking.why['atomics_64']}; the capability is `atomics_64`",
        remedies=(Remedy("use 32-bit elements, or run the kernel on a device with 64-bit atomics"),),
        kernel=kernel.name,
    )
