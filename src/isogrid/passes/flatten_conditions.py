"""Evaluate both sides where a branch costs more: `a or b` becomes `a | b`, `x if c else y` becomes `select(c, x, y)`.

Only where the sides that a branch might have skipped are cheap, cannot trap, and load nothing but elements that every
thread at that place may load (`Proofs.loads_anyway`). Lanes then need no masks, which processors have for few sizes of
elements, and LLVM's vectoriser sees one straight line. Sides without loads stay as they are: lowering looks at what
they cost in machine operations.
"""

from typing import Final

from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit, visit_statements
from isogrid.passes.effects import may_trap

#: Loads and nodes of the sides that are worth evaluating for nothing.
_MOST_LOADS: Final = 3
_MOST_NODES: Final = 32
#: Slow operations, and those that are only defined where a check or the condition says so.
_PARTIAL: Final = frozenset({"div", "floordiv", "mod", "shl", "shr", "pow"})
_CHEAP_CALLS: Final = frozenset({"select", "clamp"})


def flattened(node: k.Logical | k.Choose, loaded: frozenset[str]) -> k.Expr:
    """The same value without a branch, or the node itself. Its guarded loads must be in range without the condition;
    `loaded` are the locals that may hold what was loaded."""
    sides = (node.right,) if isinstance(node, k.Logical) else (node.then, node.otherwise)
    parts = [part for side in sides for part in visit(side)]
    loads = [part for part in parts if isinstance(part, k.Load)]
    if len(loads) > _MOST_LOADS or len(parts) > _MOST_NODES or any(may_trap(side) for side in sides):
        return node
    if not all(_is_total(part) for part in parts) or any(_is_far(load, loaded) for load in loads):
        return node
    if isinstance(node, k.Logical):
        return k.Binary(node.op, node.left, node.right, Scalar.BOOL, checked=False, span=node.span)
    return k.Call("select", (node.condition, node.then, node.otherwise), node.type, span=node.span)


def loaded_locals(body: k.Block) -> frozenset[str]:
    """Locals that may hold what was loaded."""
    found: set[str] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for node in visit_statements(body):
            match node:
                case k.Assign() if _is_loaded(node.value, found):
                    found.add(node.name)
                case k.Collective() | k.WarpCollective() | k.Atomic() if node.target:
                    found.add(node.target)
                case _:
                    continue
    return frozenset(found)


def _is_loaded(node: k.Expr, loaded: set[str] | frozenset[str]) -> bool:
    return any(isinstance(p, k.Load) or (isinstance(p, k.Local) and p.name in loaded) for p in visit(node))


def _is_far(load: k.Load, loaded: frozenset[str]) -> bool:
    """Whether an element lies where memory says, which may be anywhere: such a load is not cheap."""
    return any(_is_loaded(index, loaded) for index in load.indices)


def _is_total(part: k.Node) -> bool:
    """Whether the node gives a value for all operands, soon."""
    match part:
        case k.Binary():
            return part.op not in _PARTIAL
        case k.Cast():
            return part.type.is_float or not part.value.type.is_float
        case k.Call():
            return part.name in _CHEAP_CALLS
        case _:
            return True
