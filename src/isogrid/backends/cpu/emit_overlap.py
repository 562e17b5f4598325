"""Loops whose trips overlap: a trip's last quotients and what waits for them run among the first half of the next.

    for j trips t: let d = ..; let q = x / d; set s = s + q

becomes, where t is not zero,

    let d = .. of the first trip
    for j trips t - 1: let q = x / d; let d' = .. of this trip; set s = s + q; set d = d'
    let q = x / d; set s = s + q

The processor looks only so far ahead, and a chain through a root and a quotient takes it all: then the divider and the
units that multiply wait for each other in turn. Every operation is still done once for each trip, on the same operands.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from isogrid.backends.cpu.emit_levels import names_in
from isogrid.backends.cpu.emit_stages import SLOW, followers, is_slow, of_the_counter, plan_stages
from isogrid.backends.cpu.emit_witness import witnesses
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import map_expr, visit_exprs
from isogrid.lowering.machine import literal, op, test

#: Values that one trip may leave to the next: half the registers of AVX-512.
_MOST_CARRIED: Final = 16
#: Stages at a distance run 40 or 60 trips more than there are, and each trip a sixth faster.
_MANY: Final = 320


@dataclass(frozen=True, slots=True)
class Rounds:
    """A loop whose trips overlap: names of its first half, and whether its roots are proved by a look behind it.

    `staged`: it has no halves, and may run in stages at a distance.
    """

    first: frozenset[str]
    proved: bool
    staged: bool = False


@dataclass(slots=True)
class Overlap:
    """The names that a kernel has already, and the variables that overlapped loops add."""

    taken: set[str]
    #: What `Let`s of the kernel stand for, to see which trip counts all lanes share.
    defined: Mapping[str, d.Expr]
    variables: list[tuple[str, Machine]] = field(default_factory=list[tuple[str, Machine]])
    #: Counters of loops that are quicker in stages at a distance, if their roots need no test.
    in_stages: set[str] = field(default_factory=set[str])
    #: Each loop that overlaps, by the name of its counter.
    loops: dict[str, Rounds] = field(default_factory=dict[str, Rounds])

    def rounds(self, main: d.For, loop: d.For) -> d.Block:
        """The rounds of an unrolled loop with trips that overlap, or as they are where nothing would be gained."""
        if not _is_shared(loop.trips, self.defined):
            return (main,)
        body = self._flat(main.body)
        halves = _halves(body, main.counter) if body else None
        seen = witnesses(body) if body else ()
        proved = halves is not None and bool(seen)
        rounds = (main,) if halves is None else self._overlapped(main, halves, proved)
        staged = self._staged(loop) if seen and loop.counter in self.in_stages else ()
        if staged:
            trips = op("imul", Machine.I64, main.trips, literal(loop.unroll, Machine.I64))
            many = test("ult", literal(_MANY // loop.unroll, Machine.I64), main.trips)
            rounds = (d.If(many, tuple(replace(node, trips=trips) for node in staged), rounds, span=loop.span),)
        if proved or staged:
            rounds = self._looked_at(rounds, replace(main, body=tuple(body)), seen)
        if halves is None and not staged:
            return (main,)
        return (d.If(test("ult", literal(0, Machine.I64), main.trips), rounds, span=loop.span),)

    def _staged(self, loop: d.For) -> tuple[d.For, ...]:
        """The loop as one that may run in stages at a distance, none where it would have one stage only."""
        counter = self._name(loop.counter)
        body, _ = self._copy(self._flat(loop.body), {loop.counter: d.Value(counter, loop.type)})
        if plan_stages(body, counter) is None:
            return ()
        self.loops[counter] = Rounds(frozenset(), proved=True, staged=True)
        return (replace(loop, counter=counter, unroll=1, body=tuple(body)),)

    def _flat(self, body: d.Block) -> list[d.Let | d.Set]:
        """The body with a name for each quotient, root and operand of one; empty if it does more than arithmetic."""
        result: list[d.Let | d.Set] = []

        def named(node: d.Expr) -> d.Expr:
            if isinstance(node, d.Literal | d.Value):
                return node
            name = self._name("part")
            result.append(d.Let(name, node))
            return d.Value(name, node.type)

        def split(node: d.Expr) -> d.Expr:
            if not isinstance(node, d.Op):
                return node
            arguments = tuple(split(a) for a in node.arguments)
            if node.op not in SLOW:
                return replace(node, arguments=arguments)
            return named(replace(node, arguments=tuple(named(a) for a in arguments)))

        for node in body:
            match node:
                case d.Let() | d.Set():
                    value = split(node.value)
                    result.append(replace(node, value=value))
                case _:
                    return []
        return result

    def _looked_at(self, overlapped: d.Block, plain: d.For, seen: Sequence[str]) -> d.Block:
        """The rounds, and where one of the variables `seen` is NaN behind them, `plain` ones from the same start."""
        assigned = {node.name: node.value.type for node in plain.body if isinstance(node, d.Set)}
        start = {name: d.Value(self._name(name), type) for name, type in assigned.items()}
        save = [d.Let(kept.name, d.Value(name, kept.type)) for name, kept in start.items()]
        first, *others = (test("fisnan", d.Value(name, Machine.F32)) for name in seen)
        wrong = functools.reduce(lambda left, right: test("ior", left, right), others, first)
        counter = self._name(plain.counter)
        body = [node for node in plain.body if isinstance(node, d.Let | d.Set)]
        again, _ = self._copy(body, {plain.counter: d.Value(counter, plain.type)})
        restore = [d.Set(name, kept) for name, kept in start.items()]
        rerun = (*restore, replace(plain, counter=counter, body=tuple(again)))
        return (*save, *overlapped, d.If(wrong, rerun, span=plain.span, rare=True))

    def _overlapped(self, loop: d.For, halves: "_Halves", proved: bool) -> d.Block:
        last = op("isub", Machine.I64, loop.trips, literal(1, Machine.I64))
        at_last = last if loop.type is Machine.I64 else op("trunc", loop.type, last)
        end = op("iadd", loop.type, loop.start, op("imul", loop.type, at_last, loop.step))
        begin = op("iadd", loop.type, loop.start, loop.step)
        before = op("isub", loop.type, d.Value(loop.counter, loop.type), loop.step)
        left = {n: d.Value(self._name(n), type) for n, type in halves.carried.items()}
        self.variables += [(value.name, value.type) for value in left.values()]

        start, names = self._copy(halves.first, {loop.counter: loop.start})
        leave = [d.Set(value.name, names[n]) for n, value in left.items()]
        second, _ = self._copy(halves.second, {loop.counter: before, **left})
        keep = [d.Set(value.name, d.Value(n, value.type)) for n, value in left.items()]
        self.loops[loop.counter] = Rounds(frozenset(node.name for node in halves.first), proved)
        middle = replace(loop, start=begin, trips=last, body=(*_merged(second, halves.first), *keep))
        finish, _ = self._copy(halves.second, {loop.counter: end, **left})
        return (*start, *leave, middle, *finish)

    def _copy(
        self, body: Sequence[d.Let | d.Set], values: Mapping[str, d.Expr]
    ) -> tuple[list[d.Let | d.Set], dict[str, d.Expr]]:
        """The statements with names of their own, where `values` stands for some names from outside; all new names."""
        known: dict[str, d.Expr] = {}
        result: list[d.Let | d.Set] = []

        def renamed(node: d.Expr) -> d.Expr:
            return known.get(node.name, node) if isinstance(node, d.Value) else node

        def let(node: d.Let, value: d.Expr) -> None:
            new = d.Value(self._name(node.name), value.type)
            known[node.name] = new
            result.append(replace(node, name=new.name, value=value))

        for name, value in values.items():
            if isinstance(value, d.Value):
                known[name] = value
            else:
                let(d.Let(name, value), value)
        for node in body:
            value = map_expr(node.value, renamed)
            if isinstance(node, d.Let):
                let(node, value)
            else:
                result.append(replace(node, value=value))
        return result, known

    def _name(self, stem: str) -> str:
        number = 1
        while f"{stem}.o{number}" in self.taken:
            number += 1
        self.taken.add(f"{stem}.o{number}")
        return f"{stem}.o{number}"


@dataclass(frozen=True, slots=True)
class _Halves:
    """What a trip does before its last quotients, and the rest; what the rest needs of the first half."""

    first: list[d.Let | d.Set]
    second: list[d.Let | d.Set]
    carried: dict[str, Machine]


def _halves(body: Sequence[d.Let | d.Set], counter: str) -> _Halves | None:
    """The halves of a trip, None where one would be empty or the first would leave too much to the second."""
    assigned = {node.name for node in body if isinstance(node, d.Set)}
    late = followers(body, assigned)
    late = followers(body, late | _last_slow(body, late))
    repeated = of_the_counter(body, counter)
    first = [node for node in body if node.name not in late]
    own = {node.name: node.value.type for node in first if node.name not in repeated}
    read = {name for node in body if node.name in late for name in names_in(node.value)}
    carried = {name: type for name, type in own.items() if name in read}
    if not 0 < len(carried) <= _MOST_CARRIED:
        return None
    second = [node for node in body if node.name in late or node.name in repeated]
    return _Halves(first, second, carried)


def _last_slow(body: Sequence[d.Let | d.Set], late: set[str]) -> set[str]:
    """Quotients and roots of the first half that no other of them waits for."""
    found: set[str] = set()
    waited: set[str] = set()
    for node in reversed(body):
        if node.name in late:
            continue
        if is_slow(node) and node.name not in waited:
            found.add(node.name)
        if is_slow(node) or node.name in waited:
            waited |= names_in(node.value)
    return found


def _merged(second: Sequence[d.Let | d.Set], first: Sequence[d.Let | d.Set]) -> list[d.Let | d.Set]:
    """Both in order, the statements of `second` spread evenly among those of `first`."""
    result: list[d.Let | d.Set] = []
    for place, node in enumerate(second):
        result.append(node)
        result += first[place * len(first) // len(second) : (place + 1) * len(first) // len(second)]
    return result


def _is_shared(trips: d.Expr, defined: Mapping[str, d.Expr]) -> bool:
    """Whether all lanes are known to make the same number of trips."""
    for node in visit_exprs(trips):
        match node:
            case d.Value():
                if node.name not in defined or not _is_shared(defined[node.name], defined):
                    return False
            case d.Load():
                return False
            case d.Special():
                if node.kind in ("thread", "local"):
                    return False
            case d.Literal() | d.Argument() | d.Op():
                continue
            case _:
                assert_never(node)
    return True
