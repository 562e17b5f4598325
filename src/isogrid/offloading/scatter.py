"""The scatter class of R3: `a[k] op= e` on integers commutes exactly, so any order of the iterations gives the same."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import assigned_local, map_expr, visit, visit_exprs
from isogrid.offloading.context import Candidate
from isogrid.offloading.finding import Finding
from isogrid.offloading.loop_facts import Access, LoopFacts, blocks, locals_read, seen_through
from isogrid.offloading.rule3_names import OPERATORS
from isogrid.support.records import dataclass

#: Names of the atomic operations as kernel IR has them.
_ATOMIC: Final = frozenset({"add", "min", "max", "and", "or", "xor"})


@dataclass(frozen=True, slots=True)
class Update:
    """One `a[indices] op= value`. `load` is the read that belongs to it, None for an atomic of the author's; `saved` is
    the local that held it while `value` was computed by a helper."""

    op: str
    indices: tuple[k.Expr, ...]
    value: k.Expr
    load: k.Load | None
    element: Scalar
    span: Span
    saved: str = ""


def update_of(node: k.Store | k.Atomic, facts: LoopFacts) -> Update | None:
    """The update that a write is, if it is one."""
    if isinstance(node, k.Atomic):
        if node.op not in _ATOMIC:
            return None
        return Update(node.op, node.indices, node.value, None, node.element, node.span)
    match node.value:
        case k.Binary(op=op, left=left, right=right) if op in OPERATORS:
            for load, operand in ((left, right), (right, left)):
                found = _element(node, load, facts)
                if found is not None:
                    return Update(op, node.indices, operand, found[0], node.element, node.span, found[1])
        case _:
            pass
    return None


def _element(store: k.Store, operand: k.Expr, facts: LoopFacts) -> tuple[k.Load, str] | None:
    """The load, if the operand is the element that is stored to, and the local that held it in the meantime."""
    while isinstance(operand, k.Cast) and operand.type.is_integer:
        operand = operand.value
    saved = ""
    if isinstance(operand, k.Local):
        saved = operand.name
        assign = facts.once(saved)
        if assign is None or facts.reads_of(saved) != 1 or not _still_holds(assign, store, facts):
            return None
        operand = assign.value
    if (
        isinstance(operand, k.Load)
        and operand.array == store.array
        and _plain(operand.indices) == _plain(store.indices)
    ):
        return operand, saved
    return None


def _still_holds(assign: k.Assign, store: k.Store, facts: LoopFacts) -> bool:
    """Whether what `assign` read is, where `store` stands, still what the element holds: nothing between the two, which
    follow each other in one block, writes the array, or changes what the indices mean."""
    names = {local.name for index in store.indices for local in locals_read(index)}
    arrays = {store.array} | {array for index in store.indices for array in _arrays_read(index)}
    for node in visit(_between(assign, store, facts.loop.body)):
        if isinstance(node, k.Store | k.Atomic) and node.array in arrays:
            return False
        assigned = assigned_local(node)
        if assigned is not None and assigned[0] in names:
            return False
    return _follows(assign, store, facts.loop.body)


def _between(first: k.Statement, last: k.Statement, body: k.Block) -> k.Block:
    """The statements between two of one block."""
    for block in blocks(body):
        numbers = [n for n, node in enumerate(block) if node is first or node is last]
        if len(numbers) == 2:
            return block[numbers[0] + 1 : numbers[1]]
    return ()


def _follows(first: k.Statement, last: k.Statement, body: k.Block) -> bool:
    """Whether the second stands behind the first in one block, so that each run of it has one of the first before."""
    for block in blocks(body):
        found = [node for node in block if node is first or node is last]
        if found:
            return len(found) == 2 and found[0] is first
    return False


def _plain(indices: tuple[k.Expr, ...]) -> tuple[k.Expr, ...]:
    """Indices without the marks of what was checked before."""

    def relax(node: k.Expr) -> k.Expr:
        match node:
            case k.Binary() | k.Unary() | k.Cast():
                return replace(node, checked=False)
            case k.Load():
                return replace(node, checked=(False,) * len(node.checked))
            case _:
                return node

    return tuple(map_expr(index, relax) for index in indices)


def find_scatter(candidate: Candidate, array: str) -> str | Finding | None:
    """The operator of a scatter; why an array that is updated is none; None where it is written in other ways."""
    facts = candidate.facts
    writes = [access for access in facts.of(array) if access.writes]
    updates = [(access, update_of(access.node, facts)) for access in writes if not isinstance(access.node, k.Load)]
    found = [(access, update) for access, update in updates if update is not None]
    if not found:
        return None
    if not found[0][1].element.is_integer:
        return _float(candidate, array, found[0][0])
    for access, update in updates:
        if update is None:
            return _mixed(candidate, array, access)
    for access, update in found:
        if update.op != found[0][1].op:
            return _two_operators(candidate, array, found[0], (access, update))
        parts = (*update.indices, update.value)
        if any(array in _arrays_read(node) for part in parts for node in seen_through(part, facts)):
            return _reads(candidate, array, access)
    own = {id(update.load) for _, update in found if update.load is not None}
    for access in facts.of(array):
        if not access.writes and id(access.node) not in own:
            return _read_elsewhere(candidate, array, access)
    return found[0][1].op


def _arrays_read(root: k.Expr) -> Iterator[str]:
    return (node.array for node in visit_exprs(root) if isinstance(node, k.Load))


def subtracts(node: k.Store) -> bool:
    """`a[k] -= e` on integers."""
    match node.value:
        case k.Binary(op="sub", left=k.Load(array=array)):
            return array == node.array and node.element.is_integer
        case _:
            return False


# --- findings --------------------------------------------------------------------------------------------------------


def _float(candidate: Candidate, array: str, access: Access) -> Finding:
    return Finding(
        "R3",
        access.node.span,
        f"updates {candidate.text(access.node.span)}, which several iterations may reach, and the result of a float "
        "update depends on their order",
        f"Make `{array}` an integer array and scale the values to whole numbers, or sum each element in a loop of its "
        "own",
    )


def _mixed(candidate: Candidate, array: str, access: Access) -> Finding:
    if isinstance(access.node, k.Store) and subtracts(access.node):
        text = candidate.text(access.node.span)
        return Finding(
            "R3",
            access.node.span,
            f"updates {text} with `-`, whose operands do not commute, and other iterations may update it too",
            f"Add the negative, {text[:-1]} += -e`",
        )
    return Finding(
        "R3",
        access.node.span,
        f"writes {candidate.text(access.node.span)} without combining it, which other iterations may update",
        f"Update `{array}` with one operator in the whole loop, as in `{array}[k] += e`, or store in a loop of its own",
    )


def _two_operators(
    candidate: Candidate, array: str, first: tuple[Access, Update], second: tuple[Access, Update]
) -> Finding:
    (one, _), (access, update) = first, second
    return Finding(
        "R3",
        access.node.span,
        f"updates {candidate.text(access.node.span)} with `{OPERATORS[update.op]}`, and line {one.node.span.line} "
        f"updates `{array}` with `{OPERATORS[first[1].op]}`",
        f"Use one operator for `{array}` in the whole loop",
    )


def _reads(candidate: Candidate, array: str, access: Access) -> Finding:
    return Finding(
        "R3",
        access.node.span,
        f"updates {candidate.text(access.node.span)} by an index or a value that reads `{array}`, which other "
        "iterations change",
        f"Copy what is needed of `{array}` into another array before the loop",
    )


def _read_elsewhere(candidate: Candidate, array: str, access: Access) -> Finding:
    span, outline = access.node.span, candidate.outline
    call = None if candidate.inside(span) else candidate.call_with(array)
    if call is not None:
        span = outline.span(call)
        what = f"passes `{array}` to {outline.text(call.func)}, which reads it"
    else:
        what = f"reads {candidate.text(span)}" if candidate.inside(span) else f"reads `{array}`"
        span = span if candidate.inside(span) else candidate.span
    return Finding(
        "R3",
        span,
        f"{what}, while any iteration may update any element of `{array}`",
        f"Read `{array}` in a second loop, after this one",
    )
