"""R4: a written array is read only where no other iteration writes it, and a reduction only by its own combine.

`a[i, j] -= f * a[i, 0]` reads the iteration's own row, and `a[i + 1]` that of another.
"""

from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.walk import expressions, statements
from isogrid.offloading.context import Candidate, author_name
from isogrid.offloading.finding import Finding
from isogrid.offloading.loop_facts import Access, locals_read
from isogrid.offloading.rule3_arrays import Written, in_own_row
from isogrid.offloading.rule3_names import Reduction


def find_read(candidate: Candidate, written: dict[str, Written], reductions: dict[str, Reduction]) -> Finding | None:
    """The first read, in statement order, of what other iterations write; or None."""
    loads: dict[int, list[k.Load]] = {}
    for access in beside(candidate, written):
        if not in_own_row(candidate.forms, written[access.node.array], access) and isinstance(access.node, k.Load):
            loads.setdefault(id(access.statement), []).append(access.node)
    return _in_block(candidate, candidate.loop.body, loads, reductions)


def beside(candidate: Candidate, written: dict[str, Written]) -> list[Access]:
    """The reads of written arrays at other indices than the iteration writes."""
    indices = {array: set(w.indices) for array, w in written.items() if w.kind != "scatter"}
    return [
        access
        for access in candidate.facts.accesses
        if isinstance(access.node, k.Load)
        and access.node.array in indices
        and tuple(map(candidate.forms.of, access.node.indices)) not in indices[access.node.array]
    ]


def _in_block(
    candidate: Candidate,
    block: k.Block,
    loads: dict[int, list[k.Load]],
    reductions: dict[str, Reduction],
) -> Finding | None:
    for node in block:
        name = _reduction_read(node, reductions)
        if name is not None:
            return _reduced(candidate, name, node.span, reductions[name])
        if id(node) in loads:
            return _other_element(candidate, loads[id(node)][0], node.span)
        found = _in_block(candidate, statements(node), loads, reductions)
        if found is not None:
            return found
    return None


def _reduction_read(node: k.Statement, reductions: dict[str, Reduction]) -> str | None:
    """A reduction that a statement reads, but for its own combine."""
    own = node.name if isinstance(node, k.Assign) and node.name in reductions else None
    for root in expressions(node):
        for read in locals_read(root):
            if read.name in reductions and read.name != own:
                return read.name
    return None


def _reduced(candidate: Candidate, name: str, span: Span, reduction: Reduction) -> Finding:
    written = author_name(name)
    if not candidate.inside(span):
        call = candidate.call_with(written)
        span = candidate.span if call is None else candidate.outline.span(call)
    return Finding(
        "R4",
        span,
        f"reads `{written}`, which line {reduction.span.line} combines in all iterations",
        f"Read `{written}` after the loop, in a function of its own where another loop needs it",
    )


def _other_element(candidate: Candidate, load: k.Load, statement: Span) -> Finding:
    if not candidate.inside(load.span):
        return _in_helper(candidate, load, statement)
    return Finding(
        "R4",
        load.span,
        f"reads {candidate.text(load.span)}, which another iteration may write",
        f"Read `{load.array}` only where the iteration writes it, or write the results to another array",
    )


def _in_helper(candidate: Candidate, load: k.Load, statement: Span) -> Finding:
    """Reported at the author's call."""
    outline, call = candidate.outline, candidate.call_with(load.array)
    if call is not None:
        return Finding(
            "R4",
            outline.span(call),
            f"passes `{load.array}` to {outline.text(call.func)}, which reads elements that other iterations write",
            f"Pass the one element that is needed, or write the results to another array than `{load.array}`",
        )
    return Finding(
        "R4",
        statement if candidate.inside(statement) else candidate.span,
        f"reads elements of `{load.array}` that other iterations write",
        "Write the results to another array",
    )
