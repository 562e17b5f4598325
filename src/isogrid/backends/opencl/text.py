"""OpenCL C of a kernel. Warps of any width exchange through local memory, since OpenCL C 1.2 has no subgroups."""

from isogrid.analysis.group_variance import group_variance
from isogrid.backends.opencl.spelling import OpenClFacts, opencl_spelling
from isogrid.ir import device as d
from isogrid.ir.lacking import Lacking
from isogrid.lowering.masks import mask_warps
from isogrid.printers.c_family import Printed, no_source, print_kernel, uses_f64
from isogrid.printers.c_family_limits import refuse_what_lacks
from isogrid.printers.c_family_statements import Source

#: A device of today.
USUAL = OpenClFacts()


def opencl_lacking(facts: OpenClFacts) -> Lacking:
    """What kernels for a device of these facts are lowered for."""
    spelling = opencl_spelling(facts, uses_f64=False)
    return Lacking(spelling.language, spelling.lacks)


def emit_opencl_text(
    kernel: d.Kernel,
    facts: OpenClFacts = USUAL,
    *,
    small: bool = True,
    entry: str = "run",
    source: Source = no_source,
) -> Printed:
    """OpenCL C for a device of these facts, of a kernel lowered for what they lack; raises `KernelRefused` where the
    kernel needs that."""
    spelling = opencl_spelling(facts, uses_f64=uses_f64(kernel))
    refuse_what_lacks(kernel, opencl_lacking(facts))
    masked = mask_warps(kernel, group_variance(kernel))
    return print_kernel(masked, spelling, small=small, entry=entry, source=source)
