"""Functions that a target cannot compute, since no build of theirs does without what it lacks: noted as reports."""

import functools
from typing import Final

from isogrid.builtins.elementary import BUILDS, ELEMENTARY, compiled_of
from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.lowering.builder import Builder
from isogrid.mathlib.functions import load

_SPELLINGS: Final = {
    compiled_of(row.name, signature.parameters[0]): row.spellings[0].replace("isogrid.", "ig.")
    for row in ELEMENTARY
    for signature in row.signatures
}


def note_if_lacking(builder: Builder, name: str, span: Span) -> None:
    """Note a report if the function that is called at `span` needs what the target lacks.

    A function of f64 on a target without f64 is not noted: its operand is refused there, whatever is called.
    """
    lacks = builder.lacking.why
    if not lacks or (name.endswith(Scalar.F64.value) and "f64" in lacks):
        return
    missing = sorted(needs(name, builder.build) & lacks.keys())
    if missing and name not in builder.refused:
        builder.refused[name] = _report(builder, name, missing[0], span)


@functools.cache
def needs(name: str, build: str) -> frozenset[str]:
    """The capabilities without which a compiled function cannot run: `f64`, `fma`."""
    function = load(name, build)
    found: set[str] = set()
    for node in (*visit(function.body), *visit(function.result)):
        if getattr(node, "type", None) is Machine.F64:
            found.add("f64")
        if isinstance(node, d.Op) and node.op == "fma":
            found.add("fma")
    return frozenset(found)


def _report(builder: Builder, name: str, capability: str, span: Span) -> Report:
    spelling = _SPELLINGS[name]
    lacking = builder.lacking
    others = ", ".join(_SPELLINGS[other] for other in BUILDS["pairs"])
    type = next(scalar.value for scalar in (Scalar.F32, Scalar.F64) if name.endswith(scalar.value))
    return Report(
        "IG504",
        f"{lacking.target} cannot compute `{spelling}` of {type} here",
        Label(span, f"calls `{spelling}`"),
        why=f"{lacking.why[capability]}, and no build of `{spelling}` does without; the capability is `{capability}`",
        remedies=(
            Remedy("run the kernel on a device that has it"),
            Remedy(f"use functions of f32 that need it nowhere: {others}"),
        ),
        kernel=builder.kernel.name,
    )
