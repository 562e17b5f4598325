"""Which values of device IR may differ between the threads of a group: all but those that only launch and group decide.

A value that a loop or a branch assigns counts as different, and so does what memory holds.
"""

from collections.abc import Callable

from isogrid.ir import device as d
from isogrid.ir.walk import visit

_OF_THE_GROUP = ("group", "groups", "extent")


def group_variance(kernel: d.Kernel) -> Callable[[d.Expr], bool]:
    """A test of expressions: True where the value may differ within a group."""
    uniform: set[str] = set()
    mutable = {name for name, _ in kernel.variables}

    def varies(node: d.Expr) -> bool:
        match node:
            case d.Literal() | d.Argument():
                return False
            case d.Special():
                return node.kind not in _OF_THE_GROUP
            case d.Value():
                return node.name not in uniform
            case d.Op():
                return any(varies(a) for a in node.arguments)
            case d.Load():
                return True

    for node in visit(kernel.body):
        match node:
            case d.Let() if node.name not in mutable and not varies(node.value):
                uniform.add(node.name)
            case d.For() if not any(varies(e) for e in (node.start, node.step, node.trips)):
                uniform.add(node.counter)
            case _:
                continue
    return varies
