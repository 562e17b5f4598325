"""R2: every iteration runs to its end. No `return` at any depth, no `break` of the loop itself, no `raise`.

`continue` ends one iteration and is fine. A `break` in the `else` of an inner loop belongs to the loop around it, and
`match` owns no `break`.
"""

import ast
from collections.abc import Iterable, Iterator

from isogrid.offloading.finding import Finding
from isogrid.offloading.outline import Outline

_EXITS = ast.Return | ast.Raise | ast.Assert | ast.Break | ast.Yield | ast.YieldFrom | ast.Await


def find_exit(outline: Outline, loop: ast.For) -> Finding | None:
    """The first early exit in the order of the text, or None."""
    for node in _exits(loop.body, inner=False):
        return Finding("R2", outline.span(node), _what(node), _remedy(node))
    return None


def _exits(block: Iterable[ast.AST], inner: bool) -> Iterator[ast.AST]:
    """Exits below these nodes; `inner` says that a nested loop owns their breaks."""
    for node in block:
        match node:
            case ast.Break():
                if not inner:
                    yield node
            case ast.Return() | ast.Raise() | ast.Assert() | ast.Yield() | ast.YieldFrom() | ast.Await():
                yield node
            case ast.For() | ast.While():
                yield from _exits(node.body, inner=True)
                yield from _exits(node.orelse, inner)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                pass
            case _:
                yield from _exits(ast.iter_child_nodes(node), inner)


def _what(node: ast.AST) -> str:
    match node:
        case ast.Break():
            return "leaves the loop with `break`, and later iterations do not know of it"
        case ast.Return():
            return "returns from inside the loop, and later iterations do not know of it"
        case ast.Raise():
            return "raises inside the loop, and later iterations do not know of it"
        case ast.Assert():
            return "asserts inside the loop, which may end it early"
        case _:
            return "suspends the function inside the loop"


def _remedy(node: ast.AST) -> str:
    match node:
        case ast.Break() | ast.Return():
            return (
                "Let every iteration run, and reduce what is looked for, as in `first = min(first, i)`; `continue` is "
                "allowed"
            )
        case ast.Raise() | ast.Assert():
            return "Count the faults in a reduction and look at the count after the loop"
        case _:
            return "Write an ordinary function"
