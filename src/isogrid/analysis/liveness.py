"""Which locals may still be read behind a branch: what its two sides leave in the others need not be merged.

if i < n: t = x[i]      # t is dead behind the branch where it is assigned again before it is read
"""

from collections.abc import Callable
from typing import TypeAlias, assert_never

from isogrid.ir import kernel as k
from isogrid.ir.walk import expressions, visit

Names: TypeAlias = frozenset[str]

_NONE: Names = frozenset()


def live_after_branches(body: k.Block) -> dict[int, Names]:
    """For each `if`, by identity, the locals that some way on reads before it assigns them. The answer is about these
    very statement objects."""
    walk = _Walk()
    walk.block(body, _NONE)
    return walk.after


class _Walk:
    """Goes through blocks from their ends. Jumps are resolved by what is live where they lead."""

    def __init__(self) -> None:
        self.after: dict[int, Names] = {}
        self._scopes: dict[str, Names] = {}
        #: What is live where a `break`, and where a `continue`, of each loop around leads.
        self._loops: list[tuple[Names, Names]] = []

    def block(self, block: k.Block, live: Names) -> Names:
        for statement in reversed(block):
            live = self._statement(statement, live)
        return live

    def _statement(self, s: k.Statement, live: Names) -> Names:
        """What is live before a statement, given what is live behind it."""
        match s:
            case k.Assign(name, _):
                live -= {name}
            case k.Collective() | k.WarpCollective():
                live -= {s.target}
            case k.Atomic():
                live -= {s.target} if s.target else _NONE
            case k.If():
                # A statement may stand in several places of a body.
                self.after[id(s)] = self.after.get(id(s), _NONE) | live
                live = self.block(s.then, live) | self.block(s.otherwise, live)
            case k.For():
                live = self._looped(live, lambda head: self.block(s.body, head) - {s.counter})
            case k.While():
                live = self._looped(live, lambda head: self._trip(s, head, live))
            case k.Scope():
                outer = self._scopes.get(s.label)
                self._scopes[s.label] = live
                live = self.block(s.body, live)
                if outer is not None:
                    self._scopes[s.label] = outer
                return live
            case k.Leave():
                return self._scopes[s.label]
            case k.Break():
                return self._loops[-1][0]
            case k.Continue():
                return self._loops[-1][1]
            case k.Return():
                return _NONE
            case k.Store() | k.Evaluate() | k.Assert() | k.Barrier() | k.WarpBarrier() | k.DeclareLocal():
                pass
            case _:
                assert_never(s)
        return live | _read(s) if not isinstance(s, k.While) else live

    def _looped(self, live: Names, trip: Callable[[Names], Names]) -> Names:
        """What is live at the head of a loop: what is live behind it, and what a trip reads of earlier trips."""
        head = live
        while True:
            self._loops.append((live, head))
            new = head | trip(head)
            self._loops.pop()
            if new == head:
                return head
            head = new

    def _trip(self, s: k.While, head: Names, behind: Names) -> Names:
        inside = self.block(s.body, head)
        condition = frozenset(n.name for n in visit(s.condition) if isinstance(n, k.Local))
        return self.block(s.prelude, inside | behind | condition)


def _read(s: k.Statement) -> Names:
    """The locals that the statement's own expressions read."""
    return frozenset(n.name for e in expressions(s) for n in visit(e) if isinstance(n, k.Local))
