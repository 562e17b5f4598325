"""Source text for reports: the author's words behind a node, and the keyword that opens a statement."""

import ast
from typing import Final

from isogrid.diagnostics.span import Span
from isogrid.frontend.capture import Captured

#: Longest piece of source that a title repeats.
LONGEST_QUOTE: Final = 40


def text_of(captured: Captured, node: ast.expr) -> str:
    """The author's text of an expression, on one line."""
    if node.end_lineno == node.lineno and 1 <= node.lineno <= len(captured.lines):
        span = captured.span(node)
        written = captured.lines[node.lineno - 1][span.column - 1 : span.end_column - 1]
        if written:
            return written
    return ast.unparse(node)


def head_of(captured: Captured, node: ast.AST, word: str) -> Span:
    """The keyword that opens a statement, for reports about the statement as a whole."""
    start = captured.span(node)
    return Span(start.file, start.line, start.column, start.line, start.column + len(word))


def quoted(text: str) -> str:
    """Source text between backticks, shortened where it would drown the sentence."""
    if len(text) > LONGEST_QUOTE:
        text = text[: LONGEST_QUOTE - 3] + "..."
    return f"`{text}`"
