"""Evaluate expressions of kernel IR to polynomials and conditions, and decide on the way which checks cannot fail.

For `y[i * W + x]` with `i < H` and `x < W` in force: index i*W + x, proved within 0..H*W-1.
"""

from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from isogrid.analysis.arithmetic import (
    Reasoner,
    absolute,
    chosen,
    divided,
    larger,
    masked,
    mixed_bits,
    multiplied,
    powered,
    shifted_left,
    shifted_right,
    smaller,
)
from isogrid.analysis.conditions import (
    UNKNOWN,
    Condition,
    as_number,
    compared,
    conjunction,
    constant_condition,
    disjunction,
)
from isogrid.analysis.facts import LaunchFacts
from isogrid.analysis.launch import Launch, launch_of
from isogrid.analysis.linear import ZERO, Polynomial, number_polynomial
from isogrid.analysis.ranges import Atoms, Case, Facts, clipped, joined
from isogrid.analysis.solve import Solver
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit

#: What is known of a value: an integer's polynomial, a bool's condition, nothing of a float.
Known: TypeAlias = Polynomial | Condition | None

#: Ranges of at most so many numbers are shown in reports.
_READABLE = 1 << 20


@dataclass(slots=True)
class State:
    """What holds at one point: the values of locals and the facts in force."""

    values: dict[str, Known]
    facts: Facts
    #: The facts again, to look one up, once something was learnt; never changed in place, so copies share it.
    _told: frozenset[Polynomial] | None = None

    def copy(self) -> "State":
        return State(dict(self.values), self.facts, self._told)

    def learn(self, *facts: Polynomial) -> None:
        told = self._told or frozenset(self.facts)
        new = [f for f in facts if f.constant is None and f not in told]
        if new:
            self.facts = (*self.facts, *new)
            told = told.union(new)
        self._told = told


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that fails whenever reached. `kind` is index, overflow, zero, shift, exponent, cast, store or step.

    `shown` words the values that it is about: a number, a range, or nothing where neither is known.
    """

    kind: str
    node: k.Node
    axis: int = 0
    shown: tuple[str, ...] = ()


@dataclass(slots=True)
class Evaluator:
    """Shared by the whole walk of one kernel. `proved` maps the `id` of a node to the verdict of each of its checks."""

    kernel: k.Kernel
    reasoner: Reasoner
    launch: Launch
    proved: dict[int, tuple[bool, ...]] = field(default_factory=dict[int, tuple[bool, ...]])
    nonnegative: dict[int, bool] = field(default_factory=dict[int, bool])
    narrowing: dict[int, bool] = field(default_factory=dict[int, bool])
    stored: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    addends: dict[int, tuple[int, int] | None] = field(default_factory=dict[int, "tuple[int, int] | None"])
    failures: dict[tuple[int, int], Failure] = field(default_factory=dict[tuple[int, int], Failure])
    finds_failures: bool = False
    #: Whether checks are proved with all means; without, what they ensure is learned, which costs much less.
    decides: bool = True
    #: Above 0 while a loop is walked only to find what stays true in it; nothing is recorded then.
    trial: int = 0
    #: `and`, `or` and conditional expressions, by identity, with whether what their condition guards may be evaluated
    #: without it: every check proved, loads of arrays that nobody writes.
    loads_anyway: dict[int, bool] = field(default_factory=dict[int, bool])
    #: The verdict so far while sides are evaluated without their condition; None elsewhere.
    anyway: bool | None = None

    @property
    def atoms(self) -> Atoms:
        return self.reasoner.atoms

    # --- recording ----------------------------------------------------------------------------------------------------

    def record(self, node: k.Node, verdicts: tuple[bool, ...]) -> None:
        """A node may be reached in several ways; its checks go only where every one of them is proved."""
        if not self.trial and self.anyway is None:
            old = self.proved.get(id(node))
            new = verdicts if old is None else tuple(a and b for a, b in zip(old, verdicts, strict=True))
            self.proved[id(node)] = new

    def requires(
        self,
        node: k.Node,
        kind: str,
        bounds: tuple[Polynomial, ...],
        state: State,
        axis: int = 0,
        *,
        wanted: bool,
        about: tuple[Polynomial, ...] = (),
    ) -> bool:
        """Whether every polynomial of `bounds` is at least 0; where unproved, passing the check teaches it.

        `about` are the values that a report of a certain failure shows.
        """
        holds = self.reasoner.proves if self.decides else self.reasoner.sees
        ok = all(holds(bound, state.facts) for bound in bounds)
        if not ok and self.anyway is not None:
            self.anyway = False
        elif not ok:
            if wanted and self.finds_failures and not self.trial:
                self._note_failure(Failure(kind, node, axis, tuple(map(self._shown, about))), bounds, state)
            state.learn(*bounds)
        return ok

    def _shown(self, value: Polynomial) -> str:
        """A number, or a range that is worth reading."""
        low, high = self.atoms.range(value)
        if low == high:
            return str(low)
        return f"{low}..{high}" if high - low < _READABLE else ""

    def _note_failure(self, failure: Failure, bounds: tuple[Polynomial, ...], state: State) -> None:
        for bound in bounds:
            never = self.reasoner.proves(bound.scaled(-1).plus(-1), state.facts)
            if never and not self.reasoner.solver.contradictory(state.facts):
                self.failures.setdefault((id(failure.node), failure.axis), failure)
                return

    def fits(self, node: k.Node, kind: str, value: Polynomial, type: Scalar, state: State, *, wanted: bool) -> bool:
        """Whether the exact `value` is one of `type`."""
        bounds = (value.plus(-type.minimum), number_polynomial(type.maximum) - value)
        return self.requires(node, kind, bounds, state, wanted=wanted, about=(value,))

    def note_store(self, node: k.Store, value: Known, fits: bool) -> None:
        """Whether the narrowing of a store is proved, and what it stores, over all the ways in which it is reached."""
        if self.trial:
            return
        self.narrowing[id(node)] = self.narrowing.get(id(node), True) and fits
        if isinstance(value, Polynomial):
            interval = self.atoms.range(value)
            self.stored[id(node)] = joined(self.stored.get(id(node), interval), interval)

    def note_addend(self, node: k.Atomic, value: Known, executions: int | None) -> None:
        """How much an atomic adds at least and at most in one thread; None where that is not known."""
        if self.trial:
            return
        old = self.addends.get(id(node), (0, 0))
        if isinstance(value, Polynomial) and executions is not None and old is not None:
            low, high = self.atoms.range(value)
            self.addends[id(node)] = old[0] + min(low, 0) * executions, old[1] + max(high, 0) * executions
        else:
            self.addends[id(node)] = None

    # --- expressions --------------------------------------------------------------------------------------------------

    def unknown(self, type: Scalar) -> Known:
        """A value of which only the type is known."""
        if type.is_integer:
            return self.atoms.fresh(type.minimum, type.maximum)
        return UNKNOWN if type is Scalar.BOOL else None

    def integer(self, node: k.Expr, state: State) -> Polynomial:
        """The value of an expression of integer type."""
        value = self.evaluate(node, state)
        return value if isinstance(value, Polynomial) else self.atoms.fresh(node.type.minimum, node.type.maximum)

    def condition(self, node: k.Expr, state: State) -> Condition:
        value = self.evaluate(node, state)
        return value if isinstance(value, Condition) else UNKNOWN

    def evaluate(self, node: k.Expr, state: State) -> Known:
        """What is known of the value; the state learns what reaching the end of the expression implies."""
        match node:
            case k.Const():
                return self._constant(node)
            case k.Local():
                if state.values.get(node.name) is None:
                    state.values[node.name] = self.unknown(node.type)
                return state.values[node.name]
            case k.ScalarValue():
                return self.launch.scalar(node.name, node.type)
            case k.DimValue():
                return self.launch.dimension(node.name)
            case k.Query():
                return self.launch.query(node.kind, node.axis)
            case k.Unary():
                return self._unary(node, state)
            case k.Binary():
                return self._binary(node, state)
            case k.Compare():
                left, right = self.evaluate(node.left, state), self.evaluate(node.right, state)
                if isinstance(left, Polynomial) and isinstance(right, Polynomial):
                    return compared(node.op, left, right)
                return UNKNOWN
            case k.Logical():
                return self._logical(node, state)
            case k.Choose():
                return self._choose(node, state)
            case k.Cast():
                return self._cast(node, state)
            case k.Call():
                return self._call(node, state)
            case k.Load():
                return self._load(node, state)
            case _:
                assert_never(node)

    def _constant(self, node: k.Const) -> Known:
        if node.type.is_integer:
            return number_polynomial(node.value)
        return constant_condition(bool(node.value)) if node.type is Scalar.BOOL else None

    # --- operators ----------------------------------------------------------------------------------------------------

    def _unary(self, node: k.Unary, state: State) -> Known:
        operand = self.evaluate(node.operand, state)
        if node.op == "not":
            return operand.negated if isinstance(operand, Condition) else UNKNOWN
        if not isinstance(operand, Polynomial):
            return None
        match node.op:
            case "neg":
                return self._exact(node, operand.scaled(-1), state)
            case "abs":
                if not node.type.is_signed:
                    self.record(node, (True,))
                    return operand
                return self._exact(node, absolute(self.reasoner, operand, state.facts), state)
            case "invert":
                return number_polynomial(-1 if node.type.is_signed else node.type.maximum) - operand
            case _:
                raise AssertionError(node.op)

    def _exact(self, node: k.Unary | k.Binary, value: Polynomial, state: State) -> Polynomial:
        """The result of an operation that traps, or wraps, where the exact `value` leaves its type."""
        type = node.type
        if type.is_modular:
            low, high = self.atoms.range(value)
            self.record(node, (True,))
            return value if low >= 0 and high <= type.maximum else self.atoms.fresh(0, type.maximum)
        self.record(node, (self.fits(node, "overflow", value, type, state, wanted=node.checked),))
        return value

    def _binary(self, node: k.Binary, state: State) -> Known:
        left, right = self.evaluate(node.left, state), self.evaluate(node.right, state)
        if isinstance(left, Condition) and isinstance(right, Condition):
            return self._bool_operator(node.op, left, right)
        if not (isinstance(left, Polynomial) and isinstance(right, Polynomial)):
            return None
        reasoner, facts = self.reasoner, state.facts
        ends = (node.type.minimum, node.type.maximum)
        match node.op:
            case "add":
                return self._exact(node, left + right, state)
            case "sub":
                return self._exact(node, left - right, state)
            case "mul":
                return self._exact(node, multiplied(reasoner, left, right), state)
            case "floordiv" | "mod":
                return self._division(node, left, right, state)
            case "pow":
                return self._power(node, left, right, state)
            case "shl" | "shr":
                return self._shift(node, left, right, state)
            case "and":
                return masked(reasoner, left, right, ends, facts)
            case "or" | "xor":
                return mixed_bits(reasoner, node.op, left, right, ends, facts)
            case "min":
                return smaller(reasoner, left, right, facts)
            case "max":
                return larger(reasoner, left, right, facts)
            case _:
                raise AssertionError(node.op)

    def _bool_operator(self, op: str, left: Condition, right: Condition) -> Condition:
        match op:
            case "and":
                return conjunction(left, right)
            case "or":
                return disjunction(left, right)
            case _:
                return UNKNOWN

    def _division(self, node: k.Binary, left: Polynomial, right: Polynomial, state: State) -> Polynomial:
        """Proved where the divisor keeps clear of 0 and, for a quotient, of MIN // -1."""
        type = node.type
        self._note_sign(node.left, left, state)
        self._note_sign(node.right, right, state)
        result = divided(self.reasoner, left, right, state.facts)
        if result is not None:
            self.record(node, (True,))
            return result[0] if node.op == "floordiv" else result[1]
        negative = self.reasoner.proves(right.scaled(-1).plus(-1), state.facts)
        if right.constant == 0 and node.checked and self.finds_failures and not self.trial:
            self.requires(node, "zero", (ZERO.plus(-1),), State({}, state.facts), wanted=True)
        above = self.reasoner.proves(left.plus(-type.minimum - 1), state.facts)
        self.record(node, (negative and (node.op == "mod" or above),))
        if node.op == "mod":
            low, high = self.atoms.range(right)
            return self.atoms.fresh(min(low + 1, 0), max(high - 1, 0))
        low, high = self.atoms.range(left)
        size = max(abs(low), abs(high))
        return self.atoms.fresh(*clipped((-size, size), type.minimum, type.maximum))

    def _note_sign(self, node: k.Expr, value: Polynomial, state: State) -> None:
        """Lowering divides without corrections where both sides are known not to be negative."""
        if not self.trial and node.type.is_signed:
            old = self.nonnegative.get(id(node), True)
            self.nonnegative[id(node)] = old and self.reasoner.shows(value, state.facts)

    def _power(self, node: k.Binary, base: Polynomial, exponent: Polynomial, state: State) -> Polynomial:
        ok = self.requires(node, "exponent", (exponent,), state, wanted=node.checked, about=(exponent,))
        ends = (node.type.minimum, node.type.maximum)
        value = powered(self.reasoner, base, exponent, ends)
        if node.type.is_modular:
            self.record(node, (ok,))
            low, high = self.atoms.range(value)
            return value if low >= 0 and high <= node.type.maximum else self.atoms.fresh(*ends)
        opaque = self.atoms.range(value) == ends and value.constant is None
        fits = self.fits(node, "overflow", value, node.type, state, wanted=node.checked) and not opaque
        self.record(node, (ok and fits,))
        return value

    def _shift(self, node: k.Binary, left: Polynomial, amount: Polynomial, state: State) -> Polynomial:
        bits = node.type.bits
        bounds = (amount, number_polynomial(bits - 1) - amount)
        ok = self.requires(node, "shift", bounds, state, wanted=node.checked, about=(amount,))
        if node.op == "shr":
            self.record(node, (ok,))
            return shifted_right(self.reasoner, left, amount, bits, state.facts)
        value = shifted_left(self.reasoner, left, amount, bits)
        if node.type.is_modular:
            self.record(node, (ok,))
            low, high = self.atoms.range(value)
            return value if low >= 0 and high <= node.type.maximum else self.atoms.fresh(0, node.type.maximum)
        fits = self.fits(node, "overflow", value, node.type, state, wanted=node.checked)
        self.record(node, (ok and fits,))
        return value

    # --- choices ------------------------------------------------------------------------------------------------------

    def under(self, state: State, condition: Condition) -> State | None:
        """The state where `condition` holds; None where it cannot."""
        told = list(condition.holds)
        for difference in condition.unequal_holds:
            if self.reasoner.proves(difference, state.facts):
                told.append(difference.plus(-1))
            elif self.reasoner.proves(difference.scaled(-1), state.facts):
                told.append(difference.scaled(-1).plus(-1))
        if any(fact.constant is not None and fact.constant < 0 for fact in told):
            return None
        inner = state.copy()
        inner.learn(*told)
        return inner

    def _logical(self, node: k.Logical, state: State) -> Condition:
        left = self.condition(node.left, state)
        if self.anyway is not None:
            right = self.condition(node.right, state)
            return conjunction(left, right) if node.op == "and" else disjunction(left, right)
        self._look_without_condition(node, (node.right,), state)
        inner = self.under(state, left if node.op == "and" else left.negated)
        if inner is None:
            return left
        right = self.condition(node.right, inner)
        return conjunction(left, right) if node.op == "and" else disjunction(left, right)

    def _choose(self, node: k.Choose, state: State) -> Known:
        condition = self.condition(node.condition, state)
        if self.anyway is not None:
            for side in (node.then, node.otherwise):
                self.evaluate(side, state)
            return self.unknown(node.type)
        self._look_without_condition(node, (node.then, node.otherwise), state)
        return self._either(node.type, condition, node.then, node.otherwise, state)

    def _look_without_condition(self, node: k.Expr, sides: tuple[k.Expr, ...], state: State) -> None:
        """Find out whether what the condition of `node` guards may be evaluated without it, if it loads anything."""
        if self.trial or self.finds_failures or not self.decides:
            return
        if not any(isinstance(part, k.Load) for side in sides for part in visit(side)):
            return
        self.anyway = self.loads_anyway.get(id(node), True)
        for side in sides:
            if self.anyway:
                self.evaluate(side, state.copy())
        self.loads_anyway[id(node)] = self.anyway
        self.anyway = None

    def _either(self, type: Scalar, condition: Condition, then: k.Expr, otherwise: k.Expr, state: State) -> Known:
        cases: list[Case] = []
        known = type.is_integer
        for side, holds in ((then, condition), (otherwise, condition.negated)):
            inner = self.under(state, holds)
            if inner is None:
                continue
            value = self.evaluate(side, inner)
            if isinstance(value, Polynomial):
                cases.append(Case(value, inner.facts[len(state.facts) :]))
            else:
                known = False
        if not known or not cases:
            return self.unknown(type)
        return chosen(self.reasoner, tuple(cases))

    # --- conversions and functions ------------------------------------------------------------------------------------

    def _cast(self, node: k.Cast, state: State) -> Known:
        value = self.evaluate(node.value, state)
        source, target = node.value.type, node.type
        if target is Scalar.BOOL:
            return compared("ne", value, ZERO) if isinstance(value, Polynomial) else UNKNOWN
        if not target.is_integer:
            return None
        if isinstance(value, Condition):
            self.record(node, (True,))
            return chosen(self.reasoner, tuple(Case(number, facts) for number, facts in as_number(value)))
        if not isinstance(value, Polynomial):
            self.record(node, (False,))
            return self.unknown(target)
        if target.is_modular:
            low, high = self.atoms.range(value)
            self.record(node, (True,))
            return value if low >= 0 and high <= target.maximum else self.unknown(target)
        if target.holds(source.minimum) and target.holds(source.maximum):
            self.record(node, (True,))
            return value
        self.record(node, (self.fits(node, "cast", value, target, state, wanted=node.checked),))
        return value

    def _call(self, node: k.Call, state: State) -> Known:
        values = [self.evaluate(argument, state) for argument in node.arguments]
        numbers = [value for value in values if isinstance(value, Polynomial)]
        name, facts = node.name, state.facts
        if not node.type.is_integer:
            return self.unknown(node.type)
        if name == "select" and isinstance(values[0], Condition) and len(numbers) == 2:
            first, second = numbers
            return chosen(self.reasoner, (Case(first, values[0].holds), Case(second, values[0].fails)))
        if name == "clamp" and len(numbers) == 3:
            value, low, high = numbers
            return smaller(self.reasoner, larger(self.reasoner, value, low, facts), high, facts)
        if name.startswith("saturate_"):
            target = Scalar(name.removeprefix("saturate_"))
            if len(numbers) == 1:
                low, high = number_polynomial(target.minimum), number_polynomial(target.maximum)
                return smaller(self.reasoner, larger(self.reasoner, numbers[0], low, facts), high, facts)
            return self.atoms.fresh(target.minimum, target.maximum)
        if name.rstrip("0123456789") in ("popcount", "clz", "ctz"):
            return self.atoms.fresh(0, node.arguments[0].type.bits)
        return self.unknown(node.type)

    # --- memory -------------------------------------------------------------------------------------------------------

    def subscript(self, node: k.Load | k.Store | k.Atomic, state: State) -> tuple[Polynomial, ...]:
        """Evaluate the subscripts; decide each axis."""
        indices = tuple([self.integer(index, state) for index in node.indices])
        return self.in_range(node, indices, state)

    def in_range(
        self, node: k.Load | k.Store | k.Atomic, indices: tuple[Polynomial, ...], state: State
    ) -> tuple[Polynomial, ...]:
        extents = self.launch.extents(node.array)
        verdicts: list[bool] = []
        for axis, (index, extent) in enumerate(zip(indices, extents, strict=True)):
            bounds = (index, extent - index.plus(1))
            wanted = node.checked[axis]
            verdicts.append(self.requires(node, "index", bounds, state, axis, wanted=wanted, about=(index, extent)))
        self.record(node, tuple(verdicts))
        return indices

    def _load(self, node: k.Load, state: State) -> Known:
        indices = self.subscript(node, state)
        if node.array not in self.launch.constant_arrays and self.anyway is not None:
            self.anyway = False
        if not node.type.is_integer:
            return self.unknown(node.type)
        low, high = self.launch.element_range(node.array)
        if node.array in self.launch.constant_arrays:
            # Nobody writes the array during the launch, so equal subscripts load equal values.
            value = self.atoms.keyed(("load", node.array, indices), low, high)[0]
            bounds = self.launch.element_bounds.get(node.array)
            if bounds is not None:
                state.learn(value - bounds[0], bounds[1] - value.plus(1))
            return value
        return self.atoms.fresh(low, high)


def evaluator_of(kernel: k.Kernel, facts: LaunchFacts, eliminates: bool) -> Evaluator:
    atoms = Atoms()
    reasoner = Reasoner(atoms, Solver(atoms, eliminates=eliminates))
    return Evaluator(kernel, reasoner, launch_of(kernel, facts, reasoner))
