"""What evaluating a node can do besides giving a value, and which locals statements touch: what passes ask."""

from collections.abc import Iterable

from isogrid.ir import kernel as k
from isogrid.ir.walk import assigned_local, visit, visit_statements


def assigned_locals(block: Iterable[k.Statement]) -> set[str]:
    """Locals that the statements may assign."""
    names: set[str] = set()
    for statement in block:
        for node in visit_statements(statement):
            assigned = assigned_local(node)
            if assigned is not None:
                names.add(assigned[0])
    return names


def read_locals(block: Iterable[k.Node]) -> set[str]:
    """Locals that the nodes read."""
    return {node.name for root in block for node in visit(root) if isinstance(node, k.Local)}


def may_trap(node: k.Expr) -> bool:
    """Whether some check of the expression is kept."""
    return any(_has_check(part) for part in visit(node))


def _has_check(node: k.Node) -> bool:
    match node:
        case k.Load():
            return any(node.checked)
        case k.Unary() | k.Binary() | k.Cast():
            return node.checked
        case _:
            return False


def relies_on_its_place(node: k.Expr) -> bool:
    """Whether the expression may be wrong, or undefined, where the facts that removed its checks do not hold."""
    return any(_removed_check(part) for part in visit(node))


def _removed_check(node: k.Node) -> bool:
    match node:
        case k.Load():
            return True
        case k.Binary():
            by_zero = node.op in ("floordiv", "mod", "shl", "shr", "pow") and not node.type.is_float
            return by_zero or node.type.is_checked
        case k.Unary():
            return node.type.is_checked
        case k.Cast():
            return node.type.is_integer
        case _:
            return False
