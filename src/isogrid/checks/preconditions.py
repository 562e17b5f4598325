"""IG409: preconditions that contradict each other, so that what is proved under them says nothing (spec 1.7)."""

from isogrid.analysis.bounds import unsatisfiable_requirement
from isogrid.diagnostics.report import Label, Remedy, Report, Severity
from isogrid.ir import kernel as k


def check_preconditions(kernel: k.Kernel) -> list[Report]:
    """A warning at the first precondition that none can meet: every launch with a thread is refused there."""
    found = unsatisfiable_requirement(kernel)
    if found is None:
        return []
    earlier = [require for require in kernel.requires if (require.span.line, require.span.column) < _place(found)]
    return [
        Report(
            code="IG409",
            title=f"no launch can meet `{found.text}`" + (" and the preconditions before it" if earlier else ""),
            primary=Label(found.span, "never true where a thread runs"),
            secondary=tuple(Label(require.span, "required before it") for require in earlier),
            why="every launch that has a thread is refused, so whatever is proved of this kernel is vacuous",
            remedies=(Remedy("correct the condition, or remove it"),),
            severity=Severity.WARNING,
            kernel=kernel.name,
        )
    ]


def _place(require: k.Require) -> tuple[int, int]:
    return require.span.line, require.span.column
