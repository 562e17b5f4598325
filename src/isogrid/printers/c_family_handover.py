"""The statements that `Body` hands over: whatever threads do together, and what may trap."""

from collections.abc import Callable

from isogrid.ir import device as d
from isogrid.printers.c_family_atomics import atomic_update
from isogrid.printers.c_family_collectives import group_operation
from isogrid.printers.c_family_meetings import Together
from isogrid.printers.c_family_statements import Body
from isogrid.printers.c_family_text import CType, Text
from isogrid.printers.c_family_warps import warp_operation
from isogrid.support.errors import CompilerBug


def handover(together: Together) -> Callable[[Body, d.Statement], None]:
    """A printer of such statements for one kernel."""
    return lambda body, node: _statement(together, body, node)


def _statement(together: Together, body: Body, node: d.Statement) -> None:
    match node:
        case d.Check():
            together.check(body, node)
        case d.Return():
            together.end(body)
            body.line("return;")
        case d.Barrier():
            together.meet(body, together.meetings.pending(node))
        case d.Collective():
            group_operation(together, body, node)
        case d.WarpBarrier():
            together.warp_barrier(body, node)
        case d.WarpCollective():
            together.before_warp_operation(body, node)
            warp_operation(together, body, node)
        case d.Agree():
            vote = together.vote(body.expressions.text(node.value))
            body.give(node.target, Text(vote, CType.BOOL))
        case d.Atomic():
            atomic_update(together, body, node)
        case _:
            raise CompilerBug(f"{type(node).__name__} is no meeting")
