"""The compiler on one page: checks, passes and lowerings in run order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from isogrid.analysis.facts import LaunchFacts
from isogrid.diagnostics.report import Report
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.lowering.lower import lower_kernel
from isogrid.passes.remove_proved_checks import remove_proved_checks


@dataclass(frozen=True, slots=True)
class PassContext:
    """What a pass may depend on besides the kernel: facts of the launch, and the portable options."""

    facts: LaunchFacts
    options: Mapping[str, Any]


#: Every check of a kernel; each returns all that it finds.
CHECKS: Final[tuple[tuple[str, Callable[[k.Kernel], list[Report]]], ...]] = ()

#: Every pass by the name that switches it off. None changes a result.
PASSES: Final[tuple[tuple[str, Callable[[k.Kernel, PassContext], k.Kernel]], ...]] = (
    ("remove_proved_checks", lambda kernel, context: remove_proved_checks(kernel, context.facts)),
)


def check_kernel(kernel: k.Kernel) -> list[Report]:
    """What is wrong with a kernel that the front end accepted, sorted by place."""
    reports = [report for _, check in CHECKS for report in check(kernel)]
    return sorted(reports, key=_place)


def optimise(kernel: k.Kernel, disabled: frozenset[str], facts: LaunchFacts, options: Mapping[str, Any]) -> k.Kernel:
    """The kernel after every pass that is not switched off, valid for launches of which `facts` hold."""
    context = PassContext(facts, options)
    for name, run in PASSES:
        if name not in disabled:
            kernel = run(kernel, context)
    return kernel


def lower(kernel: k.Kernel, facts: LaunchFacts) -> d.Kernel:
    """Device IR of a kernel."""
    return lower_kernel(kernel, facts)


def _place(report: Report) -> tuple[str, int, int, str]:
    span = report.primary.span
    return span.file, span.line, span.column, report.code
