"""The kernel in the languages of other devices, with the author's lines as comments."""

import linecache
from collections.abc import Mapping
from typing import TYPE_CHECKING

from isogrid.diagnostics.span import Span

if TYPE_CHECKING:
    from isogrid.backends.cuda.target import CudaTarget
    from isogrid.cli.stages import Stages
    from isogrid.ir.device import Kernel


def cuda_text(stages: "Stages") -> str:
    """CUDA C, for the processor that `ptx_text` takes."""
    from isogrid.backends.cuda.text import emit_cuda_text
    from isogrid.printers.c_family import entry_name

    device, _ = _for_cuda(stages)
    entry = entry_name(device)
    module = emit_cuda_text(device, stages.options, small=stages.small, entry=entry, source=source_line)
    return module.text


def opencl_text(stages: "Stages") -> str:
    """OpenCL C for a device with 64-bit floats and atomics; extensions are asked for in the text."""
    from isogrid.backends.opencl.text import emit_opencl_text
    from isogrid.printers.c_family import entry_name

    entry = entry_name(stages.device)
    return emit_opencl_text(stages.device, small=stages.small, entry=entry, source=source_line).text


def metal_text(stages: "Stages") -> str:
    """Metal. Raises `KernelRefused` for what Metal lacks."""
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.backends.metal.text import LACKING, emit_metal_text
    from isogrid.pipeline import lower
    from isogrid.printers.c_family import entry_name

    device = lower(stages.optimised, LaunchFacts(small=stages.small), lacking=LACKING)
    return emit_metal_text(device, small=stages.small, entry=entry_name(device), source=source_line).text


def source_line(span: Span) -> str:
    """`12: y[i] = a * x[i] + y[i]`, "" where there is no such line."""
    if not span.line:
        return ""
    text = linecache.getline(span.file, span.line).strip()
    # A comment of C ends with its line, unless that ends with a backslash.
    return f"{span.line}: {text.rstrip(chr(92)).rstrip()}" if text else ""


def ptx_text(stages: "Stages") -> str:
    """PTX for compute capability 9.0, or that of the option `arch` of the group `cuda`."""
    from isogrid.backends.cuda.emit import emit_cuda
    from isogrid.backends.cuda.target import compile_ptx

    device, target = _for_cuda(stages)
    return compile_ptx(emit_cuda(device, target, stages.options, small=stages.small).text, target)


def _for_cuda(stages: "Stages") -> "tuple[Kernel, CudaTarget]":
    """Device IR with the builds of elementary functions that are the fastest on the processor in question, and that."""
    from isogrid.analysis.facts import LaunchFacts
    from isogrid.backends.cuda.target import cuda_target
    from isogrid.pipeline import lower

    own: Mapping[str, object] = stages.options.get("cuda") or {}
    arch = str(own.get("arch") or "sm_90")
    number = int("".join(c for c in arch if c.isdigit()))
    target = cuda_target(divmod(number, 10))
    return lower(stages.optimised, LaunchFacts(small=stages.small), target.build), target
