"""CUDA C of a kernel, with the parameters, record and entry of `layout.py`: what NVRTC compiles and `emit` shows."""

from collections.abc import Mapping
from typing import Any

from isogrid.backends.cuda.layout import CudaModule, layout_of, watched
from isogrid.backends.cuda.settle import settle_text
from isogrid.backends.cuda.spelling import CUDA, CUDA_FAST, SUPPORT
from isogrid.ir import device as d
from isogrid.printers.c_family import no_source, print_kernel, with_support
from isogrid.printers.c_family_statements import Source


def emit_cuda_text(
    kernel: d.Kernel,
    options: Mapping[str, Any],
    *,
    small: bool = True,
    entry: str = "run",
    source: Source = no_source,
) -> CudaModule:
    """CUDA C with one entry, for launches that are `small` or of any size."""
    spelling = CUDA_FAST if contracts(kernel, options) else CUDA
    printed = print_kernel(
        kernel, spelling, small=small, entry=entry, bounds=launch_bounds(kernel, options), source=source
    )
    text = with_support(printed.text, SUPPORT)
    entries = (printed.entry,)
    if watched(kernel):
        text += "\n" + settle_text(kernel)
        entries = (printed.entry, "settle")
    return CudaModule(
        text=text,
        layout=layout_of(kernel, small=small),
        entries=entries,
        block=printed.threads,
        tile=printed.tile,
        alignment=1,
        static_shared=printed.shared_bytes,
        dynamic_shared=0,
        sites=kernel.sites,
        notes=("CUDA C",),
    )


def contracts(kernel: d.Kernel, options: Mapping[str, Any]) -> bool:
    """Whether the compiler may fuse products into sums. It never may where sequences rely on each rounding."""
    allowed = options.get("cuda", {}).get("contract", True)
    return bool(options.get("fastmath")) and bool(allowed) and not kernel.exact


def launch_bounds(kernel: d.Kernel, options: Mapping[str, Any]) -> str:
    """The operands of `__launch_bounds__`: threads of a group, and groups of a multiprocessor where asked for."""
    threads = 1
    for extent in kernel.geometry.block:
        threads *= extent
    group = options.get("cuda", {})
    least = group.get("min_blocks_per_sm")
    return f"{threads}" if least is None else f"{threads}, {least}"
