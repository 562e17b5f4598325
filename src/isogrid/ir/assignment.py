"""Definite assignment over either IR: which names are read somewhere before every path has assigned them.

A block maps the set of names that are assigned when it starts to the set when it ends; None stands for "never gets
there", where every name counts as assigned. Loops need no fixed point because names only ever become assigned.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.walk import expressions, statements, visit_exprs

#: Assigned names, or None where control never arrives.
State: TypeAlias = frozenset[str] | None
AnyStatement: TypeAlias = k.Statement | d.Statement
AnyExpr: TypeAlias = k.Expr | d.Expr


@dataclass(frozen=True, slots=True)
class EarlyRead:
    """`name` is read by `node`, and some path has not assigned it by then."""

    name: str
    node: k.Local | d.Value


def early_reads(body: k.Block | d.Block, assigned: Iterable[str] = ()) -> list[EarlyRead]:
    """Every read of a local or value that is not assigned on every path to it."""
    flow = _Flow()
    flow.block(body, frozenset(assigned))
    return flow.found


def join(left: State, right: State) -> State:
    """What is assigned where two paths meet."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


@dataclass(slots=True)
class _Exits:
    """States at the jumps that leave one loop (or scope) so far."""

    out: State = None


@dataclass(slots=True)
class _Flow:
    found: list[EarlyRead] = field(default_factory=list[EarlyRead])
    loops: list[_Exits] = field(default_factory=list[_Exits])
    scopes: dict[str, _Exits] = field(default_factory=dict[str, _Exits])

    def block(self, body: Iterable[AnyStatement], state: State) -> State:
        for statement in body:
            state = self.statement(statement, state)
        return state

    def statement(self, node: AnyStatement, state: State) -> State:
        match node:
            case k.If() | d.If():
                self.reads((node.condition,), state)
                return join(self.block(node.then, state), self.block(node.otherwise, state))
            case k.For():
                self.reads((node.start, node.stop, node.step), state)
                return self.counted(node.counter, node.body, state, _runs(node))
            case d.For():
                self.reads((node.start, node.step, node.trips), state)
                runs = isinstance(node.trips, d.Literal) and node.trips.bits > 0
                return self.counted(node.counter, node.body, state, runs)
            case k.While():
                return self.tested(node, state)
            case d.Loop():
                self.loops.append(_Exits())
                self.block(node.body, state)
                return self.loops.pop().out
            case k.Scope() | d.Scope():
                outer = self.scopes.get(node.label)
                self.scopes[node.label] = exits = _Exits()
                end = join(self.block(node.body, state), exits.out)
                if outer is None:
                    del self.scopes[node.label]
                else:
                    self.scopes[node.label] = outer
                return end
            case _:
                self.reads(expressions(node), state)
                return self.jump_or_assign(node, state)

    def jump_or_assign(self, node: AnyStatement, state: State) -> State:
        match node:
            case k.Break() | d.Break():
                if self.loops:
                    self.loops[-1].out = _reached(self.loops[-1], state)
                return None
            case k.Leave() | d.Leave():
                if node.label in self.scopes:
                    self.scopes[node.label].out = _reached(self.scopes[node.label], state)
                return None
            case k.Return() | d.Return() | k.Continue() | d.Continue():
                return None
            case k.Assign() | d.Let() | d.Set():
                return None if state is None else state | {node.name}
            case k.Collective() | d.Collective() | k.WarpCollective() | d.WarpCollective() | d.Agree():
                return None if state is None else state | {node.target}
            case k.Atomic() | d.Atomic() if node.target:
                return None if state is None else state | {node.target}
            case _:
                return state

    def counted(self, counter: str, body: Iterable[AnyStatement], state: State, runs: bool) -> State:
        self.loops.append(_Exits())
        inside = None if state is None else state | {counter}
        end = self.block(body, inside)
        exits = self.loops.pop()
        if runs and not _continues(body):
            return join(end, exits.out)
        return join(state if not runs else inside, exits.out)

    def tested(self, loop: k.While, state: State) -> State:
        self.loops.append(_Exits())
        at_test = self.block(loop.prelude, state)
        self.reads((loop.condition,), at_test)
        self.block(loop.body, at_test)
        exits = self.loops.pop()
        endless = isinstance(loop.condition, k.Const) and loop.condition.value == 1
        return exits.out if endless else join(at_test, exits.out)

    def reads(self, roots: Iterable[AnyExpr], state: State) -> None:
        if state is None:
            return
        for name, node in _names_read(roots):
            if name not in state:
                self.found.append(EarlyRead(name, node))


def _names_read(roots: Iterable[AnyExpr]) -> Iterator[tuple[str, k.Local | d.Value]]:
    for root in roots:
        for node in visit_exprs(root):
            if isinstance(node, k.Local | d.Value):
                yield node.name, node


def _reached(exits: _Exits, state: State) -> State:
    return join(exits.out, state)


def _runs(loop: k.For) -> bool:
    """Whether the loop has at least one trip, seen from constants alone."""
    match loop.start, loop.stop, loop.step:
        case k.Const(start), k.Const(stop), k.Const(step):
            return start < stop if step > 0 else start > stop
        case _:
            return False


def _continues(body: Iterable[AnyStatement]) -> bool:
    """Whether some `continue` goes to the head of this loop (not of an inner one)."""
    for node in body:
        match node:
            case k.Continue() | d.Continue():
                return True
            case k.For() | k.While() | d.For() | d.Loop():
                continue
            case _:
                if _continues(statements(node)):
                    return True
    return False
