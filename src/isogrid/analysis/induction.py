"""Loop-carried variables: guesses about them at the head of a trip, kept where a trip keeps them.

s = 128
while s > 0: ...; s //= 2       # guesses  s <= 128  and  s >= 0  survive
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from isogrid.analysis.arithmetic import Reasoner, larger
from isogrid.analysis.evaluator import Known, State
from isogrid.analysis.linear import ZERO, Polynomial
from isogrid.analysis.ranges import Case, Facts
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import assigned_local, visit

#: Above this many guesses a loop is not studied pair by pair.
_PAIR_LIMIT = 4
#: How many guards of a trip are looked at.
_GUARD_LIMIT = 12


def assigned_names(body: k.Block) -> dict[str, Scalar]:
    """Locals that the statements may assign and their types, in the order of the text."""
    names: dict[str, Scalar] = {}
    for node in visit(body):
        assigned = assigned_local(node)
        if assigned is not None:
            names[assigned[0]] = assigned[1]
    return names


@dataclass(frozen=True, slots=True)
class Counter:
    """A `for` counter. `tick` is the atom that `advance` moves from trip to trip; `trips` counts the trips done so far
    and `trips_at_end` all of them, where they are polynomials."""

    value: Polynomial
    tick: int | None = None
    advance: int = 0
    trips: Polynomial | None = None
    trips_at_end: Polynomial | None = None
    most_trips: int | None = None


def counter_of(
    reasoner: Reasoner,
    start: Polynomial,
    stop: Polynomial,
    step: Polynomial,
    ascending: bool,
    descending: bool,
    type: Scalar,
    facts: Facts,
) -> Counter | None:
    """The counter in an arbitrary trip; None where there is no trip."""
    if ascending:
        return _directed(reasoner, start, stop, step, 1, facts)
    if descending:
        return _directed(reasoner, start, stop, step, -1, facts)
    low = min(reasoner.atoms.range(start)[0], reasoner.atoms.range(stop)[0])
    high = max(reasoner.atoms.range(start)[1], reasoner.atoms.range(stop)[1])
    value = reasoner.atoms.fresh(max(low, type.minimum), min(high, type.maximum))
    upwards = (value - start, (stop - value).plus(-1), step.plus(-1))
    downwards = (start - value, (value - stop).plus(-1), step.scaled(-1).plus(-1))
    alias = reasoner.atoms.fresh(*reasoner.atoms.range(value))
    reasoner.atoms.of(alias).cases = (Case(value, upwards), Case(value, downwards))
    return Counter(alias)


def _directed(
    reasoner: Reasoner, start: Polynomial, stop: Polynomial, step: Polynomial, sign: int, facts: Facts
) -> Counter | None:
    """A counter that moves away from `start` towards `stop`; `sign` is that of the step."""
    atoms = reasoner.atoms
    distance = (stop - start).scaled(sign)
    most = atoms.range(distance)[1]
    size = step.constant
    if most <= 0 or size == 0:  # a step of 0 traps before the first trip
        return None
    if size is None:
        low, high = (atoms.range(start)[0], atoms.range(stop)[1] - 1)
        if sign < 0:
            low, high = atoms.range(stop)[0] + 1, atoms.range(start)[1]
        value = atoms.fresh(min(low, high), max(low, high))
        atoms.define(value, (value - start).scaled(sign), (stop - value).scaled(sign).plus(-1))
        return Counter(value, most_trips=most)
    trips = atoms.fresh(0, (most - 1) // abs(size))
    value = start + trips.scaled(size)
    atoms.define(trips, (stop - value).scaled(sign).plus(-1))
    ((monomial, _),) = trips.terms
    at_end = _all_trips(reasoner, distance, abs(size), facts)
    return Counter(value, monomial[0], 1, trips, at_end, (most - 1) // abs(size) + 1)


def _all_trips(reasoner: Reasoner, distance: Polynomial, size: int, facts: Facts) -> Polynomial:
    """max(0, ceil(distance / size))."""
    positive = larger(reasoner, distance, ZERO, facts)
    if size == 1:
        return positive
    most = reasoner.atoms.range(positive)[1]
    count = reasoner.atoms.fresh(0, max(0, -(-most // size)))
    reasoner.atoms.define(count, count.scaled(size) - positive, positive.plus(size - 1) - count.scaled(size))
    return count


@dataclass(slots=True)
class Induction:
    """The variables that a loop changes. `symbols` maps each integer one to its atom at the head of a trip."""

    reasoner: Reasoner
    changed: dict[str, Known]
    types: dict[str, Scalar]
    facts: Facts
    #: Atoms from this number on belong to the loop.
    horizon: int
    symbols: dict[str, Polynomial] = field(default_factory=dict[str, Polynomial])
    guesses: list[Polynomial] = field(default_factory=list[Polynomial])

    def __post_init__(self) -> None:
        for name, before in self.changed.items():
            if isinstance(before, Polynomial):
                type = self.types[name]
                self.symbols[name] = self.reasoner.atoms.fresh(type.minimum, type.maximum)
        self._first_guesses()

    def _first_guesses(self) -> None:
        """No less, or no more, than before the loop; not negative; positive; in the order that they had."""
        for name, symbol in self.symbols.items():
            before = self.before(name)
            self.guesses += [symbol - before, before - symbol]
            if self.reasoner.proves(before, self.facts):
                self.guesses.append(symbol)
            if self.reasoner.proves(before.plus(-1), self.facts):
                self.guesses.append(symbol.plus(-1))
        if len(self.symbols) <= _PAIR_LIMIT:
            for left in self.symbols:
                for right in self.symbols:
                    if left != right and self.reasoner.proves(self.before(right) - self.before(left), self.facts):
                        self.guesses.append(self.symbols[right] - self.symbols[left])

    def before(self, name: str) -> Polynomial:
        value = self.changed[name]
        assert isinstance(value, Polynomial)
        return value

    def forget(self) -> None:
        self.guesses = []

    def head(self, state: State, loop_counter: Counter | None = None) -> State:
        """The state at the head of an arbitrary trip."""
        head = state.copy()
        for name in self.changed:
            head.values.pop(name, None)
        head.values.update(self.symbols)
        head.learn(*self.guesses)
        return head

    def exit(self, state: State, counter: Counter) -> State:
        """The state after a `for` loop that ran all its trips."""
        atoms = self.reasoner.atoms
        after = state.copy()
        values: dict[int, Polynomial] = {}
        # Only atoms made here may be narrowed: what is learnt holds behind this loop, and the number of trips may be
        # a size, which is known elsewhere too.
        lasts: list[Polynomial] = []
        for name in self.changed:
            after.values.pop(name, None)
        for name, symbol in self.symbols.items():
            last = atoms.fresh(*atoms.range(symbol))
            values[_atom(symbol)] = last
            after.values[name] = last
            lasts.append(last)
        for guess in self.guesses:
            if counter.tick is not None and counter.tick in guess.atoms():
                if counter.trips_at_end is None:
                    continue
                values[counter.tick] = counter.trips_at_end
            learnt = guess.substituted(values)
            self._narrow(learnt, lasts)
            after.learn(learnt)
        return after

    def advance(self, back: State, counter: Counter | None) -> dict[int, Polynomial]:
        """What the head's atoms are one trip later."""
        values: dict[int, Polynomial] = {}
        for name, symbol in self.symbols.items():
            value = back.values.get(name)
            if not isinstance(value, Polynomial):
                value = self.reasoner.atoms.fresh(*self.reasoner.atoms.range(symbol))
            values[_atom(symbol)] = value
        if counter is not None and counter.tick is not None and counter.trips is not None:
            values[counter.tick] = counter.trips.plus(counter.advance)
        return values

    def guess_limits(self, limits: Iterable[Polynomial]) -> None:
        """A loop that runs while v < E may leave v at E, not above."""
        start = {_atom(symbol): self.before(name) for name, symbol in self.symbols.items()}
        for limit in limits:
            guess = limit.plus(1)
            mentioned = guess.atoms()
            if mentioned.isdisjoint(start) or not all(a in start or self._outer(a) for a in mentioned):
                continue
            if self.reasoner.proves(guess.substituted(start), self.facts):
                self.guesses.append(guess)

    def guess_guards(self, backs: list[State], counter: Counter | None) -> None:
        """What guards say of a variable at the end of a trip, where the trip adds a constant to it."""
        start = {_atom(symbol): self.before(name) for name, symbol in self.symbols.items()}
        own = set(start) if counter is None or counter.tick is None else {*start, counter.tick}
        for back in backs:
            shifts: dict[int, Polynomial] = {}
            for name, symbol in self.symbols.items():
                value = back.values.get(name)
                step = (value - symbol).constant if isinstance(value, Polynomial) else None
                if step is not None:
                    shifts[_atom(symbol)] = symbol.plus(-step)
            for fact in back.facts[len(self.facts) :][:_GUARD_LIMIT]:
                mentioned = fact.atoms()
                if mentioned.isdisjoint(shifts) or not all(a in own or self._outer(a) for a in mentioned):
                    continue
                guess = fact.substituted(shifts)
                if guess not in self.guesses and self.reasoner.proves(guess.substituted(start), self.facts):
                    self.guesses.append(guess)

    def is_settled(self, fact: Polynomial) -> bool:
        """Whether a fact speaks only of the loop's variables and of what no trip computes anew, such as a load."""
        own = {_atom(symbol) for symbol in self.symbols.values()}
        return all(atom in own or self._outer(atom) for atom in fact.atoms())

    def _outer(self, atom: int) -> bool:
        """Whether an atom is older than this loop, and so the same in every trip."""
        return atom < self.horizon

    def guess_increments(self, backs: list[State], counter: Counter | None) -> None:
        """A variable that grows by at most c in a trip is at most c times the trips above its first value."""
        if counter is None or counter.trips is None:
            return
        for name, symbol in self.symbols.items():
            steps = [step for back in backs for step in self._increments(back.values.get(name), symbol, 3)]
            numbers = [step for step in steps if step is not None]
            if not steps or len(numbers) != len(steps):
                continue
            most, least = max(0, *numbers), min(0, *numbers)
            before = self.before(name)
            if most:
                self.guesses.append(before + counter.trips.scaled(most) - symbol)
            if least:
                self.guesses.append(symbol - before - counter.trips.scaled(least))
            if len(set(numbers)) == 1 and numbers[0]:
                exact = before + counter.trips.scaled(numbers[0]) - symbol
                self.guesses += [exact, exact.scaled(-1)]

    def guess_reflections(self, backs: list[State]) -> None:
        """A variable that trips replace by c less itself, as `buffer = 1 - buffer`, has two values."""
        for name, symbol in self.symbols.items():
            sums = {total for back in backs for total in self._sums(back.values.get(name), symbol, 3)}
            total = sums.pop() if len(sums) == 1 else None
            if total is None or not all(map(self._outer, total.atoms())):
                continue
            one = self.before(name)
            other = total - one
            for low, high in ((one, other), (other, one)):
                if self.reasoner.proves(high - low, self.facts):
                    self.guesses += [symbol - low, high - symbol]
                    break

    def _sums(self, value: Known, symbol: Polynomial, depth: int) -> list[Polynomial | None]:
        """What the variable was and what a trip makes of it, added, where it changes; None among them where unknown."""
        if not isinstance(value, Polynomial) or depth == 0:
            return [None]
        if value == symbol:
            return []
        if len(value.terms) == 1 and len(value.terms[0][0]) == 1 and value.terms[0][1] == 1:
            cases = self.reasoner.atoms.of(value).cases
            if cases:
                return [total for case in cases for total in self._sums(case.value, symbol, depth - 1)]
        return [value + symbol]

    def _increments(self, value: Known, symbol: Polynomial, depth: int) -> list[int | None]:
        """By which constants a trip changes the variable; None among them where it is no constant."""
        if not isinstance(value, Polynomial) or depth == 0:
            return [None]
        difference = value - symbol
        if difference.constant is not None:
            return [difference.constant]
        if len(value.terms) == 1 and len(value.terms[0][0]) == 1 and value.terms[0][1] == 1:
            cases = self.reasoner.atoms.of(value).cases
            if cases:
                return [step for case in cases for step in self._increments(case.value, symbol, depth - 1)]
        return [None]

    def kept(self, backs: list[State], counter: Counter | None) -> bool:
        """Drop the guesses that some trip breaks; whether none was dropped."""
        surviving = [
            guess
            for guess in self.guesses
            if all(self.reasoner.proves(guess.substituted(self.advance(back, counter)), back.facts) for back in backs)
        ]
        unchanged = len(surviving) == len(self.guesses)
        self.guesses = surviving
        return unchanged

    def tighten(self) -> None:
        """Turn what is kept into the ranges of the variables."""
        for guess in self.guesses:
            self._narrow(guess, self.symbols.values())

    def _narrow(self, fact: Polynomial, symbols: Iterable[Polynomial]) -> None:
        """`fact` is at least 0: where it has a symbol by itself, the rest bounds it."""
        for symbol in symbols:
            if len(symbol.terms) != 1 or symbol.terms[0][0] == ():
                continue
            coefficient = dict(fact.terms).get(symbol.terms[0][0])
            if coefficient not in (1, -1):
                continue
            atom = self.reasoner.atoms.of(symbol)
            _, most = self.reasoner.atoms.range(fact - symbol.scaled(coefficient))
            if coefficient == 1:
                atom.low = min(max(atom.low, -most), atom.high)
            else:
                atom.high = max(min(atom.high, most), atom.low)


def _atom(symbol: Polynomial) -> int:
    ((monomial, _),) = symbol.terms
    return monomial[0]
