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

    @property
    def node(self) -> ast.For:
        """The loop in the author's text."""
        return next(n for n in self.outline.loops if isinstance(n, ast.For) and self.outline.span(n.iter) == self.span)

    @property
    def index(self) -> str:
        """The author's name for the number of an iteration, or one for remedies where there is none."""
        match self.node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"))):
                return name
            case ast.For(target=ast.Tuple(elts=[ast.Name(id=name), *_]), iter=ast.Call(func=ast.Name(id="enumerate"))):
                return name
            case _:
                taken = {n.id for n in ast.walk(self.outline.captured.tree) if isinstance(n, ast.Name)}
                return next(name for name in (*"ijknm", "number") if name not in taken | self.outline.arrays)

    @property
    def whence(self) -> str:
        """Says where `index` comes from, if the author has none."""
        names = {n.id for n in ast.walk(self.node.target) if isinstance(n, ast.Name)}
        return "" if self.index in names else f", with `{self.index}` from `enumerate`"

    def call_with(self, name: str) -> ast.Call | None:
        """The author's first call in the loop that is given an array or scalar of this name: what is found inside a
        helper is reported there."""
        for node in (n for s in self.node.body for n in in_order(s)):
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
