"""What `isogrid check` says of an offloaded function: each loop, where it runs, and the rule that took each write."""

from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import Specialisation
from isogrid.launch.specialise import check_specialisations
from isogrid.offloading.analysis import Analysis, analyse
from isogrid.offloading.context import author_name
from isogrid.offloading.function import Offloaded
from isogrid.offloading.launch_checks import coefficient_text
from isogrid.offloading.nest import inner_loop
from isogrid.offloading.proof import Accepted, LoopVerdict, counter_text
from isogrid.offloading.rule3_arrays import Written
from isogrid.offloading.rule3_names import OPERATORS
from isogrid.offloading.sections import has_atomics
from isogrid.support.errors import KernelRefused
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class LoopListing:
    """One loop. `runs` says how; `writes` holds, per written array and reduction, its name and the rule in words;
    `reason` holds the two sentences about one that is refused."""

    line: int
    counter: str
    accepted: bool
    runs: str
    writes: tuple[tuple[str, str], ...]
    reason: str = ""


def listing_of(function: Offloaded, specialisation: Specialisation | None = None) -> tuple[LoopListing, ...] | None:
    """The loops of a function under one specialisation, the first if none is given; None where it is refused as a whole
    by an error."""
    specialisation = specialisation or next(check_specialisations(function.definition, function.tunables))
    try:
        analysis = analyse(function.definition, specialisation, Captures())
    except KernelRefused:
        return None
    return tuple(_loop(analysis, verdict) for verdict in analysis.verdict.loops)


def _loop(analysis: Analysis, verdict: LoopVerdict) -> LoopListing:
    line = verdict.node.lineno
    accepted = verdict.accepted
    if accepted is None or analysis.verdict.whole is not None:
        refusal = analysis.verdict.whole or verdict.refusal
        reason = "" if refusal is None else refusal.text
        return LoopListing(line, counter_text(verdict.node), False, "runs in sequence", (), reason)
    writes = [(w.array, _rule(accepted, w)) for w in accepted.written.values()]
    for reduction in accepted.reductions.values():
        how = "in the 256-wide tree" if reduction.type.is_float else "exactly"
        sign = OPERATORS[reduction.op]
        writes.append((author_name(reduction.name), f"R3 reduction by `{sign}`, {how}, {reduction.type.value}"))
    return LoopListing(line, accepted.candidate.counter, True, _how(accepted), tuple(writes))


def _how(accepted: Accepted) -> str:
    if not has_atomics(accepted):
        return "is accepted, and runs on one thread: its updates are no atomic operations"
    if inner_loop(accepted) is not None:
        return "runs as a kernel over a grid of two axes"
    return "runs as a kernel"


def _rule(accepted: Accepted, written: Written) -> str:
    counter, forms = accepted.candidate.counter, accepted.candidate.forms
    axis = f" along axis {written.axis}" if written.indices and len(written.indices[0]) > 1 else ""
    match written.kind:
        case "affine" | "scaled":
            parts = [forms.linear(index[written.axis]) for index in written.indices]
            rests = dict.fromkeys(coefficient_text(forms, part[1]) for part in parts if part is not None)
            a = coefficient_text(forms, written.coefficient)
            rest = next(iter(rests)) if len(rests) == 1 else "{" + ", ".join(rests) + "}"
            index = f"{a} * {counter} + {rest}".removeprefix("1 * ").removesuffix(" + 0")
            return f"R3 {written.kind}: `{index}`{axis}"
        case "tile":
            return f"R3 tile: rows of `{coefficient_text(forms, written.coefficient)}` elements{axis}"
        case "image":
            width = coefficient_text(forms, written.coefficient)
            return f"R3 image: `[{counter} // {width}, {counter} % {width}]`"
        case _:
            return f"R3 scatter by `{OPERATORS[written.op]}`"
