"""Compare emitted code at several widths with the interpreter, on kernels written as IR text."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu import artifact as a
from isogrid.backends.cpu import runtime
from isogrid.backends.cpu.compile import makers_of
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.loader import compile_object
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.backends.interp.runtime import InterpRuntime
from isogrid.ir import kernel as k
from isogrid.ir.parse import parse_kernel
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.traps import Trap

WIDTHS: tuple[int | None, ...] = (None, 1, 4, 16)


def compile_at(
    kernel: k.Kernel,
    width: int | None,
    optimised: bool = True,
    target: HostTarget | None = None,
    build: str = "",
    **options: Any,
) -> a.LoadedVariant:
    """Code for this processor, or for one whose instructions it has too, with a build of elementary functions."""
    facts = LaunchFacts(small=True)
    if optimised:
        kernel = pipeline.optimise(kernel, frozenset(), facts, {})
    device = pipeline.lower(kernel, facts, build)
    forced = {} if width is None else {"cpu_width": width}
    module = emit_module(device, target or host_target(), options | forced)
    variant = a.make_variant(device, module, compile_object(module.text, module.pipeline))
    return a.load_variant(variant, lambda: makers_of(device, options | forced))


def outcome(kernel: k.Kernel, variant: a.LoadedVariant | None, bound: BoundLaunch) -> tuple[dict[str, Any], str]:
    """Arrays and the trap's words after a launch; the interpreter where there is no variant."""
    arrays = {n: array.copy() for n, array in bound.arrays.items()}
    copy = BoundLaunch(arrays, bound.scalars, bound.dims, bound.extents, bound.options)
    words = ""
    try:
        if variant is None:
            device = InterpRuntime()
            device.launch(device.compile(kernel, {}), copy)
        else:
            runtime._Launch(kernel, variant, copy).run()
    except Trap as trap:
        words = f"{type(trap).__name__}: {trap}"
    return arrays, words


def agree(
    text: str,
    arrays: Mapping[str, Any],
    dims: Mapping[str, int],
    extents: Sequence[int],
    scalars: Mapping[str, Any] | None = None,
    *,
    widths: Sequence[int | None] = WIDTHS,
    optimised: Sequence[bool] = (True, False),
) -> tuple[dict[str, Any], str]:
    """Assert that every width gives the interpreter's bytes and words; return them."""
    # A literal right before the colon would read as one with a type.
    kernel = parse_kernel(re.sub(r"^( *(?:if|while) )(.*[^ ]):$", r"\1(\2):", text, flags=re.MULTILINE))
    bound = BoundLaunch(dict(arrays), dict(scalars or {}), dict(dims), tuple(extents))
    expected, words = outcome(kernel, None, bound)
    for width in widths:
        for better in optimised:
            found, said = outcome(kernel, compile_at(kernel, width, better), bound)
            assert said == words, (width, better)
            for name, array in expected.items():
                same = array == found[name]
                if array.dtype.kind == "f":
                    with contextlib.suppress(TypeError):
                        same |= np.isnan(array) & np.isnan(found[name])
                    same &= (np.signbit(array) == np.signbit(found[name])) | np.isnan(array)
                assert same.all(), (
                    width,
                    better,
                    name,
                    np.flatnonzero(~same)[:8],
                    array[~same][:4],
                    found[name][~same][:4],
                )
    return expected, words
