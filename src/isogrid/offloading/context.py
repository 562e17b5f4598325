"""What the rules of one candidate loop look at: its IR, its text, and the author's words for both."""

import ast

from isogrid.diagnostics.span import Span
from isogrid.frontend.source import quoted
from isogrid.ir import kernel as k
from isogrid.offloading.callees import root_name
from isogrid.offloading.forms import Forms
from isogrid.offloading.loop_facts import LoopFacts, facts_of
from isogrid.offloading.outline import Outline, in_order
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A counted loop whose text passed R1, R2, R5 and R6. `loop` is `original` with nested counters of its own;
    `read_later` holds the locals that something after the loop reads, with the place where."""

    outline: Outline
    loop: k.For
    original: k.For
    span: Span
    counter: str
    facts: LoopFacts
    forms: Forms
    read_later: dict[str, Span]
    #: Locals that an iteration may read before it has assigned them, with the place of the first such read.
    carried: dict[str, Span]

    def text(self, span: Span) -> str:
        """The author's words at a place inside this function, between backticks."""
        if span.line != span.end_line:
            return "`...`"
        line = self.outline.captured.lines[span.line - 1]
        return quoted(line[span.column - 1 : span.end_column - 1])

    def inside(self, span: Span) -> bool:
        """Whether a place is in the text of this function, and not in a helper."""
        tree = self.outline.captured.tree
        same = span.file == self.outline.captured.file
        return same and tree.lineno <= span.line <= (tree.end_lineno or tree.lineno)

    def call_with(self, name: str) -> ast.Call | None:
        """The author's first call in the loop that is given an array or scalar of this name: what is found inside a
        helper is reported there."""
        loop = next(n for n in self.outline.loops if isinstance(n, ast.For) and self.outline.span(n.iter) == self.span)
        for node in (n for s in loop.body for n in in_order(s)):
            if isinstance(node, ast.Call) and name in {root_name(a) for a in node.args}:
                return node
        return None


def candidate(
    outline: Outline,
    loop: k.For,
    span: Span,
    counter: str,
    read_later: dict[str, Span],
    carried: dict[str, Span],
    original: k.For,
) -> Candidate:
    """A candidate with its facts."""
    facts = facts_of(loop)
    return Candidate(outline, loop, original, span, counter, facts, Forms(facts), read_later, carried)


def author_name(name: str) -> str:
    """The name that the author wrote for a local of kernel IR: `t` of `t`, `t.1`."""
    head, _, tail = name.partition(".")
    return head if tail.isdigit() or not tail else name.rsplit(".", 1)[-1]
