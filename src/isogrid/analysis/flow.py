"""Walk the statements of a kernel in order, carrying what holds: guards, joins, early exits, loop invariants."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from isogrid.analysis.arithmetic import chosen
from isogrid.analysis.conditions import UNKNOWN, Condition
from isogrid.analysis.evaluator import Evaluator, Known, State
from isogrid.analysis.induction import Counter, Induction, assigned_names, counter_of
from isogrid.analysis.linear import Polynomial, number_polynomial
from isogrid.analysis.ranges import Case
from isogrid.ir import kernel as k

#: Rounds of dropping guesses that a loop body does not keep.
_ROUNDS = 8
#: Statements walked before loops are taken without guesses, so that nests of loops stay affordable.
_STEP_LIMIT = 6000
_JOIN_LIMIT = 4

#: The point after a statement, or None where no thread gets there.
_After: TypeAlias = State | None


@dataclass(slots=True)
class _LoopExits:
    breaks: list[State] = field(default_factory=list[State])
    continues: list[State] = field(default_factory=list[State])


@dataclass(slots=True)
class Walker:
    evaluator: Evaluator
    loops: list[_LoopExits] = field(default_factory=list[_LoopExits])
    leaves: dict[str, list[State]] = field(default_factory=dict[str, list[State]])
    #: `id`s of `while` loops, with whether something decreases in every trip.
    bounded: dict[int, bool] = field(default_factory=dict[int, bool])
    #: How often at most each open loop runs its body; None where that is not known.
    trips: list[int | None] = field(default_factory=list[int | None])
    steps: int = 0

    @property
    def executions(self) -> int | None:
        """How often at most one thread runs the present statement."""
        count = 1
        for trips in self.trips:
            if trips is None:
                return None
            count *= trips
        return count

    def block(self, block: k.Block, state: State) -> _After:
        """Run statements; the state is changed in place."""
        after: _After = state
        for statement in block:
            if after is None:
                return None
            self.steps += 1
            after = self.statement(statement, after)
        return after

    def statement(self, statement: k.Statement, state: State) -> _After:
        evaluator = self.evaluator
        match statement:
            case k.Assign():
                state.values[statement.name] = evaluator.evaluate(statement.value, state)
            case k.Evaluate():
                evaluator.evaluate(statement.value, state)
            case k.Store():
                self._store(statement, state)
            case k.Atomic():
                self._atomic(statement, state)
            case k.Collective() | k.WarpCollective():
                self._collective(statement, state)
            case k.If():
                return self._if(statement, state)
            case k.For():
                return self._for(statement, state)
            case k.While():
                return self._while(statement, state)
            case k.Scope():
                self.leaves[statement.label] = []
                after = self.block(statement.body, state.copy())
                return self.join([*self.leaves.pop(statement.label), after])
            case k.Leave():
                self.leaves[statement.label].append(state)
                return None
            case k.Break():
                self.loops[-1].breaks.append(state)
                return None
            case k.Continue():
                self.loops[-1].continues.append(state)
                return None
            case k.Return():
                return None
            case k.Assert():
                return evaluator.under(state, evaluator.condition(statement.condition, state))
            case k.Barrier() | k.WarpBarrier() | k.DeclareLocal():
                pass
            case _:
                assert_never(statement)
        return state

    # --- simple statements --------------------------------------------------------------------------------------------

    def _store(self, statement: k.Store, state: State) -> None:
        evaluator = self.evaluator
        value = evaluator.evaluate(statement.value, state)
        indices = tuple([evaluator.integer(index, state) for index in statement.indices])
        evaluator.in_range(statement, indices, state)
        fits = False
        if isinstance(value, Polynomial) and statement.element.is_checked:
            wanted = statement.narrow_checked
            fits = evaluator.fits(statement, "store", value, statement.element, state, wanted=wanted)
        evaluator.note_store(statement, value, fits)

    def _atomic(self, statement: k.Atomic, state: State) -> None:
        self.evaluator.subscript(statement, state)
        if statement.expected is not None:
            self.evaluator.evaluate(statement.expected, state)
        value = self.evaluator.evaluate(statement.value, state)
        self.evaluator.note_addend(statement, value, self.executions)
        if statement.target:
            state.values[statement.target] = self.evaluator.unknown(statement.element.computing)

    def _collective(self, statement: k.Collective | k.WarpCollective, state: State) -> None:
        """Sums of values in a known range are in a known range; a maximum is in the range of the values."""
        evaluator = self.evaluator
        value = evaluator.evaluate(statement.value, state)
        size = evaluator.kernel.geometry.group_size
        type = statement.type
        if isinstance(statement, k.WarpCollective):
            size, type = evaluator.kernel.warp, statement.result
            if statement.lane is not None:
                evaluator.evaluate(statement.lane, state)
        result: Known = evaluator.unknown(type)
        if isinstance(value, Polynomial):
            low, high = evaluator.atoms.range(value)
            if statement.op in ("sum", "scan"):
                low, high = min(low * size, low, 0), max(high * size, high, 0)
                fits = statement.type.holds(low) and statement.type.holds(high)
                evaluator.record(statement, (fits,))
                if not fits:
                    low, high = statement.type.minimum, statement.type.maximum
            result = evaluator.atoms.fresh(low, high)
        state.values[statement.target] = result

    def _if(self, statement: k.If, state: State) -> _After:
        condition = self.evaluator.condition(statement.condition, state)
        then = self.evaluator.under(state, condition)
        otherwise = self.evaluator.under(state, condition.negated)
        after_then = None if then is None else self.block(statement.then, then)
        after_otherwise = None if otherwise is None else self.block(statement.otherwise, otherwise)
        return self.join([after_then, after_otherwise])

    # --- joins --------------------------------------------------------------------------------------------------------

    def join(self, states: list[_After]) -> _After:
        """What holds where several paths meet: the facts of all of them, and values by case."""
        reached = [state for state in states if state is not None]
        if len(reached) < 2:
            return reached[0] if reached else None
        common = _common_facts(reached)
        values: dict[str, Known] = {}
        for name in reached[0].values:
            if all(name in state.values for state in reached):
                values[name] = self._joined(name, reached, len(common))
        return State(values, common)

    def _joined(self, name: str, states: list[State], shared: int) -> Known:
        values = [state.values[name] for state in states]
        if all(value == values[0] for value in values):
            return values[0]
        numbers = [value for value in values if isinstance(value, Polynomial)]
        if len(numbers) != len(values):
            return UNKNOWN if all(isinstance(value, Condition) for value in values) else None
        cases = tuple(Case(value, s.facts[shared:]) for value, s in zip(numbers, states, strict=True))
        joined = chosen(self.evaluator.reasoner, cases)
        if len(cases) > _JOIN_LIMIT:
            return self.evaluator.atoms.fresh(*self.evaluator.atoms.range(joined))
        return joined

    # --- loops --------------------------------------------------------------------------------------------------------

    def _for(self, loop: k.For, state: State) -> _After:
        evaluator = self.evaluator
        start = evaluator.integer(loop.start, state)
        stop = evaluator.integer(loop.stop, state)
        step = evaluator.integer(loop.step, state)
        ascending = evaluator.reasoner.proves(step.plus(-1), state.facts)
        descending = not ascending and evaluator.reasoner.proves(step.scaled(-1).plus(-1), state.facts)
        nonzero = ascending or descending
        if step.constant == 0 and loop.step_checked:
            evaluator.requires(loop, "step", (number_polynomial(-1),), state.copy(), wanted=True)
        evaluator.record(loop, (nonzero,))
        horizon = len(evaluator.atoms.table)
        counter = counter_of(evaluator.reasoner, start, stop, step, ascending, descending, loop.type, state.facts)
        if counter is None:
            return state

        def trip(head: State) -> tuple[list[State], list[State]]:
            head.values[loop.counter] = counter.value
            exits = _LoopExits()
            self.loops.append(exits)
            self.trips.append(counter.most_trips)
            after = self.block(loop.body, head)
            self.trips.pop()
            self.loops.pop()
            return [*exits.continues, *([] if after is None else [after])], exits.breaks

        induction = self._invariants(loop.body, state, counter, trip, horizon)
        _, breaks = trip(induction.head(state, loop_counter=counter))
        exhausted = induction.exit(state, counter)
        exhausted.values[loop.counter] = self._last_value(loop, counter)
        return self.join([exhausted, *breaks])

    def _last_value(self, loop: k.For, counter: Counter) -> Known:
        """The counter after the loop, which may be read only where the loop has certainly run."""
        if loop.counter in assigned_names(loop.body):
            return self.evaluator.unknown(loop.type)
        return counter.value

    def _while(self, loop: k.While, state: State) -> _After:
        evaluator = self.evaluator
        whole = (*loop.prelude, *loop.body)
        ended: list[State] = []
        heads: list[tuple[Condition, State]] = []

        def trip(head: State) -> tuple[list[State], list[State]]:
            ended.clear()
            heads.clear()
            exits = _LoopExits()
            self.loops.append(exits)
            self.trips.append(None)
            after = self.block(loop.prelude, head)
            if after is not None:
                condition = evaluator.condition(loop.condition, after)
                stopped = evaluator.under(after, condition.negated)
                if stopped is not None:
                    ended.append(stopped)
                inside = evaluator.under(after, condition)
                heads.append((condition, after.copy()))
                after = None if inside is None else self.block(loop.body, inside)
            self.trips.pop()
            self.loops.pop()
            return [*exits.continues, *([] if after is None else [after])], exits.breaks

        def limits() -> list[Polynomial]:
            return [fact for condition, _ in heads for fact in condition.holds]

        induction = self._invariants(whole, state, None, trip, len(evaluator.atoms.table), limits)
        backs, breaks = trip(induction.head(state))
        if not evaluator.trial:
            self._note_bounded(loop, induction, limits(), backs)
        return self.join([*ended, *breaks])

    def _note_bounded(self, loop: k.While, induction: Induction, limits: list[Polynomial], backs: list[State]) -> None:
        """The loop ends if some number that the condition keeps from going below 0 falls in every trip."""
        ends = any(
            all(
                self.evaluator.reasoner.proves(
                    (limit - limit.substituted(induction.advance(back, None))).plus(-1), back.facts
                )
                for back in backs
            )
            for limit in limits
            if induction.is_settled(limit)
        )
        self.bounded[id(loop)] = self.bounded.get(id(loop), True) and (ends or not backs)

    def _invariants(
        self,
        body: k.Block,
        state: State,
        counter: Counter | None,
        trip: Callable[[State], tuple[list[State], list[State]]],
        horizon: int,
        limits: Callable[[], list[Polynomial]] = list,
    ) -> Induction:
        """Guess what stays true of the variables that the body assigns, and keep the guesses that a trip keeps."""
        evaluator = self.evaluator
        types = assigned_names(body)
        changed = {name: state.values.get(name) for name in types}
        induction = Induction(evaluator.reasoner, changed, types, state.facts, horizon)
        if not induction.symbols or self.steps > _STEP_LIMIT:
            induction.forget()
            return induction
        evaluator.trial += 1
        backs, _ = trip(induction.head(state, loop_counter=counter))
        induction.guess_limits(limits())
        induction.guess_increments(backs, counter)
        induction.guess_reflections(backs)
        induction.guess_guards(backs, counter)
        for _ in range(_ROUNDS):
            backs, _ = trip(induction.head(state, loop_counter=counter))
            if induction.kept(backs, counter):
                break
        else:
            induction.forget()
        evaluator.trial -= 1
        induction.tighten()
        return induction


def _common_facts(states: list[State]) -> tuple[Polynomial, ...]:
    """The facts that all states have from the beginning."""
    first = states[0].facts
    length = min(len(state.facts) for state in states)
    for position in range(length):
        if any(state.facts[position] != first[position] for state in states):
            return first[:position]
    return first[:length]


def walk(evaluator: Evaluator) -> Walker:
    """Walk the whole kernel once; the verdicts are then in the evaluator and the walker."""
    walker = Walker(evaluator)
    state: _After = State({}, evaluator.launch.facts)
    for require in evaluator.kernel.requires:
        evaluator.trial += 1
        holds = evaluator.condition(require.condition, state)
        evaluator.trial -= 1
        state = evaluator.under(state, holds)
        if state is None:
            return walker
    walker.block(evaluator.kernel.body, state)
    return walker
