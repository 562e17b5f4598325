"""Metal of a kernel. Warps of 32 threads exchange 32-bit values by simdgroup shuffles, all others through threadgroup
memory."""

from dataclasses import replace
from typing import Final

from isogrid.analysis.group_variance import group_variance
from isogrid.backends.metal.spelling import METAL, SUPPORT
from isogrid.ir import device as d
from isogrid.ir.lacking import Lacking
from isogrid.lowering.masks import mask_warps
from isogrid.printers.c_family import Printed, no_source, print_kernel, with_support
from isogrid.printers.c_family_limits import refuse_what_lacks
from isogrid.printers.c_family_statements import Source

#: What kernels are lowered for.
LACKING: Final = Lacking(METAL.language, METAL.lacks)


def emit_metal_text(kernel: d.Kernel, *, small: bool = True, entry: str = "run", source: Source = no_source) -> Printed:
    """Metal for devices whose simdgroups have 32 threads, of a kernel lowered for `LACKING`; raises `KernelRefused`
    where Metal lacks something."""
    refuse_what_lacks(kernel, LACKING)
    masked = mask_warps(kernel, group_variance(kernel))
    printed = print_kernel(masked, METAL, small=small, entry=entry, source=source)
    return replace(printed, text=with_support(printed.text, SUPPORT))
