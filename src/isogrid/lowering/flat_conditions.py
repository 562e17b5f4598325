"""Compute conditions without branches where that is cheap: `a and b and c` of comparisons becomes values alone.

    set v = a; if v: set v = b    ->    let if.1 = v; set v = select(if.1, b, v)

Operations are total, so what a branch would have skipped may be computed and thrown away. What follows is then one
question, which copies of a thread can be asked together.
"""

from collections import Counter
from dataclasses import replace
from itertools import count

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import map_kernel, visit

#: Expressions of a branch; more would rather be skipped.
_MOST_NODES = 48
#: Slow operations, and those that are not total for every second operand.
_SLOW = frozenset({"fdiv", "fsqrt", "ffmod"})
_DIVISIONS = frozenset({"sdiv", "srem", "udiv", "urem"})
_SHIFTS = frozenset({"shl", "lshr", "ashr"})


def flat_conditions(kernel: d.Kernel) -> d.Kernel:
    """The kernel with branches that only decide conditions turned into choices."""
    flat = _Flat(dict(kernel.variables), _uses(kernel.body))
    return map_kernel(kernel, on_statement=flat.statement)


class _Flat:
    def __init__(self, machines: dict[str, Machine], uses: "Counter[str]") -> None:
        self.machines, self.uses = machines, uses
        self.numbers = count(1)

    def statement(self, node: d.Statement) -> d.Statement | d.Block:
        if not isinstance(node, d.If) or not _only_decides(node, self.machines):
            return node
        # What only this branch uses needs no value elsewhere.
        inside = _uses((*node.then, *node.otherwise))
        shared = {name for name in inside if inside[name] < self.uses[name]}
        condition = d.Value(f"if.{next(self.numbers)}", Machine.I1)
        first = d.Let(condition.name, node.condition, span=node.span)
        then = tuple(self.chosen(s, condition, True, shared) for s in node.then)
        return (first, *then, *(self.chosen(s, condition, False, shared) for s in node.otherwise))

    def chosen(self, node: d.Statement, condition: d.Value, wanted: bool, shared: set[str]) -> d.Statement:
        """The statement of a branch: a variable keeps its value where the branch is not taken."""
        if not isinstance(node, d.Set) or node.name not in shared:
            return node
        self.uses[node.name] += 1
        old = d.Value(node.name, Machine.I1)
        ways = (node.value, old) if wanted else (old, node.value)
        return replace(node, value=d.Op("select", (condition, *ways), Machine.I1))


def _uses(body: d.Block) -> "Counter[str]":
    """How often each name is read or assigned."""
    names = Counter(n.name for n in visit(body) if isinstance(n, d.Value | d.Set))
    names.update(n.target for n in visit(body) if isinstance(n, d.Atomic | d.Collective | d.WarpCollective | d.Agree))
    return names


def _only_decides(node: d.If, machines: dict[str, Machine]) -> bool:
    inside = (*node.then, *node.otherwise)
    if any(isinstance(s, d.Set) and machines.get(s.name) is not Machine.I1 for s in inside):
        return False
    if not inside or not all(isinstance(s, d.Let | d.Set) for s in inside):
        return False
    nodes = list(visit(inside))
    return len(nodes) <= _MOST_NODES and all(_is_cheap(n) for n in nodes)


def _is_cheap(node: d.Node) -> bool:
    match node:
        case d.Load():
            return False
        case d.Op() if node.op in _SHIFTS:
            return isinstance(node.arguments[1], d.Literal)
        case d.Op() if node.op in _DIVISIONS:
            by = node.arguments[1]
            return isinstance(by, d.Literal) and by.bits not in (0, (1 << by.type.bits) - 1)
        case d.Op():
            return node.op not in _SLOW
        case _:
            return True
