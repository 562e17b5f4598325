"""The text targets as the tests run them on the host."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from isogrid.backends.cuda.spelling import SUPPORT
from isogrid.backends.cuda.text import emit_cuda_text
from isogrid.backends.metal.text import LACKING, emit_metal_text
from isogrid.backends.opencl.spelling import OpenClFacts
from isogrid.backends.opencl.text import emit_opencl_text, opencl_lacking
from isogrid.ir import device as d
from isogrid.printers.c_family import Printed
from isogrid.printers.c_family_frame import parameters_of

from .executor import Language


def print_cuda(kernel: d.Kernel, options: Mapping[str, Any], small: bool, entry: str) -> Printed:
    module = emit_cuda_text(kernel, options, small=small, entry=entry)
    parameters = parameters_of(kernel, small=small)
    kinds = [(p.kind, p.name) for p in parameters]
    assert kinds == [(s.kind, s.name) for s in module.layout.slots]
    return Printed(module.text, entry, parameters, module.block, module.tile, module.static_shared)


_ON_HOST = {
    "barrier_or(": "static bool barrier_or(bool value) { return host::barrier_or(value); }",
    "barrier_apart(": "static void barrier_apart() { host::barrier(); }",
    "half_value(": "static float half_value(u16 bits) { return host::half_value(bits); }",
    "quotient_f64(": "static double quotient_f64(double a, double b) { return a / b; }",
    "half_bits(": "static u16 half_bits(float x) { return host::half_bits(x); }",
}


def host_cuda(text: str) -> str:
    """Barriers that are instructions there are the host's; entries of all kernels stand in one program."""
    for call, function in SUPPORT.items():
        text = text.replace(function, _ON_HOST[call])
    return text.replace('extern "C" ', "")


CUDA_TEXT = Language(
    "cuda_text",
    "cuda.h",
    print_cuda,
    meets=lambda text: any(word in text for word in ("__sync", "_sync(", "barrier_or(", "barrier_apart(")),
    prepare=host_cuda,
)


def print_opencl(kernel: d.Kernel, options: Mapping[str, Any], small: bool, entry: str) -> Printed:
    return emit_opencl_text(kernel, small=small, entry=entry)


def print_plain_opencl(kernel: d.Kernel, options: Mapping[str, Any], small: bool, entry: str) -> Printed:
    return emit_opencl_text(kernel, OpenClFacts(atomics_64=False), small=small, entry=entry)


#: A small device: neither f64, nor a fused multiply-add, nor 64-bit atomics.
SMALL_OPENCL = OpenClFacts(f64=False, fma=False, atomics_64=False)


def print_small_opencl(kernel: d.Kernel, options: Mapping[str, Any], small: bool, entry: str) -> Printed:
    return emit_opencl_text(kernel, SMALL_OPENCL, small=small, entry=entry)


def print_metal(kernel: d.Kernel, options: Mapping[str, Any], small: bool, entry: str) -> Printed:
    return emit_metal_text(kernel, small=small, entry=entry)


def static_arrays(word: str) -> Callable[[str], str]:
    """Make the arrays of a group `static`, which the host shares between fibers."""
    array = re.compile(rf"^(\s+){word} (\w+ \w+\[\d+\];)", re.MULTILINE)
    return lambda text: array.sub(r"\1static \2", text)


def host_metal(text: str) -> str:
    """What fills the positions of a thread is a macro on the host, and the head is included once for all."""
    text = static_arrays("threadgroup")(text)
    text = re.sub(r",\s+uint \w+_position \[\[\w+\]\]", "", text)
    return text.replace("#include <metal_stdlib>\nusing namespace metal;\n", "")


OPENCL_TEXT = Language(
    "opencl_text",
    "opencl.h",
    print_opencl,
    records=False,
    meets=lambda text: "barrier(" in text,
    prepare=static_arrays("__local"),
)
#: For devices without 64-bit atomics.
PLAIN_OPENCL_TEXT = replace(
    OPENCL_TEXT,
    name="plain_opencl_text",
    print=print_plain_opencl,
    lacking=opencl_lacking(OpenClFacts(atomics_64=False)),
)
SMALL_OPENCL_TEXT = replace(
    OPENCL_TEXT, name="small_opencl_text", print=print_small_opencl, lacking=opencl_lacking(SMALL_OPENCL)
)
METAL_TEXT = Language(
    "metal_text",
    "metal_stdlib",
    print_metal,
    records=False,
    meets=lambda text: "barrier(" in text or "simd_" in text,
    prepare=host_metal,
    lacking=LACKING,
)
