"""Kernel IR to native code in memory: the whole way down for one set of launch facts, and the precise twin on demand.

Only launches that find nothing in a cache, and launches that trap, load this.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu.artifact import LoadedVariant, Makers, Variant, load_variant, make_variant
from isogrid.backends.cpu.emit import emit_module, emit_precise, emit_streamed
from isogrid.backends.cpu.layout import EmittedModule
from isogrid.backends.cpu.loader import load_object
from isogrid.backends.cpu.objectcache import cached_object
from isogrid.backends.cpu.options import lacking_of
from isogrid.backends.cpu.target import host_target
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.lowering.split import split
from isogrid.pipeline import lower, optimise
from isogrid.support.errors import CompilerBug


def compile_variant(kernel: k.Kernel, options: Mapping[str, Any], facts: LaunchFacts) -> LoadedVariant:
    """The fast code of a kernel, for launches of which `facts` hold."""
    device, module = emitted(kernel, options, facts)
    variant = make_variant(device, module, cached_object(module.text, module.pipeline))
    return load_variant(variant, lambda: makers_of(device, options))


def makers_of(device: d.Kernel, options: Mapping[str, Any]) -> Makers:
    """What makes the rarer forms of a kernel."""
    return Makers(
        precise=lambda: compile_precise(device, options),
        streamed=lambda: compile_streamed(device, options),
        halves=lambda: compile_halves(device, options),
    )


def emitted(kernel: k.Kernel, options: Mapping[str, Any], facts: LaunchFacts) -> tuple[d.Kernel, EmittedModule]:
    """Device IR and the text of the fast code."""
    device = _device_ir(kernel, options, facts)
    return device, emit_module(device, host_target(), emission(options))


def emission(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options as the emitter reads them."""
    return {**options, "cpu_width": 1} if "vectorise" in options.get("disable", ()) else options


def makers_again(kernel: k.Kernel, options: Mapping[str, Any], stored: Variant) -> Makers:
    """The same for a variant from the disk cache, which keeps kernel IR only."""
    device = _device_ir(kernel, options, LaunchFacts(small=True))
    if device.sites != stored.sites:
        raise CompilerBug(f"the checks of `{kernel.name}` are not those of its code from the cache")
    return makers_of(device, options)


def _device_ir(kernel: k.Kernel, options: Mapping[str, Any], facts: LaunchFacts) -> d.Kernel:
    better = optimise(kernel, options.get("disable", frozenset()), facts, options)
    lacking = lacking_of(options)
    device = lower(better, facts, host_target().build, lacking)
    if lacking.why:
        from isogrid.printers.c_family_limits import refuse_what_lacks  # few kernels are compiled so

        refuse_what_lacks(device, lacking)
    return device


def compile_precise(device: d.Kernel, options: Mapping[str, Any]) -> int:
    """The address of the precise twin."""
    code = cached_object(emit_precise(device, host_target(), options), "plain")
    return load_object(code, ("precise",))["precise"]


def compile_streamed(device: d.Kernel, options: Mapping[str, Any]) -> int:
    """The address of the form that writes past the cache."""
    code = cached_object(emit_streamed(device, host_target(), emission(options)), "plain")
    return load_object(code, ("run_streamed",))["run_streamed"]


def compile_halves(device: d.Kernel, options: Mapping[str, Any]) -> tuple[LoadedVariant, LoadedVariant]:
    """A kernel that only checks, and one that only writes, with the argument block of the whole one."""
    halves = split(device)
    if halves is None:
        raise CompilerBug(f"`{device.name}` has no halves")
    check, write = (_half(half, options) for half in (halves.check, replace(halves.write, sites=())))
    return check, write


def _half(device: d.Kernel, options: Mapping[str, Any]) -> LoadedVariant:
    module = emit_module(device, host_target(), emission(options))
    code = cached_object(module.text, module.pipeline)
    return load_variant(make_variant(device, module, code), lambda: makers_of(device, options))
