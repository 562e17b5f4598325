"""IG301 to IG303: barriers and operations of a group or warp that not all of its threads reach (spec 2.2)."""

from isogrid.analysis.uniformity import Cause, Divergence, Meeting, WarpMeeting, divergent_barriers
from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.ir import kernel as k
from isogrid.ir.operations import SHUFFLES

_JUMPS = ("return", "break", "continue")


def check_barriers(kernel: k.Kernel) -> list[Report]:
    """One report for each barrier that threads of a group may miss, with the condition that parts them."""
    return [_report(kernel, found) for found in divergent_barriers(kernel)]


def _report(kernel: k.Kernel, found: Divergence) -> Report:
    cause = found.cause
    unit = _unit(found.node)
    return Report(
        code=_code(cause),
        title=_title(found.node, cause),
        primary=Label(found.node.span, f"not every thread of the {unit} reaches this {_name(found.node)}"),
        secondary=_labels(cause),
        why=_why(found.node),
        remedies=_remedies(found.node, cause),
        kernel=kernel.name,
    )


def _code(cause: Cause) -> str:
    if cause.how in _JUMPS:
        return "IG302"
    return "IG303" if cause.how == "loop" else "IG301"


def _unit(node: Meeting) -> str:
    return "warp" if isinstance(node, WarpMeeting) else "group"


def _name(node: Meeting) -> str:
    match node:
        case k.Barrier():
            return "barrier"
        case k.WarpBarrier():
            return "warp barrier"
        case k.Collective():
            return f"`group_{node.op}`"
        case k.WarpCollective():
            return f"`{_function(node)}`"


def _function(node: Meeting) -> str:
    """The function of `ig` behind a meeting."""
    match node:
        case k.Barrier():
            return "barrier"
        case k.WarpBarrier():
            return "warp_barrier"
        case k.Collective():
            return f"group_{node.op}"
        case k.WarpCollective():
            return node.op if node.op == "ballot" or node.op in SHUFFLES else f"warp_{node.op}"


def _why(node: Meeting) -> str:
    unit = _unit(node)
    if isinstance(node, k.WarpCollective):
        return f"every thread of the {unit} takes part, and those that take the other way never come"
    return f"a barrier waits for every thread of its {unit}, and those that take the other way never come"


def _title(node: Meeting, cause: Cause) -> str:
    what = f"a {_name(node)}" if isinstance(node, k.Barrier | k.WarpBarrier) else _name(node)
    unit = _unit(node)
    match cause.how:
        case "loop":
            return f"{what} stands in a loop that threads of one {unit} run different numbers of times"
        case "return" | "break" | "continue":
            return f"{what} comes after a `{cause.how}` that only some threads of the {unit} take"
        case _:
            return f"{what} stands under a condition that threads of one {unit} decide differently"


def _labels(cause: Cause) -> tuple[Label, ...]:
    """The condition that splits the group, and the value in it that differs where that is another place."""
    at = cause.at or cause.span
    if at == cause.span:
        return (Label(at, cause.words),)
    return (Label(at, "the threads part here"), Label(cause.span, cause.words))


def _remedies(node: Meeting, cause: Cause) -> tuple[Remedy, ...]:
    what = f"the {_name(node)}" if isinstance(node, k.Barrier | k.WarpBarrier) else f"`ig.{_function(node)}`"
    unit = _unit(node)
    agreed = Remedy(f"or let the {unit} decide together: `ig.{unit}_any(condition)` is the same for every thread")
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
