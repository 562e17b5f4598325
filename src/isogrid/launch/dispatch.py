"""A launch from arguments to device: every check in the order of the contract, then specialise, compile, run.

    pending traps - count and names - dtypes - ranks - byte order - read-only - extents - overlap - geometry
    - device limits - preconditions - a zero extent returns here - compile - launch

Programs (checked kernel IR) are kept per specialisation, artifacts per specialisation, device and options.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from isogrid.diagnostics.report import Severity
from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import Definition, Specialisation
from isogrid.ir import kernel as k
from isogrid.launch import stored
from isogrid.launch.arguments import Arguments, match_arguments, type_arguments
from isogrid.launch.arrays import Array, device_of
from isogrid.launch.backends import (
    LAST_RESORT,
    TRACKER,
    family,
    load_compiler,
    presence,
    runtime,
    runtime_attribute,
)
from isogrid.launch.bind import bind_arrays
from isogrid.launch.devices import Choice, Device, choose, ignored_hints, require_tested
from isogrid.launch.errors import DeviceWarning, LaunchValueError, OptionWarning, RequirementError
from isogrid.launch.evaluate import CannotEvaluate, evaluate, values_text
from isogrid.launch.geometry import MAXIMUM_GROUP, Given, Shape, check_given, check_group_size, settle_geometry
from isogrid.launch.native import NativeCalls, native_callable
from isogrid.launch.observe import current_graph, current_profile, is_watched
from isogrid.launch.options import Options, check_exactness, process_options, switched_off_by_environment
from isogrid.launch.queued import on_host, raise_pending, run_bound, written_names
from isogrid.launch.specialise import specialise, tunable_values
from isogrid.launch.usual import open_form
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.support.errors import KernelRefused, KnownLimit
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass
from isogrid.support.tell import tell
from isogrid.support.warn import warn_author

if TYPE_CHECKING:
    from isogrid.launch.kernel_value import Kernel


@dataclass(slots=True)
class Compiled:
    """What the values of one kernel share: programs and artifacts, each made once, under one lock; `values` are those
    themselves, by their settings."""

    programs: dict[Specialisation, k.Kernel] = field(default_factory=dict[Specialisation, k.Kernel])
    artifacts: dict[tuple[Specialisation, str, Options], Any] = field(
        default_factory=dict[tuple[Specialisation, str, Options], Any]
    )
    captures: Captures = field(default_factory=Captures)
    memory: stored.SourceMemory = field(default_factory=stored.SourceMemory)
    values: "dict[Any, Kernel]" = field(default_factory=dict[Any, Any])
    lock: Any = field(default_factory=new_lock)


def launch(
    kernel: "Kernel",
    positional: Sequence[Any],
    keywords: Mapping[str, Any],
    given: Given,
    explicit: Device | None = None,
    stream: Any = None,
    wait: bool = True,
) -> None:
    """Run one launch to its end, or queue it where all its arrays are on the device; or raise with nothing changed."""
    definition, natives = kernel.definition, kernel.natives
    given_values = (*positional, *keywords.values(), *kernel.fixed.values())
    choice = choice_for(explicit or kernel.device, given_values)
    options = effective_options(kernel.explicit_options, choice.device)
    raise_pending(choice.device.name, given_values)
    values = match_arguments(definition, kernel.fixed, positional, keywords)
    check_given(definition, given)
    arguments = type_arguments(definition, values, choice.device.name)
    constants = tunable_values(definition, kernel.tunables)
    dims = bind_arrays(definition, arguments, constants)
    shape = settle_geometry(definition, given, arguments.scalars, dims, options.most_threads)
    _device_limits(definition, shape, choice, options, stream)
    specialisation = specialise(definition, arguments, constants, dims, shape)
    program = _launchable(kernel, specialisation, choice.device.name, options)
    if shape.default_block and (program.grouped or shape.kind == "groups"):
        raise LaunchValueError(
            f"{definition.name}() leaves its block open, and a kernel of whole groups needs one; "
            f"write block= in its decorator or launch it with {definition.name}.launch(..., block=...)"
        )
    if shape.open_extents:
        dims |= {f"grid.{axis}": extent for axis, extent in enumerate(shape.extents)}
    _preconditions(definition, program, arguments, dims)
    if 0 in shape.extents:
        _trace(f"{definition.name}: {_shape_text(shape)}, nothing to do")
        return
    device, artifact = _artifact(kernel, specialisation, program, choice, options)
    used = options.for_backend(device)
    extents = _extents(program, shape)
    if not _run(definition, device, artifact, arguments, dims, shape, extents, used, stream, wait):
        return
    if program.facts or explicit is not None or _tracing():
        return
    ran = _Ran(choice, device, artifact, program, specialisation, used, natives)
    if kernel.fixed and len(kernel.fixed) == len(definition.parameters):
        _install_bound(kernel, ran, BoundLaunch(arguments.arrays, arguments.scalars, dims, extents))
    _install_native(kernel, ran, given, shape.rank if shape.open_extents else 0)


def _extents(program: k.Kernel, shape: Shape) -> tuple[int, ...]:
    """The extents of the kernel's own geometry: groups that a kernel cannot tell from a grid are a grid there."""
    if shape.kind == program.geometry.kind:
        return shape.extents
    return tuple(extent * side for extent, side in zip(shape.extents, shape.block, strict=True))


@dataclass(frozen=True, slots=True)
class _Ran:
    """What a launch has run, and the native callables that there were when it began."""

    choice: Choice
    device: str
    artifact: Any
    program: k.Kernel
    specialisation: Specialisation
    options: Options
    natives: NativeCalls


def _install_native(kernel: "Kernel", ran: _Ran, given: Given, open_rank: int) -> None:
    """Let launches like this one, which gave so many extents, go by a native callable from now on."""
    form = None
    if given != Given():
        form, _ = open_form(given.grid, given.groups, given.block)
        if form is None:
            return
    if kernel.is_served(ran.choice, ran.artifact, form):
        return
    names = tuple(f"grid.{axis}" for axis in range(open_rank))
    running = runtime(ran.device)
    native = native_callable(
        running, ran.artifact, ran.program, kernel.definition, ran.specialisation, ran.options, open_extents=names
    )
    if native is not None:
        kernel.install(ran.natives, native, ran.choice, running, ran.artifact, form)


def _install_bound(kernel: "Kernel", ran: _Ran, bound: BoundLaunch) -> None:
    """A launch whose every argument is known may skip all checks the next time."""
    make = getattr(runtime(ran.device), "bound_launch", None)
    complete = None if make is None else make(ran.artifact, bound)
    if complete is not None:
        kernel.install_bound(ran.natives, complete)


def effective_options(explicit: Options, device: Device) -> Options:
    """Explicit options over those of the device over the process defaults; passes switched off add up with the
    environment's."""
    merged = explicit.over(device.carried).over(process_options())
    check_exactness(merged)
    switched_off = switched_off_by_environment()
    if not switched_off:
        return merged
    return Options((("disable", switched_off | merged.get("disable", frozenset())),)).over(merged)


def _launchable(kernel: "Kernel", specialisation: Specialisation, device: str, options: Options) -> k.Kernel:
    """The kernel IR that a launch looks at. A compiled artifact has it, without the body, in its `head`; an artifact
    from the disk cache spares the front end, and its kernel passed every check when it was compiled."""
    compiled = kernel.compiled
    program = compiled.programs.get(specialisation)
    if program is not None:
        return program
    used = options.for_backend(device)
    key = (specialisation, device, used)
    artifact = compiled.artifacts.get(key)
    if artifact is None:
        with compiled.lock:
            artifact = stored.recall(
                kernel.definition, compiled.memory, specialisation, runtime(device), used, compiled.captures
            )
            if artifact is None:
                return program_of(kernel, specialisation)
            artifact = compiled.artifacts.setdefault(key, artifact)
        _trace(f"{kernel.definition.name}: found in the cache for {device}")
        _explain(kernel, device, artifact.head, artifact, used)
    return artifact.head if hasattr(artifact, "head") else program_of(kernel, specialisation)


def program_of(kernel: "Kernel", specialisation: Specialisation) -> k.Kernel:
    """The checked kernel IR of one specialisation, built on first use; raises `KernelRefused`."""
    compiled = kernel.compiled
    program = compiled.programs.get(specialisation)
    if program is not None:
        return program
    load_compiler()
    with compiled.lock:
        program = compiled.programs.get(specialisation)
        if program is None:
            program = _checked_program(kernel.definition, specialisation, compiled.captures)
            compiled.programs[specialisation] = program
    return program


def _refuse_inexact(program: k.Kernel) -> None:
    """Whether the proofs also hold where floats are rounded as the compiler likes."""
    from isogrid.pipeline import check_kernel

    faults = [report for report in check_kernel(program, fastmath=True) if report.severity is Severity.ERROR]
    if faults:
        raise KernelRefused(faults)


def _checked_program(definition: Definition, specialisation: Specialisation, captures: Captures) -> k.Kernel:
    from isogrid.frontend.build import build
    from isogrid.pipeline import check_kernel

    program = build(definition, specialisation, captures)
    faults = [report for report in check_kernel(program) if report.severity is Severity.ERROR]
    if faults:
        raise KernelRefused(faults)
    return program


# --- checks that need more than the arguments ------------------------------------------------------------------------


def _device_limits(definition: Definition, shape: Shape, choice: Choice, options: Options, stream: Any) -> None:
    bound = options.get("max_threads")
    if bound is not None:
        check_group_size(definition, shape, options.most_threads, f"max_threads={bound}")
    check_group_size(definition, shape, MAXIMUM_GROUP, f"the device {choice.device.name}")
    if stream is None:
        return
    from isogrid.launch.stream import Stream

    name = choice.device.name
    if isinstance(stream, Stream):
        if stream.device != name:
            raise LaunchValueError(
                f"{definition.name}(): the stream is of {stream.device}, and the launch runs on {name}"
            )
    elif not runtime_attribute(name, "has_streams", False):
        raise LaunchValueError(f"{definition.name}(): the device {name} has no streams; drop stream=")


def _preconditions(definition: Definition, program: k.Kernel, arguments: Arguments, dims: Mapping[str, int]) -> None:
    clauses: list[k.Require | k.ArrayFact] = [*program.requires]
    if program.facts:
        clauses = sorted([*clauses, *program.facts], key=lambda clause: (clause.span.line, clause.span.column))
    for clause in clauses:
        if isinstance(clause, k.ArrayFact):
            _array_precondition(definition, clause, arguments, dims)
            continue
        values = values_text(clause.condition, arguments.scalars, dims)
        given = f": {values}" if values else ""
        try:
            holds = evaluate(clause.condition, arguments.scalars, dims)
        except CannotEvaluate as fault:
            raise RequirementError(
                f"{definition.name}() requires `{clause.text}`, which has no value: {fault}{given}\n  {clause.span}"
            ) from None
        if not holds:
            raise RequirementError(f"{definition.name}() requires `{clause.text}`{given}\n  {clause.span}")


def _array_precondition(
    definition: Definition, fact: k.ArrayFact, arguments: Arguments, dims: Mapping[str, int]
) -> None:
    from isogrid.launch.facts import broken_fact

    try:
        broken = broken_fact(fact, on_host(arguments.arrays, fact), arguments.scalars, dims)
    except CannotEvaluate as fault:
        broken = f"a bound of it has no value, {fault}"
    if broken is not None:
        bounds = [values_text(e, arguments.scalars, dims) for e in (fact.low, fact.high) if e is not None]
        values = ", ".join(dict.fromkeys(part for text in bounds for part in text.split(", ") if part))
        given = f", with {values}" if values else ""
        raise RequirementError(f"{definition.name}() requires `{fact.text}`: {broken}{given}\n  {fact.span}")


# --- compile and run -------------------------------------------------------------------------------------------------


def _artifact(
    kernel: "Kernel", specialisation: Specialisation, program: k.Kernel, choice: Choice, options: Options
) -> tuple[str, Any]:
    """The device that takes the launch and the artifact for it: the default device may hand over to the last resort."""
    name = choice.device.name
    if program.races == "check" and name != TRACKER:
        _decided(kernel, name, f"races are tracked, so {TRACKER} runs it")
        return TRACKER, _compiled(kernel, specialisation, program, TRACKER, options)
    require_tested(name)
    try:
        return name, _compiled(kernel, specialisation, program, name, options)
    except (KnownLimit, KernelRefused) as refusal:
        if choice.named or name == LAST_RESORT:
            raise
        _warn_once(
            (kernel.definition.name, name),
            f"kernel {kernel.definition.name} runs on {LAST_RESORT}, because {name} refused it: {refusal}",
            DeviceWarning,
        )
        _decided(kernel, name, f"refused, falls back to {LAST_RESORT}")
        return LAST_RESORT, _compiled(kernel, specialisation, program, LAST_RESORT, options)


def _compiled(
    kernel: "Kernel", specialisation: Specialisation, program: k.Kernel, device: str, options: Options
) -> Any:
    compiled = kernel.compiled
    key = (specialisation, device, options.for_backend(device))
    artifact = compiled.artifacts.get(key)
    if artifact is not None:
        return artifact
    with compiled.lock:
        artifact = compiled.artifacts.get(key)
        if artifact is None:
            for hint in ignored_hints(device, options):
                _warn_once((device, hint), f"the option `{hint}` does nothing on {device}", OptionWarning)
            started = time.perf_counter()
            if options.get("fastmath"):
                _refuse_inexact(program)
            where = (kernel.definition, compiled.memory, specialisation, runtime(device), key[2])
            artifact = stored.recall(*where, compiled.captures)
            if artifact is not None:
                _trace(f"{kernel.definition.name}: found in the cache for {device}")
                _explain(kernel, device, program, artifact, key[2])
                return compiled.artifacts.setdefault(key, artifact)
            load_compiler(device)
            with _timed("compile", kernel.definition.name, device):
                artifact = runtime(device).compile(program, key[2].values())
            compiled.artifacts[key] = artifact
            stored.remember(*where, artifact, compiled.captures)
            _trace(f"{kernel.definition.name}: compiled for {device} in {_milliseconds(started)}")
            _explain(kernel, device, program, artifact, key[2])
    return artifact


def _explain(kernel: "Kernel", device: str, program: k.Kernel, artifact: Any, options: Options) -> None:
    if is_explaining():
        from isogrid.launch.decisions import explain_artifact  # few ask

        explain_artifact(kernel.definition.name, device, program, artifact, options)


def _run(
    definition: Definition,
    device: str,
    artifact: Any,
    arguments: Arguments,
    dims: Mapping[str, int],
    shape: Shape,
    extents: tuple[int, ...],
    options: Options,
    stream: Any,
    wait: bool,
) -> bool:
    """Run or queue it; whether a native callable may take the next such launch."""
    started = time.perf_counter()
    arrays, copied = _contiguous(arguments.arrays)
    bound = BoundLaunch(arrays, arguments.scalars, dims, extents, options.values(), stream, wait)
    graph = current_graph()
    if graph is not None:
        graph.add(definition, device, artifact, bound)
        return False
    try:
        with nullcontext() if hasattr(runtime(device), "profile") else _timed("launch", definition.name, device):
            usual = run_bound(definition, device, artifact, bound)
    except BaseException as error:
        ended = f"{type(error).__name__} after {_milliseconds(started)}"
        _trace(f"{definition.name} on {device}: {_shape_text(shape)}, {ended}")
        raise
    for name in written_names(definition):
        if name in copied:
            target: Any = arguments.arrays[name]
            np.copyto(target, arrays[name])
    _trace(f"{definition.name} on {device}: {_shape_text(shape)}, {_milliseconds(started)}")
    return usual and not is_watched()


def _contiguous(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], frozenset[str]]:
    """Arrays as runtimes take them, with the names of those that had to be copied."""
    ready: dict[str, Array] = {}
    copied: set[str] = set()
    for name, array in arrays.items():
        if array.flags.c_contiguous and array.flags.aligned:
            ready[name] = array
        else:
            ready[name] = np.array(array, order="C", copy=True)
            copied.add(name)
    return ready, frozenset(copied)


def choice_for(explicit: Device | None, values: Sequence[Any]) -> Choice:
    """The device of a launch: the one asked for, else the one that holds its arrays."""
    choice = choose(explicit)
    if choice.named:
        return choice
    for value in values:
        holder = device_of(value)
        if holder is not None and holder in presence(family(holder)).names:
            return Choice(Device(holder, choice.device.carried), named=True)
    return choice


# --- trace and notes -------------------------------------------------------------------------------------------------


class _Said:
    """What this process has already been told."""

    def __init__(self) -> None:
        self.keys: set[tuple[str, str]] = set()
        self.lock = new_lock()

    def first_time(self, key: tuple[str, str]) -> bool:
        with self.lock:
            new = key not in self.keys
            self.keys.add(key)
        return new


_SAID: Final = _Said()


def _warn_once(key: tuple[str, str], text: str, category: type[Warning]) -> None:
    if _SAID.first_time(key):
        warn_author(text, category)


def _timed(kind: str, name: str, device: str) -> AbstractContextManager[Any]:
    """The host's time of a block, for the profile that is open."""
    opened = current_profile()
    return nullcontext() if opened is None else opened.span(kind, name, device)


def _tracing() -> bool:
    return os.environ.get("ISOGRID_TRACE", "0") not in ("", "0")


def is_explaining() -> bool:
    """Whether the environment asks for the compiler's decisions."""
    return os.environ.get("ISOGRID_EXPLAIN", "0") not in ("", "0")


def _decided(kernel: "Kernel", device: str, text: str) -> None:
    """What a launch decided about its device, for those who follow launches or decisions."""
    if _tracing() or is_explaining():
        tell(f"{kernel.definition.name} on {device}: {text}")


def _trace(text: str) -> None:
    if _tracing():
        tell(text)


def _milliseconds(started: float) -> str:
    return f"{(time.perf_counter() - started) * 1e3:.3f} ms"


def _shape_text(shape: Shape) -> str:
    threads = 1
    for extent in shape.extents:
        threads *= extent
    if shape.kind == "groups":
        threads *= shape.group_size
    extents = shape.extents[0] if shape.rank == 1 else shape.extents
    block = shape.block[0] if shape.rank == 1 else shape.block
    return f"{threads} threads ({shape.kind} {extents}, block {block})"
