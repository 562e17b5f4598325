"""Remove arithmetic on integers that changes nothing. `(i * 4) // 4 + 0` becomes `i`.

Nothing that may trap is dropped; `i * 4` goes only where it is proved to fit.
"""

from isogrid.ir import kernel as k
from isogrid.ir.walk import map_kernel
from isogrid.passes.effects import may_trap


def simplify_indices(kernel: k.Kernel) -> k.Kernel:
    return map_kernel(kernel, _simplified)


def _simplified(node: k.Expr) -> k.Expr:
    match node:
        case k.Binary() if node.type.is_integer:
            return _binary(node)
        case k.Cast() if node.value.type is node.type:
            return node.value
        case k.Unary(op="not", operand=k.Unary(op="not", operand=inner)):
            return inner
        case k.Unary(op="not", operand=k.Compare() as compare) if not compare.left.type.is_float:
            return k.Compare(_OPPOSITE[compare.op], compare.left, compare.right, span=compare.span)
        case _:
            return node


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _binary(node: k.Binary) -> k.Expr:
    left, right = _number(node.left), _number(node.right)
    match node.op:
        case "add" if left == 0:
            return node.right
        case "add" | "sub" | "or" | "xor" | "shl" | "shr" if right == 0:
            return node.left
        case "mul" if left == 1:
            return node.right
        case "mul" | "floordiv" if right == 1:
            return node.left
        case "mul" if right == 0 and not may_trap(node.left):
            return node.right
        case "mul" if left == 0 and not may_trap(node.right):
            return node.left
        case "mod" if right == 1 and not may_trap(node.left):
            return k.Const(0, node.type, span=node.span)
        case "floordiv" | "mod" if right is not None and right > 0:
            return _of_a_multiple(node, right)
        case "min" | "max" if node.left == node.right and not may_trap(node.right):
            return node.left
        case _:
            return node


def _number(node: k.Expr) -> int | None:
    return node.value if isinstance(node, k.Const) else None


def _of_a_multiple(node: k.Binary, divisor: int) -> k.Expr:
    """`(x * c) // c` and `(x * c) % c`, where the product is exact and cannot trap."""
    match node.left:
        case k.Binary(op="mul", checked=False, left=inner, right=k.Const(value=factor)) if (
            factor == divisor and node.type.is_checked
        ):
            if node.op == "floordiv":
                return inner
            return node if may_trap(inner) else k.Const(0, node.type, span=node.span)
        case _:
            return node
