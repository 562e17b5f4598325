"""The body of a grouped kernel as a tree: group-level steps and control flow around regions that threads run in turn.

    let s = 128 (group)                       group step
    [ let v = load x[..]; tile[lid] = v ]     region 0
    barrier
    loop                                      group control flow
      [ if lid < s: tile[lid] += .. ]         region 1
      barrier

Splitting where no barrier stands is allowed because threads of one interval do not race.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from isogrid.backends.cpu.emit_guards import LaneFacts, split_guards
from isogrid.backends.cpu.emit_levels import GROUP, Levels, expressions_of, names_in
from isogrid.ir import device as d
from isogrid.ir.types import Scalar
from isogrid.printers.llvm_text import element_type
from isogrid.support.errors import KnownLimit


@dataclass(frozen=True, slots=True)
class Region:
    """Statements that every thread runs without meeting others."""

    number: int
    body: d.Block


@dataclass(frozen=True, slots=True)
class Step:
    """A `Let` or `Set` of a value of the whole group, a barrier, a collective, or an exit of all threads.

    `stored`: the region before stores the operands of this collective. `loaded`: the one after takes its results.
    """

    node: d.Statement
    stored: bool = False
    loaded: bool = False


@dataclass(frozen=True, slots=True)
class Nest:
    """A construct of the whole group around other nodes."""

    node: d.If | d.For | d.Loop | d.Scope
    body: "Plan"
    otherwise: "Plan" = ()


Node: TypeAlias = Region | Step | Nest
Plan: TypeAlias = tuple[Node, ...]


@dataclass(slots=True)
class _Build:
    facts: LaneFacts
    constructs: frozenset[int]
    uses: dict[str, set[int]]
    regions: int = 0


def group_constructs(body: d.Block) -> frozenset[int]:
    """Constructs (by identity) that hold a barrier, those at their level that leave such a construct, and those that
    set a variable which decides the control flow of one: the whole group must know its value."""
    found: set[int] = set()
    _holds_barrier(body, found)
    before = -1
    while before != len(found):
        before = len(found)
        _leaves_group(body, (), found)
        if found:
            _sets(body, _deciding(body, found), found)
    return frozenset(found)


def _deciding(body: d.Block, found: set[int]) -> set[str]:
    """Names that the control flow of these constructs depends on."""
    statements = tuple(every_statement(body))
    names = {n for s in statements if id(s) in found for e in expressions_of(s) for n in names_in(e)}
    before = -1
    while before != len(names):
        before = len(names)
        for statement in statements:
            if isinstance(statement, d.Let | d.Set) and statement.name in names:
                names |= names_in(statement.value)
    return names


def _sets(body: d.Block, names: set[str], found: set[int]) -> bool:
    """Whether some statement sets one of the names; constructs around it are added."""
    sets = False
    for node in body:
        match node:
            case d.Set():
                sets |= node.name in names
            case d.If() | d.For() | d.Loop() | d.Scope():
                parts = (node.then, node.otherwise) if isinstance(node, d.If) else (node.body,)
                # Every part is visited: `or` would stop early.
                inside = [_sets(part, names, found) for part in parts]
                if any(inside):
                    found.add(id(node))
                    sets = True
            case _:
                continue
    return sets


def _holds_barrier(body: d.Block, found: set[int]) -> bool:
    holds = False
    for node in body:
        match node:
            case d.Barrier() | d.Collective() | d.WarpBarrier() | d.WarpCollective() | d.Agree():
                holds = True
            case d.If():
                # Both sides are visited: `or` would stop early.
                inside = [_holds_barrier(node.then, found), _holds_barrier(node.otherwise, found)]
                if any(inside):
                    found.add(id(node))
                    holds = True
            case d.For() | d.Loop() | d.Scope():
                if _holds_barrier(node.body, found):
                    found.add(id(node))
                    holds = True
            case _:
                continue
    return holds


def _leaves_group(body: d.Block, around: tuple[d.Statement, ...], found: set[int]) -> None:
    """Add the `If`s directly in group control flow that hold an exit of one of the constructs `around`."""
    for node in body:
        match node:
            case d.If():
                if id(node) not in found and _exits(node, around):
                    found.add(id(node))
                if id(node) in found:
                    _leaves_group(node.then, around, found)
                    _leaves_group(node.otherwise, around, found)
            case d.For() | d.Loop() | d.Scope():
                if id(node) in found:
                    _leaves_group(node.body, (*around, node), found)
            case _:
                continue


def _exits(node: d.If, around: tuple[d.Statement, ...]) -> bool:
    labels = {c.label for c in around if isinstance(c, d.Scope)}
    loops = any(isinstance(c, d.For | d.Loop) for c in around)
    inner = _same_loop(node.then + node.otherwise)
    if any(_is_exit(s, labels, loops) for s in inner):
        return True
    return bool(around) and any(isinstance(s, d.Return) for s in every_statement((node,)))


def _is_exit(node: d.Statement, labels: set[str], loops: bool) -> bool:
    match node:
        case d.Break() | d.Continue():
            return loops
        case d.Leave():
            return node.label in labels
        case _:
            return False


def _same_loop(body: d.Block) -> Iterator[d.Statement]:
    """Statements that belong to the loop around `body`, not to loops inside it."""
    for node in body:
        yield node
        match node:
            case d.If():
                yield from _same_loop(node.then + node.otherwise)
            case d.Scope():
                yield from _same_loop(node.body)
            case _:
                continue


def plan_body(body: d.Block, facts: LaneFacts, constructs: frozenset[int]) -> tuple[Plan, int]:
    """The plan of a thread body and the number of its regions."""
    uses: dict[str, set[int]] = {}
    for node in every_statement(body):
        for expression in expressions_of(node):
            for name in names_in(expression):
                uses.setdefault(name, set()).add(id(node))
    build = _Build(facts, constructs, uses)
    plan = _plan(build, body)
    _check_exits(plan, False)
    return plan, build.regions


def _check_exits(plan: Plan, followed: bool) -> None:
    """A thread that leaves its region for good must find nothing behind it."""
    for place, node in enumerate(plan):
        more = followed or place + 1 < len(plan)
        match node:
            case Region():
                if more and any(isinstance(s, d.Return) for s in every_statement(node.body)):
                    raise KnownLimit("a thread returns from inside a loop between barriers that other threads reach")
                labels = {s.label for s in every_statement(node.body) if isinstance(s, d.Scope)}
                if any(isinstance(s, d.Leave) and s.label not in labels for s in every_statement(node.body)):
                    raise KnownLimit("a thread leaves a helper with barriers from inside a loop of its own")
            case Nest():
                _check_exits(node.body, more or isinstance(node.node, d.For | d.Loop))
                _check_exits(node.otherwise, more)
            case Step():
                continue


def every_statement(body: Sequence[d.Statement]) -> Iterator[d.Statement]:
    for node in body:
        yield node
        match node:
            case d.If():
                yield from every_statement(node.then)
                yield from every_statement(node.otherwise)
            case d.For() | d.Loop() | d.Scope():
                yield from every_statement(node.body)
            case _:
                continue


def _plan(build: _Build, body: d.Block) -> Plan:
    nodes: list[Node] = []
    pending: list[d.Statement] = []

    def flush() -> None:
        nodes.extend(_regions(build, tuple(pending)))
        pending.clear()

    for node in body:
        match node:
            case d.Let() if _is_of_group(build, node.name):
                if not _may_go_first(node.value, pending):
                    flush()
                nodes.append(Step(node))
            case d.Set() if _is_of_group(build, node.name):
                flush()
                nodes.append(Step(node))
            case d.Barrier() | d.Collective() | d.WarpBarrier() | d.WarpCollective() | d.Agree():
                flush()
                nodes.append(Step(node))
            case d.Break() | d.Continue() | d.Leave() | d.Return():
                flush()
                nodes.append(Step(node))
            case d.If() if id(node) in build.constructs:
                flush()
                nodes.append(Nest(node, _plan(build, node.then), _plan(build, node.otherwise)))
            case d.For() | d.Loop() | d.Scope() if id(node) in build.constructs:
                flush()
                nodes.append(Nest(node, _plan(build, node.body)))
            case _:
                pending.append(node)
    flush()
    return tuple(_load_results(build, list(_store_operands(build, nodes))))


def _store_operands(build: _Build, nodes: list[Node]) -> Iterator[Node]:
    """Let the region before a collective store its operands, unless it runs over some of the threads only."""
    for place, node in enumerate(nodes):
        before, after = nodes[place - 1] if place else None, nodes[place + 1] if place + 1 < len(nodes) else None
        match node:
            case Region() if isinstance(after, Step) and isinstance(after.node, d.Collective):
                store = operand_store(after.node)
                yield replace(node, body=(*node.body, store)) if _is_whole(build, node) else node
            case Step(d.Collective()) if isinstance(before, Region):
                yield replace(node, stored=_is_whole(build, before))
            case _:
                yield node


def _load_results(build: _Build, nodes: list[Node]) -> list[Node]:
    """Let the region after a scan begin with its results, unless it runs over some of the threads only."""
    for place, node in enumerate(nodes):
        if not (isinstance(node, Step) and isinstance(node.node, d.Collective) and node.node.op == "scan"):
            continue
        # Values of the group in between know nothing of the results.
        rest = range(place + 1, len(nodes))
        after = next((k for k in rest if not _is_group_let(nodes[k])), place)
        region = nodes[after]
        if isinstance(region, Region) and _is_whole(build, region) and not _stores_operands(region):
            nodes[place] = replace(node, loaded=True)
            nodes[after] = replace(region, body=(result_set(node.node), *region.body))
    return nodes


def _stores_operands(region: Region) -> bool:
    """Whether it ends with the operands of another collective: they would lie where other threads' results are."""
    return any(isinstance(s, d.Store) and s.buffer.startswith("scratch ") for s in region.body)


def _is_group_let(node: Node) -> bool:
    return isinstance(node, Step) and isinstance(node.node, d.Let)


def _is_whole(build: _Build, region: Region) -> bool:
    split = split_guards(region.body, build.facts)
    leaves = any(isinstance(s, d.Return | d.Leave) for s in every_statement(region.body))
    return not (split.bounds or split.gates or leaves)


def operand_store(node: d.Collective) -> d.Store:
    """Each thread's operand to its slot of the scratch array; element 0 stays zero for exclusive scans."""
    return d.Store(f"scratch {node.scalar.value}", OWN_SLOT, node.value)


def result_set(node: d.Collective) -> d.Set:
    """Each thread's result of a collective from the scratch array: of a scan its own slot, else the first one."""
    place: d.Expr = d.Literal(1, d.Machine.I64)
    if node.op == "scan":
        place = d.Special("linear", 0) if node.exclusive else OWN_SLOT
    machine = d.Machine.I1 if node.scalar is Scalar.BOOL else element_type(node.scalar)
    return d.Set(node.target, d.Load(f"scratch {node.scalar.value}", place, machine))


OWN_SLOT = d.Op("iadd", (d.Special("linear", 0), d.Literal(1, d.Machine.I64)), d.Machine.I64)


def _is_of_group(build: _Build, name: str) -> bool:
    return build.facts.levels.values.get(name, GROUP) == GROUP


def _may_go_first(value: d.Expr, pending: list[d.Statement]) -> bool:
    """Whether a value of the group may be computed before statements that wait: none of them makes it defined."""
    return is_total(value) or all(isinstance(s, d.Let) for s in pending)


def is_total(node: d.Expr) -> bool:
    """Whether the expression is defined everywhere: it loads nothing and divides by nothing."""
    match node:
        case d.Load():
            return False
        case d.Op():
            return node.op not in _PARTIAL and all(is_total(a) for a in node.arguments)
        case _:
            return True


_PARTIAL = frozenset({"sdiv", "srem", "udiv", "urem", "fptosi", "fptoui"})


# --- regions ---------------------------------------------------------------------------------------------------------


def _regions(build: _Build, body: d.Block) -> Iterator[Region]:
    """Cut around every `if` whose condition bounds the lane: it then runs over its own lanes only."""
    run: list[d.Statement] = []
    for node in body:
        if isinstance(node, d.If) and _is_guard(build, node, body):
            lets = _only_for(build, run, node)
            if run[: len(run) - len(lets)]:
                yield _region(build, run[: len(run) - len(lets)])
            yield _region(build, [*lets, node])
            run = []
        else:
            run.append(node)
    if run:
        yield _region(build, run)


def _region(build: _Build, body: list[d.Statement]) -> Region:
    build.regions += 1
    return Region(build.regions - 1, tuple(body))


def _is_guard(build: _Build, node: d.If, body: d.Block) -> bool:
    lets = tuple(s for s in body[: body.index(node)] if isinstance(s, d.Let))
    bounds = split_guards((*lets, node), build.facts).bounds
    # A guard by the size of an array holds for whole rows nearly always: the interior of the region sees to it.
    partial = any(b.offset is None for b in bounds)
    return not node.otherwise and partial and not _returns(node)


def _returns(node: d.If) -> bool:
    return any(isinstance(s, d.Return | d.Leave) for s in every_statement(node.then))


def _only_for(build: _Build, run: list[d.Statement], guard: d.If) -> list[d.Statement]:
    """The `Let`s right before a guard that nothing else reads: they move inside it."""
    inside = {id(guard), *(id(s) for s in every_statement(guard.then))}
    kept: list[d.Statement] = []
    for node in reversed(run):
        if not isinstance(node, d.Let) or not build.uses.get(node.name, set()) <= inside:
            break
        inside.add(id(node))
        kept.append(node)
    return kept[::-1]


# --- values that cross regions ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Crossing:
    """`kept` names are stored per thread between regions, `again` are `Let`s that each region computes anew."""

    kept: dict[str, d.Machine] = field(default_factory=dict[str, d.Machine])
    again: dict[str, d.Let] = field(default_factory=dict[str, d.Let])


def crossing_values(plan: Plan, levels: Levels, variables: dict[str, d.Machine]) -> Crossing:
    """Names that are defined in one region and read in another."""
    homes: dict[str, tuple[int, d.Let]] = {}
    touched: dict[str, set[int]] = {}
    result = Crossing()
    for region in regions_of(plan):
        for node in every_statement(region.body):
            for expression in expressions_of(node):
                for name in names_in(expression):
                    touched.setdefault(name, set()).add(region.number)
            match node:
                case d.Let() if node.name not in levels.escaping:
                    homes[node.name] = (region.number, node)
                case d.Let() | d.Set():
                    touched.setdefault(node.name, set()).add(region.number)
                case d.Atomic() if node.target:
                    touched.setdefault(node.target, set()).add(region.number)
                case d.For() if node.counter in levels.escaping:
                    touched.setdefault(node.counter, set()).add(region.number)
                case _:
                    continue
    for number, step in enumerate(_steps(plan), 1):
        # The region that stores a collective's operands and the one that sets its result are made later.
        if isinstance(step.node, d.Collective | d.WarpCollective | d.WarpBarrier | d.Agree):
            names = {name for expression in expressions_of(step.node) for name in names_in(expression)}
            if step.stored:
                names.clear()
            if not isinstance(step.node, d.WarpBarrier) and not step.loaded:
                names.add(step.node.target)
            for name in names:
                touched.setdefault(name, set()).add(-number)
    for name, type in variables.items():
        if levels.values.get(name, GROUP) > GROUP and len(touched.get(name, ())) > 1:
            result.kept[name] = type
    recipes = _Recipes(homes, variables, result.kept)
    for name, (home, let) in homes.items():
        if touched.get(name, {home}) == {home}:
            continue
        needed = recipes.of(name, let)
        if needed is None:
            result.kept[name] = let.value.type
        else:
            result.again.update((other, homes[other][1]) for other in needed)
    return result


#: `Let`s that are worth computing once more in another region: more cost more than a value that is kept for a lane.
_MOST_AGAIN = 40


@dataclass(slots=True)
class _Recipes:
    """What a value takes to be computed again anywhere: coordinates, arguments and `Let`s of the group, no memory."""

    homes: dict[str, tuple[int, d.Let]]
    variables: dict[str, d.Machine]
    kept: dict[str, d.Machine]
    found: dict[str, frozenset[str] | None] = field(default_factory=dict[str, "frozenset[str] | None"])

    def of(self, name: str, let: d.Let) -> frozenset[str] | None:
        """The `Let`s to repeat, its own among them; None where the value must be kept. Each is looked at once: the
        ways through an elementary function are more than anybody can count."""
        if name not in self.found:
            self.found[name] = None
            self.found[name] = self._of(name, let)
        return self.found[name]

    def _of(self, name: str, let: d.Let) -> frozenset[str] | None:
        if not is_total(let.value):
            return None
        needed = {name}
        for other in names_in(let.value):
            if other in self.variables or other in self.kept:
                return None
            if other in self.homes:
                more = self.of(other, self.homes[other][1])
                if more is None or len(needed) > _MOST_AGAIN:
                    return None
                needed |= more
        return frozenset(needed) if len(needed) <= _MOST_AGAIN else None


def regions_of(plan: Plan) -> Iterator[Region]:
    for node in plan:
        match node:
            case Region():
                yield node
            case Nest():
                yield from regions_of(node.body)
                yield from regions_of(node.otherwise)
            case Step():
                continue


def _steps(plan: Plan) -> Iterator[Step]:
    for node in plan:
        match node:
            case Step():
                yield node
            case Nest():
                yield from _steps(node.body)
                yield from _steps(node.otherwise)
            case Region():
                continue
