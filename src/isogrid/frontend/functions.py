"""Facts about a function's text, found before it is built: its locals, its returns, whether it calls itself last."""

import ast
import functools
from collections import Counter
from collections.abc import Iterator
from types import FunctionType
from typing import cast

from isogrid.frontend.capture import Captured, capture
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class FunctionText:
    """The captured text of a function and what every inlining of it asks: found once, used at each call and round."""

    captured: Captured
    assigned: frozenset[str]
    assigned_once: frozenset[str]
    calls: tuple[ast.Call, ...]
    has_one_end: bool


def read_function(function: FunctionType) -> FunctionText:
    """Capture a function; raises `KernelRefused` where its source cannot be read."""
    captured = capture(function)
    tree = captured.tree
    return FunctionText(
        captured,
        frozenset(assigned_names(tree)),
        assigned_once(tree),
        tuple(node for node in _own_nodes(tree) if isinstance(node, ast.Call)),
        ends_with_only_return(tree),
    )


def assigned_names(tree: ast.FunctionDef) -> Counter[str]:
    """Every name that the body assigns, with the number of places that do."""
    found: Counter[str] = Counter()
    for node in _own_nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found[node.id] += 1
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] += 1
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] += 1
    return found


def declarations(tree: ast.FunctionDef) -> Iterator[ast.AnnAssign]:
    """Annotated assignments to names."""
    for node in _own_nodes(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node


def names_bound_by(node: ast.stmt) -> Iterator[str]:
    """Names that a statement assigns or defines, blocks inside it included."""
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from ((alias.asname or alias.name).split(".")[0] for alias in aliases)
            case _:
                pass


def assigned_once(tree: ast.FunctionDef) -> frozenset[str]:
    """Locals that one plain statement outside every loop assigns: what they are given is what they are."""
    looped = {
        inner.id
        for node in _own_nodes(tree)
        if isinstance(node, ast.For | ast.While)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }
    return frozenset(n for n, count in assigned_names(tree).items() if count == 1 and n not in looped)


def returns(tree: ast.FunctionDef) -> list[ast.Return]:
    """Every return statement of the function itself."""
    return [node for node in _own_nodes(tree) if isinstance(node, ast.Return)]


def ends_with_only_return(tree: ast.FunctionDef) -> bool:
    """Whether there is at most one return and it is the last statement of the body."""
    found = returns(tree)
    return not found or (len(found) == 1 and tree.body[-1] is found[0])


@functools.lru_cache(maxsize=8)
def _own_nodes(tree: ast.FunctionDef) -> tuple[ast.AST, ...]:
    """The nodes of a function without those of functions inside it, in the order of the text."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(reversed(tree.body))
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending.extend(reversed(_children(node)))
    return tuple(found)


def _children(node: ast.AST) -> list[ast.AST]:
    """`ast.iter_child_nodes` as a list, without the contexts of names."""
    children: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            children += [part for part in cast("list[object]", value) if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            children.append(value)
    return children


def docstring_of(tree: ast.FunctionDef) -> ast.stmt | None:
    """The statement that is the docstring, if there is one."""
    match tree.body[0]:
        case ast.Expr(value=ast.Constant(value=str())) as statement:
            return statement
        case _:
            return None
