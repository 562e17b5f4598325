"""Which checks of a kernel cannot fail, and which fail whenever they are reached.

proofs = analyse_bounds(kernel, LaunchFacts())
proofs.checks(load)      # one verdict per axis of the subscript
"""

from dataclasses import dataclass

from isogrid.analysis.evaluator import Evaluator, Failure, State, evaluator_of
from isogrid.analysis.facts import LaunchFacts
from isogrid.analysis.flow import walk
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit_statements


@dataclass(frozen=True, slots=True)
class Proofs:
    """Verdicts by node identity: they speak of the very kernel that was analysed, which must be kept alive."""

    kernel: k.Kernel
    proved: dict[int, tuple[bool, ...]]
    narrowing: dict[int, bool]
    totals: frozenset[int]
    nonnegative: frozenset[int]
    bounded: frozenset[int]
    #: `and`, `or` and conditional expressions that guard loads which may as well be made without their condition.
    loads_anyway: frozenset[int]

    def checks(self, node: k.Load | k.Store | k.Atomic) -> tuple[bool, ...]:
        """For each axis whether the subscript is proved in range. A node that no thread reaches counts as unproved."""
        return self.proved.get(id(node), (False,) * len(node.indices))

    def holds(self, node: k.Node) -> bool:
        """Whether the one check of an operation, conversion or step is proved."""
        return self.proved.get(id(node), (False,))[0]


def analyse_bounds(kernel: k.Kernel, facts: LaunchFacts) -> Proofs:
    """Walk the kernel once, with loops studied for what they keep true. Deterministic, bounded by counts."""
    return _walked(kernel, evaluator_of(kernel, facts, eliminates=True))


def certain_failures(kernel: k.Kernel, facts: LaunchFacts) -> tuple[Failure, ...]:
    """Checks that fail whenever they are reached.

    A quick look by intervals alone comes first; only the full analysis knows which places no thread reaches.
    """
    for eliminates in (False, True):
        evaluator = evaluator_of(kernel, facts, eliminates)
        evaluator.finds_failures = True
        walk(evaluator)
        if not evaluator.failures:
            return ()
    return tuple(evaluator.failures.values())


def analyse_signs(kernel: k.Kernel, facts: LaunchFacts) -> Proofs:
    """What lowering asks, `nonnegative` and `bounded`; of the checks it decides only those that intervals decide."""
    evaluator = evaluator_of(kernel, facts, eliminates=True)
    evaluator.decides = False
    return _walked(kernel, evaluator)


def _walked(kernel: k.Kernel, evaluator: Evaluator) -> Proofs:
    walker = walk(evaluator)
    return Proofs(
        kernel,
        evaluator.proved,
        evaluator.narrowing,
        _proved_totals(kernel, evaluator),
        frozenset(node for node, proved in evaluator.nonnegative.items() if proved),
        frozenset(loop for loop, proved in walker.bounded.items() if proved),
        frozenset(choice for choice, proved in evaluator.loads_anyway.items() if proved),
    )


def unsatisfiable_requirement(kernel: k.Kernel) -> k.Require | None:
    """The first precondition that no launch with a thread meets together with the sizes and those before it."""
    if not kernel.requires:
        return None
    evaluator = evaluator_of(kernel, LaunchFacts(), eliminates=True)
    state: State | None = State({}, evaluator.launch.facts)
    evaluator.trial += 1
    for require in kernel.requires:
        state = evaluator.under(state, evaluator.condition(require.condition, state))
        if state is None or evaluator.reasoner.solver.contradictory(state.facts):
            return require
    return None


def _proved_totals(kernel: k.Kernel, evaluator: Evaluator) -> frozenset[int]:
    """Adds whose totals fit: to shared arrays, which begin at zero, by threads that add a bounded amount each."""
    shared = {array.name: array for array in kernel.shared}
    proved: set[int] = set()
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    open_ended: set[str] = set()
    adds: list[k.Atomic] = []
    for node in visit_statements(kernel.body):
        match node:
            case k.Store():
                least, most = evaluator.stored.get(id(node), (node.element.minimum, node.element.maximum))
                low[node.array] = low.get(node.array, 0) + min(least, 0)
                high[node.array] = high.get(node.array, 0) + max(most, 0)
            case k.Atomic(op="add"):
                adds.append(node)
                addend = evaluator.addends.get(id(node))
                if addend is None:
                    open_ended.add(node.array)
                    continue
                size = kernel.geometry.group_size
                low[node.array] = low.get(node.array, 0) + addend[0] * size
                high[node.array] = high.get(node.array, 0) + addend[1] * size
            case k.Atomic():
                open_ended.add(node.array)
            case _:
                pass
    for node in adds:
        name, type = node.array, node.element
        if type.is_modular or (name in shared and name not in open_ended and _fits(type, low[name], high[name])):
            proved.add(id(node))
    return frozenset(proved)


def _fits(type: Scalar, low: int, high: int) -> bool:
    return type.holds(low) and type.holds(high)
