"""Which quotients and roots of f32 lanes a loop makes without the divider, and how many trips it makes at a time.

The divider works beside the units that add and multiply, so the best loop is one that keeps both busy. Where one trip
has too few quotients and roots to divide them well, several trips together may.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from isogrid.backends.cpu.emit_levels import expressions_of
from isogrid.backends.cpu.emit_overlap import Overlap, Rounds
from isogrid.backends.cpu.emit_witness import witnesses
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import map_block, visit_statements
from isogrid.lowering.unroll import unroll_loops

#: Measured on Emerald Rapids for 16 lanes: cycles that a quotient and a root keep the divider busy, and instructions
#: that each issues when made with it.
_DIVIDER_CYCLES: Final = (10.4, 12.4)
_SLOW_ISSUES: Final = 3
#: A plan must save this part of the time: it makes the code larger.
_WORTHWHILE: Final = 0.9
_MOST_PLANS: Final = 1000
#: Trips that a loop may make at a time, the statements that they may have together, and the part of the time that each
#: doubling must save.
_TOGETHER: Final = (2, 4)
_MOST_STATEMENTS: Final = 96
_WORTH_UNROLLING: Final = 0.97


@dataclass(frozen=True, slots=True)
class _Costs:
    """Instructions that a quotient and a root issue when made without the divider, cycles for each instruction of a
    loop, and cycles that each round of a loop takes besides."""

    quick: tuple[int, int]
    issue: float
    round: float


#: Measured too: chains where each root is tested, and overlapped rounds whose roots need no test.
_TESTED: Final = _Costs((13, 12), 0.675, 0.0)
_PROVED: Final = _Costs((13, 10), 0.55, 4.3)
#: In stages at a distance: instructions of a root, and cycles for each instruction.
_STAGED_ROOT: Final = 9
_STAGED_ISSUE: Final = 0.54


@dataclass(frozen=True, slots=True)
class _Plan:
    """Quotients and roots made without the divider, and the cycles that the trip then takes."""

    quotients: int
    roots: int
    cycles: float


def plan_loop(body: d.Block, proved: bool) -> dict[str, int]:
    """How many quotients and roots of a loop's body to make without the divider; `proved` roots need no test."""
    plan = _plan(Counter(_float_operations(body)), _PROVED if proved else _TESTED)
    return {"fdiv": plan.quotients, "fsqrt": plan.roots} if plan is not None else {}


def unroll_for_divider(kernel: d.Kernel) -> tuple[d.Kernel, dict[str, Rounds]]:
    """Unroll loops of straight arithmetic whose trips share the divider better together, and let rounds overlap.

    Those that do are named by their counters.
    """

    def factor(node: d.Statement) -> d.Statement:
        match node:
            case d.For() if node.unroll <= 1:
                trips = _trips_together(node.body)
                if trips > 1 and _pays_in_stages(node.body, trips):
                    in_stages.add(node.counter)
                return replace(node, unroll=trips)
            case _:
                return node

    in_stages = set[str]()
    marked = replace(kernel, body=map_block(kernel.body, on_statement=factor))
    lets = {node.name: node.value for node in visit_statements(kernel.body) if isinstance(node, d.Let)}
    overlap = Overlap({*lets, *(name for name, _ in kernel.variables)}, lets, in_stages=in_stages)
    unrolled = unroll_loops(marked, overlap.rounds)
    return replace(unrolled, variables=unrolled.variables + tuple(overlap.variables)), overlap.loops


def _trips_together(body: d.Block) -> int:
    counts = Counter(_float_operations(body))
    if not all(isinstance(s, d.Let | d.Set) for s in body) or not counts["fdiv"] + counts["fsqrt"]:
        return 1
    costs = _PROVED if witnesses(body) else _TESTED
    best, cycles = 1, _cycles(counts, costs)
    for trips in _TOGETHER:
        more = _cycles(Counter({op: count * trips for op, count in counts.items()}), costs) / trips
        if len(body) * trips <= _MOST_STATEMENTS and more < cycles * _WORTH_UNROLLING:
            best, cycles = trips, more
    return best


def _pays_in_stages(body: d.Block, trips: int) -> bool:
    """Whether a loop is quicker in stages at a distance, all roots made by the multipliers, than so many trips at a
    time."""
    counts = Counter(_float_operations(body))
    plain = counts.total() - counts["fdiv"] - counts["fsqrt"]
    issued = plain + counts["fdiv"] * _SLOW_ISSUES + counts["fsqrt"] * _STAGED_ROOT
    staged = max(counts["fdiv"] * _DIVIDER_CYCLES[0], issued * _STAGED_ISSUE)
    together = _cycles(Counter({op: count * trips for op, count in counts.items()}), _PROVED) / trips
    return counts["fsqrt"] > 0 and staged < together * _WORTH_UNROLLING


def _cycles(counts: Counter[str], costs: _Costs) -> float:
    plan = _plan(counts, costs)
    return _time(counts, 0, 0, costs) if plan is None else plan.cycles


def _plan(counts: Counter[str], costs: _Costs) -> _Plan | None:
    """The quickest way, or None where the divider alone is about as good."""
    quotients, roots = counts["fdiv"], counts["fsqrt"]
    if quotients + roots == 0 or quotients * roots > _MOST_PLANS:
        return None
    ways = product(range(quotients + 1), range(roots + 1))
    best = min((_Plan(*way, _time(counts, *way, costs)) for way in ways), key=lambda plan: plan.cycles)
    return best if best.cycles < _WORTHWHILE * _time(counts, 0, 0, costs) else None


def _time(counts: Counter[str], quotients: int, roots: int, costs: _Costs) -> float:
    """Cycles of a trip that makes so many quotients and roots without the divider."""
    slow = (counts["fdiv"] - quotients, counts["fsqrt"] - roots)
    plain = counts.total() - counts["fdiv"] - counts["fsqrt"]
    divider = slow[0] * _DIVIDER_CYCLES[0] + slow[1] * _DIVIDER_CYCLES[1]
    issued = plain + quotients * costs.quick[0] + roots * costs.quick[1] + sum(slow) * _SLOW_ISSUES
    return max(divider, issued * costs.issue) + costs.round


def _float_operations(body: d.Block) -> Iterator[str]:
    """Operations on f32 that a trip through the body issues; loops inside plan for themselves."""
    for node in body:
        match node:
            case d.For() | d.Loop():
                continue
            case d.If():
                yield from _float_operations(node.then + node.otherwise)
            case d.Scope():
                yield from _float_operations(node.body)
            case _:
                pass
        for expression in expressions_of(node):
            yield from _operations(expression)


def _operations(node: d.Expr) -> Iterator[str]:
    if isinstance(node, d.Op):
        if Machine.F32 in (node.type, node.arguments[0].type):
            yield node.op
        for argument in node.arguments:
            yield from _operations(argument)
