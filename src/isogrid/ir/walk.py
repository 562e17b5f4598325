"""The one walker of both IRs: children in order of evaluation, every node below a root, and rebuilding with changes.

    [n.array for n in visit(kernel.body) if isinstance(n, k.Load)]      arrays that are read
    map_kernel(kernel, on_expr=fold)                                    a pass; unchanged parts keep their identity

What the children of a node are is read from its field annotations, so a new node class needs nothing here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar, cast, get_args, overload

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar

AnyNode: TypeAlias = k.Node | d.Node
ExprT = TypeVar("ExprT", k.Expr, d.Expr)
KernelT = TypeVar("KernelT", k.Kernel, d.Kernel)

#: Fields in order of evaluation, where that is not the order of declaration (spec 1.3).
_EVALUATED: dict[type, tuple[str, ...]] = {
    k.Store: ("value", "indices"),
    k.Atomic: ("indices", "expected", "value"),
    d.Atomic: ("index", "expected", "value"),
}
_EXPRESSIONS: frozenset[type] = frozenset(get_args(k.Expr) + get_args(d.Expr))


def is_expr(node: AnyNode) -> bool:
    """Whether the node is an expression (of either IR) and not a statement."""
    return type(node) in _EXPRESSIONS


@overload
def children(node: k.Node) -> tuple[k.Node, ...]: ...
@overload
def children(node: d.Node) -> tuple[d.Node, ...]: ...
def children(node: AnyNode) -> tuple[AnyNode, ...]:
    """Direct parts of a node, expressions and statements, in the order in which they are first evaluated."""
    return tuple(_children(node))


@overload
def expressions(node: k.Node) -> tuple[k.Expr, ...]: ...
@overload
def expressions(node: d.Node) -> tuple[d.Expr, ...]: ...
def expressions(node: Any) -> tuple[Any, ...]:
    """Direct operand expressions of a node, without the statements in its blocks."""
    return tuple(part for part in _children(node) if is_expr(part))


@overload
def statements(node: k.Node) -> tuple[k.Statement, ...]: ...
@overload
def statements(node: d.Node) -> tuple[d.Statement, ...]: ...
def statements(node: Any) -> tuple[Any, ...]:
    """Statements in the blocks of a node, without its expressions."""
    return tuple(part for part in _children(node) if not is_expr(part))


@overload
def visit_exprs(root: k.Expr) -> Iterator[k.Expr]: ...
@overload
def visit_exprs(root: d.Expr) -> Iterator[d.Expr]: ...
def visit_exprs(root: Any) -> Iterator[Any]:
    """An expression and all its parts, parents before their children."""
    yield from visit(root)


@overload
def visit(root: k.Node | k.Block) -> Iterator[k.Node]: ...
@overload
def visit(root: d.Node | d.Block) -> Iterator[d.Node]: ...
def visit(root: Any) -> Iterator[Any]:
    """The root and everything below it, parents before their children, in order of evaluation."""
    stack: list[Any] = list(reversed(cast("tuple[Any, ...]", root))) if isinstance(root, tuple) else [root]
    while stack:
        node: Any = stack.pop()
        yield node
        if parts := _finder(node.__class__)(node):
            stack += parts[::-1]


@overload
def visit_statements(root: k.Statement | k.Block) -> Iterator[k.Statement]: ...
@overload
def visit_statements(root: d.Statement | d.Block) -> Iterator[d.Statement]: ...
def visit_statements(root: Any) -> Iterator[Any]:
    """The statements that `visit` gives, in its order; most nodes are expressions, and are not looked at here."""
    stack: list[Any] = list(reversed(cast("tuple[Any, ...]", root))) if isinstance(root, tuple) else [root]
    while stack:
        node: Any = stack.pop()
        yield node
        for name in _block_names(node.__class__):
            stack += getattr(node, name)[::-1]


def assigned_local(node: k.Node) -> tuple[str, Scalar] | None:
    """The local that a statement of kernel IR itself assigns, and its type."""
    match node:
        case k.Assign(name, value):
            return name, value.type
        case k.Collective(target=target, type=type):
            return target, type
        case k.WarpCollective(target=target, result=result):
            return target, result
        case k.Atomic(target=target, element=element) if target:
            return target, element.computing
        case k.For(counter=counter, type=type):
            return counter, type
        case _:
            return None


def map_expr(expr: ExprT, function: Callable[[ExprT], ExprT]) -> ExprT:
    """Rebuild an expression from the leaves up; `function` sees each node with its new children."""
    return function(cast("ExprT", _rebuilt(expr, lambda e: map_expr(cast("ExprT", e), function), None)))


@overload
def map_statement(
    statement: k.Statement,
    on_expr: Callable[[k.Expr], k.Expr] | None = None,
    on_statement: Callable[[k.Statement], k.Statement | k.Block] | None = None,
) -> k.Block: ...
@overload
def map_statement(
    statement: d.Statement,
    on_expr: Callable[[d.Expr], d.Expr] | None = None,
    on_statement: Callable[[d.Statement], d.Statement | d.Block] | None = None,
) -> d.Block: ...
def map_statement(statement: Any, on_expr: Any = None, on_statement: Any = None) -> Any:
    """Rebuild one statement from the leaves up, as a block of any length.

    Every expression goes through `on_expr` bottom up. `on_statement` then sees the statement with its new parts and
    gives a statement, or a block to put in its place (an empty one removes it).
    """

    return _mapped(statement, on_expr, on_statement)


@overload
def map_block(
    block: k.Block,
    on_expr: Callable[[k.Expr], k.Expr] | None = None,
    on_statement: Callable[[k.Statement], k.Statement | k.Block] | None = None,
) -> k.Block: ...
@overload
def map_block(
    block: d.Block,
    on_expr: Callable[[d.Expr], d.Expr] | None = None,
    on_statement: Callable[[d.Statement], d.Statement | d.Block] | None = None,
) -> d.Block: ...
def map_block(block: Any, on_expr: Any = None, on_statement: Any = None) -> Any:
    """`map_statement` for each statement, joined."""
    return _mapped_block(block, on_expr, on_statement)


def with_blocks(statement: d.Statement, on_block: Callable[[d.Block], d.Block]) -> d.Statement:
    """The statement with each block directly in it replaced by `on_block`; the same object where nothing changed."""
    return cast(d.Statement, _rebuilt(statement, lambda expr: expr, on_block))


@overload
def map_kernel(
    kernel: k.Kernel,
    on_expr: Callable[[k.Expr], k.Expr] | None = None,
    on_statement: Callable[[k.Statement], k.Statement | k.Block] | None = None,
) -> k.Kernel: ...
@overload
def map_kernel(
    kernel: d.Kernel,
    on_expr: Callable[[d.Expr], d.Expr] | None = None,
    on_statement: Callable[[d.Statement], d.Statement | d.Block] | None = None,
) -> d.Kernel: ...
def map_kernel(kernel: Any, on_expr: Any = None, on_statement: Any = None) -> Any:
    """Rebuild the body of a kernel. Geometry, shapes and preconditions are the host's and stay as they are."""
    body = _mapped_block(kernel.body, on_expr, on_statement)
    return kernel if body is kernel.body else replace(kernel, body=body)


class _Kind(Enum):
    """What a field of a node holds."""

    ONE = "an expression"
    OPTIONAL = "an expression or None"
    MANY = "expressions"
    BLOCK = "statements"


#: Names of the module are found faster than members.
_ONE, _MANY, _BLOCK = _Kind.ONE, _Kind.MANY, _Kind.BLOCK


@cache
def _parts(node_class: Any) -> tuple[tuple[str, _Kind], ...]:
    """The fields of a class that hold nodes, in order of evaluation."""
    kinds = {f.name: kind for f in fields(node_class) if (kind := _kind(f.type)) is not None}
    order = _EVALUATED.get(node_class, tuple(kinds))
    return tuple((name, kinds[name]) for name in order)


@cache
def _block_names(node_class: Any) -> tuple[str, ...]:
    """The fields of a class that hold statements, the last first."""
    return tuple(name for name, kind in reversed(_parts(node_class)) if kind is _BLOCK)


def _kind(annotation: Any) -> _Kind | None:
    text = str(annotation)
    if annotation in (k.Expr, d.Expr) or text == "Expr":
        return _Kind.ONE
    if annotation == k.Expr | None or annotation == d.Expr | None:
        return _Kind.OPTIONAL
    if text == "Block":
        return _Kind.BLOCK
    match get_args(annotation):
        case (first, second) if second is Ellipsis and (first == "Expr" or first in (k.Expr, d.Expr)):
            return _Kind.MANY
        case _ if "Expr" in text or "Block" in text:
            raise TypeError(f"walk does not know how to go through a field of type {annotation!r}")
        case _:
            return None


def _children(node: Any) -> Sequence[Any]:
    return _finder(node.__class__)(node)


@cache
def _finder(node_class: Any) -> Callable[[Any], Sequence[Any]]:
    """What gives the direct parts of nodes of this class: half of all work is walking."""
    parts = _parts(node_class)
    names = [name for name, _ in parts]
    match parts:
        case ():
            return lambda node: ()
        case ((name, kind),) if kind in (_MANY, _BLOCK):
            return attrgetter(name)
        case ((name, kind),) if kind is _ONE:
            single = attrgetter(name)
            return lambda node: (single(node),)
        case _ if all(kind is _ONE for _, kind in parts):
            return attrgetter(*names)
        case _:
            several = tuple((name, kind in (_MANY, _BLOCK)) for name, kind in parts)
            return lambda node: _gathered(node, several)


def _gathered(node: Any, holders: tuple[tuple[str, bool], ...]) -> list[Any]:
    found: list[Any] = []
    for name, many in holders:
        value: Any = getattr(node, name)
        if many:
            found += value
        elif value is not None:
            found.append(value)
    return found


def _mapped(statement: Any, on_expr: Any, on_statement: Any) -> tuple[Any, ...]:
    def expression(expr: Any) -> Any:
        return map_expr(expr, on_expr) if on_expr else expr

    def block(statements: Any) -> Any:
        return _mapped_block(statements, on_expr, on_statement)

    new = _rebuilt(statement, expression, block)
    result: Any = on_statement(new) if on_statement else new
    return cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)


def _mapped_block(block: Any, on_expr: Any, on_statement: Any) -> tuple[Any, ...]:
    new = tuple(part for statement in block for part in _mapped(statement, on_expr, on_statement))
    return block if _same(new, block) else new


def _rebuilt(node: Any, on_expr: Callable[[Any], Any], on_block: Callable[[Any], Any] | None) -> Any:
    """The node with its direct parts replaced; the same object where nothing changed."""
    changes: dict[str, Any] = {}
    for name, kind in _parts(node.__class__):
        old: Any = getattr(node, name)
        new: Any = old
        if kind is _ONE:
            new = on_expr(old)
        elif kind is _BLOCK:
            new = on_block(old) if on_block else old
        elif kind is _MANY:
            new = tuple([on_expr(part) for part in old])
            new = old if _same(new, old) else new
        elif old is not None:
            new = on_expr(old)
        if new is not old:
            changes[name] = new
    return replace(node, **changes) if changes else node


def _same(new: tuple[Any, ...], old: tuple[Any, ...]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
