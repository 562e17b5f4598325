"""Tiles of registers: rows of a group that load the same elements run side by side, statement by statement.

    let a = ta[y, k]; let b = tb[k, x]; set acc = fma(a, b, acc)       for x in lanes, y in turn

loads each `b` once for four rows, and while one row's sum waits for its last product the others go on (decision 0085).
"""

from dataclasses import dataclass, field
from typing import Final, assert_never

from isogrid.backends.cpu.emit_group_state import Group
from isogrid.backends.cpu.emit_levels import GROUP, LANE, expressions_of, names_in
from isogrid.backends.cpu.emit_strategy import strides_of
from isogrid.backends.cpu.emit_values import makes_quotients
from isogrid.ir import device as d
from isogrid.ir.walk import visit_exprs

#: Rows that run together where they share loads.
TOGETHER: Final = 4
#: Registers that a value may take for a row, the best first.
_EACH: Final = (4, 2, 1)


def shares_loads(group: Group, body: d.Block) -> bool:
    """Whether many loads of straight-line code give every row the same lanes; or many numbers of the whole group are
    spread over lanes, where registers are too few to keep them."""
    knows = _Rows(group, body)
    loads = [s.value for s in body if isinstance(s, d.Let) and isinstance(s.value, d.Load)]
    shared = sum(not knows.row(load.index) for load in loads)
    if group.strategy.registers:
        read = (e for s in body for whole in expressions_of(s) for e in visit_exprs(whole) if isinstance(e, d.Value))
        levels = group.levels.values
        shared += len({e.name for e in read if e.type.is_float and levels.get(e.name, GROUP) == GROUP})
    return shared >= TOGETHER


def tile_width(group: Group, body: d.Block) -> int:
    """Lanes of each row of a tile; 0 where the statements have control flow or their values do not fit registers."""
    strategy = group.strategy
    if not strategy.registers or strategy.fixed or not all(isinstance(s, d.Let | d.Set | d.Store) for s in body):
        return 0
    if any(makes_quotients(e) for s in body for e in expressions_of(s)):
        return 0
    needs = _needs(group, body)
    for each in _EACH:
        width = strategy.native * each
        if group.row % width == 0 and all(need.registers(each) <= strategy.registers for need in needs):
            return width
    return 0


@dataclass(slots=True)
class _Rows:
    """Which expressions differ from row to row."""

    group: Group
    body: d.Block
    lets: dict[str, d.Expr] = field(init=False)

    def __post_init__(self) -> None:
        self.lets = {s.name: s.value for s in self.body if isinstance(s, d.Let)}

    def row(self, node: d.Expr) -> bool:
        match node:
            case d.Special():
                return node.kind in ("local", "thread", "linear") and node.axis != self.group.axis
            case d.Value():
                return node.name not in self.lets or self.row(self.lets[node.name])
            case d.Op():
                return any(self.row(a) for a in node.arguments)
            case d.Load():
                return True
            case d.Literal() | d.Argument():
                return False
            case _:
                assert_never(node)


@dataclass(frozen=True, slots=True)
class _Need:
    """Values alive behind a statement: vectors of each row, vectors that rows share, numbers that lanes share."""

    own: int
    shared: int
    spread: int

    def registers(self, each: int) -> int:
        return (self.own * TOGETHER + self.shared) * each + self.spread


def _needs(group: Group, body: d.Block) -> list[_Need]:
    """What is alive behind each statement."""
    knows, strides = _Rows(group, body), strides_of(body, group.facts)
    levels, kept = group.levels.values, group.crossing.kept
    written = {s.name for s in body if isinstance(s, d.Let | d.Set)}
    alive = {name for name in written if name in kept}
    found: list[_Need] = []
    for node in reversed(body):
        vectors = [n for n in alive if levels.get(n, GROUP) == LANE and strides.get(n) is None]
        loads = [n for n in alive if levels.get(n, GROUP) != LANE and isinstance(knows.lets.get(n), d.Load)]
        shared = [n for n in vectors if _is_shared(knows, n)]
        spread = sum(1 if _is_shared(knows, n) else TOGETHER for n in loads)
        found.append(_Need(len(vectors) - len(shared), len(shared), spread))
        if isinstance(node, d.Let | d.Set):
            alive.discard(node.name)
        for expression in expressions_of(node):
            alive |= names_in(expression)
    return found


def _is_shared(knows: _Rows, name: str) -> bool:
    """Whether a name is loaded once for all rows."""
    value = knows.lets.get(name)
    return isinstance(value, d.Load) and not knows.row(value.index)
