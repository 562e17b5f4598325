"""The kernels of an offloaded function's sections on one device, each made when it is first needed."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from isogrid.analysis.facts import LaunchFacts
from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import Definition, Specialisation
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.launch.backends import LAST_RESORT, runtime
from isogrid.launch.devices import Device
from isogrid.launch.dispatch import Compiled
from isogrid.launch.errors import OptionError
from isogrid.launch.kernel_value import Kernel
from isogrid.launch.native import native_callable
from isogrid.launch.options import Options
from isogrid.launch.sourcekey import canonical
from isogrid.launch.specialise import tunable_values
from isogrid.launch.stored import SourceMemory
from isogrid.offloading.kernels import (
    Program,
    fold_program,
    gathering_program,
    map_program,
    reducing_program,
    sequential_program,
)
from isogrid.offloading.ranges import IndexCheck, condition_of, facts_of_indices, index_checks
from isogrid.offloading.sections import Plan, Section
from isogrid.offloading.tree import BLOCK, Part
from isogrid.offloading.trips import trips_of
from isogrid.runtimes.protocol import Runtime
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass

#: Iterations from which a loop that adds into few elements gathers its sums first, and how many elements are few.
MANY_UPDATES: Final = 8192
FEW_ELEMENTS: Final = 1024
#: Sizes and integer scalars of a small launch are below (analysis/facts.py).
SMALL: Final = 1 << 31
#: Most sizes that one function is compiled for.
_MOST_SIZES: Final = 8


@dataclass(slots=True)
class Ready:
    """A program with the kernel value that launches it."""

    program: Program
    kernel: Kernel
    known: dict[bool, bool] = field(default_factory=dict[bool, bool])

    def traps(self, small: bool) -> bool:
        """Whether a launch may trap: one of small sizes and scalars, or any."""
        if small not in self.known:
            self.known[small] = may_trap(self.program.kernel, small)
        return self.known[small]


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
    #: Name of the device that runs the accepted loops.
    where: str
    #: What stored code goes by, and what the names of the function mean.
    memory: SourceMemory
    captures: Captures
    kernels: dict[tuple[Any, ...], Ready] = field(default_factory=dict[tuple[Any, ...], Ready])
    checks: dict[int, list[IndexCheck]] = field(default_factory=dict[int, list[IndexCheck]])
    facts: dict[int, tuple[k.Require, ...]] = field(default_factory=dict[int, tuple[k.Require, ...]])
    harmless: dict[int, bool] = field(default_factory=dict[int, bool])
    #: Held while a kernel is made: calls in several threads use the same one, whose native callable serves them all.
    lock: Any = field(default_factory=new_lock)

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
        return native_of(self, ready.kernel)

    def gathers(self) -> bool:
        """Whether the function is one loop that adds into arrays that may be small, and returns nothing."""
        (first, *others) = self.plan.sections
        return not others and first.accepted is not None and not self.plan.results and bool(self.gathered(first))

    # --- kernels -------------------------------------------------------------------------------------------------

    def sequential(self, section: Section, on_cpu: bool = False) -> Ready:
        """The kernel of sequential statements: `on_cpu`, or where the accepted loops run."""

        def program() -> Program:
            return sequential_program(self.base, self.definition, section, self.plan.label)

        return self._made(("sequential", id(section), on_cpu), program, device=Device(LAST_RESORT) if on_cpu else None)

    def parallel(self, section: Section, quick: bool) -> Ready:
        """The kernel of an accepted loop; the `quick` one takes the facts about its indices for granted."""

        def program() -> Program:
            requires = self.requires(section) if quick else ()
            assert section.accepted is not None
            if section.accepted.reductions:
                self._check_room(section)
                return reducing_program(self.base, self.definition, section, requires)
            block = min(BLOCK, self.options.most_threads)
            return map_program(self.base, self.definition, section, requires, block)

        return self._made(("parallel", id(section), quick), program)

    def _check_room(self, section: Section) -> None:
        most = self.options.most_threads
        if most < BLOCK:
            raise OptionError(
                f"{self.definition.name}(): loop {section.number} reduces in groups of {BLOCK} threads, and "
                f"max_threads={most} allows {most}"
            )

    def gathering(self, section: Section, dims: Mapping[str, int]) -> Ready | None:
        """The kernel of a loop that adds into few elements, for arrays of these sizes; None where it is none."""
        sizes = {name: dims[name] for name in self.gathered(section) if name in dims}
        if not sizes or max(sizes.values()) > FEW_ELEMENTS or self.options.most_threads < BLOCK:
            return None
        key = ("gathering", id(section), *sorted(sizes.items()))
        with self.lock:
            if key not in self.kernels and sum(known[0] == "gathering" for known in self.kernels) >= _MOST_SIZES:
                return None
            return self._made(
                key, lambda: gathering_program(self.base, self.definition, section, self.requires(section), sizes)
            )

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
        return self._made(
            ("fold", part.op, part.type), lambda: fold_program(self.base, self.definition, part), alone=True
        )

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

    def may_fail(self, section: Section, small: bool) -> bool:
        """Whether sequential statements may end the call with an error."""
        if id(section) not in self.harmless:
            self.harmless[id(section)] = all(map(_is_harmless, section.statements))
        return not self.harmless[id(section)] and self.sequential(section).traps(small)

    def index_checks(self, section: Section) -> list[IndexCheck]:
        if section.number not in self.checks:
            assert section.accepted is not None
            self.checks[section.number] = index_checks(section.accepted)
        return self.checks[section.number]

    def _made(
        self,
        key: tuple[Any, ...],
        program: Callable[[], Program],
        alone: bool = False,
        device: Device | None = None,
    ) -> Ready:
        found = self.kernels.get(key)
        if found is None:
            with self.lock:
                found = self.kernels.get(key)
                if found is None:
                    found = self.kernels[key] = self._ready(key, program(), alone, device)
        return found

    def _ready(self, key: tuple[Any, ...], program: Program, alone: bool, device: Device | None) -> Ready:
        part = self.memory.for_part(self._part(key), self.definition, self.captures)
        compiled = Compiled(captures=self.captures, memory=part)
        spec = self.specialisation
        if alone:  # of the function it has the tunables, and none of the arrays that settle the rest
            spec = Specialisation((), tuple(sorted(tunable_values(program.definition, self.tunables).items())))
        compiled.programs[spec] = program.kernel
        kernel = Kernel(program.definition, compiled, self.options, self.tunables, device or self.device)
        return Ready(program, kernel)

    def _part(self, key: tuple[Any, ...]) -> str:
        """The key of a kernel as every process writes it."""
        numbers = {id(section): number for number, section in enumerate(self.plan.sections)}
        return canonical([numbers.get(part, part) for part in key])


def may_trap(kernel: k.Kernel, small: bool) -> bool:
    """Whether a check stays after the passes, in code for small launches or for any."""
    from isogrid.pipeline import optimise

    for node in visit(optimise(kernel, frozenset(), LaunchFacts(small=small), {}).body):
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


def native_of(executor: Executor, kernel: Kernel, most_units: int | None = None) -> Any:
    """The native callable of a section that has run, for launches of at most `most_units`, and its runtime; None where
    the device has none."""
    found = ran_as(kernel, executor.specialisation)
    if found is None:
        return None
    device, artifact, used = found
    spec = executor.specialisation
    program = as_declared(kernel.compiled.programs[spec], executor.base)
    native = native_callable(device, artifact, program, kernel.definition, spec, used, most_units)
    return None if native is None else (native, device)


def as_declared(kernel: k.Kernel, base: k.Kernel) -> k.Kernel:
    """The kernel of a section with the arrays as the function declares them: what may be written has to be writable,
    and apart from the others, whether or not this section writes it."""
    declared = {p.name: p.access for p in base.parameters if isinstance(p, k.ArrayParameter)}
    parameters = tuple(
        replace(p, access=declared[p.name]) if isinstance(p, k.ArrayParameter) and p.name in declared else p
        for p in kernel.parameters
    )
    return replace(kernel, parameters=parameters)


def ran_as(kernel: Kernel, specialisation: Specialisation) -> tuple[Runtime, Any, Options] | None:
    """The runtime, artifact and options of a section that has run."""
    for (spec, device, used), artifact in kernel.compiled.artifacts.copy().items():
        if spec == specialisation:
            return runtime(device), artifact, used
    return None


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
