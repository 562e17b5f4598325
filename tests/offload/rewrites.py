"""Rewrites of a loop's text that keep its meaning, and some that break it.

Each takes the tree of `def f(...)` and gives the new text with, where lines can be followed, the line that each old one
became; None where there is nothing to do.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Line numbers of the old text and of the new one.
Lines = dict[int, int]


@dataclass(frozen=True)
class Rewritten:
    text: str
    #: None where the rewrite splits a line in two.
    lines: Lines | None


Rewrite = Callable[[ast.FunctionDef], Rewritten | None]


def parsed(text: str) -> ast.FunctionDef:
    """The function, with lines as `ast.unparse` writes them."""
    (node,) = ast.parse(ast.unparse(ast.parse(text))).body
    assert isinstance(node, ast.FunctionDef)
    return node


def _finished(node: ast.FunctionDef, marked: bool) -> Rewritten:
    """`marked` says that every old statement carries its old line in `old`."""
    text = ast.unparse(ast.fix_missing_locations(node))
    if not marked:
        return Rewritten(text, None)
    (again,) = ast.parse(text).body
    lines: Lines = {}
    for new, kept in zip(ast.walk(again), ast.walk(node), strict=True):
        old = getattr(kept, "old", None)
        if old is not None and isinstance(new, ast.stmt | ast.expr):
            lines.setdefault(old, new.lineno)
    return Rewritten(text, lines)


def _marked(node: ast.FunctionDef) -> ast.FunctionDef:
    made = copy.deepcopy(node)
    for part in ast.walk(made):
        if isinstance(part, ast.stmt | ast.expr):
            part.old = part.lineno  # type: ignore[union-attr]
    return made


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for part in ast.walk(node):
        yield from _blocks_of(part)


def _blocks_of(part: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse"):
        block = getattr(part, name, None)
        if isinstance(block, list) and block:
            yield block


def _loops(node: ast.FunctionDef) -> list[ast.For]:
    return [s for s in node.body if isinstance(s, ast.For)]


# --- swapped statements ----------------------------------------------------------------------------------------------


def swapped(node: ast.FunctionDef) -> Rewritten | None:
    """Every second pair of neighbours that touch different things changes places."""
    made, some = _marked(node), False
    for loop in _loops(made):
        for block in _blocks(loop):
            at = 0
            while at + 1 < len(block):
                if independent(block[at], block[at + 1]):
                    block[at], block[at + 1] = block[at + 1], block[at]
                    some, at = True, at + 1
                at += 1
    return _finished(made, True) if some else None


def moved(node: ast.FunctionDef) -> Rewritten | None:
    """Each loop gets a statement of its own at its start and one at its end: the others changed places with them."""
    made = _marked(node)
    for loop in _loops(made):
        loop.body.insert(0, ast.parse("apart_here = 1.0 + 2.0").body[0])
        if not isinstance(loop.body[-1], _JUMPS):
            loop.body.append(ast.parse("behind_here = 3.0").body[0])
    return _finished(made, True) if _loops(made) else None


def independent(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether two statements touch different names, counting an array as one name, and neither goes elsewhere."""
    if any(isinstance(n, _JUMPS) or _may_write(n) for s in (first, second) for n in ast.walk(s)):
        return False
    (a, b), (c, d) = _touched(first), _touched(second)
    return not (b & (c | d) or d & (a | b))


_JUMPS = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Assert, ast.Global, ast.Nonlocal, ast.Yield)
_PURE = {"abs", "min", "max", "range", "len", "int", "f32", "f64", "i32", "i64", "sq"}


def _may_write(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _PURE)


def _touched(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Names read, and names written, elements of arrays included."""
    read: set[str] = set()
    written: set[str] = set()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name):
                written.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                written.add(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                read.add(name)
            case _:
                pass
    return read, written


# --- named parts and helpers -----------------------------------------------------------------------------------------


def named(node: ast.FunctionDef) -> Rewritten | None:
    """One operand of every right side gets a name first: the left one where it looks something up, else the right one,
    so that what is looked up stays in order; a value that is one look-up or name by itself gets one too."""
    made, count = copy.deepcopy(node), 0
    for loop in _loops(made):
        for block in _blocks(loop):
            for at in range(len(block) - 1, -1, -1):
                found = _left_operand(block[at]) or _operand(block[at])
                if found is not None:
                    count += 1
                    name = f"part_{count}_here"
                    block.insert(at, ast.Assign([ast.Name(name, ast.Store())], found.node))
                    found.put(ast.Name(name, ast.Load()))
    return _finished(made, False) if count else None


def helped(node: ast.FunctionDef) -> Rewritten | None:
    """The same operands go through a helper that gives them back."""
    made, some = _marked(node), False
    for loop in _loops(made):
        for block in _blocks(loop):
            for statement in block:
                found = _operand(statement)
                if found is not None:
                    found.put(ast.Call(ast.Name("same_here", ast.Load()), [found.node], []))
                    some = True
    return _finished(made, True) if some else None


@dataclass(frozen=True)
class _Operand:
    """Part of a right side, and how another expression takes its place."""

    node: ast.expr
    put: Callable[[ast.expr], None]


def _part(owner: ast.AST, field: str) -> _Operand | None:
    """The part, unless it calls something, or is a literal, whose type depends on what stands beside it."""
    node: ast.expr = getattr(owner, field)
    plain = isinstance(node, ast.BinOp | ast.Subscript | ast.Name) and not _calls(node)
    return _Operand(node, lambda other: setattr(owner, field, other)) if plain else None


def _calls(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def _left_operand(statement: ast.stmt) -> _Operand | None:
    match statement:
        case ast.Assign(value=ast.BinOp(left=left) as value) if any(
            isinstance(n, ast.Subscript) for n in ast.walk(left)
        ):
            return _part(value, "left")
        case _:
            return None


def _operand(statement: ast.stmt) -> _Operand | None:
    match statement:
        case ast.Assign(value=ast.BinOp() as value):
            return None if isinstance(value.right, ast.Name) else _part(value, "right")
        case ast.AugAssign() | ast.Assign(targets=[ast.Subscript()], value=ast.Subscript() | ast.Name()):
            return _part(statement, "value")
        case ast.Assign(value=ast.Call(func=ast.Name(id="min" | "max"), args=[_, last] as args)) if not _calls(last):
            plain = isinstance(last, ast.BinOp | ast.Subscript)
            return _Operand(last, lambda other: args.__setitem__(1, other)) if plain else None
        case _:
            return None


# --- names and bounds ------------------------------------------------------------------------------------------------


def renamed(node: ast.FunctionDef) -> Rewritten | None:
    """Every local gets another name; `back` undoes it in a text."""
    made = _marked(node)
    own = locals_of(node)
    for part in ast.walk(made):
        if isinstance(part, ast.Name) and part.id in own:
            part.id = part.id.swapcase()  # words that quote it stay as long as they were
    return _finished(made, True) if own else None


def locals_of(node: ast.FunctionDef) -> set[str]:
    """Names that the function gives values, parameters apart."""
    parameters = {a.arg for a in node.args.args}
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    outside = {name for n in ast.walk(node) if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    return found - parameters - outside


def bounded(node: ast.FunctionDef) -> Rewritten | None:
    """`range(n)` of a loop is the length of another array."""
    made, some, own = _marked(node), False, locals_of(node)
    for loop in _loops(made):
        match loop.iter:
            case ast.Call(func=ast.Name(id="range"), args=[ast.Name(id=name)]) if name not in own:
                loop.iter.args = [ast.parse("len(bound_here)", mode="eval").body]
                some = True
            case _:
                pass
    return _finished(made, True) if some else None


# --- rewrites that break the meaning ---------------------------------------------------------------------------------


def carried(node: ast.FunctionDef) -> Rewritten | None:
    """Each loop carries a value from one iteration to the next."""
    made = copy.deepcopy(node)
    made.body.insert(0, ast.parse("carried_here = 1.0").body[0])
    for loop in _loops(made):
        loop.body.append(ast.parse("carried_here = carried_here * 0.5 + 1.0").body[0])
    return _finished(made, False) if _loops(made) else None


def stolen(node: ast.FunctionDef) -> Rewritten | None:
    """Each iteration reads one fixed element of an array that all of them write."""
    made, some = copy.deepcopy(node), False
    for loop in _loops(made):
        for part in ast.walk(loop):
            match part:
                case ast.Subscript(value=ast.Name(id=name), slice=index, ctx=ast.Store()):
                    zeros = ", ".join(["0"] * (len(index.elts) if isinstance(index, ast.Tuple) else 1))
                    loop.body.insert(0, ast.parse(f"stolen_here = {name}[{zeros}]").body[0])
                    some = True
                    break
                case _:
                    pass
    return _finished(made, False) if some else None


def silenced(node: ast.FunctionDef, line: int) -> Rewritten | None:
    """The innermost statement that begins on a line is gone."""
    made, found = copy.deepcopy(node), None
    for part in ast.walk(made):
        for block in _blocks_of(part):
            found = next(((block, at) for at, s in enumerate(block) if s.lineno == line), found)
    if found is None:
        return None
    found[0][found[1]] = ast.Pass()
    return _finished(made, False)


KEEPING: dict[str, Rewrite] = {
    "swapped": swapped,
    "moved": moved,
    "named": named,
    "helped": helped,
    "renamed": renamed,
    "bounded": bounded,
}
BREAKING: dict[str, Rewrite] = {"carried": carried, "stolen": stolen}
