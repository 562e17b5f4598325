"""How uniform values are: the same for a whole group, for the lanes of a row, or different from lane to lane.

Over-approximate and flow-insensitive for variables: a variable is as varying as the most varying value it is ever given
and as the control flow around its assignments, including exits that some lanes take and others do not.
"""

from dataclasses import dataclass, field
from typing import assert_never

from isogrid.ir import device as d
from isogrid.ir.types import Space

GROUP, ROW, LANE = 0, 1, 2


@dataclass(slots=True)
class Levels:
    """`values` has the level of every name; `divergent` the constructs (by identity; `trips` for `continue`) that lanes
    leave apart; `escaping` the `Let` names that are read outside the loop that defines them: they become variables."""

    values: dict[str, int] = field(default_factory=dict[str, int])
    divergent: dict[int, bool] = field(default_factory=dict[int, bool])
    trips: dict[int, bool] = field(default_factory=dict[int, bool])
    divergent_return: bool = False
    escaping: dict[str, d.Machine] = field(default_factory=dict[str, d.Machine])


@dataclass(slots=True)
class _Construct:
    kind: str
    label: str
    node: d.Statement | None


@dataclass(slots=True)
class _Walk:
    levels: Levels
    spaces: dict[str, Space]
    lane_axis: int
    grouped: bool
    barriers: frozenset[int]
    stack: list[_Construct]
    changed: bool = False


def find_levels(kernel: d.Kernel, lane_axis: int, grouped_constructs: frozenset[int]) -> Levels:
    """`grouped_constructs` are the constructs (by identity) that hold barriers: their control flow is the group's."""
    levels = Levels(escaping=_escaping(kernel.body))
    spaces = {b.name: b.space for b in kernel.buffers}
    walk = _Walk(levels, spaces, lane_axis, kernel.grouped, grouped_constructs, [])
    while True:
        walk.changed = False
        walk.stack = [_Construct("thread", "", None)]
        _block(walk, kernel.body, GROUP, kernel.grouped)
        if not walk.changed:
            return levels


def level_of(walk_levels: Levels, node: d.Expr, spaces: dict[str, Space], lane_axis: int, grouped: bool) -> int:
    """Level of an expression, given the levels of names."""
    match node:
        case d.Literal() | d.Argument():
            return GROUP
        case d.Special():
            if node.kind not in ("thread", "local"):
                return GROUP
            if node.axis == lane_axis:
                return LANE
            return ROW if grouped else GROUP
        case d.Value():
            return walk_levels.values.get(node.name, GROUP)
        case d.Load():
            if spaces[node.buffer] is Space.LOCAL:
                return LANE
            return level_of(walk_levels, node.index, spaces, lane_axis, grouped)
        case d.Op():
            return max(level_of(walk_levels, a, spaces, lane_axis, grouped) for a in node.arguments)
        case _:
            assert_never(node)


def _level(walk: _Walk, node: d.Expr) -> int:
    return level_of(walk.levels, node, walk.spaces, walk.lane_axis, walk.grouped)


def _raise_name(walk: _Walk, name: str, level: int) -> None:
    if level > walk.levels.values.get(name, GROUP):
        walk.levels.values[name] = level
        walk.changed = True


def _assign(walk: _Walk, name: str, value: int, control: int, outer: bool) -> None:
    """`outer` tells that only constructs of the group stand around: else the name is set once per thread, not once."""
    around = max([control, *(_divergence(walk, c) for c in walk.stack)])
    _raise_name(walk, name, max(value, around, GROUP if outer or not walk.grouped else ROW))


def _divergence(walk: _Walk, construct: _Construct) -> int:
    if construct.node is None:
        return GROUP
    table = walk.levels.trips if construct.kind == "trip" else walk.levels.divergent
    return LANE if table.get(id(construct.node), False) else GROUP


def _block(walk: _Walk, body: d.Block, control: int, outer: bool) -> None:
    for node in body:
        match node:
            case d.Let():
                if node.name in walk.levels.escaping:
                    _assign(walk, node.name, _level(walk, node.value), control, outer)
                else:
                    _raise_name(walk, node.name, _level(walk, node.value))
            case d.Set():
                _assign(walk, node.name, _level(walk, node.value), control, outer)
            case d.Collective():
                _raise_name(walk, node.target, LANE if node.op == "scan" else GROUP)
            case d.WarpCollective():
                _raise_name(walk, node.target, LANE)
            case d.Atomic():
                if node.target:
                    _raise_name(walk, node.target, LANE)
            case d.If():
                inside = max(control, _level(walk, node.condition))
                group = outer and id(node) in walk.barriers
                _block(walk, node.then, inside, group)
                _block(walk, node.otherwise, inside, group)
            case d.For() | d.Loop():
                _loop(walk, node, control, outer)
            case d.Scope():
                walk.stack.append(_Construct("scope", node.label, node))
                _block(walk, node.body, control, outer and id(node) in walk.barriers)
                walk.stack.pop()
            case d.Break():
                _exit(walk, "loop", "", control)
            case d.Continue():
                _exit(walk, "trip", "", control)
            case d.Leave():
                _exit(walk, "scope", node.label, control)
            case d.Return():
                _exit(walk, "thread", "", control)
            case d.Store() | d.Check() | d.Barrier() | d.WarpBarrier() | d.Agree() | d.Fill():
                continue
            case _:
                assert_never(node)


def _loop(walk: _Walk, node: d.For | d.Loop, control: int, outer: bool) -> None:
    inside = control
    if isinstance(node, d.For):
        trips = _level(walk, node.trips)
        if trips == LANE:
            _diverge(walk.levels.divergent, node, walk)
        inside = max(control, trips)
        counter = max(_level(walk, node.start), _level(walk, node.step))
        if node.counter in walk.levels.escaping:
            _assign(walk, node.counter, max(counter, inside), inside, False)
        else:
            _raise_name(walk, node.counter, counter)
    group = outer and id(node) in walk.barriers
    walk.stack.append(_Construct("loop", "", node))
    walk.stack.append(_Construct("trip", "", node))
    _block(walk, node.body, inside, group)
    walk.stack.pop()
    walk.stack.pop()


def _diverge(table: dict[int, bool], node: d.Statement, walk: _Walk) -> None:
    if not table.get(id(node), False):
        table[id(node)] = True
        walk.changed = True


def _exit(walk: _Walk, kind: str, label: str, control: int) -> None:
    """An exit is divergent when lanes got here apart since they entered the construct that it leaves."""
    place = next(
        k for k in reversed(range(len(walk.stack))) if walk.stack[k].kind == kind and walk.stack[k].label == label
    )
    apart = any(_divergence(walk, c) == LANE for c in walk.stack[place + 1 :])
    if control < LANE and not apart:
        return
    for construct in walk.stack[place:]:
        if construct.node is None:
            if not walk.levels.divergent_return:
                walk.levels.divergent_return = walk.changed = True
        elif construct.kind == "trip":
            _diverge(walk.levels.trips, construct.node, walk)
        else:
            _diverge(walk.levels.divergent, construct.node, walk)


def _escaping(body: d.Block) -> dict[str, d.Machine]:
    """`Let` names and counters that are read outside the innermost loop around their definition."""
    homes: dict[str, tuple[tuple[int, ...], d.Machine]] = {}
    found: dict[str, d.Machine] = {}
    _find_escaping(body, (), homes, found)
    return found


def _find_escaping(
    body: d.Block,
    loops: tuple[int, ...],
    homes: dict[str, tuple[tuple[int, ...], d.Machine]],
    found: dict[str, d.Machine],
) -> None:
    for number, node in enumerate(body):
        for expression in expressions_of(node):
            for name in names_in(expression):
                home = homes.get(name)
                if home is not None and loops[: len(home[0])] != home[0]:
                    found[name] = home[1]
        match node:
            case d.Let():
                homes[node.name] = (loops, node.value.type)
            case d.If():
                _find_escaping(node.then, loops, homes, found)
                _find_escaping(node.otherwise, loops, homes, found)
            case d.Scope():
                _find_escaping(node.body, loops, homes, found)
            case d.For():
                inner = (*loops, number, id(node))
                homes[node.counter] = (inner, node.type)
                _find_escaping(node.body, inner, homes, found)
            case d.Loop():
                _find_escaping(node.body, (*loops, number, id(node)), homes, found)
            case _:
                continue


def expressions_of(node: d.Statement) -> tuple[d.Expr, ...]:
    """The expressions that a statement evaluates itself, not those of statements inside it."""
    match node:
        case d.Let() | d.Set() | d.Collective() | d.Agree():
            return (node.value,)
        case d.WarpCollective():
            return tuple(e for e in (node.value, node.lane, node.active) if e is not None)
        case d.WarpBarrier():
            return () if node.active is None else (node.active,)
        case d.Store():
            return (node.index, node.value)
        case d.Atomic():
            return (node.index, node.value) if node.expected is None else (node.index, node.expected, node.value)
        case d.Check():
            return (node.ok, *node.operands)
        case d.If():
            return (node.condition,)
        case d.For():
            return (node.start, node.step, node.trips)
        case d.Loop() | d.Scope() | d.Leave() | d.Break() | d.Continue() | d.Return() | d.Barrier() | d.Fill():
            return ()
        case _:
            assert_never(node)


def names_in(node: d.Expr) -> frozenset[str]:
    """Names that an expression reads."""
    match node:
        case d.Value():
            return frozenset((node.name,))
        case d.Op():
            return frozenset(name for a in node.arguments for name in names_in(a))
        case d.Load():
            return names_in(node.index)
        case d.Literal() | d.Argument() | d.Special():
            return frozenset()
        case _:
            assert_never(node)
