"""Where threads meet, and before which meetings a thread may have trapped: control flow of a grouped body as a graph.

A barrier that no trap can stand before is a plain barrier. A trap that no meeting can follow just ends its thread.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from isogrid.ir import device as d
from isogrid.ir.types import Space


@dataclass(slots=True)
class _Node:
    """One statement, or the end of the thread (`id` 0). `kind` is plain, check, total, group, warp or end."""

    kind: str
    id: int = 0
    successors: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True)
class Pending:
    """What may have happened before a meeting since the last one of its kind: a trap in this warp, a trap in this
    group, a shared sum that left its type."""

    warp: bool = False
    group: bool = False
    total: bool = False


_NOTHING = Pending()


@dataclass(frozen=True, slots=True)
class Meetings:
    """`before` gives what may be pending at a meeting, by identity of its statement, and at the end of the thread
    under 0. `followed` holds the identities of the checks that some meeting may follow. `warps`: warps meet."""

    before: dict[int, Pending]
    followed: frozenset[int]
    warps: bool

    def pending(self, node: d.Statement | None) -> Pending:
        return self.before.get(id(node) if node is not None else 0, _NOTHING)


def find_meetings(kernel: d.Kernel) -> Meetings:
    """The meetings of a kernel. The answer is about these very statement objects."""
    builder = _Builder({b.name for b in kernel.buffers if b.space is Space.SHARED})
    end = builder.add(_Node("end"))
    start = builder.block(kernel.body, end, {})
    nodes = builder.nodes
    # Statements may stand in several places of a body: what holds in one of them is then taken to hold in all.
    followed = frozenset(nodes[k].id for k in _backward(nodes) if nodes[k].id)
    before = _forward(nodes, start, followed)
    meets: dict[int, Pending] = {}
    for k, node in enumerate(nodes):
        if node.kind in ("group", "warp", "end"):
            meets[node.id] = _either(meets.get(node.id, _NOTHING), before[k])
    return Meetings(meets, followed, any(n.kind == "warp" for n in nodes))


class _Builder:
    """Adds nodes from the end of the body to its start."""

    def __init__(self, shared: set[str]) -> None:
        self.nodes: list[_Node] = []
        self.shared = shared

    def add(self, node: _Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def block(self, body: d.Block, follow: int, exits: dict[str, int]) -> int:
        for node in reversed(body):
            follow = self.statement(node, follow, exits)
        return follow

    def statement(self, node: d.Statement, follow: int, exits: dict[str, int]) -> int:
        match node:
            case d.Let() | d.Set() | d.Store() | d.Fill() | d.Agree():
                return follow
            case d.Check():
                return self.add(_Node("check", id(node), [follow]))
            case d.Atomic():
                counts = node.total is not None and node.buffer in self.shared
                return self.add(_Node("total", id(node), [follow])) if counts else follow
            case d.Barrier() | d.Collective():
                return self.add(_Node("group", id(node), [follow]))
            case d.WarpBarrier() | d.WarpCollective():
                total = isinstance(node, d.WarpCollective) and node.total is not None
                after = self.add(_Node("check", id(node), [follow])) if total else follow
                return self.add(_Node("warp", id(node), [after]))
            case d.If():
                ways = [self.block(node.then, follow, exits), self.block(node.otherwise, follow, exits)]
                return self.add(_Node("plain", 0, ways))
            case d.For() | d.Loop():
                head = self.add(_Node("plain"))
                inside = {**exits, "break": follow, "continue": head}
                self.nodes[head].successors = [self.block(node.body, head, inside)]
                if isinstance(node, d.For):
                    self.nodes[head].successors.append(follow)
                return head
            case d.Scope():
                return self.block(node.body, follow, {**exits, f"scope {node.label}": follow})
            case d.Leave():
                return exits[f"scope {node.label}"]
            case d.Break():
                return exits["break"]
            case d.Continue():
                return exits["continue"]
            case d.Return():
                return 0
            case _:
                assert_never(node)


def _backward(nodes: list[_Node]) -> set[int]:
    """The nodes behind which some meeting may come."""

    def step(followed: set[int]) -> set[int]:
        return {
            k
            for k, node in enumerate(nodes)
            if any(s in followed or nodes[s].kind in ("group", "warp") for s in node.successors)
        }

    return _fixpoint(set(), step)


def _fixpoint(state: set[int], step: Callable[[set[int]], set[int]]) -> set[int]:
    while (new := step(state)) != state:
        state = new
    return state


def _forward(nodes: list[_Node], start: int, followed: frozenset[int]) -> list[Pending]:
    """What may be pending before each node."""
    before: list[Pending | None] = [None] * len(nodes)
    before[start] = _NOTHING
    work = [start]
    while work:
        at = work.pop()
        node, state = nodes[at], before[at] or _NOTHING
        after = _after(node, state, node.id in followed)
        for successor in node.successors:
            old = before[successor]
            new = after if old is None else _either(old, after)
            if new != old:
                before[successor] = new
                work.append(successor)
    return [state or _NOTHING for state in before]


def _after(node: _Node, state: Pending, followed: bool) -> Pending:
    match node.kind:
        case "check" if followed:
            return Pending(True, True, state.total)
        case "total":
            return Pending(state.warp, state.group, True)
        case "group":
            return _NOTHING
        case "warp":
            return Pending(False, state.group, state.total)
        case _:
            return state


def _either(a: Pending, b: Pending) -> Pending:
    return Pending(a.warp or b.warp, a.group or b.group, a.total or b.total)
