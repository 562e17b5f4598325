"""Exits of device IR as C can say them, without `goto`.

`leave s` where an `if` ends becomes an `else`; elsewhere the scope becomes `do { ... } while (false)` and the exit its
`break`. An exit through a loop or scope inside sets a flag that is asked behind each construct on its way out.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit
from isogrid.support.errors import CompilerBug


def structure_exits(kernel: d.Kernel) -> d.Kernel:
    """The same kernel in which every `Break`, `Continue` and `Leave` is about the innermost loop or scope."""
    structurer = _Structurer()
    body = structurer.block(kernel.body, [])
    flags = tuple((name, Machine.I1) for name in structurer.flags)
    return replace(kernel, body=body, variables=kernel.variables + flags)


class _Construct:
    """An open loop or scope. `pending` has the exits through it: flag to the exit as it is said outside."""

    def __init__(self, kind: str, label: str) -> None:
        self.kind, self.label = kind, label
        self.pending: dict[str, d.Statement] = {}


class _Structurer:
    def __init__(self) -> None:
        self.flags: list[str] = []
        self.numbers = count(1)

    def block(self, body: d.Block, open_: list[_Construct]) -> d.Block:
        result: list[d.Statement] = []
        for node in body:
            result += self.statement(node, open_)
            if isinstance(node, d.Break | d.Continue | d.Leave | d.Return):
                break
        return tuple(result)

    def statement(self, node: d.Statement, open_: list[_Construct]) -> list[d.Statement]:
        match node:
            case d.If():
                then, otherwise = self.block(node.then, open_), self.block(node.otherwise, open_)
                return [replace(node, then=then, otherwise=otherwise)]
            case d.For() | d.Loop():
                return self.construct(node, _Construct("loop", ""), open_)
            case d.Scope():
                body = _absorbed(node.body, node.label)
                if not _leaves(body, node.label):
                    return list(self.block(body, open_))
                return self.construct(replace(node, body=body), _Construct("scope", node.label), open_)
            case d.Break() | d.Continue():
                return self.exit(node, lambda c: c.kind == "loop", open_)
            case d.Leave():
                return self.exit(node, lambda c: c.kind == "scope" and c.label == node.label, open_)
            case _:
                return [node]

    def construct(
        self, node: d.For | d.Loop | d.Scope, construct: _Construct, open_: list[_Construct]
    ) -> list[d.Statement]:
        body = self.block(node.body, [*open_, construct])
        result: list[d.Statement] = [d.Set(flag, d.Literal(0, Machine.I1)) for flag in construct.pending]
        result.append(replace(node, body=body))
        for flag, outer in construct.pending.items():
            exits = self.statement(outer, open_)
            result.append(d.If(d.Value(flag, Machine.I1), tuple(exits), span=node.span))
        return result

    def exit(
        self, node: d.Statement, meant: Callable[[_Construct], bool], open_: list[_Construct]
    ) -> list[d.Statement]:
        if not open_:
            raise CompilerBug(f"an exit that leaves nothing, at {node.span}")
        innermost = open_[-1]
        if meant(innermost):
            return [node]
        flag = next((f for f, outer in innermost.pending.items() if outer == node), None)
        if flag is None:
            flag = f"leaves.{next(self.numbers)}"
            self.flags.append(flag)
            innermost.pending[flag] = node
        ends: d.Statement = d.Break() if innermost.kind == "loop" else d.Leave(innermost.label)
        return [d.Set(flag, d.Literal(1, Machine.I1)), ends]


def _leaves(body: d.Block, label: str) -> bool:
    return any(isinstance(node, d.Leave) and node.label == label for node in visit(body))


def _absorbed(body: d.Block, label: str) -> d.Block:
    """What follows an `if` that leaves the scope goes into its other branch; an exit at the end falls away."""
    for number, node in enumerate(body):
        rest = body[number + 1 :]
        match node:
            case d.Leave() if node.label == label:
                return body[:number]
            case d.If() if _ends(node.then, label) and not _ends(node.otherwise, label):
                otherwise = _absorbed((*node.otherwise, *rest), label)
                return (*body[:number], replace(node, then=_absorbed(node.then, label), otherwise=otherwise))
            case d.If() if _ends(node.otherwise, label) and not _ends(node.then, label):
                then = _absorbed((*node.then, *rest), label)
                return (*body[:number], replace(node, then=then, otherwise=_absorbed(node.otherwise, label)))
            case d.If() if not rest or (_ends(node.then, label) and _ends(node.otherwise, label)):
                then, otherwise = _absorbed(node.then, label), _absorbed(node.otherwise, label)
                return (*body[:number], replace(node, then=then, otherwise=otherwise))
            case _:
                continue
    return body


def _ends(body: d.Block, label: str) -> bool:
    """Whether the block always leaves the scope at its end."""
    if not body:
        return False
    match body[-1]:
        case d.Leave() as last:
            return last.label == label
        case d.If() as last:
            return _ends(last.then, label) and _ends(last.otherwise, label)
        case _:
            return False
