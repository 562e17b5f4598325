"""Places where one barrier could be added near an access, each with the kernel and the text it would give."""

import linecache
from collections.abc import Callable, Iterator
from dataclasses import replace

from isogrid.diagnostics.report import Edit
from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.walk import visit

_Rebuild = Callable[[k.Block], k.Kernel]


def barrier_insertions(kernel: k.Kernel, span: Span) -> Iterator[tuple[k.Kernel, Edit]]:
    """Before the statement that holds `span` and before each statement around it, inside out; then at the end of each
    loop around it, for accesses that meet across the back edge. Only lines of the kernel's own text are offered."""
    found = list(_places(kernel.body, span, lambda body: replace(kernel, body=body)))
    for block, position, rebuild, _ in reversed(found):
        at = block[position].span
        if at.file == kernel.span.file:
            body = (*block[:position], k.Barrier(span=at), *block[position:])
            yield rebuild(body), _line(at, at.line, at.line)
    for block, _, rebuild, is_loop in reversed(found):
        if is_loop:
            at = block[0].span
            last = max(node.span.end_line for node in visit(block))
            yield rebuild((*block, k.Barrier(span=at))), _line(at, last + 1, at.line)


def _line(at: Span, line: int, beside: int) -> Edit:
    """A barrier as a line of its own, indented as the author's line `beside`."""
    text = linecache.getline(at.file, beside)
    indent = text[: len(text) - len(text.lstrip())]
    return Edit(Span(at.file, line, 1, line, 1), f"{indent}ig.barrier()\n")


def _places(
    block: k.Block, span: Span, rebuild: _Rebuild, is_loop: bool = False
) -> Iterator[tuple[k.Block, int, _Rebuild, bool]]:
    """The chain of blocks, outermost first, whose statement at a position holds the node at `span`."""
    for position, s in enumerate(block):
        if all(node.span != span for node in visit(s)):
            continue
        yield block, position, rebuild, is_loop

        def inside(changed: k.Statement, position: int = position) -> k.Kernel:
            return rebuild((*block[:position], changed, *block[position + 1 :]))

        match s:
            case k.If():
                yield from _places(s.then, span, lambda b, s=s: inside(replace(s, then=b)))
                yield from _places(s.otherwise, span, lambda b, s=s: inside(replace(s, otherwise=b)))
            case k.For() | k.While():
                yield from _places(s.body, span, lambda b, s=s: inside(replace(s, body=b)), is_loop=True)
            case k.Scope():
                yield from _places(s.body, span, lambda b, s=s: inside(replace(s, body=b)))
            case _:
                pass
        return
