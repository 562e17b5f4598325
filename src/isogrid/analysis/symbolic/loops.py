"""Symbolic execution of loops: unrolled where the trips are known, else one arbitrary trip, or a chain of trips where
the body synchronises, so that accesses of neighbouring trips meet across the back edge."""

from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import numpy as np

from isogrid.analysis.symbolic.carried import carried, scaled_names
from isogrid.analysis.symbolic.context import GROUP, THREAD, Context, Exit, Intervals, Value, tagged
from isogrid.analysis.symbolic.expressions import as_formula, as_polynomial, evaluate, with_guard, without_guard
from isogrid.analysis.symbolic.formula import TRUE, Unknown, both, compare, either, known, negate, not_zero, truth
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.loop_shape import (
    always_synchronises,
    assigned_names,
    continues,
    invariant,
    is_private,
    leaves,
    small_moduli,
    stored_arrays,
    synchronises,
)
from isogrid.analysis.symbolic.paths import chosen, guard_remaining, join, merge_environment
from isogrid.analysis.symbolic.polynomial import ZERO, Polynomial, TooLarge
from isogrid.ir import kernel as k

_LONGEST_PERIOD = 30
_WHILE_TRIPS = 64
_LONGEST_CYCLE = 16


@dataclass(slots=True)
class _Snapshot:
    environment: dict[str, Value]
    intervals: Intervals
    warp_intervals: Intervals
    accesses: int
    guards: int
    control: int


def _snapshot(c: Context) -> _Snapshot:
    return _Snapshot(dict(c.environment), c.intervals, c.warp_intervals, len(c.accesses), len(c.guards), len(c.control))


def _restore(c: Context, s: _Snapshot) -> None:
    c.environment = dict(s.environment)
    c.intervals, c.warp_intervals = s.intervals, s.warp_intervals
    del c.accesses[s.accesses :]
    del c.guards[s.guards :]
    del c.control[s.control :]


# --- known trips -----------------------------------------------------------------------------------------------------


def run_for(c: Context, s: k.For) -> tuple[list[Exit], bool]:
    """A counted loop."""
    start, stop, step = (as_polynomial(c, evaluate(c, e)) for e in (s.start, s.stop, s.step))
    lo, hi, by = start.as_constant, stop.as_constant, step.as_constant
    if lo is not None and hi is not None and isinstance(by, int) and by != 0:
        trips = (
            np.maximum(0, (hi - lo + (by - 1 if by > 0 else by + 1)) // by)
            if by > 0
            else np.maximum(0, (lo - hi - by - 1) // -by)
        )
        most = _most_trips(c, trips)
        if np.ndim(trips) == 0 and most and is_private(s.body):
            c.environment[s.counter] = start.shift((most - 1) * by)
            return [], True
        limit = 4 * c.unroll_limit if synchronises(s.body) else c.unroll_limit
        if most <= limit:
            return _unrolled_for(c, s, start, by, trips, most)
        c.curtailed = True
    return _symbolic(c, s, start, stop, step)


def _most_trips(c: Context, trips: Any) -> int:
    if np.ndim(trips) == 0:
        return int(trips)
    live = trips[c.mask()]
    return int(live.max()) if len(live) else 0


def _unrolled_for(c: Context, s: k.For, start: Polynomial, step: int, trips: Any, most: int) -> tuple[list[Exit], bool]:
    all_exits: list[Exit] = []
    mark = (len(c.guards), len(c.control))
    varies = np.ndim(trips) != 0 and not (trips == most).all()
    falls = True
    for trip in range(most):
        inside = known(trips > trip) if varies else TRUE
        before, intervals, warp_intervals = dict(c.environment), c.intervals, c.warp_intervals
        some = c.truth_here(inside) != 1
        guard = with_guard(c, inside, inside)
        c.environment[s.counter] = start.shift(trip * step)
        exits, falls = _one_trip(c, s.body)
        without_guard(c, guard)
        if inside != TRUE:
            c.environment = merge_environment(c, inside, c.environment, before) if falls else before
            exits = [replace(e, condition=both(inside, e.condition)) for e in exits]
            if some:
                # Warps that have no such trip pass no barrier in it either.
                c.intervals = c.intervals | intervals if falls else intervals
                c.warp_intervals = c.warp_intervals | warp_intervals if falls else warp_intervals
            falls = True
        all_exits += exits
        if not falls:
            break
        for e in exits:
            guard_remaining(c, e)
    without_guard(c, mark)
    return _leave_loop(c, all_exits, falls)


def _leave_loop(c: Context, exits: list[Exit], falls: bool) -> tuple[list[Exit], bool]:
    """Those that broke out meet the others behind the loop; what leaves further out is handed on."""
    falls = join(c, chosen(exits, lambda e: e.kind == "break"), falls)
    return chosen(exits, lambda e: e.kind != "break"), falls


def _one_trip(c: Context, body: k.Block) -> tuple[list[Exit], bool]:
    """Run the body once; `continue` is resolved at its end."""
    exits, falls = c.run_block(c, body)
    falls = join(c, chosen(exits, lambda e: e.kind == "continue"), falls)
    return chosen(exits, lambda e: e.kind != "continue"), falls


def run_while(c: Context, s: k.While) -> tuple[list[Exit], bool]:
    """A loop on a condition: unrolled while the condition is decided for every thread that may be here."""
    start = _snapshot(c)
    all_exits: list[Exit] = []
    for _ in range(_WHILE_TRIPS + 1):
        before = len(c.accesses)
        prelude_exits, falls = c.run_block(c, s.prelude)
        if prelude_exits or not falls:
            break
        decided = c.truth_here(as_formula(evaluate(c, s.condition)))
        if decided == 0:
            _close(c, start)
            return _leave_loop(c, all_exits, True)
        if decided < 0:
            break
        exits, falls = _one_trip(c, s.body)
        if any(np.min(truth(e.condition)) < 0 for e in exits):
            # Which threads go on is not known: the trips are then not worth telling apart.
            break
        all_exits += exits
        if not falls:
            _close(c, start)
            return _leave_loop(c, all_exits, False)
        for e in exits:
            guard_remaining(c, e)
        if len(c.accesses) - before == 0 and len(c.accesses) > 4000:
            raise TooLarge("a loop has more than 4000 accesses")
    _restore(c, start)
    return _symbolic(c, s, None, None, None)


def _close(c: Context, s: _Snapshot) -> None:
    del c.guards[s.guards :]
    del c.control[s.control :]


# --- unknown trips ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Loop:
    """What is fixed while the versions of one symbolic loop are run."""

    body: k.Block
    counter: str | None
    start: Polynomial | None
    stop: Polynomial | None
    step: Polynomial | None
    counter_assigned: bool
    condition: k.Expr | None
    prelude: k.Block
    synchronised: bool
    regular: bool
    assigned: tuple[str, ...]
    induction: dict[str, tuple[Polynomial, Polynomial]]
    period: int
    scaled: dict[str, Any]


def _symbolic(
    c: Context, s: k.For | k.While, start: Polynomial | None, stop: Polynomial | None, step: Polynomial | None
) -> tuple[list[Exit], bool]:
    loop = _describe(c, s, start, stop, step)
    entry = _snapshot(c)
    c.changed |= stored_arrays((*loop.prelude, *loop.body))
    floor = GROUP if loop.synchronised else THREAD
    levels = dict.fromkeys(loop.assigned, floor)
    for v in loop.assigned:
        value = c.environment.get(v)
        if value is not None and c.level(value) > GROUP:
            levels[v] = THREAD
    cyclic = _cyclic_state(c, loop)
    for _ in range(12):
        _restore(c, entry)
        branch = next(c.numbers)
        c.unknown_trips += 1
        outcome = _run_versions(c, loop, entry, levels, cyclic, branch)
        c.unknown_trips -= 1
        if outcome is not None:
            return _finish(c, loop, entry, levels, branch, outcome)
    raise TooLarge("the state of a loop does not settle")


def _describe(
    c: Context, s: k.For | k.While, start: Polynomial | None, stop: Polynomial | None, step: Polynomial | None
) -> _Loop:
    assigned = tuple(dict.fromkeys(assigned_names((*s.prelude, *s.body) if isinstance(s, k.While) else s.body)))
    counter = s.counter if isinstance(s, k.For) else None
    prelude = s.prelude if isinstance(s, k.While) else ()
    synchronised = synchronises(s.body) or synchronises(prelude)
    regular = synchronised and always_synchronises(s.body) and not leaves(s.body, 0)
    induction = {} if continues(s.body) else _induction(c, s.body, prelude, counter)
    names = {counter, *induction} - {None}
    period = 1
    if regular:
        for modulus in sorted(small_moduli(s.body, {n for n in names if n is not None})):
            if lcm(period, modulus) <= _LONGEST_PERIOD:
                period = lcm(period, modulus)
    return _Loop(
        s.body,
        counter,
        start,
        stop,
        step,
        counter in assigned,
        s.condition if isinstance(s, k.While) else None,
        prelude,
        synchronised,
        regular,
        tuple(v for v in assigned if v != counter),
        induction,
        period,
        scaled_names((*prelude, *s.body)),
    )


def _cyclic_state(c: Context, loop: _Loop) -> dict[str, int]:
    """Loop-carried variables that start as one known number, such as the half of a double buffer."""
    if not loop.regular:
        return {}
    state: dict[str, int] = {}
    for v in loop.assigned:
        value = c.environment.get(v)
        if v not in loop.induction and isinstance(value, Polynomial) and isinstance(value.as_constant, int):
            state[v] = value.as_constant
    return state


_Outcome = tuple[list[Exit], list[Intervals], list[Intervals], dict[str, Value]]


def _run_versions(
    c: Context, loop: _Loop, entry: _Snapshot, levels: dict[str, int], cyclic: dict[str, int], branch: int
) -> _Outcome | None:
    """Run the body for trips k, k+1, ...; None when a variable turned out less uniform than assumed (then changed)."""
    if loop.regular:
        c.intervals, c.warp_intervals = tagged(entry.intervals, branch, 1), tagged(entry.warp_intervals, branch, 1)
    first = c.fresh("@trip", GROUP if loop.synchronised else THREAD, nonnegative=True)
    mark = (len(c.guards), len(c.control))
    if not loop.synchronised:
        c.control.append(THREAD)
    exits: list[Exit] = []
    ends: list[Intervals] = []
    warp_ends: list[Intervals] = []
    initial = tuple(sorted(cyclic.items()))
    state = dict(cyclic)
    closed: int | None = None
    changed = False
    version = 0
    while True:
        _set_version(c, loop, entry, levels, state, first, version)
        _run_header(c, loop)
        found, falls = _one_trip(c, loop.body)
        exits += found
        changed |= _demote(c, loop, levels, cyclic, state, found, falls)
        for e in found:
            if e.condition != TRUE:
                guard_remaining(c, e)
        if falls:
            edge = next(c.numbers)
            if loop.regular:
                ends.append(tagged(c.intervals, edge, 0))
                warp_ends.append(tagged(c.warp_intervals, edge, 0))
                c.intervals, c.warp_intervals = tagged(c.intervals, edge, 1), tagged(c.warp_intervals, edge, 1)
            else:
                ends.append(c.intervals)
                warp_ends.append(c.warp_intervals)
        version += 1
        if changed or not loop.synchronised or not falls:
            break
        if not loop.regular:
            if version == 2:
                break
            continue
        if closed is None and version % loop.period == 0 and tuple(sorted(state.items())) == initial:
            closed = version
        if closed is not None and version == closed + 1:
            break
        if version > _LONGEST_CYCLE * loop.period:
            cyclic.clear()
            changed = True
            break
    without_guard(c, mark)
    return None if changed else (exits, ends, warp_ends, dict(c.environment))


def _set_version(
    c: Context,
    loop: _Loop,
    entry: _Snapshot,
    levels: dict[str, int],
    state: dict[str, int],
    first: Polynomial,
    version: int,
) -> None:
    """Loop-carried values at the start of trip `period * first + version`."""
    if loop.regular:
        trip = (first * Polynomial.constant(loop.period)).shift(version)
    elif version:
        gap = c.fresh("@gap", GROUP, nonnegative=True)
        trip = first + gap.shift(1)
    else:
        trip = first
    for v in loop.assigned:
        if v in loop.induction:
            base, step = loop.induction[v]
            c.environment[v] = base + trip * step
        elif v in state:
            c.environment[v] = Polynomial.constant(state[v])
        elif v in entry.environment:
            before = entry.environment[v]
            c.environment[v] = carried(c, v, levels[v], before, before, loop.scaled.get(v))
    if loop.counter is not None and loop.start is not None and loop.step is not None:
        c.environment[loop.counter] = loop.start + trip * loop.step


def _run_header(c: Context, loop: _Loop) -> None:
    """Put in force what holds inside a trip."""
    if loop.counter is not None and loop.stop is not None and loop.step is not None:
        counter = c.environment[loop.counter]
        assert isinstance(counter, Polynomial)
        sign = _sign(c, loop.step)
        level = max(c.level(loop.stop), c.level(counter))
        c.control.append(level)
        # A step of zero traps before the first trip.
        c.guards.append(not_zero(loop.step))
        below, above = (compare(op, counter, loop.stop) for op in ("lt", "gt"))
        if sign:
            c.guards.append(below if sign > 0 else above)
        else:
            upwards = compare("gt", loop.step, ZERO)
            c.guards.append(either(both(upwards, below), both(negate(upwards), above)))
        return
    _run_prelude(c, loop)
    assert loop.condition is not None
    f = as_formula(evaluate(c, loop.condition))
    with_guard(c, f, f)


def _sign(c: Context, step: Polynomial) -> int:
    constant = step.as_constant
    if isinstance(constant, int):
        return 1 if constant > 0 else -1 if constant < 0 else 0
    if prove(c, step.shift(-1), c.facts, None):
        return 1
    return -1 if prove(c, (-step).shift(-1), c.facts, None) else 0


def _demote(
    c: Context,
    loop: _Loop,
    levels: dict[str, int],
    cyclic: dict[str, int],
    state: dict[str, int],
    exits: list[Exit],
    falls: bool,
) -> bool:
    """Take back what was assumed of loop-carried variables and did not hold; True when something changed."""
    changed = False
    diverges = any(c.level(e.condition) > GROUP for e in exits)
    broken = [e.environment for e in exits if e.kind == "break"]
    for v in loop.assigned:
        value = c.environment.get(v)
        if v in loop.induction or value is None:
            continue
        at_break = [env[v] for env in broken if v in env]
        if v in state:
            constant = value.as_constant if isinstance(value, Polynomial) else None
            if isinstance(constant, int) and falls:
                state[v] = constant
            else:
                cyclic.pop(v, None)
                changed = True
        elif levels[v] == GROUP and (diverges or any(c.level(x) > GROUP for x in (value, *at_break))):
            levels[v] = THREAD
            changed = True
    return changed


def _finish(
    c: Context, loop: _Loop, entry: _Snapshot, levels: dict[str, int], branch: int, outcome: _Outcome
) -> tuple[list[Exit], bool]:
    """The state behind the loop, and what of its exits goes further out."""
    exits, ends, warp_ends, samples = outcome
    c.intervals, c.warp_intervals = entry.intervals, entry.warp_intervals
    broken = [e for e in exits if e.kind == "break"]
    if loop.synchronised:
        none, warp_none = entry.intervals, entry.warp_intervals
        if loop.regular:
            # No trip at all and a first trip exclude each other for a whole group.
            none, warp_none = tagged(none, branch, 0), tagged(warp_none, branch, 0)
        c.intervals = frozenset(none).union(*ends)
        c.warp_intervals = frozenset(warp_none).union(*warp_ends)
    level = GROUP if all(c.level(e.condition) <= GROUP for e in exits) and loop.synchronised else THREAD
    _forget_assigned(c, loop, entry, levels, samples, level)
    if loop.condition is not None and loop.synchronised:
        _last_test(c, loop)
        if broken:
            # Threads that broke out have not run the last test.
            _forget_assigned(c, loop, entry, levels, {**c.environment, **samples}, level)
    if loop.synchronised:
        c.intervals = c.intervals.union(*(e.intervals for e in broken))
        c.warp_intervals = c.warp_intervals.union(*(e.warp_intervals for e in broken))
    outward = [e for e in exits if e.kind != "break"]
    return [replace(e, condition=Unknown(f"@left#{next(c.numbers)}", level)) for e in outward], True


def _forget_assigned(
    c: Context, loop: _Loop, entry: _Snapshot, levels: dict[str, int], samples: dict[str, Value], level: int
) -> None:
    """Values behind the loop. Each variable has a number of trips of its own: a `break` may lie between two steps."""
    environment = dict(entry.environment)
    for v in loop.assigned:
        if v in loop.induction:
            base, step = loop.induction[v]
            environment[v] = base + c.fresh("@trips", level, nonnegative=True) * step
        elif (sample := samples.get(v)) is not None:
            before = entry.environment.get(v)
            environment[v] = carried(c, f"{v} after", max(levels[v], level), sample, before, loop.scaled.get(v))
    if loop.counter is not None and loop.start is not None and loop.step is not None:
        if loop.counter_assigned:
            environment[loop.counter] = c.fresh(f"{loop.counter} after", THREAD)
        else:
            environment[loop.counter] = loop.start + c.fresh("@trips", level, nonnegative=True) * loop.step
    c.environment = environment


def _last_test(c: Context, loop: _Loop) -> None:
    """The test that ends a `while` reads, and may synchronise, behind the last trip."""
    mark = (len(c.guards), len(c.control))
    _run_prelude(c, loop)
    assert loop.condition is not None
    evaluate(c, loop.condition)
    without_guard(c, mark)


def _run_prelude(c: Context, loop: _Loop) -> None:
    exits, falls = c.run_block(c, loop.prelude)
    if exits or not falls:
        raise TooLarge("the condition of a loop leaves the loop")


def _induction(
    c: Context, body: k.Block, prelude: k.Block, counter: str | None
) -> dict[str, tuple[Polynomial, Polynomial]]:
    """Variables whose one assignment, at the top level of the body, adds a loop-invariant amount."""
    found: dict[str, tuple[Polynomial, Polynomial]] = {}
    assigned = [*assigned_names(prelude), *assigned_names(body)]
    # The loop may run no trip, so what evaluating an amount presumes (a divisor that is not zero) is not kept.
    mark = (len(c.guards), len(c.control))
    for s in body:
        match s:
            case k.Assign(name, k.Binary("add" | "sub" as op, k.Local(same, _), amount, type)) | k.Assign(
                name, k.Binary("add" as op, amount, k.Local(same, _), type)
            ):
                entry = c.environment.get(name)
                if same != name or assigned.count(name) != 1 or type.is_float or type.is_modular:
                    continue
                if not isinstance(entry, Polynomial) or not invariant(amount, {*assigned, counter}):
                    continue
                step = as_polynomial(c, evaluate(c, amount))
                found[name] = (entry, step if op == "add" else -step)
            case _:
                pass
    without_guard(c, mark)
    return found
