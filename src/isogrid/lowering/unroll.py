"""Unroll loops by the factor that their author gave, with the remaining trips in a loop of their own.

for i = 0 step 1 trips t unroll 4     becomes     for i = 0 step 4 trips t / 4: four copies of the body
                                                  for i = t / 4 * 4 step 1 trips t % 4: the body
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import map_block, visit_statements
from isogrid.lowering.machine import literal, op


def unroll_loops(kernel: d.Kernel, rounds: Callable[[d.For, d.For], d.Block] = lambda main, loop: (main,)) -> d.Kernel:
    """Loops whose `unroll` is 2 or more, inner ones first. The result asks for no further unrolling of them.

    `rounds` sees the loop of the rounds and the loop as it was, and may put something else in the first's place.
    """
    if not any(isinstance(node, d.For | d.Loop) and node.unroll > 1 for node in visit_statements(kernel.body)):
        return kernel
    names = {node.name for node in visit_statements(kernel.body) if isinstance(node, d.Let)}
    names |= {node.counter for node in visit_statements(kernel.body) if isinstance(node, d.For)}
    names |= {name for name, _ in kernel.variables} | {parameter.name for parameter in kernel.parameters}
    labels = {node.label for node in visit_statements(kernel.body) if isinstance(node, d.Scope)}
    unroller = _Unroller(names, labels, rounds)
    return replace(kernel, body=map_block(kernel.body, on_statement=unroller.statement))


@dataclass(slots=True)
class _Unroller:
    names: set[str]
    labels: set[str]
    rounds: Callable[[d.For, d.For], d.Block]
    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    def statement(self, statement: d.Statement) -> d.Statement | d.Block:
        match statement:
            case d.For() if statement.unroll > 1:
                return self._for(statement)
            case d.Loop() if statement.unroll > 1:
                copies = [self._copy(statement.body, "", None) for _ in range(statement.unroll)]
                return replace(statement, body=tuple(s for copy in copies for s in copy), unroll=1)
            case _:
                return statement

    def _for(self, loop: d.For) -> d.Block:
        """The trips in rounds of `unroll`, then the rest. A `break` of the rounds skips the rest too."""
        factor = literal(loop.unroll, Machine.I64)
        head, trips, rounds = self._counts(loop)
        counter = d.Value(self._name(loop.counter), loop.type)
        outer = self._label("rounds") if _jumps(loop.body, d.Break) else ""
        done = op("imul", Machine.I64, rounds, factor)
        stride = op("imul", loop.type, loop.step, literal(loop.unroll, loop.type))
        copies: list[d.Statement] = []
        for number in range(loop.unroll):
            here = op("iadd", loop.type, counter, op("imul", loop.type, loop.step, literal(number, loop.type)))
            copies.extend(self._copy(loop.body, outer, (loop.counter, here if number else counter)))
        main = d.For(counter.name, loop.start, stride, rounds, tuple(copies), loop.type, 1, span=loop.span)
        skipped = done if loop.type is Machine.I64 else op("trunc", loop.type, done)
        start = op("iadd", loop.type, loop.start, op("imul", loop.type, skipped, loop.step))
        left = op("isub", Machine.I64, trips, done)
        rest = replace(loop, start=start, trips=left, unroll=1)
        if outer:
            return (*head, d.Scope(outer, (*self.rounds(main, loop), rest), span=loop.span))
        return (*head, *self.rounds(main, loop), rest)

    def _counts(self, loop: d.For) -> tuple[d.Block, d.Expr, d.Expr]:
        """What names the trips and the rounds, and both. Known numbers stay so: they say that a loop has a trip."""
        if isinstance(loop.trips, d.Literal):
            return (), loop.trips, literal(loop.trips.bits // loop.unroll, Machine.I64)
        trips = d.Value(self._name("trips"), Machine.I64)
        rounds = d.Value(self._name("rounds"), Machine.I64)
        quotient = op("udiv", Machine.I64, trips, literal(loop.unroll, Machine.I64))
        head = (d.Let(trips.name, loop.trips, span=loop.span), d.Let(rounds.name, quotient, span=loop.span))
        return head, trips, rounds

    def _copy(self, body: d.Block, outer: str, counter: tuple[str, d.Expr] | None) -> d.Block:
        """One copy with names of its own. `continue` leaves a scope around it; `break` leaves `outer` where given."""
        inner = self._label("trip") if _jumps(body, d.Continue) else ""
        copy = _redirected(body, outer, inner)
        renamed = {node.name: self._name(node.name) for node in visit_statements(copy) if isinstance(node, d.Let)}
        renamed |= {
            node.counter: self._name(node.counter) for node in visit_statements(copy) if isinstance(node, d.For)
        }
        first: d.Block = ()
        if counter is not None:
            renamed[counter[0]] = self._name(counter[0])
            first = (d.Let(renamed[counter[0]], counter[1]),)
        copy = (*first, *_renamed(copy, renamed))
        return (d.Scope(inner, copy),) if inner else copy

    def _name(self, stem: str) -> str:
        return self._fresh(stem, self.names)

    def _label(self, stem: str) -> str:
        return self._fresh(stem, self.labels)

    def _fresh(self, stem: str, taken: set[str]) -> str:
        number = self._numbers.get(stem, 0)
        while True:
            number += 1
            if f"{stem}.{number}" not in taken:
                break
        self._numbers[stem] = number
        taken.add(f"{stem}.{number}")
        return f"{stem}.{number}"


def _jumps(block: d.Block, kind: type[d.Break] | type[d.Continue]) -> bool:
    """Whether the block jumps out of the loop that it is the body of."""
    for statement in block:
        match statement:
            case d.Break() | d.Continue():
                if isinstance(statement, kind):
                    return True
            case d.If():
                if _jumps(statement.then, kind) or _jumps(statement.otherwise, kind):
                    return True
            case d.Scope():
                if _jumps(statement.body, kind):
                    return True
            case _:
                pass
    return False


def _redirected(block: d.Block, outer: str, inner: str) -> d.Block:
    result: list[d.Statement] = []
    for statement in block:
        match statement:
            case d.Break() if outer:
                result.append(d.Leave(outer, span=statement.span))
            case d.Continue():
                result.append(d.Leave(inner, span=statement.span))
            case d.If():
                then = _redirected(statement.then, outer, inner)
                result.append(replace(statement, then=then, otherwise=_redirected(statement.otherwise, outer, inner)))
            case d.Scope():
                result.append(replace(statement, body=_redirected(statement.body, outer, inner)))
            case _:
                result.append(statement)
    return tuple(result)


def _renamed(block: d.Block, names: dict[str, str]) -> d.Block:
    def expression(node: d.Expr) -> d.Expr:
        return replace(node, name=names[node.name]) if isinstance(node, d.Value) and node.name in names else node

    def statement(node: d.Statement) -> d.Statement:
        match node:
            case d.Let() if node.name in names:
                return replace(node, name=names[node.name])
            case d.For() if node.counter in names:
                return replace(node, counter=names[node.counter])
            case _:
                return node

    return map_block(block, expression, statement)
