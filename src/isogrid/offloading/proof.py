"""The verdict on every loop of an offloaded function: accepted with the class of each write, or the first reason.

Reasons are looked for in rule order: R1, R2, then R5 and R6 as they stand in the text, R3 (the counter, then targets
by their first write), R4 as it stands in the text, and last the use of an atomic's result.
"""

import ast
from collections.abc import Iterable

from isogrid.diagnostics.span import Span
from isogrid.frontend.build import Built
from isogrid.ir import kernel as k
from isogrid.ir.assignment import early_reads
from isogrid.ir.walk import assigned_local, visit
from isogrid.offloading.context import Candidate, author_name, candidate
from isogrid.offloading.counters import with_own_counters
from isogrid.offloading.finding import Finding, Refusal
from isogrid.offloading.outline import Outline
from isogrid.offloading.rule1_counted import find_uncounted
from isogrid.offloading.rule2_exits import find_exit
from isogrid.offloading.rule3_arrays import Written, judge_array
from isogrid.offloading.rule3_names import Reduction, counter_finding, is_own, reduction_of
from isogrid.offloading.rule4_reads import find_read
from isogrid.offloading.rule6_effects import find_effect
from isogrid.offloading.shape import find_misshapen
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Accepted:
    """A loop that may run as a kernel, with what its writes are."""

    candidate: Candidate
    written: dict[str, Written]
    reductions: dict[str, Reduction]


@dataclass(frozen=True, slots=True)
class LoopVerdict:
    """One top-level loop: `number` counts from 1; exactly one of the other two is set."""

    number: int
    node: ast.For | ast.While
    accepted: Accepted | None
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`whole` is set where the function as a whole runs in sequence; the loops then have no warnings of their own."""

    loops: tuple[LoopVerdict, ...]
    whole: Refusal | None


def prove(outline: Outline, built: Built) -> Verdict:
    """Judge a function that the front end has built."""
    name = outline.captured.tree.name
    misshapen = find_misshapen(outline)
    loops: list[LoopVerdict] = []
    for number, node in enumerate(outline.loops, 1):
        found = find_in_text(outline, node)
        accepted = None if found is not None else _judge(outline, built, node)
        if isinstance(accepted, Finding):
            found, accepted = accepted, None
        refusal = None if found is None else Refusal(name, found, outline.span(node), counter_text(node))
        loops.append(LoopVerdict(number, node, accepted, refusal))
    misshapen = misshapen or _late_use(outline, built, loops)
    whole = None if misshapen is None else Refusal(name, misshapen, outline.captured.signature_span(), "")
    return Verdict(tuple(loops), whole)


def find_in_text(outline: Outline, node: ast.For | ast.While) -> Finding | None:
    """The first reason that the text alone gives: R1, R2, R5, R6."""
    uncounted = find_uncounted(outline, node)
    if uncounted is not None or isinstance(node, ast.While):
        return uncounted
    return find_exit(outline, node) or find_effect(outline, node)


def counter_text(node: ast.For | ast.While) -> str:
    """What a loop goes over, as the author calls it."""
    return ast.unparse(node.target).strip("()") if isinstance(node, ast.For) else "while"


def top_level(kernel: k.Kernel) -> tuple[str, k.Block]:
    """The statements of the function; in a function that returns in several places, those of the scope they leave."""
    match kernel.body:
        case (k.Scope(label=label, body=body),):
            return label, body
        case (k.Scope(label=label, body=body), *rest) if all(isinstance(s, k.Assign) for s in rest):
            return label, (*body, *rest)
        case body:
            return "", body


# --- one loop --------------------------------------------------------------------------------------------------------


def _judge(outline: Outline, built: Built, node: ast.For | ast.While) -> Accepted | Finding | None:
    assert isinstance(node, ast.For)
    body = top_level(built.kernel)[1]
    span = outline.span(node.iter)
    for position, statement in enumerate(body):
        if isinstance(statement, k.For) and statement.span == span:
            later = _reads(body[position + 1 :], assigned_in((statement,)))
            later |= {r.name: r.span for r in built.results if r.name not in assigned_in(body[position + 1 :])}
            carried = _reads(statement.body, assigned_in((statement,)) - {statement.counter})
            loop = with_own_counters(statement)
            return _judge_candidate(candidate(outline, loop, span, counter_text(node), later, carried, statement))
    return Finding("R1", span, "counts in a way that is taken apart", "Loop over `range(...)` or an array")


def assigned_in(block: Iterable[k.Statement]) -> set[str]:
    """Locals that a block gives a value."""
    found = (assigned_local(node) for node in visit(tuple(block)))
    return {name[0] for name in found if name is not None}


def _reads(block: k.Block, names: set[str]) -> dict[str, Span]:
    """Which of the names a block may read before it assigns them, with the place of the first such read."""
    others = {node.name for node in visit(block) if isinstance(node, k.Local)} - names
    found: dict[str, Span] = {}
    for read in early_reads(block, others):
        if isinstance(read.node, k.Local):
            found.setdefault(read.name, read.node.span)
    return found


def _judge_candidate(one: Candidate) -> Accepted | Finding:
    finding = counter_finding(one)
    if finding is not None:
        return finding
    written: dict[str, Written] = {}
    reductions: dict[str, Reduction] = {}
    for target in one.facts.targets:
        if target in one.facts.array_targets:
            found = judge_array(one, target)
            if isinstance(found, Finding):
                return found
            written[target] = found
        elif not is_own(one, target):
            reduction = reduction_of(one, target)
            if isinstance(reduction, Finding):
                return reduction
            reductions[target] = reduction
    read = find_read(one, written, reductions) or _atomic_result(one)
    return Accepted(one, written, reductions) if read is None else read


def _atomic_result(one: Candidate) -> Finding | None:
    read = {node.name for node in visit(one.loop.body) if isinstance(node, k.Local)}
    for name, atomic in one.facts.atomic_results.items():
        if name not in read and name not in one.read_later:
            continue
        return Finding(
            "R4",
            atomic.span,
            f"uses what `{atomic.array}` held before an update, which depends on the order of the iterations",
            f"Update `{atomic.array}` without using what it held before",
        )
    return None


# --- reductions that later loops read ------------------------------------------------------------------------------


def _late_use(outline: Outline, built: Built, loops: list[LoopVerdict]) -> Finding | None:
    """A loop that reads what an earlier one reduced, also through scalars between them."""
    accepted = {id(v.accepted.candidate.original): v.accepted for v in loops if v.accepted is not None}
    spans = {outline.span(v.node.iter) for v in loops if isinstance(v.node, ast.For)}
    tests = {outline.span(v.node.test) for v in loops if isinstance(v.node, ast.While)}
    origin: dict[str, tuple[str, Span]] = {}
    for statement in top_level(built.kernel)[1]:
        reads = _reads((statement,), set(origin))
        is_loop = isinstance(statement, k.For | k.While) and statement.span in spans | tests
        if reads and is_loop:
            return _taken_late(outline, *next(iter(reads.items())), origin)
        for name in assigned_in((statement,)):
            origin.pop(name, None)
            if reads:
                origin[name] = origin.get(next(iter(reads)), _first(reads, origin))
        if id(statement) in accepted:
            for name, reduction in accepted[id(statement)].reductions.items():
                origin[name] = (author_name(name), reduction.span)
    return None


def _first(reads: dict[str, Span], origin: dict[str, tuple[str, Span]]) -> tuple[str, Span]:
    return next((origin[name] for name in reads if name in origin), ("", next(iter(reads.values()))))


def _taken_late(outline: Outline, name: str, span: Span, origin: dict[str, tuple[str, Span]]) -> Finding:
    source, reduced = origin[name]
    written = author_name(name)
    through = "" if written == source else f", which comes from `{source}`"
    return Finding(
        "shape",
        span,
        f"reads `{written}`{through}, and line {reduced.line} reduces `{source}` in an earlier loop",
        f"Split the function: return `{source}` from the first part and pass it to the second",
    )
