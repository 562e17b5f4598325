"""Clear the check of every operation that is proved not to trap. `y[i]` under `if i < N` keeps no bounds check.

What the same proofs say of conditions is used on the way: `flatten_conditions`.
"""

from collections.abc import Iterator
from dataclasses import replace

from isogrid.analysis.bounds import Proofs, analyse_bounds
from isogrid.analysis.facts import LaunchFacts
from isogrid.ir import kernel as k
from isogrid.ir.walk import map_kernel
from isogrid.passes.flatten_conditions import flattened, loaded_locals


def remove_proved_checks(kernel: k.Kernel, facts: LaunchFacts) -> k.Kernel:
    """The kernel with fewer checks, valid for launches of which `facts` hold."""
    proofs = analyse_bounds(kernel, facts)
    expressions, statements = _nodes_in_rebuilding_order(kernel)
    originals, original_statements = iter(expressions), iter(statements)
    loaded = loaded_locals(kernel.body) if proofs.loads_anyway else frozenset[str]()
    return map_kernel(
        kernel,
        lambda node: _expression(node, next(originals), proofs, loaded),
        lambda node: _statement(node, next(original_statements), proofs),
    )


def count_checks(kernel: k.Kernel) -> int:
    """How many checks the kernel makes, one for each axis of a subscript."""
    expressions, statements = _nodes_in_rebuilding_order(kernel)
    return sum(_checks(node) for node in (*expressions, *statements))


def _nodes_in_rebuilding_order(kernel: k.Kernel) -> tuple[list[k.Expr], list[k.Statement]]:
    """The kernel's own nodes in the order in which `map_kernel` rebuilds them: proofs are filed by identity."""
    expressions: list[k.Expr] = []
    statements: list[k.Statement] = []

    def expression(node: k.Expr) -> k.Expr:
        expressions.append(node)
        return node

    def statement(node: k.Statement) -> k.Statement:
        statements.append(node)
        return node

    map_kernel(kernel, expression, statement)
    return expressions, statements


def _expression(node: k.Expr, original: k.Expr, proofs: Proofs, loaded: frozenset[str]) -> k.Expr:
    match node, original:
        case k.Load(), k.Load():
            return replace(node, checked=_kept(original, proofs)) if any(node.checked) else node
        case ((k.Unary() | k.Binary() | k.Cast()), (k.Unary() | k.Binary() | k.Cast())):
            return replace(node, checked=False) if node.checked and proofs.holds(original) else node
        case ((k.Logical() | k.Choose()), (k.Logical() | k.Choose())) if id(original) in proofs.loads_anyway:
            return flattened(node, loaded)
        case _:
            return node


def _statement(node: k.Statement, original: k.Statement, proofs: Proofs) -> k.Statement:
    match node, original:
        case k.Store(), k.Store():
            narrow = node.narrow_checked and not proofs.narrowing.get(id(original), False)
            return replace(node, checked=_kept(original, proofs), narrow_checked=narrow)
        case k.Atomic(), k.Atomic():
            total = node.total_checked and id(original) not in proofs.totals
            return replace(node, checked=_kept(original, proofs), total_checked=total)
        case k.For(), k.For():
            return replace(node, step_checked=False) if node.step_checked and proofs.holds(original) else node
        case ((k.Collective() | k.WarpCollective()), (k.Collective() | k.WarpCollective())):
            return replace(node, total_checked=False) if node.total_checked and proofs.holds(original) else node
        case _:
            return node


def _kept(original: k.Load | k.Store | k.Atomic, proofs: Proofs) -> tuple[bool, ...]:
    verdicts = proofs.checks(original)
    return tuple(checked and not proved for checked, proved in zip(original.checked, verdicts, strict=True))


def _checks(node: k.Node) -> int:
    match node:
        case k.Load():
            return sum(node.checked)
        case k.Store():
            return sum(node.checked) + node.narrow_checked
        case k.Atomic():
            return sum(node.checked) + (node.total_checked and node.op == "add")
        case k.Unary() | k.Binary() | k.Cast():
            return int(node.checked)
        case k.For():
            return int(node.step_checked)
        case k.Collective() | k.WarpCollective():
            return int(node.total_checked and node.op in ("sum", "scan"))
        case _:
            return 0


def kept_checks(kernel: k.Kernel) -> Iterator[k.Node]:
    """The nodes that still make a check, in the order of the text."""
    expressions, statements = _nodes_in_rebuilding_order(kernel)
    return (node for node in (*expressions, *statements) if _checks(node))
