"""R6: no barrier, group memory, query of threads or console in a loop, nor in what it calls, reachable or not."""

import ast

from isogrid.offloading.callees import Effects
from isogrid.offloading.finding import Finding
from isogrid.offloading.outline import Outline, in_order
from isogrid.offloading.rule5_callees import call_effects, judge_call, judge_outside


def find_effect(outline: Outline, loop: ast.For) -> Finding | None:
    """The first finding of R5 or R6 in the order of the text, or None."""
    for statement in loop.body:
        for node in in_order(statement):
            found = judge_outside(outline, node)
            if isinstance(node, ast.Try):
                found = _handled(outline, node)
            if isinstance(node, ast.Call):
                effects = call_effects(outline, node)
                found = _judge(outline, node, effects) or judge_call(outline, node, effects)
            if found is not None:
                return found
    return None


def _judge(outline: Outline, call: ast.Call, effects: Effects) -> Finding | None:
    name = outline.text(call.func)
    if effects.console:
        of = "" if name == f"`{effects.console}`" else f", which calls `{effects.console}`"
        return Finding(
            "R6",
            outline.span(call),
            f"calls {name}{of}, and output comes out in the order of the iterations",
            "Store the values in an array and print them after the call",
        )
    if effects.threads:
        of = "" if name.strip("`").endswith(effects.threads) else f", which calls `{effects.threads}`"
        return Finding(
            "R6",
            outline.span(call),
            f"calls {name}{of}, which has a meaning only between the threads of a kernel",
            "Compute with the loop's counter, or write a kernel with `@ig.kernel`",
        )
    return None


def _handled(outline: Outline, node: ast.Try) -> Finding:
    return Finding(
        "R6",
        outline.span(node),
        "handles exceptions inside the loop",
        "Test for the case with an `if` before it happens",
    )
