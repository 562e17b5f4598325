"""Groups with a trapped thread, where a barrier is only met in one place of the text: the rest of what lies between two
meetings is skipped by the thread, then the group asks whether somebody trapped, and leaves.

    x[f(i)] ...        do { if (!ok) { trap(); trapped = true; break; } ... } while (false);
    barrier      ->    if (group_any(trapped)) return;
                       barrier
"""

from dataclasses import replace
from itertools import count

from isogrid.analysis.meetings import Meetings
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit, with_blocks

_MEETINGS = (d.Barrier, d.Collective, d.WarpBarrier, d.WarpCollective, d.Agree)
_TRAPPED = "trapped.0"
_LEAVING = "leaving.0"


def close_intervals(kernel: d.Kernel, meetings: Meetings) -> d.Kernel:
    """The same kernel in which a thread that traps goes on to a vote of its group."""
    checks = [id(node) for node in visit(kernel.body) if isinstance(node, d.Check)]
    if meetings.followed.isdisjoint(checks):
        return kernel
    closer = _Closer(meetings)
    body = closer.block(kernel.body)
    start = d.Set(_TRAPPED, d.Literal(0, Machine.I1))
    variables = (*kernel.variables, (_TRAPPED, Machine.I1), (_LEAVING, Machine.I1))
    return replace(kernel, body=(start, *body), variables=variables)


class _Closer:
    def __init__(self, meetings: Meetings) -> None:
        self.followed = meetings.followed
        self.numbers = count(1)

    def block(self, body: d.Block) -> d.Block:
        result: list[d.Statement] = []
        run: list[d.Statement] = []
        for node in body:
            if self._meets(node):
                result += self._closed(run)
                run = []
                result.append(with_blocks(node, self.block))
            else:
                run.append(node)
        return (*result, *self._closed(run))

    def _meets(self, node: d.Statement) -> bool:
        """Whether threads meet in a statement, or leave what threads meet in."""
        return any(isinstance(n, _MEETINGS) for n in visit(node)) or _leaves(node)

    def _closed(self, run: list[d.Statement]) -> list[d.Statement]:
        if not any(id(n) in self.followed for s in run for n in visit(s)):
            return run
        label = f"interval.{next(self.numbers)}"
        body = tuple(self._checked(node, label) for node in run)
        leaving = d.If(d.Value(_LEAVING, Machine.I1), (d.Return(),))
        return [d.Scope(label, body), d.Agree(_LEAVING, d.Value(_TRAPPED, Machine.I1)), leaving]

    def _checked(self, node: d.Statement, label: str) -> d.Statement:
        if isinstance(node, d.Check) and id(node) in self.followed:
            failed = replace(node, ok=d.Literal(0, Machine.I1))
            set_ = d.Set(_TRAPPED, d.Literal(1, Machine.I1))
            no = d.Op("inot", (node.ok,), Machine.I1)
            return d.If(no, (failed, set_, d.Leave(label)), span=node.span)
        return with_blocks(node, lambda body: tuple(self._checked(n, label) for n in body))


def _leaves(node: d.Statement) -> bool:
    """Whether control may go from inside a statement to behind something that holds it."""
    match node:
        case d.Break() | d.Continue() | d.Leave() | d.Return():
            return True
        case d.If():
            return any(_leaves(n) for n in (*node.then, *node.otherwise))
        case d.For() | d.Loop():
            inside = [n for s in node.body for n in visit(s)]
            return any(isinstance(n, d.Return | d.Leave) for n in inside)
        case d.Scope():
            return any(_leaves(n) and not (isinstance(n, d.Leave) and n.label == node.label) for n in node.body)
        case _:
            return False
