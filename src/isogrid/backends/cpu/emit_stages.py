"""Loops in stages at a distance: each quotient and root ends a stage, and the next stage works on an earlier trip.

    for j trips t: let s = ..; let r = sqrt(s); let q = m / (s * r); set sum = fma(d, q, sum)

is four pieces, and trip t of the loop runs the first for trip t, the estimates of roots for trip t - 2, what follows
from them for trip t - 18, the quotients for trip t - 20, and the sum for trip t - 36. What one stage leaves to another
waits in memory meanwhile (`emit_rings`), so nothing in a trip waits for anything else in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from isogrid.backends.cpu.emit_levels import names_in
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit_exprs

#: What the divider does.
SLOW: Final = frozenset({"fdiv", "fsqrt"})
#: What must not be done on operands that no trip has.
_DIVISIONS: Final = frozenset({"sdiv", "srem", "udiv", "urem"})
#: Trips between the end of a stage and its quotients and roots, and from there to the next stage. These write half a
#: register at a time and the next stage reads a whole one, which must have reached the cache: by then the processor,
#: which looks some 500 instructions ahead, has retired the writing.
_BEFORE: Final = 4
_BEHIND: Final = 16
#: Trips at a time, so that places in memory are computed once for them: it divides the numbers above.
TOGETHER: Final = 4
#: Entries that a value has in memory: more trips than it waits. 64 registers make a page, so that the same trip's
#: entries of all values, and no others, look alike to the processor's comparison of addresses.
ENTRIES: Final = 64
#: Values that may wait: half the first cache.
MOST_KEPT: Final = 10


@dataclass(frozen=True, slots=True)
class Step:
    """Statements that run for the trip `lag` trips back: of a stage, or the quotients and roots behind one."""

    lag: int
    body: tuple[d.Let | d.Set, ...]
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Stages:
    """The steps of a loop, those of the earliest trip first, and the names whose values wait in memory."""

    steps: tuple[Step, ...]
    kept: tuple[str, ...]

    @property
    def longest(self) -> int:
        """Trips from the first step of a trip to its last."""
        return self.steps[0].lag


def plan_stages(body: Sequence[d.Statement], counter: str) -> Stages | None:
    """The stages of a loop of straight arithmetic, None where it has only one or they would not fit."""
    nodes = [node for node in body if isinstance(node, d.Let | d.Set)]
    if len(nodes) < len(body):
        return None
    shared = of_the_counter(nodes, counter)
    stage_of = _stages(nodes, shared)
    if not stage_of or max(stage_of.values()) == 0:
        return None
    steps = _steps(nodes, shared, stage_of)
    if not all(_may_begin_early(step, {node.name for node in nodes} - shared) for step in steps):
        return None
    kept = _kept(steps, shared, {node.name: node for node in nodes if isinstance(node, d.Let)})
    if kept is None or len(kept) > MOST_KEPT or steps[0].lag >= ENTRIES:
        return None
    return Stages(tuple(steps), kept)


def _stages(nodes: Sequence[d.Let | d.Set], shared: set[str]) -> dict[str, int]:
    """In which stage each name is known; what the next trip needs is in the last. Empty where that is no chain."""
    late = followers(nodes, {node.name for node in nodes if isinstance(node, d.Set)})
    found: dict[str, int] = {}
    for node in nodes:
        if node.name in shared or node.name in late:
            if node.name in late and is_slow(node):
                return {}
            continue
        stage = max((found.get(name, 0) for name in names_in(node.value)), default=0)
        found[node.name] = stage + 1 if is_slow(node) else stage
    last = max(found.values(), default=0)
    return found | dict.fromkeys(late, last)


def _steps(nodes: Sequence[d.Let | d.Set], shared: set[str], stage_of: dict[str, int]) -> list[Step]:
    steps: list[Step] = []
    for stage in range(max(stage_of.values()) + 1):
        lag = stage * (_BEFORE + _BEHIND)
        own = [node for node in nodes if node.name not in shared and stage_of[node.name] == stage]
        wanted = [node for node in own if not is_slow(node) or is_root(node)]
        slow = [node for node in nodes if is_slow(node) and stage_of[node.name] == stage + 1]
        steps.append(Step(lag, tuple(_with_shared(nodes, wanted, shared))))
        if slow:
            steps.append(Step(lag + _BEFORE, tuple(_with_shared(nodes, slow, shared)), slow=True))
    return steps[::-1]


def _may_begin_early(step: Step, own: set[str]) -> bool:
    """Whether the step may run before the first trip, on any values of the loop's `own` names: it reads no memory and
    divides no integers by way of them. A proof that it may do so in a trip says nothing about values of no trip."""
    if step.lag == 0:
        return True
    for node in step.body:
        for e in visit_exprs(node.value):
            risky = isinstance(e, d.Load) or (isinstance(e, d.Op) and e.op in _DIVISIONS)
            if risky and not own.isdisjoint(names_in(e)):
                return False
    return True


def _with_shared(nodes: Sequence[d.Let | d.Set], own: Sequence[d.Let | d.Set], shared: set[str]) -> list[d.Let | d.Set]:
    """Statements of a step and, again, those that follow from the counter alone and that it needs."""
    names = {node.name for node in own}
    for node in reversed(nodes):
        if node.name in names:
            names |= names_in(node.value) & shared
    chosen = {id(node) for node in own}
    return [node for node in nodes if id(node) in chosen or (node.name in names and node.name in shared)]


def _kept(steps: Sequence[Step], shared: set[str], lets: dict[str, d.Let]) -> tuple[str, ...] | None:
    """Names that a step reads and another one made, and the estimates of roots; None where one is not an f32."""
    kept: dict[str, None] = {}
    for step in steps:
        made = set[str]() if step.slow else {node.name for node in step.body}
        for node in step.body:
            if node.name in shared:
                continue
            for name in sorted(names_in(node.value) - made - shared):
                if name in lets:
                    kept[name] = None
            if is_root(node):
                kept[estimate_of(node.name)] = None
    known = {estimate_of(name) for name in lets}
    return tuple(kept) if all(n in known or lets[n].value.type is Machine.F32 for n in kept) else None


def estimate_of(root: str) -> str:
    """The name of what is known of a root before its stage."""
    return f"{root}.estimate"


def is_slow(node: d.Let | d.Set) -> bool:
    """Whether the statement is a quotient or a root."""
    return isinstance(node.value, d.Op) and node.value.op in SLOW


def is_root(node: d.Let | d.Set) -> bool:
    """Whether the statement is a root."""
    return isinstance(node.value, d.Op) and node.value.op == "fsqrt"


def followers(body: Sequence[d.Let | d.Set], roots: set[str]) -> set[str]:
    """Names that depend on `roots`, which are among them."""
    late = set(roots)
    for node in body:
        if not late.isdisjoint(names_in(node.value)):
            late.add(node.name)
    return late


def of_the_counter(body: Sequence[d.Let | d.Set], counter: str) -> set[str]:
    """Names that follow from the counter alone, loads among them: each stage makes these again, in scalars."""
    known = {counter}
    for node in body:
        leaves = [e for e in visit_exprs(node.value) if isinstance(e, d.Value | d.Special)]
        shared = all(isinstance(e, d.Value) and e.name in known for e in leaves)
        if shared and isinstance(node, d.Let) and not is_slow(node):
            known.add(node.name)
    return known - {counter}
