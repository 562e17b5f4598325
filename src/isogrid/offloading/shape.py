"""The shape of an offloaded function: scalar statements, loops, then an optional return of scalars."""

import ast

from isogrid.frontend.language import FUNCTIONS
from isogrid.offloading.callees import root_name
from isogrid.offloading.finding import Finding
from isogrid.offloading.outline import Outline


def find_misshapen(outline: Outline) -> Finding | None:
    """The first statement outside the loops that a kernel function does not have, or None."""
    statements = outline.statements
    for position, statement in enumerate(statements):
        found = _judge(outline, statement, last=position == len(statements) - 1)
        if found is not None:
            return found
    return None


def _judge(outline: Outline, node: ast.stmt, last: bool) -> Finding | None:
    match node:
        case ast.For(orelse=orelse) if orelse:
            return _finding(outline, orelse[0], "stands in the `else` of a loop", "Write it after the loop")
        case ast.For() | ast.While() | ast.Pass() | ast.Assert() | ast.Import() | ast.FunctionDef():
            return None
        case ast.Assign(targets=targets):
            return next((f for t in targets if (f := _target(outline, t)) is not None), None)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return _target(outline, target)
        case ast.Return():
            if last:
                return None
            return _finding(outline, node, "returns before the last statement", "Return once, at the end")
        case ast.Expr(value=ast.Call(func=function)) if outline.meaning(function) is FUNCTIONS["require"]:
            return None
        case ast.Expr(value=ast.Call(func=function)):
            return _finding(
                outline, node, f"calls {outline.text(function)} outside the loops", "Move the call into a loop, or out"
                " of the function",
            )  # fmt: skip
        case ast.If(test=test):
            return _finding(
                outline,
                node,
                f"tests {outline.text(test)} outside the loops",
                "Move the test into the loop, or split the function and choose between the parts",
            )
        case _:
            return _finding(
                outline,
                node,
                "is neither a scalar statement nor a loop",
                "Keep scalar statements, loops and one return, or split the function",
            )


def _target(outline: Outline, target: ast.expr) -> Finding | None:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return next((f for p in parts if (f := _target(outline, p)) is not None), None)
        case ast.Subscript():
            name = root_name(target)
            return _finding(
                outline,
                target,
                f"writes {outline.text(target)} outside the loops",
                f"Write `{name}` in a loop, or split the function",
            )
        case _:
            return None


def _finding(outline: Outline, node: ast.AST, why: str, remedy: str) -> Finding:
    return Finding("shape", outline.span(node), why, remedy)
