"""The kernels that an offloaded function becomes, in order, for those who want to look at them."""

from collections.abc import Iterator

from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k
from isogrid.launch.stored import SourceMemory
from isogrid.offloading.analysis import Analysis, analyse
from isogrid.offloading.context import author_name
from isogrid.offloading.execute import Executor, is_scalar
from isogrid.offloading.function import Offloaded
from isogrid.offloading.sections import Section
from isogrid.offloading.tree import parts_of
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class SectionKernel:
    """One kernel. `title` says what of the function it is, `line` where that begins."""

    title: str
    line: int
    kernel: k.Kernel


def analysis_of(function: Offloaded, specialisation: Specialisation) -> Analysis:
    """What is known of the function before any call; raises `KernelRefused`."""
    return analyse(function.definition, specialisation, Captures())


def kernels_of(function: Offloaded, specialisation: Specialisation) -> tuple[SectionKernel, ...]:
    """Every kernel of one specialisation, those that sum up partial results included; raises `KernelRefused`."""
    analysis = analysis_of(function, specialisation)
    executor = Executor(
        function.definition,
        analysis.built.kernel,
        analysis.plan,
        specialisation,
        function.explicit_options,
        {},
        None,
        "cpu",
        SourceMemory(known=True),
        Captures(),
    )
    found: list[SectionKernel] = []
    for section in analysis.plan.sections:
        found += _accepted(executor, section) if section.accepted is not None else _sequential(executor, section)
    return tuple(found)


def _accepted(executor: Executor, section: Section) -> Iterator[SectionKernel]:
    assert section.accepted is not None
    loop, reductions = section.accepted.candidate, section.accepted.reductions
    threads = "a thread per iteration" if section.inner is None else "a thread per pair of iterations"
    title = f"loop {section.number} over `{loop.counter}`: {threads}"
    yield SectionKernel(title, loop.span.line, executor.parallel(section, True).program.kernel)
    for reduction in reductions.values():
        for part in parts_of(reduction):
            title = f"loop {section.number}: one level of the tree of `{author_name(reduction.name)}`"
            yield SectionKernel(title, reduction.span.line, executor.fold(part).program.kernel)


def _sequential(executor: Executor, section: Section) -> Iterator[SectionKernel]:
    if all(isinstance(s, k.Assign) and is_scalar(s.value) for s in section.statements):
        return  # scalars are computed on the host
    line = section.statements[0].span.line
    yield SectionKernel(f"from line {line}: one thread, in sequence", line, executor.sequential(section).program.kernel)
