"""`isogrid emit FILE::kernel --target llvm|asm|ptx|cuda|opencl|metal|kernel-ir|...`: the code of one stage as text."""

from enum import StrEnum
from typing import Annotated, assert_never

import typer

from isogrid.cli.failures import reported
from isogrid.cli.load import pick
from isogrid.cli.output import say
from isogrid.cli.stages import Stages, assembly, generated, stages_of, stages_of_sections
from isogrid.cli.text_targets import cuda_text, metal_text, opencl_text, ptx_text
from isogrid.ir.text import print_kernel
from isogrid.launch.kernel_value import Kernel


class Target(StrEnum):
    """What to print."""

    KERNEL_IR = "kernel-ir"
    OPTIMISED_IR = "optimised-ir"
    DEVICE_IR = "device-ir"
    LLVM = "llvm"
    ASM = "asm"
    PTX = "ptx"
    CUDA = "cuda"
    OPENCL = "opencl"
    METAL = "metal"


def emit(
    kernel: Annotated[str, typer.Argument(help="FILE::kernel, or FILE for all its kernels.")],
    target: Annotated[Target, typer.Option("--target", "-t", help="Which code.")] = Target.LLVM,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="T=f64 for a type variable, D=16 for a constant dimension or tunable."),
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="Code for launches with sizes of 2^31 and more.")] = False,
) -> None:
    """Print the intermediate or generated code of a kernel."""
    with reported():
        for _, one in pick(kernel):
            if isinstance(one, Kernel):
                say(target_text(stages_of(one, settings or (), wide=wide), target))
                continue
            for section, stages in stages_of_sections(one, settings or (), wide=wide):
                say(f"== {one.definition.name}, {section.title}\n")
                say(target_text(stages, target))


def target_text(stages: Stages, target: Target) -> str:
    """The text of one stage."""
    match target:
        case Target.KERNEL_IR:
            return print_kernel(stages.built)
        case Target.OPTIMISED_IR:
            return print_kernel(stages.optimised)
        case Target.DEVICE_IR:
            return print_kernel(stages.device)
        case Target.LLVM:
            return generated(stages).text
        case Target.ASM:
            return assembly(stages)
        case Target.PTX:
            return ptx_text(stages)
        case Target.CUDA:
            return cuda_text(stages)
        case Target.OPENCL:
            return opencl_text(stages)
        case Target.METAL:
            return metal_text(stages)
        case _:
            assert_never(target)
