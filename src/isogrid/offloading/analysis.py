"""One specialisation of an offloaded function, judged: its IR, the verdict on each loop, and the sections."""

from collections.abc import Sequence

from isogrid.diagnostics.report import Report, Severity
from isogrid.frontend.build import Built, build_with_constants
from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import Definition, Specialisation
from isogrid.launch.backends import load_compiler
from isogrid.offloading.finding import Refusal
from isogrid.offloading.outline import outline_of
from isogrid.offloading.proof import Verdict, counter_text, find_in_text, prove
from isogrid.offloading.sections import Plan, split
from isogrid.offloading.shape import find_misshapen
from isogrid.support.errors import KernelRefused
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known before any call. `refusals` are the warnings, by place."""

    built: Built
    verdict: Verdict
    plan: Plan
    refusals: tuple[Refusal, ...]


def analyse(definition: Definition, specialisation: Specialisation, captures: Captures) -> Analysis:
    """Build and judge; raises `KernelRefused`, with the rule's reason first where R1 to R6 give one."""
    load_compiler()
    outline = outline_of(definition, captures)
    try:
        built = build_with_constants(definition, specialisation, captures)
        _check_language(built)
    except KernelRefused as refused:
        raise KernelRefused([*_reasons_in_text(definition, captures), *refused.reports]) from None
    verdict = prove(outline, built)
    refusals = [verdict.whole] if verdict.whole else [v.refusal for v in verdict.loops if v.refusal]
    return Analysis(built, verdict, split(built, verdict), tuple(refusals))


def _check_language(built: Built) -> None:
    """What is certain to fail is refused here as in kernels; with one thread there are no races."""
    from isogrid.pipeline import check_kernel

    faults = [report for report in check_kernel(built.kernel) if report.severity is Severity.ERROR]
    if faults:
        raise KernelRefused(faults)


def _reasons_in_text(definition: Definition, captures: Captures) -> Sequence[Report]:
    outline = outline_of(definition, captures)
    name = outline.captured.tree.name
    misshapen = find_misshapen(outline)
    if misshapen is not None:
        refusal = Refusal(name, misshapen, outline.captured.signature_span(), "")
        return [refusal.report(Severity.ERROR)]
    found: list[Report] = []
    for node in outline.loops:
        finding = find_in_text(outline, node)
        if finding is not None:
            refusal = Refusal(name, finding, outline.span(node), counter_text(node))
            found.append(refusal.report(Severity.ERROR))
    return found
