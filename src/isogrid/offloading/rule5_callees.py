"""R5: nothing that a loop calls writes a variable outside, or an array that it is given whole."""

import ast

from isogrid.offloading.callees import Effects, effects_of_called, tree_effects, written_arguments
from isogrid.offloading.finding import Finding
from isogrid.offloading.outline import Outline


def call_effects(outline: Outline, call: ast.Call) -> Effects:
    """What one call in the loop does, functions defined inside the offloaded one included."""
    local = _defined_here(outline, call.func)
    if local is not None:
        return tree_effects(outline, local, frozenset())
    return effects_of_called(outline, call.func)


def _defined_here(outline: Outline, called: ast.expr) -> ast.FunctionDef | None:
    if not isinstance(called, ast.Name):
        return None
    for statement in outline.captured.tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == called.id:
            return statement
    return None


def judge_call(outline: Outline, call: ast.Call, effects: Effects) -> Finding | None:
    """The finding against one call, or None."""
    name = outline.text(call.func)
    if effects.names:
        return Finding(
            "R5",
            outline.span(call),
            f"calls {name}, which writes the variable `{effects.names[0]}` outside",
            "Pass the value in and return the new one, or reduce it in the loop with `+=`",
        )
    written = sorted(written_arguments(effects, outline, call) - {""})
    if written:
        return Finding(
            "R5",
            outline.span(call),
            f"passes `{written[0]}` to {name}, which writes it at an index that the loop does not show",
            f"Let the function return the value, and store it here, as in `{written[0]}[i] = ...`",
        )
    if effects.unknown:
        of = "" if f"`{effects.unknown}`" == name else f", which calls `{effects.unknown}`"
        return Finding(
            "R5",
            outline.span(call),
            f"calls {name}{of}, whose effects are not known",
            "Call functions decorated with `@ig.func`, and pass in what they need as arguments",
        )
    return None


def judge_outside(outline: Outline, node: ast.AST) -> Finding | None:
    """`global` and `nonlocal` in the loop's own function."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return Finding(
            "R5",
            outline.span(node),
            f"makes `{node.names[0]}` a variable outside the function",
            "Pass the value in and return the new one",
        )
    return None
