"""Locals whose type comes from literals alone: `lo, hi = 0.0, 10.0` are f32, since nothing says otherwise.

An author who counts in f64 wants them to begin so, and not the result to be converted.
"""

import ast
from collections.abc import Iterator

from isogrid.frontend.scope import Builder, Frame
from isogrid.ir.types import Scalar

_MOST_NAMED = 3


def begin_otherwise(builder: Builder, node: ast.expr, type: Scalar) -> list[str]:
    """The remedy for an expression that should have `type` and is computed from literals alone; else none."""
    beginnings = _beginnings(builder.frame, node)
    if not 0 < len(beginnings) <= _MOST_NAMED:
        return []
    names = " and ".join(f"`{name}`" for name in beginnings)
    lines = ", ".join(f"`{name} = {type.value}({ast.unparse(value)})`" for name, value in beginnings.items())
    begin = "begins as a literal" if len(beginnings) == 1 else "begin as literals"
    return [f"{names} {begin}, whose type nothing else decides: write {lines}"]


def _beginnings(frame: Frame, node: ast.expr) -> dict[str, ast.expr]:
    """The literals that locals of the expression begin with; empty where something with a type goes into it."""
    found: dict[str, ast.expr] = {}
    seen: set[str] = set()
    open_ = _locals_in(frame, node)
    while open_:
        name = open_.pop(0)
        if name in seen:
            continue
        seen.add(name)
        for value in _assigned(frame, name):
            names = None if value is None else _locals_in(frame, value)
            if value is None or names is None:
                return {}
            if not names:
                found.setdefault(name, value)
            open_.extend(names)
    return found


def _locals_in(frame: Frame, node: ast.expr) -> list[str] | None:
    """The locals that an arithmetic expression of literals and locals reads; None for any other expression."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return []
        case ast.Name(id=name):
            return [name] if name in frame.locals and name not in frame.parameters else None
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _locals_in(frame, operand)
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case _:
            return None
    names: list[str] = []
    for part in parts:
        read = _locals_in(frame, part)
        if read is None:
            return None
        names += read
    return names


def _assigned(frame: Frame, name: str) -> Iterator[ast.expr | None]:
    """What is assigned to a local; None for what is not an expression of its own, or declared with a type."""
    for node in ast.walk(frame.captured.tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _matched(target, value, name)
            case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                yield value
            case ast.NamedExpr(target=ast.Name(id=target), value=value) if target == name:
                yield value
            case ast.AnnAssign(target=ast.Name(id=target)) if target == name:
                yield None
            case ast.For(target=target) if _stores(target, name):
                yield None
            case _:
                pass


def _matched(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr | None]:
    match target, value:
        case ast.Name(id=assigned), _:
            if assigned == name:
                yield value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, part in zip(targets, values, strict=True):
                yield from _matched(one, part, name)
        case _:
            if _stores(target, name):
                yield None


def _stores(target: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(target))
