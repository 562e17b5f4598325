"""How many iterations a loop has and which value its counter has in each, as kernel IR."""

from dataclasses import replace

from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX
from isogrid.ir.walk import map_expr
from isogrid.offloading.ranges import as_index, scalars_for_locals


def trips_of(loop: k.For) -> k.Expr:
    """The number of iterations, or a negative number or 0 for none."""
    assert isinstance(loop.step, k.Const)
    start, stop = (as_index(scalars_for_locals(bound)) for bound in (loop.start, loop.stop))
    step = loop.step.value
    distance = minus(stop, start) if step > 0 else minus(start, stop)
    if abs(step) == 1:
        return distance
    up = k.Binary("add", distance, k.Const(abs(step) - 1, INDEX), INDEX)
    return k.Binary("floordiv", up, k.Const(abs(step), INDEX), INDEX)


def minus(left: k.Expr, right: k.Expr) -> k.Expr:
    """`left - right` without needless terms."""
    match left, right:
        case _, k.Const(value=0):
            return left
        case k.Const(value=a), k.Const(value=b):
            return k.Const(a - b, INDEX)
        case _:
            return k.Binary("sub", left, right, INDEX)


def counter_value(loop: k.For, number: k.Expr) -> k.Expr:
    """The counter in iteration `number` (an index from 0): in range, because the iteration is there."""
    assert isinstance(loop.step, k.Const)
    step = loop.step.value
    start = as_index(scalars_for_locals(loop.start))
    moved: k.Expr = number
    if abs(step) != 1:
        moved = k.Binary("mul", number, k.Const(abs(step), INDEX), INDEX, checked=False)
    if step < 0:
        value: k.Expr = k.Binary("sub", start, moved, INDEX, checked=False)
    elif isinstance(start, k.Const) and start.value == 0:
        value = moved
    else:
        value = k.Binary("add", start, moved, INDEX, checked=False)
    return value if loop.type is INDEX else k.Cast(value, loop.type, checked=False, span=loop.span)


def never_checked(value: k.Expr) -> k.Expr:
    """A host expression for use inside the kernel: the launch has evaluated it without a trap."""

    def relax(node: k.Expr) -> k.Expr:
        return replace(node, checked=False) if isinstance(node, k.Binary | k.Cast | k.Unary) else node

    return map_expr(value, relax)
