"""R3 for scalars: a name that the body assigns is its own, or a reduction. Anything else is carried between iterations.

Own: assigned on every path before each read in the iteration, and not read after the loop.
Reduction: every assignment is `s op= e`, `s = s op e` or `s = min(s, e)` with one operator, and `e` does not read `s`.
"""

from collections.abc import Iterator
from typing import Final

from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.operations import BINARY_SIGNS
from isogrid.ir.types import Scalar
from isogrid.ir.walk import statements, visit
from isogrid.offloading.context import Candidate, author_name
from isogrid.offloading.finding import Finding
from isogrid.offloading.loop_facts import locals_read, names_read
from isogrid.support.records import dataclass

#: Operators of reductions, and how the author writes them.
OPERATORS: Final = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^", "min": "min", "max": "max"}
_SIGNS: Final = {**BINARY_SIGNS, "min": "min", "max": "max"}


@dataclass(frozen=True, slots=True)
class Reduction:
    """`name` is combined by `op` in all iterations; `span` is its first combine."""

    name: str
    op: str
    type: Scalar
    span: Span


def counter_finding(candidate: Candidate) -> Finding | None:
    """A write to the loop's own counter, or a read of it after the loop."""
    facts = candidate.facts
    counter = facts.loop.counter
    writes: list[k.Statement] = [*facts.assigned.get(counter, []), *facts.counters.get(counter, [])]
    if writes:
        return Finding(
            "R3",
            writes[0].span,
            f"assigns `{candidate.counter}`, the counter of the loop",
            f"Give the new value a name of its own and leave `{candidate.counter}` alone",
        )
    later = candidate.read_later.get(counter)
    if later is not None:
        return Finding(
            "R3",
            later,
            f"reads `{candidate.counter}` after its loop",
            f"Compute the last value of `{candidate.counter}` from the bounds of the range",
        )
    return None


def is_own(candidate: Candidate, name: str) -> bool:
    """Whether each iteration gives the name its value before it reads it, and nothing reads it later."""
    return name not in candidate.carried and name not in candidate.read_later


def reduction_of(candidate: Candidate, name: str) -> Reduction | Finding:
    """The reduction that a shared name is, or why it is none."""
    facts = candidate.facts
    assigns = facts.assigned.get(name, [])
    if name in facts.counters or name in facts.atomic_results or not assigns:
        return _carried(candidate, name, facts.targets[name].span)
    first: Reduction | None = None
    for assign in assigns:
        found = _combine(candidate, name, assign)
        if isinstance(found, Finding):
            return found
        if first is not None and found.op != first.op:
            return _two_operators(candidate, name, first, found)
        first = first or found
    assert first is not None
    return first


def _combine(candidate: Candidate, name: str, assign: k.Assign) -> Reduction | Finding:
    match assign.value:
        case k.Binary(op=op, left=left, right=right) if op in OPERATORS:
            operand = combined_operand(name, assign)
            if operand is None:
                return _no_form(candidate, name, assign, op, left, right)
            if name in names_read(operand, candidate.facts):
                return _reads_itself(candidate, name, assign)
            return Reduction(name, op, assign.value.type, assign.span)
        case k.Binary(op=op, left=k.Local(name=left)) if left == name:
            return _operator(candidate, name, assign, op)
        case k.Logical(op=op):
            return _logical(candidate, name, assign, op)
        case _:
            return _carried(candidate, name, assign.span)


def combined_operand(name: str, assign: k.Assign) -> k.Expr | None:
    """`e` of `s = s op e` or `s = e op s`: all operators commute, in every bit."""
    match assign.value:
        case k.Binary(left=k.Local(name=left), right=right) if left == name:
            return right
        case k.Binary(left=left, right=k.Local(name=right)) if right == name:
            return left
        case _:
            return None


# --- findings --------------------------------------------------------------------------------------------------------


def _carried(candidate: Candidate, name: str, span: Span) -> Finding:
    written = author_name(name)
    guarded = _guarded_least(candidate, name)
    if guarded is not None:
        return Finding(
            "R3",
            span,
            f"assigns `{written}` under a test of `{written}`, which earlier iterations changed",
            f"Write the reduction itself, `{written} = {guarded}({written}, ...)`, without the test",
        )
    if name in candidate.carried:
        return Finding(
            "R3",
            span,
            f"gives `{written}` a value that the next iteration reads",
            f"Compute `{written}` from `{candidate.index}` in each iteration{candidate.whence}, or combine it with one "
            "of `+ * & | ^ min max`",
        )
    return Finding(
        "R3",
        span,
        f"gives `{written}` a value that is read after the loop",
        f"Reduce `{written}` with one of `+ * & | ^ min max`, or compute its last value after the loop",
    )


def _guarded_least(candidate: Candidate, name: str) -> str | None:
    """`min` or `max` for `if e < s: s = e` and its three mirror images."""
    for node in _nested(candidate.loop.body):
        match node:
            case k.If(condition=k.Compare(op=op, left=left, right=right), then=(k.Assign(name=target),)):
                if target != name or op not in ("lt", "le", "gt", "ge"):
                    continue
                if isinstance(right, k.Local) and right.name == name:
                    return "min" if op in ("lt", "le") else "max"
                if isinstance(left, k.Local) and left.name == name:
                    return "max" if op in ("lt", "le") else "min"
            case _:
                pass
    return None


def _nested(block: k.Block) -> Iterator[k.Statement]:
    for node in block:
        yield node
        yield from _nested(statements(node))


def _two_operators(candidate: Candidate, name: str, first: Reduction, second: Reduction) -> Finding:
    written = author_name(name)
    return Finding(
        "R3",
        second.span,
        f"combines `{written}` with `{OPERATORS[second.op]}`, and line {first.span.line} with `{OPERATORS[first.op]}`",
        f"Use one operator for `{written}` in the whole loop, and a second name for the other",
    )


def _no_form(candidate: Candidate, name: str, assign: k.Assign, op: str, left: k.Expr, right: k.Expr) -> Finding:
    written, sign, facts = author_name(name), OPERATORS[op], candidate.facts
    while isinstance(left, k.Local) and (only := facts.once(left.name)) is not None:
        left = only.value
    chain = any(read.name == name for read in locals_read(left)) and isinstance(left, k.Binary) and left.op == op
    if chain and op not in ("min", "max"):
        return Finding(
            "R3",
            assign.span,
            f"combines `{written}` twice in one expression, which Python groups from the left",
            f"Group the other operands, as in `{written} = {written} {sign} (a {sign} b)`",
        )
    if any(name in names_read(part, facts) for part in (left, right)):
        return _reads_itself(candidate, name, assign)
    return _carried(candidate, name, assign.span)


def _reads_itself(candidate: Candidate, name: str, assign: k.Assign) -> Finding:
    written = author_name(name)
    op = assign.value.op if isinstance(assign.value, k.Binary) else "add"
    form = f"{written} = {op}({written}, e)" if op in ("min", "max") else f"{written} {OPERATORS[op]}= e"
    return Finding(
        "R3",
        assign.span,
        f"combines `{written}` with a value that reads `{written}`",
        f"Combine `{written}` with values of this iteration alone, as in `{form}`",
    )


def _operator(candidate: Candidate, name: str, assign: k.Assign, op: str) -> Finding:
    written = author_name(name)
    if op == "sub":
        remedy = f"Add the negative, `{written} += -e`, or subtract the sum after the loop"
    elif op == "div":
        remedy = f"Multiply the divisors with `*=` and divide `{written}` once, after the loop"
    else:
        remedy = f"Combine `{written}` with one of `+ * & | ^ min max`"
    sign = _SIGNS.get(op, op)
    return Finding("R3", assign.span, f"combines `{written}` with `{sign}`, whose operands do not commute", remedy)


def _logical(candidate: Candidate, name: str, assign: k.Assign, op: str) -> Finding:
    written = author_name(name)
    sign = "|" if op == "or" else "&"
    if not any(isinstance(n, k.Local) and n.name == name for n in visit(assign.value)):
        return _carried(candidate, name, assign.span)
    return Finding(
        "R3",
        assign.span,
        f"combines `{written}` with `{op}`, which may skip its right side",
        f"Write `{written} {sign}= ...`, which evaluates both sides",
    )
