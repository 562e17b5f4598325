"""The source of a function: its syntax tree with file-true places, found in files, notebooks and `linecache`."""

import ast
import functools
import linecache
from types import CodeType, FunctionType
from typing import Final
from weakref import WeakKeyDictionary

from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.diagnostics.span import Span
from isogrid.support.errors import KernelRefused
from isogrid.support.records import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

#: What each function was defined from, read while it was decorated: its file may change before its first launch.
_READ: Final[WeakKeyDictionary[FunctionType, tuple[str, tuple[str, ...]]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Captured:
    """Text and tree of one function. `lines` are those of the whole file; `tree` counts lines as the file does.

    Column offsets of `tree` are UTF-8 bytes, as `ast` gives them; `span` turns them into characters.
    """

    file: str
    first_line: int
    tree: ast.FunctionDef
    lines: tuple[str, ...]

    def span(self, node: ast.AST) -> Span:
        """The place of a node."""
        return span_of(self.file, self.lines, node)

    def signature_span(self) -> Span:
        """`def name`, for findings about the function as a whole."""
        line = self.tree.lineno
        text = self.lines[line - 1]
        start = len(text) - len(text.lstrip())
        end = text.find(self.tree.name, start) + len(self.tree.name)
        return Span(self.file, line, start + 1, line, end + 1)


def capture(function: FunctionType) -> Captured:
    """The syntax tree of `function`; raises `KernelRefused` where its source cannot be read."""
    code = function.__code__
    wrapped = function.__dict__.get("__wrapped__")
    if isinstance(wrapped, FunctionType):
        raise KernelRefused([_wrapped(capture(wrapped))])
    file, lines = source_lines(function)
    if not lines:
        raise KernelRefused([_no_source(function)])
    node = _find(lines, code)
    if not isinstance(node, ast.FunctionDef):
        raise KernelRefused([_not_found(function)])
    return Captured(file, code.co_firstlineno, node, lines)


def capture_lambda(function: FunctionType) -> tuple[FunctionNode, str, tuple[str, ...]] | None:
    """The node of a lambda or small function that describes a geometry, its file and lines; None without source."""
    file, lines = source_lines(function)
    node = _find(lines, function.__code__) if lines else None
    return None if node is None else (node, file, lines)


def source_lines(function: FunctionType) -> tuple[str, tuple[str, ...]]:
    """The file that defines `function` and all its lines, which are empty if there is no such text.

    They are read once for each function, as early as it is decorated, so that what runs is what was imported.
    """
    found = _READ.get(function)
    if found is None:
        file = function.__code__.co_filename
        linecache.checkcache(file)
        lines = _shared(tuple(linecache.getlines(file, function.__globals__)))
        found = (file, lines) if lines else _typed_at_a_prompt(function) or (file, lines)
        if found[1]:
            _READ[function] = found
    return found


def _typed_at_a_prompt(function: FunctionType) -> tuple[str, tuple[str, ...]] | None:
    from isogrid.frontend.interactive import typed_source  # most functions are in files

    return typed_source(function.__code__)


@functools.lru_cache(maxsize=64)
def _shared(lines: tuple[str, ...]) -> tuple[str, ...]:
    """One tuple for all functions of a file."""
    return lines


def span_of(file: str, lines: tuple[str, ...], node: ast.AST) -> Span:
    """The place of a node, in characters."""
    line: int = getattr(node, "lineno", 1)
    end_line: int = getattr(node, "end_lineno", None) or line
    column: int = getattr(node, "col_offset", 0)
    end_column: int = getattr(node, "end_col_offset", None) or column
    return Span(file, line, _characters(lines, line, column), end_line, _characters(lines, end_line, end_column))


def _characters(lines: tuple[str, ...], line: int, offset: int) -> int:
    if not 1 <= line <= len(lines):
        return offset + 1
    text = lines[line - 1]
    return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="replace")) + 1


def _find(lines: tuple[str, ...], code: CodeType) -> FunctionNode | None:
    functions = _functions_by_line("".join(lines)).get(code.co_firstlineno, ())
    found = [node for node in functions if _same_signature(node, code)]
    if len(found) > 1:
        # Several lambdas on one line: the columns of the compiled instructions tell them apart.
        starts = {(line, column) for line, _, column, _ in code.co_positions()}
        found = [
            node
            for node in found
            if isinstance(node, ast.Lambda) and (node.body.lineno, node.body.col_offset) in starts
        ]
    return found[0] if len(found) == 1 else None


@functools.lru_cache(maxsize=64)
def _functions_by_line(text: str) -> dict[int, list[FunctionNode]]:
    """The functions of a file by their first line, decorators included; none where it does not parse."""
    found: dict[int, list[FunctionNode]] = {}
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found.setdefault(min([node.lineno, *(d.lineno for d in node.decorator_list)]), []).append(node)
            case ast.Lambda():
                found.setdefault(node.lineno, []).append(node)
            case _:
                pass
    return found


def _same_signature(node: FunctionNode, code: CodeType) -> bool:
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    declared = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return name == code.co_name and tuple(arguments) == declared


def _no_source(function: FunctionType) -> Report:
    code = function.__code__
    place = Span(code.co_filename, code.co_firstlineno, 1, code.co_firstlineno, 1)
    return Report(
        code="IG170",
        title=f"the source of `{function.__name__}` cannot be read",
        primary=Label(place),
        why=f"kernels are compiled from their text, and Python keeps none for {code.co_filename}",
        remedies=(
            Remedy("define it in a file or a notebook"),
            Remedy("for text run by `exec`, put its lines into `linecache.cache` under the name given to `compile`"),
        ),
        kernel=function.__name__,
    )


def _wrapped(inner: Captured) -> Report:
    name = inner.tree.name
    return Report(
        code="IG171",
        title=f"another decorator has wrapped `{name}`",
        primary=Label(inner.signature_span()),
        why="a kernel or helper is compiled from its own `def`, and what the wrapper does would be lost",
        remedies=(Remedy(f"leave only the decorator of isogrid on `{name}`"),),
        kernel=name,
    )


def _not_found(function: FunctionType) -> Report:
    code = function.__code__
    place = Span(code.co_filename, code.co_firstlineno, 1, code.co_firstlineno, 1)
    return Report(
        code="IG171",
        title=f"line {code.co_firstlineno} does not define `{function.__name__}` with a plain `def`",
        primary=Label(place),
        why="a kernel or helper is one plain `def`, and its file may not have changed since it was imported",
        remedies=(Remedy("write it as a `def`; if the file was edited, import it again"),),
        kernel=function.__name__,
    )
