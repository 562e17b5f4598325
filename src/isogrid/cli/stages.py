"""One kernel at every stage of the compiler, for `emit` and `explain`."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from isogrid.cli.load import CannotLoad
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.errors import KernelRefused

if TYPE_CHECKING:
    from isogrid.backends.cpu.layout import EmittedModule
    from isogrid.frontend.definition import Definition, Specialisation
    from isogrid.launch.kernel_value import Kernel
    from isogrid.offloading.function import Offloaded
    from isogrid.offloading.inspection import SectionKernel


@dataclass(frozen=True, slots=True)
class PassResult:
    """What one pass made of the kernel before it."""

    name: str
    before: k.Kernel
    after: k.Kernel

    @property
    def changed(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Stages:
    """`passes` are in run order; `small` tells that the code is for launches whose sizes are all below 2^31."""

    specialisation: "Specialisation"
    options: Mapping[str, Any]
    built: k.Kernel
    passes: tuple[PassResult, ...]
    device: d.Kernel
    small: bool = True

    @property
    def optimised(self) -> k.Kernel:
        return self.passes[-1].after if self.passes else self.built


def stages_of(kernel: "Kernel", settings: Sequence[str] = (), *, wide: bool = False) -> Stages:
    """Build, optimise and lower one specialisation. Raises `KernelRefused` for a kernel that is not accepted."""
    from isogrid.frontend.build import build
    from isogrid.pipeline import check_kernel

    chosen = specialisation_of(kernel.definition, kernel.tunables, settings)
    options = _options(kernel)
    built = build(kernel.definition, chosen)
    reports = check_kernel(built, fastmath=bool(options.get("fastmath")))
    if any(report.severity.value == "error" for report in reports):
        raise KernelRefused(reports)
    return _stages(built, chosen, options, wide)


def stages_of_sections(
    function: "Offloaded", settings: Sequence[str] = (), *, wide: bool = False
) -> list[tuple["SectionKernel", Stages]]:
    """The same for each kernel of an offloaded function."""
    from isogrid.offloading.inspection import kernels_of

    chosen, options = specialisation_of(function.definition, function.tunables, settings), _options(function)
    return [(part, _stages(part.kernel, chosen, options, wide)) for part in kernels_of(function, chosen)]


def _options(value: "Kernel | Offloaded") -> Mapping[str, Any]:
    from isogrid.launch.devices import device as device_named
    from isogrid.launch.dispatch import effective_options

    return effective_options(value.explicit_options, value.device or device_named("cpu")).values()


def _stages(built: k.Kernel, chosen: "Specialisation", options: Mapping[str, Any], wide: bool) -> Stages:
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.backends.cpu.options import lacking_of
    from isogrid.pipeline import PASSES, PassContext, lower

    facts = LaunchFacts(small=not wide)
    disabled: frozenset[str] = options.get("disable", frozenset())
    context = PassContext(facts, options)
    results: list[PassResult] = []
    current = built
    for name, run in PASSES:
        if name not in disabled:
            results.append(PassResult(name, current, run(current, context)))
            current = results[-1].after
    return Stages(chosen, options, built, tuple(results), lower(current, facts, lacking=lacking_of(options)), not wide)


def generated(stages: Stages) -> "EmittedModule":
    """The text of the emitter for the CPU, the pipeline that it was written for, and notes on the strategy."""
    from isogrid.backends.cpu.compile import emission
    from isogrid.backends.cpu.emit import emit_module
    from isogrid.backends.cpu.target import host_target

    return emit_module(device_for(stages, host_target().build), host_target(), emission(stages.options))


def device_for(stages: Stages, build: str) -> d.Kernel:
    """Device IR with the builds of elementary functions that a processor prefers, where `device` has the usual ones."""
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.backends.cpu.options import lacking_of
    from isogrid.pipeline import lower

    if not build:
        return stages.device
    return lower(stages.optimised, LaunchFacts(small=stages.small), build, lacking_of(stages.options))


def assembly(stages: Stages) -> str:
    """Native code of this machine as assembly text."""
    from isogrid.backends.cpu.loader import compile_text

    module = generated(stages)
    return compile_text(module.text, module.pipeline, assembly=True)


def specialisation_of(definition: "Definition", chosen: Mapping[str, int], settings: Sequence[str]) -> "Specialisation":
    """The first specialisation that `check` looks at which agrees with `T=f64`, `D=16` and the like."""
    from isogrid.launch.specialise import check_specialisations

    wanted: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not (name and equals and value):
            raise CannotLoad(f"--set takes NAME=VALUE, not {setting}")
        wanted[name] = value
    _judge_names(definition, wanted)
    types, numbers = _split(definition, wanted)
    tunables = dict(chosen) | numbers
    for candidate in check_specialisations(definition, tunables):
        if all(dict(candidate.types).get(name) is scalar for name, scalar in types.items()):
            return replace(candidate, constants=tuple(sorted((dict(candidate.constants) | numbers).items())))
    raise CannotLoad(f"no specialisation of {definition.name} has {', '.join(settings)}")


def _judge_names(definition: "Definition", wanted: Mapping[str, str]) -> None:
    there = [*(generic.name for generic in definition.generics), *definition.constant_dims]
    there += [tunable.name for tunable in definition.tunables]
    for name in wanted:
        if name not in there:
            close = difflib.get_close_matches(name, there, 1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(there) or 'none'}"
            raise CannotLoad(f"{definition.name} has no type variable, constant dimension or tunable {name}; {hint}")


def _split(definition: "Definition", wanted: Mapping[str, str]) -> tuple[dict[str, Scalar], dict[str, int]]:
    generics = {generic.name for generic in definition.generics}
    types: dict[str, Scalar] = {}
    numbers: dict[str, int] = {}
    for name, value in wanted.items():
        if name in generics:
            if value not in [scalar.value for scalar in Scalar]:
                raise CannotLoad(f"{value!r} is no type; write for example {name}=f32")
            types[name] = Scalar(value)
        elif value.lstrip("-").isdigit():
            numbers[name] = int(value)
        else:
            raise CannotLoad(f"{name}={value}: write a type variable, constant dimension or tunable and its value")
    return types, numbers
