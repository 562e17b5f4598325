"""R1: a loop is counted, with a constant additive step. `range(a, b)`, `range(a, b, -2)`, `for v in x`."""

import ast
import builtins

from isogrid.frontend.language import FUNCTIONS
from isogrid.offloading.finding import Finding
from isogrid.offloading.outline import UNKNOWN, Outline


def find_uncounted(outline: Outline, loop: ast.For | ast.While) -> Finding | None:
    """The first reason why a loop's trips are not counted, or None."""
    if isinstance(loop, ast.While):
        return Finding(
            "R1",
            outline.span(loop.test),
            f"loops while {outline.text(loop.test)}, which counts no trips",
            "Write `for i in range(...)` with the number of trips, and compute other values from `i`",
        )
    return _iterated(outline, loop.iter)


def _iterated(outline: Outline, node: ast.expr) -> Finding | None:
    match node:
        case ast.Call(func=function, args=arguments):
            called = outline.meaning(function)
            if called is builtins.range:
                return _step(outline, arguments[2]) if len(arguments) > 2 else None
            if called is FUNCTIONS["unroll"] and arguments:
                return _iterated(outline, arguments[0])
            if (called is builtins.enumerate and len(arguments) == 1 and not node.keywords) or called is builtins.zip:
                return next((f for a in arguments if (f := _iterated(outline, a)) is not None), None)
        case ast.Name(id=name) if name in outline.arrays:
            return None
        case ast.Subscript(value=ast.Name(id=name)) if name in outline.arrays:
            return None
        case _:
            pass
    return Finding(
        "R1",
        outline.span(node),
        f"loops over {outline.text(node)}, which is neither a range nor an array",
        "Loop over `range(...)` and look the values up, or compute them, in the body",
    )


def _step(outline: Outline, node: ast.expr) -> Finding | None:
    if isinstance(constant_integer(outline, node), int):
        return None
    return Finding(
        "R1",
        outline.span(node),
        f"counts in steps of {outline.text(node)}, which is not a constant",
        "Count in steps of 1 and multiply in the body, as in `range(trips)` with `i * step`",
    )


def constant_integer(outline: Outline, node: ast.expr) -> int | None:
    """The value of an integer constant, written or by name."""
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = constant_integer(outline, operand)
            return None if value is None else -value
        case ast.Name() | ast.Attribute():
            value = outline.meaning(node)
            return value if value is not UNKNOWN and type(value) is int else None
        case _:
            return None
