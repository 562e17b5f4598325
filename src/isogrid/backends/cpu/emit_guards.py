"""Guards that are affine in the lane become bounds of the lane loop: no masks and no tests inside.

`let i = gid; if 0 < i and i < n - 1: body` over lanes lo..hi runs `body` over max(lo, 1)..min(hi, n - 1), and
`if i != m: body` runs it below m and above.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from isogrid.backends.cpu.emit_levels import LANE, Levels, level_of
from isogrid.backends.cpu.emit_normal import negated
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space


@dataclass(frozen=True, slots=True)
class Bound:
    """Lanes from (`upper` False) or below (`upper` True) `limit - offset + extra`, saturating.

    `dynamic`: right only if the offset's value lies within +-2^62, so that lane + offset does not wrap.
    """

    limit: d.Expr
    offset: d.Expr | None
    extra: int
    upper: bool
    dynamic: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """Run `body` on the lanes within all `bounds` if every uniform condition of `gates` holds. `single`: one lane.
    `hole` is one lane that is left out: `limit - offset`, saturating."""

    bounds: tuple[Bound, ...]
    gates: tuple[d.Expr, ...]
    body: d.Block
    single: bool = False
    hole: Bound | None = None


@dataclass(frozen=True, slots=True)
class LaneFacts:
    """What decides whether an expression is affine: the lane's coordinate and the levels of names."""

    levels: Levels
    spaces: Mapping[str, Space]
    lane_axis: int
    grouped: bool
    #: Whether offsets may be any value that is the same in all lanes, to be tested when the lanes start.
    dynamic: bool = False
    #: Names without a value before the lanes start, however uniform they are: a thread keeps them for itself.
    hidden: frozenset[str] = frozenset()
    #: Arrays whose sums are gathered apart, so that lanes may add to adjacent elements together.
    sums: frozenset[str] = frozenset()

    def level(self, node: d.Expr) -> int:
        return level_of(self.levels, node, dict(self.spaces), self.lane_axis, self.grouped)


def split_guards(body: d.Block, facts: LaneFacts) -> Split:
    """Take bounds out of the conditions that enclose the whole body."""
    bounds: list[Bound] = []
    gates: list[d.Expr] = []
    single = False
    hole: Bound | None = None
    defined: dict[str, d.Expr] = {}
    while True:
        prefix, last = _prefix(body)
        if last is None or last.otherwise:
            break
        for let in prefix:
            defined[let.name] = let.value
        kept: list[d.Expr] = []
        for part in _conjuncts(last.condition, defined):
            taken = bounds_of(part, facts, defined)
            if taken is not None:
                bounds.extend(taken)
                single = single or len(taken) == 2
            elif hole is None and (left_out := _hole_of(part, facts, defined)) is not None:
                hole = left_out
            elif facts.level(part) < LANE and is_outside(part, defined, facts.hidden):
                gates.append(part)
            else:
                kept.append(part)
        if kept:
            body = (*prefix, replace(last, condition=_all(kept)))
            break
        body = (*prefix, *last.then)
    return Split(tuple(bounds), tuple(gates), body, single, hole)


def _prefix(body: d.Block) -> tuple[tuple[d.Let, ...], d.If | None]:
    """The leading `Let`s if one `If` and nothing else follows them."""
    lets = tuple(s for s in body[:-1] if isinstance(s, d.Let))
    if body and isinstance(body[-1], d.If) and len(lets) == len(body) - 1:
        return lets, body[-1]
    return (), None


def _all(parts: list[d.Expr]) -> d.Expr:
    result = parts[0]
    for part in parts[1:]:
        result = d.Op("iand", (result, part), Machine.I1)
    return result


def _conjuncts(node: d.Expr, defined: Mapping[str, d.Expr]) -> list[d.Expr]:
    match node:
        case d.Value() if node.name in defined and _is_short(defined[node.name], defined):
            return _conjuncts(defined[node.name], defined)
        case d.Op("iand", (left, right)):
            return _conjuncts(left, defined) + _conjuncts(right, defined)
        case d.Op("inot", (operand,)):
            inner = negated(resolved(operand, defined))
            return (
                [resolved(node, defined)]
                if isinstance(inner, d.Op) and inner.op == "inot"
                else _conjuncts(inner, defined)
            )
        case _:
            return [resolved(node, defined)]


def resolved(node: d.Expr, defined: Mapping[str, d.Expr]) -> d.Expr:
    """The expression with names of the prefix replaced by what they stand for, if that is short and loads nothing."""
    match node:
        case d.Value():
            value = defined.get(node.name)
            return node if value is None or not _is_short(value, defined) else resolved(value, defined)
        case d.Op():
            return replace(node, arguments=tuple(resolved(a, defined) for a in node.arguments))
        case d.Load():
            return replace(node, index=resolved(node.index, defined))
        case _:
            return node


#: Nodes of a condition that names are replaced in. Names that stand for names may hide a tree without end: each of n
#: `Let`s that reads the one before it twice doubles it.
_MOST_NODES: Final = 200


def _is_short(node: d.Expr, defined: Mapping[str, d.Expr]) -> bool:
    return not _loads(node) and _room_after(node, defined, _MOST_NODES) >= 0


def _room_after(node: d.Expr, defined: Mapping[str, d.Expr], room: int) -> int:
    """How much of the room is left behind an expression, names replaced; below 0 if it does not fit."""
    if room < 0:
        return room
    match node:
        case d.Value():
            value = defined.get(node.name)
            return room - 1 if value is None or _loads(value) else _room_after(value, defined, room)
        case d.Op():
            room -= 1
            for argument in node.arguments:
                room = _room_after(argument, defined, room)
            return room
        case _:
            return room - 1


def _loads(node: d.Expr) -> bool:
    match node:
        case d.Load():
            return True
        case d.Op():
            return any(_loads(a) for a in node.arguments)
        case _:
            return False


def is_outside(node: d.Expr, defined: Mapping[str, d.Expr], hidden: frozenset[str]) -> bool:
    """Whether the expression can be evaluated before the lanes start: no memory, no name of the prefix, none hidden."""
    match node:
        case d.Load():
            return False
        case d.Value():
            return node.name not in defined and node.name not in hidden
        case d.Op():
            return all(is_outside(a, defined, hidden) for a in node.arguments)
        case _:
            return True


def bounds_of(node: d.Expr, facts: LaneFacts, defined: Mapping[str, d.Expr]) -> list[Bound] | None:
    if not isinstance(node, d.Op) or node.op not in ("slt", "sle", "ieq"):
        return None
    left, right = node.arguments
    if left.type is not Machine.I64:
        return None
    found = _lane_plus(left, facts)
    limit, lane_left = right, True
    if found is None:
        found, limit, lane_left = _lane_plus(right, facts), left, False
    if found is None or facts.level(limit) == LANE or not is_outside(limit, defined, facts.hidden):
        return None
    offset, dynamic = found[0], facts.dynamic
    match node.op, lane_left:
        case "ieq", _:
            return [Bound(limit, offset, 0, False, dynamic), Bound(limit, offset, 1, True, dynamic)]
        case "slt", True:
            return [Bound(limit, offset, 0, True, dynamic)]
        case "sle", True:
            return [Bound(limit, offset, 1, True, dynamic)]
        case "slt", False:
            return [Bound(limit, offset, 1, False, dynamic)]
        case _:
            return [Bound(limit, offset, 0, False, dynamic)]


def _hole_of(node: d.Expr, facts: LaneFacts, defined: Mapping[str, d.Expr]) -> Bound | None:
    """The lane that an inequality leaves out. Threads of a group meet again behind it, so there it stays a mask."""
    match node:
        case d.Op("ine", arguments) | d.Op("inot", (d.Op("ieq", arguments),)) if not facts.grouped:
            found = bounds_of(d.Op("ieq", arguments, Machine.I1), facts, defined)
            return None if found is None else found[0]
        case _:
            return None


def _lane_plus(node: d.Expr, facts: LaneFacts) -> tuple[d.Expr | None] | None:
    """(offset,) if the expression is the lane's coordinate plus an offset, and their sum never wraps."""
    match node:
        case d.Special("local", axis) if axis == facts.lane_axis:
            return (None,)
        case d.Special("thread", axis) if axis == facts.lane_axis:
            return (d.Special("first", axis),) if facts.grouped else (None,)
        case d.Op("iadd", (left, right)):
            for lane, other in ((left, right), (right, left)):
                found = _lane_plus(lane, facts)
                if found is not None and _is_offset(other, facts):
                    return (_sum(found[0], other, "iadd"),)
        case d.Op("isub", (left, right)):
            found = _lane_plus(left, facts)
            if found is not None and _is_offset(right, facts):
                return (_sum(found[0], right, "isub"),)
        case _:
            return None
    return None


def _sum(first: d.Expr | None, second: d.Expr, op: str) -> d.Expr:
    start = d.Literal(0, Machine.I64) if first is None else first
    return d.Op(op, (start, second), Machine.I64)


def _is_offset(node: d.Expr, facts: LaneFacts) -> bool:
    if facts.level(node) >= LANE or not is_outside(node, {}, facts.hidden):
        return False
    return facts.dynamic or _is_small(node)


def _is_small(node: d.Expr) -> bool:
    """Far below 2^62 in magnitude in any launch that can be stored and finished, so that sums with ids never wrap."""
    match node:
        case d.Literal():
            return node.bits < 1 << 31 or node.bits > (1 << 64) - (1 << 31)
        case d.Argument():
            return node.kind == "dim"
        case d.Special():
            return True
        case _:
            return False
