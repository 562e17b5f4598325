"""Launches of text kernels on the host: texts are gathered first, compiled together by g++, then run on the arrays.

`Collector` is a device: `kernel.on("cuda_text")` notes the launch. `run_all` compiles what was noted and gives, for
each launch, how it differs from what the interpreter said.
"""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu.runtime import is_small, place, scalar_bits, scalar_value
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.pipeline import lower, optimise
from isogrid.printers.c_family import Printed
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.traps import Trap, trap_exception

SHIM = Path(__file__).parent / "shim"
NO_TRAP = (1 << 64) - 1
#: Events that the watch has room for.
ROOM = 4096
#: Kernels of one translation unit.
TOGETHER = 24

Array = np.ndarray[Any, Any]
#: Prints a kernel: device IR, whether the launch is small, name of the entry.
Print = Callable[[d.Kernel, Mapping[str, Any], bool, str], Printed]


class Pending(Exception):
    """The launch was noted and runs later."""


@dataclass
class Language:
    """One text target as it is run here. `records`: traps are recorded with site and operands, else by a key alone."""

    name: str
    header: str
    print: Print
    records: bool = True
    #: Whether the text has meetings, for which threads must be fibers.
    meets: Callable[[str], bool] = lambda text: True
    #: Puts other text where the host has another way.
    prepare: Callable[[str], str] = lambda text: text


@dataclass
class Unit:
    """One kernel's text and, once compiled, its launcher."""

    printed: Printed
    kernel: d.Kernel
    entry: str
    text: str
    launch: Any = None


@dataclass
class Launch:
    """One noted launch, with copies of its arrays."""

    unit: Unit
    bound: BoundLaunch
    want: Any = None


class Collector:
    """A runtime that notes launches instead of running them."""

    backend_options: Mapping[str, Any] = {}
    ignored_hints = frozenset({"always_inline"})

    def __init__(self, language: Language) -> None:
        self.language = language
        self.name = language.name
        self.units: dict[str, Unit] = {}
        self.launches: list[Launch] = []

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> Any:
        return {"kernel": kernel, "options": dict(options), "variants": {}}

    def launch(self, artifact: Any, bound: BoundLaunch) -> None:
        kernel, options = artifact["kernel"], artifact["options"]
        small = is_small(kernel, bound)
        unit = artifact["variants"].get(small)
        if unit is None:
            unit = artifact["variants"][small] = self.unit(kernel, options, small)
        arrays = {name: array.copy() for name, array in bound.arrays.items()}
        copied = BoundLaunch(arrays, bound.scalars, bound.dims, bound.extents, bound.options)
        self.launches.append(Launch(unit, copied))
        raise Pending

    def unit(self, kernel: k.Kernel, options: Mapping[str, Any], small: bool) -> Unit:
        facts = LaunchFacts(small=small)
        disabled: frozenset[str] = options.get("disable", frozenset())
        device = lower(optimise(kernel, disabled, facts, options), facts)
        number = len(self.units)
        entry = f"run_{number}"
        printed = self.language.print(device, options, small, entry)
        unit = Unit(printed, device, entry, self.language.prepare(printed.text))
        self.units[entry] = unit
        return unit


def compile_units(language: Language, units: list[Unit]) -> None:
    """Compile texts by g++, many to a shared library, and find their launchers."""
    compiler = shutil.which("g++")
    assert compiler is not None, "g++ is not installed; the texts cannot be run without it (apt-get install g++)"
    for first in range(0, len(units), TOGETHER):
        part = units[first : first + TOGETHER]
        library = _compiled(compiler, language, part)
        for unit in part:
            unit.launch = getattr(library, f"launch_{unit.entry}")
            unit.launch.restype = ctypes.c_char_p
            unit.launch.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]


def _compiled(compiler: str, language: Language, units: list[Unit]) -> ctypes.CDLL:
    parts = [f'#include "{language.header}"']
    for unit in units:
        parts.append(f"namespace kernel_{unit.entry} {{\n{unit.text}\n}}")
        meets = "true" if language.meets(unit.text) else "false"
        parts.append(
            f'extern "C" const char* launch_{unit.entry}(void** slots, unsigned groups, unsigned threads) {{\n'
            f"    return host::launch(&kernel_{unit.entry}::{unit.entry}, slots, groups, threads, {meets});\n}}"
        )
    text = "\n".join(parts)
    folder = Path(tempfile.mkdtemp(prefix="text-target-"))
    stem = hashlib.sha256(text.encode()).hexdigest()[:16]
    source, library = folder / f"{stem}.cpp", folder / f"{stem}.so"
    source.write_text(text)
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-shared", "-fPIC", f"-I{SHIM}"]
    done = subprocess.run([compiler, *flags, str(source), "-o", str(library)], capture_output=True, text=True)
    assert done.returncode == 0, f"{source}: {done.stderr[:3000]}"
    loaded = ctypes.CDLL(str(library))
    shutil.rmtree(folder)
    return loaded


@dataclass
class Outcome:
    """What a launch of a text did: the trap's text, "" if none, and the arrays."""

    trap: str
    arrays: dict[str, Array]
    #: The key that a target without a record leaves, None if nothing trapped.
    key: int | None = None


def run_launch(language: Language, launch: Launch) -> Outcome:
    """Run one launch to its end; arrays are put back after a trap, as a runtime does it."""
    unit, bound = launch.unit, launch.bound
    arrays = {name: array.copy() for name, array in bound.arrays.items()}
    word = np.uint64 if language.records else _word(unit)
    record = np.full(16, ~word(0), word)
    watch = np.zeros(2 + 2 * ROOM, word)
    watch[1] = ROOM
    slots = [_slot(unit, p, arrays, bound, record, watch) for p in unit.printed.parameters]
    buffers = [np.frombuffer(raw.ljust(8, b"\0"), np.uint8).copy() for raw in slots]
    pointers = (ctypes.c_void_p * max(len(buffers), 1))(*(b.ctypes.data for b in buffers))
    groups = 1
    for extent, tile in zip(bound.extents, unit.printed.tile, strict=True):
        groups *= -(-extent // tile)
    error = unit.launch(pointers, groups, unit.printed.threads)
    if error:
        raise AssertionError(f"{unit.kernel.name}: {error.decode()}\n{unit.printed.text}")
    trap, key = _trap(language, unit, bound, record, watch)
    if trap is not None or key is not None:
        arrays = {name: array.copy() for name, array in bound.arrays.items()}
    return Outcome("" if trap is None else f"{type(trap).__name__}: {trap}", arrays, key)


def _word(unit: Unit) -> Any:
    return np.uint64 if "u64* record" in unit.text or "u64* watch" in unit.text else np.uint32


def _slot(
    unit: Unit, parameter: Any, arrays: Mapping[str, Array], bound: BoundLaunch, record: Array, watch: Array
) -> bytes:
    size = 4 if "first_block" not in {p.kind for p in unit.printed.parameters} else 8
    match parameter.kind:
        case "record":
            return record.ctypes.data.to_bytes(8, "little")
        case "watch":
            return watch.ctypes.data.to_bytes(8, "little")
        case "guard" | "first_block":
            return bytes(8)
        case "array":
            return arrays[parameter.name].ctypes.data.to_bytes(8, "little")
        case "scalar":
            type = next(p.type for p in unit.kernel.parameters if p.name == parameter.name)  # type: ignore[union-attr]
            return scalar_bits(bound.scalars[parameter.name], type).to_bytes(8, "little", signed=True)
        case "dim":
            return int(bound.dims[parameter.name]).to_bytes(size, "little")
        case _:
            return int(bound.extents[int(parameter.name)]).to_bytes(size, "little")


def _trap(
    language: Language, unit: Unit, bound: BoundLaunch, record: Array, watch: Array
) -> tuple[Trap | None, int | None]:
    kernel = unit.kernel
    key = int(record[0])
    if key == (NO_TRAP if record.dtype == np.uint64 else 0xFFFFFFFF):
        return _total(unit, watch), None
    if not language.records:
        return None, key
    site = kernel.sites[int(record[1])]
    operands = [scalar_value(int(w), t) for w, t in zip(record[4 : 4 + len(site.operands)], site.operands, strict=True)]
    return trap_exception(site, kernel.name, _thread(unit, bound, site, key), operands), None


def _thread(unit: Unit, bound: BoundLaunch, site: Any, key: int) -> tuple[int, ...] | None:
    """The gid that a key names; None for the total of a shared array."""
    kernel = unit.kernel
    geometry = kernel.geometry
    if not kernel.grouped:
        return place(key, bound.threads(geometry, False))
    if site.kind.value == "total" and site.operands:
        return None
    group, local = divmod(key, unit.printed.threads)
    at = zip(place(group, bound.groups(geometry)), geometry.block, place(local, geometry.block), strict=True)
    return tuple(g * b + t for g, b, t in at)


def _total(unit: Unit, watch: Array) -> Trap | None:
    """The first sum that left its type for good, from the events of the watch."""
    kernel = unit.kernel
    count = int(watch[0])
    assert count <= ROOM
    sums: dict[tuple[int, int], int] = {}
    for event, element in watch[2 : 2 + 2 * count].reshape(-1, 2).tolist():
        at = (int(event) >> 1, int(element))
        sums[at] = sums.get(at, 0) + (-1 if int(event) & 1 else 1)
    lost = sorted(at for at, times in sums.items() if times)
    if not lost:
        return None
    parameter, element = lost[0]
    from isogrid.printers.c_family_frame import totals_of

    site = kernel.sites[totals_of(kernel)[kernel.parameters[parameter].name]]
    return trap_exception(site, kernel.name, None, [element])
