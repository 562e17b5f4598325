"""The text of an offloaded function: its candidate loops, and what its names mean outside it."""

import ast
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any, cast

from isogrid.diagnostics.span import Span
from isogrid.frontend.capture import Captured
from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import ArrayDeclaration, Definition
from isogrid.frontend.functions import docstring_of
from isogrid.frontend.source import quoted, text_of
from isogrid.support.records import dataclass

#: Stands for a name that has no value outside the function.
UNKNOWN: Any = object()


@dataclass(frozen=True, slots=True)
class Outline:
    """One function's text. `locals` are the names that it assigns, `arrays` its array parameters."""

    function: FunctionType
    captured: Captured
    captures: Captures
    locals: frozenset[str]
    arrays: frozenset[str]

    @property
    def statements(self) -> list[ast.stmt]:
        """The body without its docstring."""
        tree = self.captured.tree
        return tree.body[1:] if docstring_of(tree) is not None else tree.body

    @property
    def loops(self) -> list[ast.For | ast.While]:
        """The top-level loops in order: the candidates, and `while` loops, which R1 refuses."""
        return [s for s in self.statements if isinstance(s, ast.For | ast.While)]

    def span(self, node: ast.AST) -> Span:
        return self.captured.span(node)

    def text(self, node: ast.expr) -> str:
        """The author's words between backticks."""
        return quoted(text_of(self.captured, node))

    def meaning(self, node: ast.expr) -> Any:
        """What a name or `module.name` stands for outside the function; UNKNOWN for locals and anything else."""
        match node:
            case ast.Name(id=name) if name not in self.locals and name not in self._parameters():
                return self._global(name)
            case ast.Attribute(value=value, attr=attribute):
                owner = self.meaning(value)
                return getattr(owner, attribute, UNKNOWN) if isinstance(owner, ModuleType) else UNKNOWN
            case _:
                return UNKNOWN

    def _parameters(self) -> frozenset[str]:
        arguments = self.captured.tree.args
        return frozenset(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))

    def _global(self, name: str) -> Any:
        try:
            return self.captures.read(cast(Any, self.function), name)
        except LookupError:
            return UNKNOWN


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """A node and everything below it, in the order of the text; functions defined inside are not entered."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            yield from in_order(child)


def outline_of(definition: Definition, captures: Captures) -> Outline:
    """The outline of a definition; raises `KernelRefused` where there is no source."""
    function = cast(FunctionType, definition.function)
    text = captures.text(function)
    arrays = frozenset(p.name for p in definition.parameters if isinstance(p, ArrayDeclaration))
    return Outline(function, text.captured, captures, text.assigned, arrays)
