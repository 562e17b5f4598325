"""How many values of lanes a body needs at once: what decides how many registers a lane value may take."""

from dataclasses import dataclass, field
from typing import assert_never

from isogrid.backends.cpu.emit_guards import LaneFacts
from isogrid.backends.cpu.emit_levels import LANE, expressions_of, names_in
from isogrid.ir import device as d


@dataclass(slots=True)
class _Spans:
    """First and last statement (in order of the text) at which each name is alive."""

    facts: LaneFacts
    #: Names that do not count.
    without: frozenset[str]
    first: dict[str, int] = field(default_factory=dict[str, int])
    last: dict[str, int] = field(default_factory=dict[str, int])
    #: Where the loops around the present statement start.
    loops: list[int] = field(default_factory=list[int])
    #: Names alive until the end of a loop that is still open, by the place of the loop in `loops`.
    through: list[set[str]] = field(default_factory=list[set[str]])
    at: int = 0


def most_alive(body: d.Block, facts: LaneFacts, without: frozenset[str] = frozenset()) -> int:
    """The largest number of lane values alive at one statement, those of some names left out."""
    spans = _Spans(facts, without)
    _walk(spans, body)
    change = [0] * (spans.at + 2)
    for name, first in spans.first.items():
        change[first] += 1
        change[spans.last[name] + 1] -= 1
    alive = most = 0
    for step in change:
        alive += step
        most = max(most, alive)
    return most


def _walk(spans: _Spans, body: d.Block) -> None:
    for node in body:
        spans.at += 1
        for expression in expressions_of(node):
            for name in names_in(expression):
                _touch(spans, name)
        match node:
            case d.Let() | d.Set():
                _touch(spans, node.name)
            case d.If():
                _walk(spans, node.then)
                _walk(spans, node.otherwise)
            case d.For() | d.Loop():
                spans.loops.append(spans.at)
                spans.through.append(set())
                _walk(spans, node.body)
                spans.at += 1
                spans.loops.pop()
                for name in spans.through.pop():
                    _touch(spans, name)
            case d.Scope():
                _walk(spans, node.body)
            case d.Atomic() | d.Collective() | d.WarpCollective() | d.Agree() | d.Store() | d.Check() | d.Fill():
                continue
            case d.Barrier() | d.WarpBarrier() | d.Break() | d.Continue() | d.Leave() | d.Return():
                continue
            case _:
                assert_never(node)


def _touch(spans: _Spans, name: str) -> None:
    if name in spans.without or spans.facts.levels.values.get(name, 0) < LANE:
        return
    first = spans.first.setdefault(name, spans.at)
    spans.last[name] = spans.at
    for start, through in zip(spans.loops, spans.through, strict=True):
        if first <= start:
            through.add(name)
