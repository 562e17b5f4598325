"""IG301 to IG303: barriers and group operations that not every thread of the group reaches (spec 2.2)."""

from isogrid.analysis.uniformity import Cause, Divergence, divergent_barriers
from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.ir import kernel as k

_JUMPS = ("return", "break", "continue")


def check_barriers(kernel: k.Kernel) -> list[Report]:
    """One report for each barrier that threads of a group may miss, with the condition that parts them."""
    return [_report(kernel, found) for found in divergent_barriers(kernel)]


def _report(kernel: k.Kernel, found: Divergence) -> Report:
    cause = found.cause
    what = "this barrier" if isinstance(found.node, k.Barrier) else f"this `group_{found.node.op}`"
    return Report(
        code=_code(cause),
        title=_title(found.node, cause),
        primary=Label(found.node.span, f"not every thread of the group reaches {what}"),
        secondary=_labels(cause),
        why="a barrier waits for every thread of its group, and those that take the other way never come",
        remedies=_remedies(found.node, cause),
        kernel=kernel.name,
    )


def _code(cause: Cause) -> str:
    if cause.how in _JUMPS:
        return "IG302"
    return "IG303" if cause.how == "loop" else "IG301"


def _title(node: k.Barrier | k.Collective, cause: Cause) -> str:
    what = "a barrier" if isinstance(node, k.Barrier) else f"`group_{node.op}`"
    match cause.how:
        case "loop":
            return f"{what} stands in a loop that threads of one group run different numbers of times"
        case "return" | "break" | "continue":
            return f"{what} comes after a `{cause.how}` that only some threads of the group take"
        case _:
            return f"{what} stands under a condition that threads of one group decide differently"


def _labels(cause: Cause) -> tuple[Label, ...]:
    """The condition that splits the group, and the value in it that differs where that is another place."""
    at = cause.at or cause.span
    if at == cause.span:
        return (Label(at, cause.words),)
    return (Label(at, "the threads part here"), Label(cause.span, cause.words))


def _remedies(node: k.Barrier | k.Collective, cause: Cause) -> tuple[Remedy, ...]:
    what = "the barrier" if isinstance(node, k.Barrier) else f"`ig.group_{node.op}`"
    agreed = Remedy("or let the group decide together: `ig.group_any(condition)` is the same for every thread")
    match cause.how:
        case "loop":
            return (
                Remedy(f"let every thread run the same trips, and put `if` around the work, with {what} outside it"),
                agreed,
            )
        case "return" | "break" | "continue":
            return (
                Remedy(f"put the work under an `if` in place of the `{cause.how}`, and {what} after it"),
                agreed,
            )
        case _:
            return (Remedy(f"move {what} out of the `if`, so that every thread reaches it"), agreed)
