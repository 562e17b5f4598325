"""What a loop in kernel IR assigns and touches: every write of a local, every access of an array, with its place."""

from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias, assert_never

from isogrid.ir import kernel as k
from isogrid.ir.types import Space
from isogrid.ir.walk import expressions, visit, visit_exprs
from isogrid.support.records import dataclass

ArrayNode: TypeAlias = k.Load | k.Store | k.Atomic


@dataclass(frozen=True, slots=True)
class Access:
    """One access of an array. `loops` are the nested loops around it, outermost first; `always` says that every
    iteration reaches it; `statement` is the statement that it is part of."""

    node: ArrayNode
    loops: tuple[k.For, ...]
    always: bool
    statement: k.Statement

    @property
    def writes(self) -> bool:
        return not isinstance(self.node, k.Load)


@dataclass(slots=True)
class LoopFacts:
    """A candidate loop. `targets` lists locals and arrays in the order of their first write."""

    loop: k.For
    assigned: dict[str, list[k.Assign]] = field(default_factory=dict[str, list[k.Assign]])
    counters: dict[str, list[k.For]] = field(default_factory=dict[str, list[k.For]])
    atomic_results: dict[str, k.Atomic] = field(default_factory=dict[str, k.Atomic])
    own_arrays: set[str] = field(default_factory=set[str])
    accesses: list[Access] = field(default_factory=list[Access])
    targets: dict[str, k.Statement] = field(default_factory=dict[str, k.Statement])
    array_targets: set[str] = field(default_factory=set[str])

    @property
    def changed(self) -> set[str]:
        """Every local that the body gives a value, the counter included."""
        return {self.loop.counter, *self.assigned, *self.counters, *self.atomic_results}

    @property
    def written(self) -> list[str]:
        """Global arrays that the body writes."""
        return [name for name in self.targets if name in self.array_targets]

    def of(self, array: str) -> list[Access]:
        """The accesses of one array, in order."""
        return [access for access in self.accesses if access.node.array == array]

    def reads_of(self, name: str) -> int:
        """How many places of the body read a local."""
        return sum(isinstance(node, k.Local) and node.name == name for node in visit(self.loop.body))

    def once(self, name: str) -> k.Assign | None:
        """The only assignment of a local, where it is assigned in one place alone."""
        found = self.assigned.get(name, [])
        plain = name not in self.counters and name not in self.atomic_results and name != self.loop.counter
        return found[0] if len(found) == 1 and plain else None


def facts_of(loop: k.For) -> LoopFacts:
    """Walk the body once."""
    facts = LoopFacts(loop)
    _block(facts, loop.body, (), always=True)
    return facts


def _block(facts: LoopFacts, block: k.Block, loops: tuple[k.For, ...], always: bool) -> bool:
    """Gives whether the end of the block is always reached, as far as can be seen."""
    for statement in block:
        always = _statement(facts, statement, loops, always)
    return always


def _statement(facts: LoopFacts, node: k.Statement, loops: tuple[k.For, ...], always: bool) -> bool:
    if not isinstance(node, k.While):
        for root in expressions(node):
            _loads(facts, root, node, loops, always)
    match node:
        case k.Assign(name=name):
            facts.assigned.setdefault(name, []).append(node)
            facts.targets.setdefault(name, node)
        case k.Store(array=array, space=space) | k.Atomic(array=array, space=space):
            facts.accesses.append(Access(node, loops, always, node))
            if space is Space.GLOBAL:
                facts.targets.setdefault(array, node)
                facts.array_targets.add(array)
            if isinstance(node, k.Atomic) and node.target:
                facts.atomic_results[node.target] = node
        case k.DeclareLocal(name=name):
            facts.own_arrays.add(name)
        case k.If(then=then, otherwise=otherwise):
            _block(facts, then, loops, False)
            _block(facts, otherwise, loops, False)
            return always and not _jumps(then) and not _jumps(otherwise)
        case k.For(counter=counter, body=body):
            facts.counters.setdefault(counter, []).append(node)
            facts.targets.setdefault(counter, node)
            _block(facts, body, (*loops, node), False)
            return always and not _jumps(body)
        case k.While(prelude=prelude, condition=condition, body=body):
            _block(facts, prelude, loops, False)
            _loads(facts, condition, node, loops, False)
            _block(facts, body, loops, False)
            return always and not _jumps(body)
        case k.Scope(body=body):
            _block(facts, body, loops, always)
            return always and not _continues(body)
        case k.Leave() | k.Break() | k.Continue() | k.Return():
            return False
        case k.Evaluate() | k.Barrier() | k.Collective() | k.WarpBarrier() | k.WarpCollective() | k.Assert():
            pass
        case _:
            assert_never(node)
    return always


def _loads(facts: LoopFacts, root: k.Expr, statement: k.Statement, loops: tuple[k.For, ...], always: bool) -> None:
    match root:
        case k.Choose(condition=condition, then=then, otherwise=otherwise):
            _loads(facts, condition, statement, loops, always)
            _loads(facts, then, statement, loops, False)
            _loads(facts, otherwise, statement, loops, False)
        case k.Logical(left=left, right=right):
            _loads(facts, left, statement, loops, always)
            _loads(facts, right, statement, loops, False)
        case _:
            for part in expressions(root):
                _loads(facts, part, statement, loops, always)
            if isinstance(root, k.Load):
                facts.accesses.append(Access(root, loops, always, statement))


def _jumps(block: k.Block) -> bool:
    """Whether something in the block may end the iteration or leave a scope around it."""
    return any(_jump(node, inner=False) for node in block)


def _continues(block: k.Block) -> bool:
    """As `_jumps`, for the body of a scope: what leaves that scope alone does not count."""
    return any(_jump(node, inner=False, leaves=False) for node in block)


def _jump(node: k.Statement, inner: bool, leaves: bool = True) -> bool:
    match node:
        case k.Continue():
            return not inner
        case k.Leave():
            return leaves
        case k.Return():
            return True
        case k.If(then=then, otherwise=otherwise):
            return any(_jump(n, inner, leaves) for n in (*then, *otherwise))
        case k.For(body=body) | k.While(body=body):
            return any(_jump(n, True, leaves) for n in body)
        case k.Scope(body=body):
            return any(_jump(n, inner, leaves) for n in body)
        case _:
            return False


def blocks(block: k.Block) -> Iterator[k.Block]:
    """A block and every block inside it."""
    yield block
    for node in block:
        match node:
            case k.If(then=then, otherwise=otherwise):
                yield from blocks(then)
                yield from blocks(otherwise)
            case k.For(body=body) | k.Scope(body=body):
                yield from blocks(body)
            case k.While(prelude=prelude, body=body):
                yield from blocks(prelude)
                yield from blocks(body)
            case _:
                pass


def locals_read(root: k.Expr) -> Iterator[k.Local]:
    """Every read of a local in an expression."""
    return (node for node in visit_exprs(root) if isinstance(node, k.Local))


def seen_through(root: k.Expr, facts: LoopFacts) -> Iterator[k.Expr]:
    """An expression, and those that gave the names in it their only value in the loop, and so on."""
    pending, seen = [root], set[str]()
    while pending:
        node = pending.pop()
        yield node
        for read in locals_read(node):
            only = facts.once(read.name)
            if only is not None and read.name not in seen:
                seen.add(read.name)
                pending.append(only.value)


def names_read(root: k.Expr, facts: LoopFacts) -> set[str]:
    """Locals that a value depends on, names that are assigned once being seen through."""
    return {read.name for node in seen_through(root, facts) for read in locals_read(node)}
