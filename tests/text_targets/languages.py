"""The text targets as the tests run them on the host."""

from collections.abc import Mapping
from typing import Any

from isogrid.backends.cuda.spelling import SUPPORT
from isogrid.backends.cuda.text import emit_cuda_text
from isogrid.ir import device as d
from isogrid.printers.c_family import Printed
from isogrid.printers.c_family_frame import parameters_of

from .executor import Collector, Language


def print_cuda(kernel: d.Kernel, options: Mapping[str, Any], small: bool, entry: str) -> Printed:
    module = emit_cuda_text(kernel, options, small=small, entry=entry)
    parameters = parameters_of(kernel, small=small)
    kinds = [(p.kind, p.name) for p in parameters]
    assert kinds == [(s.kind, s.name) for s in module.layout.slots]
    return Printed(module.text, entry, parameters, module.block, module.tile, module.static_shared)


CUDA_TEXT = Language(
    "cuda_text",
    "cuda.h",
    print_cuda,
    meets=lambda text: any(word in text for word in ("__sync", "_sync(", "barrier_or(")),
    instead={SUPPORT["barrier_or("]: "static bool barrier_or(bool value) { return host::barrier_or(value); }"},
)


class CudaCollector(Collector):
    def __init__(self) -> None:
        super().__init__(CUDA_TEXT)
