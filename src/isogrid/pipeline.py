"""The compiler on one page: checks, passes and lowerings in run order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from isogrid.analysis.bounds import analyse_signs
from isogrid.analysis.facts import LaunchFacts
from isogrid.checks.barriers import check_barriers
from isogrid.checks.failures import check_failures
from isogrid.checks.preconditions import check_preconditions
from isogrid.checks.races import check_races
from isogrid.checks.warps import check_warps
from isogrid.diagnostics.report import Report
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.lacking import NOTHING, Lacking
from isogrid.ir.walk import visit
from isogrid.lowering.lower import lower_kernel
from isogrid.lowering.unroll import unroll_loops as unroll_by_factors
from isogrid.passes.fold_constants import fold_constants
from isogrid.passes.fold_tables import fold_tables
from isogrid.passes.hoist_invariants import hoist_invariants
from isogrid.passes.remove_dead import remove_dead
from isogrid.passes.remove_proved_checks import remove_proved_checks
from isogrid.passes.simplify_indices import simplify_indices
from isogrid.passes.unroll_loops import unroll_loops


@dataclass(frozen=True, slots=True)
class PassContext:
    """What a pass may depend on besides the kernel: facts of the launch, and the portable options."""

    facts: LaunchFacts
    options: Mapping[str, Any]


#: Every check of a kernel; each returns all that it finds.
CHECKS: Final[tuple[tuple[str, Callable[[k.Kernel], list[Report]]], ...]] = (
    ("preconditions", check_preconditions),
    ("warps", check_warps),
    ("barriers", check_barriers),
    ("failures", check_failures),
    ("races", check_races),
)

#: What happens to device IR before a target sees it.
LOWERINGS: Final[tuple[tuple[str, Callable[[d.Kernel], d.Kernel]], ...]] = (("unroll by factors", unroll_by_factors),)

#: Every pass by the name that switches it off. None changes a result.
PASSES: Final[tuple[tuple[str, Callable[[k.Kernel, PassContext], k.Kernel]], ...]] = (
    ("fold", lambda kernel, context: fold_constants(kernel)),
    ("unroll", lambda kernel, context: unroll_loops(kernel, context.options.get("unroll", True) is not False)),
    ("fold", lambda kernel, context: fold_constants(kernel)),
    ("tables", lambda kernel, context: fold_tables(kernel)),
    ("simplify", lambda kernel, context: simplify_indices(kernel)),
    ("prove", lambda kernel, context: remove_proved_checks(kernel, context.facts)),
    ("simplify", lambda kernel, context: simplify_indices(kernel)),
    ("hoist", lambda kernel, context: hoist_invariants(kernel)),
    ("dead", lambda kernel, context: remove_dead(kernel)),
)


def check_kernel(kernel: k.Kernel, fastmath: bool = False) -> list[Report]:
    """What is wrong with a kernel that the front end accepted, sorted by place. With `fastmath` two computations of one
    float may differ, so that the race proof may not take them for one value."""
    reports = [report for _, check in CHECKS for report in check(kernel)]
    if fastmath and not reports:
        reports = check_races(kernel, exact=False)
    return sorted(reports, key=_place)


def optimise(kernel: k.Kernel, disabled: frozenset[str], facts: LaunchFacts, options: Mapping[str, Any]) -> k.Kernel:
    """The kernel after every pass that is not switched off, valid for launches of which `facts` hold."""
    context = PassContext(facts, options)
    for name, run in PASSES:
        if name not in disabled:
            kernel = run(kernel, context)
    return kernel


def lower(kernel: k.Kernel, facts: LaunchFacts, build: str = "", lacking: Lacking = NOTHING) -> d.Kernel:
    """Device IR of a kernel. Proofs tell which divisions need no correction and which `while` loops end. `build` names
    the builds of elementary functions that the target prefers; they give the same bits. Raises `KernelRefused` for
    functions that cannot be computed without what is `lacking`."""
    device = _lower_kernel(kernel, facts, lacking.build or build, lacking)
    for _, lowering in LOWERINGS:
        device = lowering(device)
    return device


def _lower_kernel(kernel: k.Kernel, facts: LaunchFacts, build: str, lacking: Lacking) -> d.Kernel:
    if not any(_profits(node) for node in visit(kernel.body)):
        return lower_kernel(kernel, facts, build=build, lacking=lacking)
    proofs = analyse_signs(kernel, facts)
    return lower_kernel(kernel, facts, proofs.nonnegative, proofs.bounded, build, lacking)


def _profits(node: k.Node) -> bool:
    """Whether the lowering of a node depends on what is proved of it."""
    match node:
        case k.While():
            return True
        case k.Binary(op="floordiv" | "mod"):
            return node.type.is_signed
        case _:
            return False


def _place(report: Report) -> tuple[str, int, int, str]:
    span = report.primary.span
    return span.file, span.line, span.column, report.code
