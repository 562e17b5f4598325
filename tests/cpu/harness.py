"""Run emitted modules on NumPy arrays without pool or launcher: the smallest caller of `run` and `precise`."""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from isogrid.backends.cpu import layout as l
from isogrid.backends.cpu.emit import emit_module, emit_precise
from isogrid.backends.cpu.loader import compile_object, load_object
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.ir import device as d
from isogrid.ir.kernel import ArrayParameter

Call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@dataclass(frozen=True)
class Compiled:
    module: l.EmittedModule
    run: Any
    precise: Any


#: A processor with AVX2 and no more, whose code every newer one runs too.
AVX2 = HostTarget(host_target().triple, "haswell", "+avx2,+fma,+f16c,+bmi,+bmi2,+popcnt", host_target().data_layout)
needs_avx2 = pytest.mark.skipif(host_target().vector_bits < 256, reason="this processor has no AVX2")


def compile_kernel(
    kernel: d.Kernel, width: int | None = None, target: HostTarget | None = None, **options: Any
) -> Compiled:
    target = target or host_target()
    module = emit_module(kernel, target, dict(options) | ({} if width is None else {"cpu_width": width}))
    run = load_object(compile_object(module.text, module.pipeline, target), ("run",))["run"]
    if not kernel.sites:
        return Compiled(module, Call(run), None)
    twin = compile_object(emit_precise(kernel, target, options), "plain", target)
    return Compiled(module, Call(run), Call(load_object(twin, ("precise",))["precise"]))


def compile_for(target: HostTarget, kernel: d.Kernel) -> Any:
    """`run` as for another processor of this machine's kind, whose instructions this one has too."""
    module = emit_module(kernel, target, {})
    return Call(load_object(compile_object(module.text, module.pipeline, target), ("run",))["run"])


def without_avx512() -> HostTarget:
    """This machine as if its widest vectors had 256 bits: it runs such code too."""
    host = host_target()
    if not host.permutes:
        return host
    kept = [name for name in host.features.split(",") if not name.startswith("+avx512")]
    return replace(host, cpu="haswell", features=",".join([*kept, "-avx512f"]))


class Launch:
    """An argument block and the arrays that it points at."""

    def __init__(self, kernel: d.Kernel, values: Mapping[str, Any], dims: Mapping[str, int], extents: Sequence[int]):
        places = l.layout_of(kernel)
        self.record = np.zeros(l.RECORD_WORDS, np.int64)
        self.flag = np.zeros(1, np.int32)
        self.block = np.zeros(places.slots, np.int64)
        self.shadows: dict[str, np.ndarray[Any, Any]] = {}
        self.keep = [values]
        self.block[l.RECORD_SLOT] = self.record.ctypes.data
        self.block[l.INTERRUPT_SLOT] = self.flag.ctypes.data
        for parameter in kernel.parameters:
            slot, value = places.parameters[parameter.name], values[parameter.name]
            if isinstance(parameter, ArrayParameter):
                self.block[slot] = value.ctypes.data
            else:
                raw = np.zeros(8, np.uint8)
                one = np.array([value], parameter.type.numpy).view(np.uint8)
                raw[: len(one)] = one
                self.block[slot] = raw.view(np.int64)[0]
        for name, slot in places.dims.items():
            self.block[slot] = dims[name]
        for slot, extent in zip(places.extents, extents, strict=True):
            self.block[slot] = extent
        for name, slot in places.shadows.items():
            self.shadows[name] = np.zeros(values[name].size, np.int64)
            self.block[slot] = self.shadows[name].ctypes.data

    def __call__(self, function: Any, lo: int, hi: int) -> int:
        return function(self.block.ctypes.data, lo, hi)


def runner(target: HostTarget, kernel: Any) -> Callable[[Sequence[Any], Mapping[str, int], Sequence[int]], None]:
    """A kernel compiled for a target: takes the arrays of its parameters, dims and numbers of groups."""
    device = stages_of(kernel, (), wide=True).device
    run, names = compile_for(target, device), [parameter.name for parameter in device.parameters]

    def launch(arrays: Sequence[Any], dims: Mapping[str, int], groups: Sequence[int]) -> None:
        block = Launch(device, dict(zip(names, arrays, strict=True)), dims, groups)
        assert block(run, 0, int(np.prod(groups))) == 0

    return launch
