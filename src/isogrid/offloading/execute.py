"""Run the sections of an offloaded function in order on one device, with the scalars between them on the host."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from isogrid.analysis.facts import LaunchFacts
from isogrid.frontend.definition import Definition, Specialisation
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.launch.arguments import Arguments
from isogrid.launch.arrays import device_of
from isogrid.launch.backends import runtime
from isogrid.launch.create import synchronize
from isogrid.launch.devices import Device
from isogrid.launch.dispatch import Compiled
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.launch.kernel_value import Kernel
from isogrid.launch.native import native_callable
from isogrid.launch.options import Options
from isogrid.launch.stored import SourceMemory
from isogrid.offloading.kernels import (
    Program,
    fold_program,
    gathering_program,
    map_program,
    reducing_program,
    sequential_program,
)
from isogrid.offloading.launch_checks import Values, check_loop, iterations
from isogrid.offloading.ranges import IndexCheck, condition_of, facts_of_indices, index_checks, scalars_for_locals
from isogrid.offloading.sections import Plan, Section
from isogrid.offloading.totals import finished
from isogrid.offloading.tree import BLOCK, Part, parts_of
from isogrid.offloading.trips import trips_of
from isogrid.support.records import dataclass

#: Iterations from which a loop that adds into few elements gathers its sums first, and how many elements are few.
MANY_UPDATES: Final = 8192
FEW_ELEMENTS: Final = 1024
#: Most sizes that one function is compiled for.
_MOST_SIZES: Final = 8


@dataclass(slots=True)
class Ready:
    """A program with the kernel value that launches it."""

    program: Program
    kernel: Kernel
    traps: bool


@dataclass(slots=True)
class Executor:
    """One specialisation of a function under one set of options, on one device. Kernels are made when first needed."""

    definition: Definition
    base: k.Kernel
    plan: Plan
    specialisation: Specialisation
    options: Options
    tunables: Mapping[str, int]
    device: Device | None
    kernels: dict[tuple[Any, ...], Ready] = field(default_factory=dict[tuple[Any, ...], Ready])
    checks: dict[int, list[IndexCheck]] = field(default_factory=dict[int, list[IndexCheck]])
    facts: dict[int, tuple[k.Require, ...]] = field(default_factory=dict[int, tuple[k.Require, ...]])
    failing: dict[int, bool] = field(default_factory=dict[int, bool])

    def run(self, values: Sequence[Any], arguments: Arguments, dims: Mapping[str, int]) -> tuple[Any, ...]:
        """The returned scalars. Raises with every array as it was before the call."""
        run = Run(self, values, arguments, dims)
        try:
            for section in self.plan.sections:
                if not run.section(section):
                    break
            run.settle()
        except BaseException:
            run.restore()
            raise
        return tuple(run.scalars[local.name] for local in self.plan.results)

    def native(self) -> Any:
        """`(callable, runtime)` for a function that is one loop without reductions and returns nothing; else None.

        The callable takes the function's own arguments and judges the facts about indices as preconditions.
        """
        sections = self.plan.sections
        if len(sections) != 1 or sections[0].accepted is None or self.plan.results:
            return None
        ready = self.kernels.get(("parallel", id(sections[0]), True))
        if ready is None or ready.program.scalars or ready.program.arrays:
            return None
        return native_of(ready.kernel, self.specialisation)

    # --- kernels -------------------------------------------------------------------------------------------------

    def sequential(self, section: Section) -> Ready:
        key = ("sequential", id(section))
        if key not in self.kernels:
            program = sequential_program(self.base, self.definition, section, self.plan.label)
            self.kernels[key] = self._ready(program)
        return self.kernels[key]

    def parallel(self, section: Section, quick: bool) -> Ready:
        """The kernel of an accepted loop; the `quick` one takes the facts about its indices for granted."""
        key = ("parallel", id(section), quick)
        if key not in self.kernels:
            requires = self.requires(section) if quick else ()
            assert section.accepted is not None
            if section.accepted.reductions:
                program = reducing_program(self.base, self.definition, section, requires)
            else:
                block = min(BLOCK, self.options.most_threads)
                program = map_program(self.base, self.definition, section, requires, block)
            self.kernels[key] = self._ready(program)
        return self.kernels[key]

    def gathering(self, section: Section, dims: Mapping[str, int]) -> Ready | None:
        """The kernel of a loop that adds into few elements, for arrays of these sizes; None where it is none."""
        sizes = {name: dims[name] for name in self.gathered(section) if name in dims}
        if not sizes or max(sizes.values()) > FEW_ELEMENTS or self.options.most_threads < BLOCK:
            return None
        key = ("gathering", id(section), *sorted(sizes.items()))
        if key not in self.kernels:
            if sum(known[0] == "gathering" for known in self.kernels) >= _MOST_SIZES:
                return None
            program = gathering_program(self.base, self.definition, section, self.requires(section), sizes)
            self.kernels[key] = self._ready(program)
        return self.kernels[key]

    def gathered(self, section: Section) -> tuple[str, ...]:
        """The dimensions of the arrays that a loop adds 32-bit integers to, if that is all it does to them."""
        accepted = section.accepted
        assert accepted is not None
        arrays = {p.name: p for p in self.base.parameters if isinstance(p, k.ArrayParameter)}
        found: list[str] = []
        for written in accepted.written.values():
            parameter = arrays[written.array]
            if written.kind != "scatter":
                continue
            if written.op != "add" or parameter.element.bits != 32 or len(parameter.shape) != 1:
                return ()
            if (
                not isinstance(parameter.shape[0], k.DimValue)
                or parameter.shape[0].name in self.definition.constant_dims
            ):
                return ()
            found.append(parameter.shape[0].name)
        return tuple(found) if section.inner is None and not accepted.reductions and not self.base.facts else ()

    def fold(self, part: Part) -> Ready:
        key = ("fold", part.op, part.type)
        if key not in self.kernels:
            self.kernels[key] = self._ready(fold_program(self.base, self.definition, part), alone=True)
        return self.kernels[key]

    def requires(self, section: Section) -> tuple[k.Require, ...]:
        """Conditions that bring the indices of a loop into their arrays."""
        if section.number not in self.facts:
            self.facts[section.number] = self._requires(section)
        return self.facts[section.number]

    def _requires(self, section: Section) -> tuple[k.Require, ...]:
        accepted = section.accepted
        assert accepted is not None
        trips = trips_of(section.loop)
        shapes = {p.name: p.shape for p in self.base.parameters if isinstance(p, k.ArrayParameter)}
        facts = facts_of_indices(accepted, trips, shapes)
        forms = accepted.candidate.forms
        facts += [w.coefficient.plus(-1) for w in accepted.written.values() if w.kind in ("scaled", "image")]
        conditions = [condition_of(forms, fact) for fact in facts]
        if not accepted.reductions and not isinstance(trips, k.DimValue):
            conditions.insert(0, k.Compare("ge", trips, k.Const(0, trips.type)))
        if section.inner is not None and not isinstance(trips_of(section.inner), k.DimValue | k.Const):
            trips = trips_of(section.inner)
            conditions.insert(0, k.Compare("ge", trips, k.Const(0, trips.type)))
        return tuple(k.Require(condition, "the indices of the loop") for condition in conditions)

    def may_fail(self, section: Section) -> bool:
        """Whether a section may end the call with an error."""
        key = id(section)
        if key not in self.failing:
            self.failing[key] = section.accepted is not None or not all(map(_is_harmless, section.statements))
            self.failing[key] = self.failing[key] and (section.accepted is not None or self.sequential(section).traps)
        return self.failing[key]

    def index_checks(self, section: Section) -> list[IndexCheck]:
        if section.number not in self.checks:
            assert section.accepted is not None
            self.checks[section.number] = index_checks(section.accepted)
        return self.checks[section.number]

    def _ready(self, program: Program, alone: bool = False) -> Ready:
        compiled = Compiled(memory=SourceMemory(known=True))
        spec = self.specialisation
        key = Specialisation((), spec.constants) if alone else spec
        compiled.programs[key] = program.kernel
        kernel = Kernel(program.definition, compiled, self.options, self.tunables, self.device)
        return Ready(program, kernel, may_trap(program.kernel))


def may_trap(kernel: k.Kernel) -> bool:
    """Whether a check stays after the passes."""
    from isogrid.pipeline import optimise

    for node in visit(optimise(kernel, frozenset(), LaunchFacts(small=True), {}).body):
        match node:
            case k.Load(checked=checked) | k.Store(checked=checked) | k.Atomic(checked=checked) if any(checked):
                return True
            case k.Store(narrow_checked=True) | k.For(step_checked=True) | k.Assert():
                return True
            case k.Atomic(op="add", total_checked=True, element=element) if element.is_checked:
                return True
            case k.Binary(checked=True) | k.Unary(checked=True) | k.Cast(checked=True):
                return True
            case _:
                pass
    return False


def native_of(kernel: Kernel, specialisation: Specialisation) -> Any:
    """The native callable of a section that has run, and its runtime; None where the device has none."""
    for (spec, device, used), artifact in kernel.compiled.artifacts.items():
        if spec == specialisation:
            found = runtime(device)
            program = kernel.compiled.programs[spec]
            callable_ = native_callable(found, artifact, program, kernel.definition, spec, used)
            return None if callable_ is None else (callable_, found)
    return None


@dataclass(slots=True)
class _Saved:
    array: Any
    copy: Any


class Run:
    """One call."""

    def __init__(
        self, executor: Executor, values: Sequence[Any], arguments: Arguments, dims: Mapping[str, int]
    ) -> None:
        self.executor = executor
        self.values = tuple(values)
        self.arguments = arguments
        self.dims = dims
        self.scalars: dict[str, Any] = dict(arguments.scalars)
        self.saved: dict[str, _Saved] = {}

    def section(self, section: Section) -> bool:
        """Run one section; False when the function returned in it."""
        if section.accepted is not None:
            self._loop(section)
            return True
        return self._on_host(section) or self._sequential(section)

    # --- sequential sections -----------------------------------------------------------------------------------------

    def _on_host(self, section: Section) -> bool:
        """Scalar assignments need no kernel, unless one of them traps, which a kernel then words."""
        if not all(isinstance(s, k.Assign) and is_scalar(s.value) for s in section.statements):
            return False
        found = dict(self.scalars)
        try:
            for statement in section.statements:
                assert isinstance(statement, k.Assign)
                found[statement.name] = evaluate(scalars_for_locals(statement.value), found, self.dims)
        except CannotEvaluate:
            return False
        self.scalars = found
        return True

    def _sequential(self, section: Section) -> bool:
        ready = self.executor.sequential(section)
        self._save(ready, section)
        outputs = [np.zeros(1, type.numpy) for _, type in ready.program.arrays]
        self._launch(ready, outputs)
        left = False
        for (name, type), output in zip(ready.program.arrays, outputs, strict=True):
            value = host_value(type, output[0])
            if name == "left.function.out":
                left = bool(value)
            else:
                self.scalars[name.removesuffix(".out")] = value
        return not left

    # --- loops -------------------------------------------------------------------------------------------------------

    def _loop(self, section: Section) -> None:
        executor = self.executor
        name = executor.definition.name
        accepted = section.accepted
        assert accepted is not None
        values = Values(self.scalars, self.dims)
        trips = iterations(name, section.number, section.loop, values)
        inner = section.inner
        if not trips or (inner is not None and not iterations(name, section.number, inner, values)):
            return
        shapes = {array: value.shape for array, value in self.arguments.arrays.items()}
        check_loop(name, section.number, accepted, executor.index_checks(section), trips, values, shapes)
        quick = self._facts_hold(section)
        gathering = executor.gathering(section, self.dims) if quick and len(trips) >= MANY_UPDATES else None
        ready = gathering or executor.parallel(section, quick)
        self._save(ready, section)
        if not accepted.reductions:
            self._launch(ready, ())
            return
        blocks = -(-len(trips) // BLOCK)
        partials = [np.empty(blocks, type.numpy) for _, type in ready.program.arrays]
        self._launch(ready, partials)
        self._finish(section, dict(zip((n for n, _ in ready.program.arrays), partials, strict=True)))

    def _facts_hold(self, section: Section) -> bool:
        try:
            return all(
                evaluate(require.condition, self.scalars, self.dims) for require in self.executor.requires(section)
            )
        except CannotEvaluate:
            return False

    def _finish(self, section: Section, partials: Mapping[str, Any]) -> None:
        assert section.accepted is not None
        found: dict[str, Any] = {}
        for name, reduction in section.accepted.reductions.items():
            parts = parts_of(reduction)
            folded = {part.name: self._folded(part, partials[f"{part.name}.partial"]) for part in parts}
            found[name] = finished(self.executor.definition.name, reduction, self.scalars[name], folded, parts)
        self.scalars |= found

    def _folded(self, part: Part, values: Any) -> Any:
        while values.size > 1:
            blocks = np.empty(-(-values.size // BLOCK), values.dtype)
            self.executor.fold(part).kernel(values, blocks)
            values = blocks
        return host_value(part.type, values[0])

    # --- launches and restoring --------------------------------------------------------------------------------------

    def _launch(self, ready: Ready, arrays: Sequence[Any]) -> None:
        scalars = [
            argument(local.type, self.scalars[local.name.removesuffix(".in")]) for local in ready.program.scalars
        ]
        ready.kernel(*self.values, *scalars, *arrays)

    def _save(self, ready: Ready, section: Section) -> None:
        """Keep what a later section's trap must bring back. A trap of this section itself is restored by its launch."""
        sections = self.executor.plan.sections
        later = sections[[s is section for s in sections].index(True) + 1 :]
        own_total = section.accepted is not None and any(
            r.type.is_checked and r.op in ("add", "mul") for r in section.accepted.reductions.values()
        )
        if not own_total and not any(self.executor.may_fail(s) for s in later):
            return
        for parameter in ready.program.kernel.parameters:
            if not isinstance(parameter, k.ArrayParameter) or not parameter.access.writes:
                continue
            array = self.arguments.arrays.get(parameter.name)
            if array is not None and parameter.name not in self.saved:
                self.saved[parameter.name] = _Saved(array, array.copy())

    def settle(self) -> None:
        """Wait for what was queued on arrays of devices, so that its trap is this call's."""
        if len(self.executor.plan.sections) == 1 and not self.executor.plan.results:
            return  # like a kernel, one loop is queued, and its trap comes with the next use
        for name in {device_of(array) for array in self.arguments.arrays.values()} - {None}:
            synchronize(name)

    def restore(self) -> None:
        """Put every array back that an earlier section changed."""
        for saved in self.saved.values():
            copy: Any = saved.copy
            saved.array[...] = copy.numpy() if hasattr(copy, "numpy") else copy


def is_scalar(value: k.Expr) -> bool:
    """Whether an expression reads no array."""
    return not any(isinstance(node, k.Load | k.Query) for node in visit(value))


def _is_harmless(statement: k.Statement) -> bool:
    """A scalar assignment that cannot trap."""
    if not isinstance(statement, k.Assign) or not is_scalar(statement.value):
        return False
    return not any(isinstance(n, k.Binary | k.Unary | k.Cast) and n.checked for n in visit(statement))


def host_value(type: Scalar, value: Any) -> Any:
    """An element as launches take scalars: Python ints and bools, NumPy floats."""
    return value if type.is_float else value.item()


def argument(type: Scalar, value: Any) -> Any:
    """A scalar as a plain Python number, which a launch stub takes; exact."""
    return float(value) if type.is_float else value
