"""Give nested loops that share a counter's name counters of their own, so that each index belongs to one loop.

for x in range(w): a[i * w + x] = 1            for x.1000 in range(w): a[i * w + x.1000] = 1
for x in range(v): b[i * v + x] = 1     ->     for x.1001 in range(v): b[i * v + x.1001] = 1
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from isogrid.ir import kernel as k
from isogrid.ir.walk import assigned_local, map_block, visit

#: Above every number that the front end gives.
_FIRST = 1000


def with_own_counters(loop: k.For) -> k.For:
    """The loop with such counters renamed. A name that is assigned elsewhere, or read after its loop, stays."""
    nested = [node for node in visit(loop.body) if isinstance(node, k.For)]
    shared = [name for name, count in Counter(node.counter for node in nested).items() if count > 1]
    body = loop.body
    for name in shared:
        if name != loop.counter and _only_counts(body, name):
            body = _renamed(body, name, iter(range(_FIRST, _FIRST + len(nested))))
    return loop if body is loop.body else replace(loop, body=body)


def _only_counts(body: k.Block, name: str) -> bool:
    """Whether nothing but loops gives the name a value, none inside another, and nothing reads it outside them."""
    reads = _reads(body, name)
    inside = 0
    for node in visit(body):
        assigned = assigned_local(node)
        if assigned is not None and assigned[0] == name and not isinstance(node, k.For):
            return False
        if isinstance(node, k.For) and node.counter == name:
            inside += _reads(node.body, name)
            if any(isinstance(n, k.For) and n.counter == name for n in visit(node.body)):
                return False
    return reads == inside


def _reads(body: k.Block, name: str) -> int:
    return sum(isinstance(node, k.Local) and node.name == name for node in visit(body))


def _renamed(body: k.Block, name: str, numbers: Iterator[int]) -> k.Block:
    def rename(node: k.Statement) -> k.Statement:
        if not isinstance(node, k.For) or node.counter != name:
            return node
        own = f"{name}.{next(numbers)}"

        def read(part: k.Expr) -> k.Expr:
            return replace(part, name=own) if isinstance(part, k.Local) and part.name == name else part

        return replace(node, counter=own, body=map_block(node.body, read))

    return map_block(body, on_statement=rename)
