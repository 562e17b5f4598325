"""The trap site of each kernel-IR node, made here and nowhere else, so that every tier words a trap with equal bytes.

overflow_site(Binary("add", a, b, I32, span=s))  ->  TrapSite(OVERFLOW, s, "+", "i32", (I32, I32))
"""

from collections.abc import Iterator
from typing import Final

from isogrid.ir import kernel as k
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.ir.types import INDEX, Scalar

#: How the author writes each operator that can trap.
SYMBOLS: Final[dict[str, str]] = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "shl": "<<",
    "shr": ">>",
    "neg": "-x",
    "abs": "abs",
}


def index_site(node: k.Load | k.Store | k.Atomic, axis: int) -> TrapSite:
    """A subscript outside its array along `axis`. Operands: the index as computed, the extent."""
    return TrapSite(TrapKind.INDEX, node.span, node.array, str(axis), (node.indices[axis].type, INDEX))


def overflow_site(node: k.Unary | k.Binary) -> TrapSite:
    """The exact result of an operator does not fit its type. Operands: the values, left to right."""
    match node:
        case k.Unary():
            operands = (node.operand.type,)
        case k.Binary():
            operands = (node.left.type, node.right.type)
    return TrapSite(TrapKind.OVERFLOW, node.span, SYMBOLS[node.op], node.type.value, operands)


def zero_site(node: k.Binary) -> TrapSite:
    """Integer `//` or `%` by zero. Operand: the dividend."""
    return TrapSite(TrapKind.ZERO_DIVISION, node.span, SYMBOLS[node.op], node.type.value, (node.left.type,))


def shift_site(node: k.Binary) -> TrapSite:
    """A shift amount outside 0..bits-1. Operand: the amount as computed."""
    return TrapSite(TrapKind.VALUE, node.span, "shift amount", f"0..{node.type.bits - 1}", (node.right.type,))


def power_site(node: k.Binary) -> TrapSite:
    """A negative exponent of an integer power. Operand: the exponent."""
    return TrapSite(TrapKind.VALUE, node.span, "exponent", "", (node.right.type,))


def cast_site(node: k.Cast) -> TrapSite:
    """A written conversion whose value does not fit; `detail` is the target type. Operand: the value."""
    return TrapSite(TrapKind.VALUE, node.span, "conversion", node.type.value, (node.value.type,))


def narrow_site(node: k.Store | k.Atomic) -> TrapSite:
    """A value that its array's narrower element type cannot hold. Operand: the value."""
    return TrapSite(TrapKind.OVERFLOW, node.span, f"store {node.array}", node.element.value, (node.value.type,))


def step_site(node: k.For) -> TrapSite:
    """A `range` step of 0. Operand: the step."""
    return TrapSite(TrapKind.VALUE, node.span, "step", "", (node.type,))


def assert_site(node: k.Assert) -> TrapSite:
    """A failed `assert`; no operands."""
    return TrapSite(TrapKind.ASSERTION, node.span, node.message)


def total_site(node: k.Atomic) -> TrapSite:
    """The mathematical total of an element leaves its type; `node` is the first atomic add of the array.

    Operand: the element, counted in C order. The total itself is not reported, since no machine type holds it.
    """
    return TrapSite(TrapKind.TOTAL, node.span, node.array, node.element.value, (INDEX,))


def collective_site(node: k.Collective | k.WarpCollective) -> TrapSite:
    """The total of a group or warp sum, or some thread's prefix of a scan, leaves the type; no operands."""
    family = "group" if isinstance(node, k.Collective) else "warp"
    return TrapSite(TrapKind.TOTAL, node.span, f"{family}_{node.op}", node.type.value)


def total_sites(kernel: k.Kernel) -> dict[str, TrapSite]:
    """For every array that has atomic adds on a checked type: the site of its total, at the first one in the text."""
    sites: dict[str, TrapSite] = {}
    for node in _atomics(kernel.body):
        if node.op == "add" and node.element.is_checked:
            sites.setdefault(node.array, total_site(node))
    return sites


def _atomics(block: k.Block) -> Iterator[k.Atomic]:
    """Every atomic statement, in the order of the text."""
    for statement in block:
        match statement:
            case k.Atomic():
                yield statement
            case k.If():
                yield from _atomics(statement.then)
                yield from _atomics(statement.otherwise)
            case k.While():
                yield from _atomics(statement.prelude)
                yield from _atomics(statement.body)
            case k.For() | k.Scope():
                yield from _atomics(statement.body)
            case _:
                pass


def range_text(type: Scalar) -> str:
    """The values of an integer type, as messages write them: `0..255`."""
    return f"{type.minimum}..{type.maximum}"
