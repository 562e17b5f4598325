"""Bring every warp operation to where all threads of a group come, for targets that exchange through shared memory.

Control flow around a warp operation is the same for a warp, but warps may part. Here each warp keeps in variables
where it is, the whole group runs every place, and what a warp is not at it skips.

    if warp_id == 0:             set m = False; if warp_id == 0: set m = True
        x = warp_sum(v)    ->    if m: set a = v
                                 set r = warp_sum(a) if m
                                 if m: set x = r
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from isogrid.ir import device as d
from isogrid.ir.assignment import early_reads
from isogrid.ir.device import Machine
from isogrid.ir.walk import map_block, visit, visit_statements, with_blocks
from isogrid.lowering.machine import FALSE, TRUE, literal, negated, op, test
from isogrid.support.errors import CompilerBug

#: Whether a value may differ between threads of a group.
Varying = Callable[[d.Expr], bool]
_MEETINGS = (d.Barrier, d.Collective, d.WarpBarrier, d.WarpCollective)
_EXITS = (d.Break, d.Continue, d.Leave, d.Return)


def mask_warps(kernel: d.Kernel, varying: Varying) -> d.Kernel:
    """The same kernel with every warp operation in control flow of the whole group."""
    if not any(isinstance(node, d.WarpBarrier | d.WarpCollective) for node in visit_statements(kernel.body)):
        return kernel
    parted = _parted(kernel.body, varying)
    if not parted:
        return kernel
    masker = _Masker(kernel, parted)
    body = masker.thread(kernel.body)
    # What is set under a mask is read under it too, which no reader of the text can see.
    first = {read.name: read.node.type for read in early_reads(body) if isinstance(read.node, d.Value)}
    zeros = tuple(d.Set(name, literal(0, type)) for name, type in first.items())
    return replace(kernel, body=(*zeros, *body), variables=(*kernel.variables, *masker.variables.items()))


def _meets(node: d.Statement) -> bool:
    return any(isinstance(n, _MEETINGS) for n in visit_statements(node))


# --- which constructs warps pass through apart ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Around:
    """A construct around a statement; `node` is None for the whole thread."""

    kind: str
    label: str
    node: d.Statement | None
    varies: bool


_THREAD = 0


def _parted(body: d.Block, varying: Varying) -> frozenset[int]:
    """The constructs that hold meetings and that warps enter or leave apart, by identity; `_THREAD` for the thread."""
    found: set[int] = set()
    last = max((n for n, s in enumerate(body) if _meets(s)), default=-1)
    before = -1
    while before != len(found):
        before = len(found)
        _find_parted(body[: last + 1], [_Around("thread", "", None, False)], varying, found)
    return frozenset(found)


def _find_parted(body: d.Block, around: list[_Around], varying: Varying, found: set[int]) -> None:
    for node in body:
        meets, apart = _meets(node), id(node) in found
        match node:
            case d.If():
                varies = varying(node.condition)
                if meets and varies:
                    found.add(id(node))
                inside = [*around, _Around("if", "", node, varies or apart)]
                _find_parted(node.then, inside, varying, found)
                _find_parted(node.otherwise, inside, varying, found)
            case d.For() | d.Loop():
                varies = isinstance(node, d.For) and any(varying(e) for e in (node.start, node.step, node.trips))
                if meets and varies:
                    found.add(id(node))
                _find_parted(node.body, [*around, _Around("loop", "", node, varies or apart)], varying, found)
            case d.Scope():
                _find_parted(node.body, [*around, _Around("scope", node.label, node, apart)], varying, found)
            case d.Break() | d.Continue() | d.Leave() | d.Return():
                _find_exit(node, around, found)
            case _:
                pass


def _find_exit(node: d.Break | d.Continue | d.Leave | d.Return, around: list[_Around], found: set[int]) -> None:
    """An exit that not all threads take parts them in every construct that it leaves."""
    kind = {d.Break: "loop", d.Continue: "loop", d.Leave: "scope", d.Return: "thread"}[type(node)]
    label = node.label if isinstance(node, d.Leave) else ""
    at = max(n for n, a in enumerate(around) if (a.kind, a.label) == (kind, label))
    if not any(a.varies for a in around[at + 1 :]):
        return
    for construct in around[at:]:
        if construct.node is None:
            found.add(_THREAD)
        elif construct.kind != "if" and _meets(construct.node):
            found.add(id(construct.node))


# --- the rewriting ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Open:
    """A construct that is being masked, and the flag of who is in it; `trip` is that of a loop's present trip."""

    kind: str
    label: str
    flag: d.Value
    trip: d.Value | None = None


@dataclass(slots=True)
class _Masker:
    kernel: d.Kernel
    parted: frozenset[int]
    variables: dict[str, Machine] = field(default_factory=dict[str, Machine])
    open: list[_Open] = field(default_factory=list[_Open])
    uses: dict[str, int] = field(default_factory=dict[str, int])
    labels: int = 0

    def __post_init__(self) -> None:
        self.uses = _uses(self.kernel.body)

    def variable(self, stem: str, type: Machine) -> d.Value:
        name = f"{stem}.mask.{len(self.variables)}"
        self.variables[name] = type
        return d.Value(name, type)

    def thread(self, body: d.Block) -> d.Block:
        if _THREAD not in self.parted:
            return tuple(self.whole(body))
        first = next(n for n, s in enumerate(body) if any(isinstance(x, d.Return) for x in visit_statements(s)))
        flag = self.variable("alive", Machine.I1)
        self.open.append(_Open("thread", "", flag))
        rest = self.masked(body[first:], flag)
        self.open.pop()
        return (*self.whole(body[:first]), _set(flag, TRUE), *rest)

    # --- where all threads of the group are ---------------------------------------------------------------------------

    def whole(self, body: d.Block) -> list[d.Statement]:
        """Statements that the whole group comes to."""
        result: list[d.Statement] = []
        for node in body:
            if not _meets(node):
                result.append(node)
            elif id(node) in self.parted:
                result += self.parting(node, TRUE)
            else:
                result.append(with_blocks(node, lambda inner: tuple(self.whole(inner))))
        return result

    # --- where only some warps are ------------------------------------------------------------------------------------

    def masked(self, body: d.Block, mask: d.Expr) -> list[d.Statement]:
        """Statements that only the threads with the flag `mask` run."""
        result: list[d.Statement] = []
        waiting: list[d.Statement] = []
        for node in body:
            if not _meets(node):
                waiting.append(node)
                continue
            result += self.run(tuple(waiting), mask)
            waiting.clear()
            result += self.parting(node, mask)
        return result + self.run(tuple(waiting), mask)

    def run(self, body: d.Block, mask: d.Expr) -> list[d.Statement]:
        """Statements without a meeting, under the mask; an exit clears flags and skips the rest of them."""
        if not body:
            return []
        inside = _uses(body)
        kept = {
            node.name
            for node in visit(body)
            if isinstance(node, d.Let) and self.uses.get(node.name, 0) > inside.get(node.name, 0)
        }

        def as_variable(node: d.Statement) -> d.Statement:
            if isinstance(node, d.Let) and node.name in kept:
                self.variables[node.name] = node.value.type
                return d.Set(node.name, node.value, span=node.span)
            return node

        body = map_block(body, None, as_variable)
        if not any(isinstance(node, _EXITS) for node in visit_statements(body)):
            return [_if(mask, body)]
        label = f"mask.{self.labels}"
        self.labels += 1
        return [d.Scope(label, (_if(mask, self.redirected(body, 0, frozenset(), label)),))]

    def redirected(self, body: d.Block, loops: int, labels: frozenset[str], out: str) -> d.Block:
        """Exits of masked constructs as cleared flags; those of the `loops` and `labels` in these statements stay."""
        result: list[d.Statement] = []
        for node in body:
            match node:
                case d.If():
                    then = self.redirected(node.then, loops, labels, out)
                    otherwise = self.redirected(node.otherwise, loops, labels, out)
                    result.append(replace(node, then=then, otherwise=otherwise))
                case d.For() | d.Loop():
                    result.append(replace(node, body=self.redirected(node.body, loops + 1, labels, out)))
                case d.Scope():
                    inner = self.redirected(node.body, loops, labels | {node.label}, out)
                    result.append(replace(node, body=inner))
                case d.Break() | d.Continue() if not loops:
                    result += self.cleared("loop", "", keeps_loop=isinstance(node, d.Continue))
                    result.append(d.Leave(out, span=node.span))
                case d.Leave() if node.label not in labels:
                    result += self.cleared("scope", node.label)
                    result.append(d.Leave(out, span=node.span))
                case d.Return():
                    result += self.cleared("thread", "")
                    result.append(d.Leave(out, span=node.span))
                case _:
                    result.append(node)
        return tuple(result)

    def cleared(self, kind: str, label: str, *, keeps_loop: bool = False) -> list[d.Statement]:
        """This thread leaves every open construct up to the one that is meant."""
        sets: list[d.Statement] = []
        for construct in reversed(self.open):
            meant = (construct.kind, construct.label) == (kind, label)
            if construct.trip is not None:
                sets.append(_set(construct.trip, FALSE))
            if not (meant and keeps_loop):
                sets.append(_set(construct.flag, FALSE))
            if meant:
                return sets
        raise CompilerBug(f"an exit of a {kind} leaves it from where warps have parted, and it is not masked")

    # --- meetings and what holds them ---------------------------------------------------------------------------------

    def parting(self, node: d.Statement, mask: d.Expr) -> list[d.Statement]:
        match node:
            case d.If():
                return self.parting_if(node, mask)
            case d.For():
                return self.parting_for(node, mask)
            case d.Loop():
                return self.loop(node, mask, [], node.body, [], node.bounded)
            case d.Scope():
                flag = self.variable("scope", Machine.I1)
                self.open.append(_Open("scope", node.label, flag))
                body = self.masked(node.body, flag)
                self.open.pop()
                return [_set(flag, mask), *body]
            case d.WarpBarrier():
                return [replace(node, active=mask)]
            case d.WarpCollective():
                return self.collective(node, mask)
            case _:
                return [node]

    def collective(self, node: d.WarpCollective, mask: d.Expr) -> list[d.Statement]:
        """A warp that is not here gives zeros, whose total fits every type."""
        value = self.variable("given", node.value.type)
        given: list[d.Statement] = [_set(value, node.value)]
        before: list[d.Statement] = [_set(value, literal(0, value.type))]
        lane: d.Value | None = None
        if node.lane is not None:
            lane = self.variable("lane", Machine.I64)
            given.append(_set(lane, node.lane))
            before.append(_set(lane, literal(0, Machine.I64)))
        type = dict(self.kernel.variables)[node.target]
        result = self.variable("result", type)
        meeting = replace(node, target=result.name, value=value, lane=lane, active=mask)
        return [*before, _if(mask, given), meeting, _if(mask, (d.Set(node.target, result, span=node.span),))]

    def parting_if(self, node: d.If, mask: d.Expr) -> list[d.Statement]:
        then, otherwise = self.variable("then", Machine.I1), self.variable("else", Machine.I1)
        decide = d.If(node.condition, (_set(then, TRUE),), (_set(otherwise, TRUE),), span=node.span)
        head = [_set(then, FALSE), _set(otherwise, FALSE), _if(mask, (decide,))]
        result = [*head, *self.branch(node.then, then)]
        return result + self.branch(node.otherwise, otherwise) if node.otherwise else result

    def branch(self, body: d.Block, flag: d.Value) -> list[d.Statement]:
        self.open.append(_Open("if", "", flag))
        result = self.masked(body, flag)
        self.open.pop()
        return result

    def parting_for(self, node: d.For, mask: d.Expr) -> list[d.Statement]:
        start, step = self.variable("start", node.type), self.variable("step", node.type)
        trips, trip = self.variable("trips", Machine.I64), self.variable("trip", Machine.I64)
        self.variables[node.counter] = node.type
        counter = d.Value(node.counter, node.type)
        head = [
            *(_set(v, literal(0, v.type)) for v in (start, step, trips, trip)),
            _if(mask, (_set(start, node.start), _set(step, node.step), _set(trips, node.trips))),
        ]
        index = trip if node.type is Machine.I64 else op("trunc", node.type, trip)
        value = op("iadd", node.type, start, op("imul", node.type, index, step))
        more = test("ult", trip, trips)
        following = [_set(trip, op("iadd", Machine.I64, trip, literal(1, Machine.I64)))]
        body = (_set(counter, value), *node.body)
        return [*head, *self.loop(node, mask, [more], body, following, True)]

    def loop(
        self,
        node: d.For | d.Loop,
        mask: d.Expr,
        tests: Sequence[d.Expr],
        body: d.Block,
        following: Iterable[d.Statement],
        bounded: bool,
    ) -> list[d.Statement]:
        """Trips go on while some thread of the group has one left."""
        flag, trip, some = (self.variable(stem, Machine.I1) for stem in ("loop", "in_trip", "some"))
        self.open.append(_Open("loop", "", flag, trip))
        inside = self.masked(body, trip)
        self.open.pop()
        whole: list[d.Statement] = [
            _set(trip, flag),
            *(_if(flag, (_set(trip, more),)) for more in tests),
            _set(flag, trip),
            d.Agree(some.name, trip, span=node.span),
            d.If(negated(some), (d.Break(span=node.span),), span=node.span),
            *inside,
            *following,
        ]
        return [_set(flag, mask), d.Loop(tuple(whole), 0, bounded, span=node.span)]


def _set(target: d.Value, value: d.Expr) -> d.Set:
    return d.Set(target.name, value)


def _if(condition: d.Expr, body: Iterable[d.Statement]) -> d.Statement:
    return d.If(condition, tuple(body))


def _uses(body: d.Block) -> dict[str, int]:
    """How often each name is read."""
    counts: dict[str, int] = {}
    for node in visit(body):
        if isinstance(node, d.Value):
            counts[node.name] = counts.get(node.name, 0) + 1
    return counts
