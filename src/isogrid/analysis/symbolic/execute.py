"""Symbolic execution of statements: every access of a kernel with its guards and the barrier intervals it may be in."""

from dataclasses import replace

from isogrid.analysis.symbolic.context import (
    GROUP,
    THREAD,
    WARP,
    Context,
    Exit,
    Intervals,
    Value,
    tagged,
)
from isogrid.analysis.symbolic.expressions import (
    as_formula,
    as_polynomial,
    evaluate,
    index_values,
    record,
    with_guard,
    without_guard,
)
from isogrid.analysis.symbolic.formula import TRUE, AtLeastZero, Formula, IsZero, Unknown, both, conjuncts, negate
from isogrid.analysis.symbolic.geometry import declare_geometry, new_context
from isogrid.analysis.symbolic.loops import run_for, run_while
from isogrid.analysis.symbolic.paths import chosen, guard_remaining, join, merge_environment
from isogrid.analysis.symbolic.scans import group_total
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit_statements


def execute(kernel: k.Kernel, unroll_limit: int = 32, exact: bool = True) -> Context:
    """Run the whole kernel for all threads at once. Loops of up to `unroll_limit` known trips are unrolled."""
    c = new_context(kernel, unroll_limit)
    c.exact = exact
    c.written = written_arrays(kernel.body)
    extents = tuple(as_polynomial(c, evaluate(c, e)) for e in kernel.geometry.extents)
    declare_geometry(c, extents)
    for clause in kernel.requires:
        _assume(c, as_formula(evaluate(c, clause.condition)))
    for fact in kernel.facts:
        if fact.low is not None and fact.high is not None and fact.low.type.is_integer and not fact.where:
            bounds = tuple(as_polynomial(c, evaluate(c, e)) for e in (fact.low, fact.high))
            c.element_bounds[fact.array] = (bounds[0], bounds[1])
    _shape_facts(c)
    c.run_block = run_block
    run_block(c, kernel.body)
    return c


def _assume(c: Context, f: Formula) -> None:
    for part in conjuncts([f]):
        match part:
            case AtLeastZero(p):
                c.facts.append(p)
            case IsZero(p):
                c.facts += [p, -p]
            case _:
                c.guards.append(part)


def _shape_facts(c: Context) -> None:
    """Extents of arrays are not negative, derived ones included."""
    for parameter in c.kernel.parameters:
        if isinstance(parameter, k.ArrayParameter):
            for extent in parameter.shape:
                p = as_polynomial(c, evaluate(c, extent))
                if len(p.terms) > 1:
                    c.facts.append(p)


def written_arrays(block: k.Block) -> frozenset[str]:
    """Names of the arrays that the block stores to or updates atomically."""
    return frozenset(s.array for s in visit_statements(block) if isinstance(s, (k.Store, k.Atomic)))


def run_block(c: Context, block: k.Block) -> tuple[list[Exit], bool]:
    """Exits that leave the block, and whether its end may be reached. Guards of exits hold to the end of the block."""
    mark = (len(c.guards), len(c.control))
    exits: list[Exit] = []
    falls = True
    for s in block:
        c.spend()
        found, falls = run_statement(c, s)
        exits += found
        if not falls:
            break
        for e in found:
            guard_remaining(c, e)
    without_guard(c, mark)
    return exits, falls


def run_statement(c: Context, s: k.Statement) -> tuple[list[Exit], bool]:
    """Execute one statement; the result is as for a block."""
    match s:
        case k.Assign(name, value):
            c.environment[name] = evaluate(c, value)
        case k.Evaluate(value):
            evaluate(c, value)
        case k.Store():
            evaluate(c, s.value)
            indices = index_values(c, s.indices)
            if s.space is not Space.LOCAL:
                record(c, s.array, "write", indices, s.span)
        case k.Atomic():
            indices = index_values(c, s.indices)
            if s.expected is not None:
                evaluate(c, s.expected)
            evaluate(c, s.value)
            record(c, s.array, f"atomic {s.op}", indices, s.span)
            if s.target:
                c.environment[s.target] = _unknown(c, f"old {s.array}", THREAD, s.value.type)
        case k.Barrier():
            new_interval(c)
        case k.Collective():
            value = evaluate(c, s.value)
            new_interval(c)
            if s.op in ("sum", "scan") and s.type.is_checked:
                c.environment[s.target] = group_total(c, s, as_polynomial(c, value))
            else:
                c.environment[s.target] = _unknown(c, f"group {s.op}", THREAD if s.op == "scan" else GROUP, s.type)
        case k.WarpBarrier():
            if not c.unknown_trips:
                # In a loop of unknown trips the order of neighbouring trips is not followed: it then orders nothing.
                c.warp_intervals = frozenset({(next(c.numbers), frozenset[tuple[int, int]]())})
        case k.WarpCollective():
            evaluate(c, s.value)
            if s.lane is not None:
                evaluate(c, s.lane)
            own = s.op == "scan" or s.op.startswith("shuffle")
            c.environment[s.target] = _unknown(c, f"warp {s.op}", THREAD if own else WARP, s.result)
        case k.If():
            return _run_if(c, s)
        case k.For():
            return run_for(c, s)
        case k.While():
            return run_while(c, s)
        case k.Scope(label, body):
            return _run_scope(c, label, body)
        case k.Leave(label):
            return [_exit(c, "leave", label)], False
        case k.Break():
            return [_exit(c, "break", "")], False
        case k.Continue():
            return [_exit(c, "continue", "")], False
        case k.Return():
            return [_exit(c, "return", "")], False
        case k.Assert(condition, _):
            c.guards.append(as_formula(evaluate(c, condition)))
        case k.DeclareLocal():
            pass
    return [], True


def new_interval(c: Context) -> None:
    fresh: Intervals = frozenset({(next(c.numbers), frozenset[tuple[int, int]]())})
    c.intervals = fresh
    c.warp_intervals = fresh


def _unknown(c: Context, prefix: str, level: int, type: Scalar) -> Value:
    p = c.fresh(prefix, level, nonnegative=type.is_unsigned or type.is_modular)
    return Unknown(next(iter(p.terms))[0], level) if type is Scalar.BOOL else p


def _exit(c: Context, kind: str, label: str) -> Exit:
    return Exit(kind, label, TRUE, dict(c.environment), c.intervals, c.warp_intervals)


def _run_if(c: Context, s: k.If) -> tuple[list[Exit], bool]:
    f = as_formula(evaluate(c, s.condition))
    decided = c.truth_here(f)
    if decided >= 0:
        return run_block(c, s.then if decided else s.otherwise)
    environment, intervals, warp_intervals = dict(c.environment), c.intervals, c.warp_intervals
    branch = next(c.numbers)
    uniform = c.level(f) <= GROUP
    outcomes: list[tuple[list[Exit], bool, dict[str, Value], Intervals, Intervals]] = []
    for side, arm in ((1, s.then), (0, s.otherwise)):
        c.environment = dict(environment)
        c.intervals = tagged(intervals, branch, side) if uniform else intervals
        c.warp_intervals = tagged(warp_intervals, branch, side) if uniform else warp_intervals
        if not arm:
            outcomes.append(([], True, c.environment, c.intervals, c.warp_intervals))
            continue
        guard = f if side else negate(f)
        mark = with_guard(c, guard, f)
        exits, falls = run_block(c, arm)
        without_guard(c, mark)
        exits = [replace(e, condition=both(guard, e.condition)) for e in exits]
        outcomes.append((exits, falls, c.environment, c.intervals, c.warp_intervals))
    (exits1, falls1, env1, in1, warp1), (exits2, falls2, env2, in2, warp2) = outcomes
    if falls1 and falls2:
        for name in [n for n, v in env1.items() if env2.get(n, v) is not v and n not in c.live_after(s)]:
            del env1[name], env2[name]
        c.environment = merge_environment(c, f, env1, env2)
        c.intervals, c.warp_intervals = in1 | in2, warp1 | warp2
    elif falls1:
        c.environment, c.intervals, c.warp_intervals = env1, in1, warp1
    return exits1 + exits2, falls1 or falls2


def _run_scope(c: Context, label: str, body: k.Block) -> tuple[list[Exit], bool]:
    exits, falls = run_block(c, body)
    mine = chosen(exits, lambda e: e.kind == "leave" and e.label == label)
    rest = chosen(exits, lambda e: not (e.kind == "leave" and e.label == label))
    return rest, join(c, mine, falls)
