"""Launches of text kernels on the host: texts are gathered first, compiled together by g++, then run on the arrays.

`Collector` is a device: it answers as the interpreter and notes each launch, which runs when all texts are compiled.
"""

import ctypes
import hashlib
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu.runtime import place, scalar_bits, scalar_value
from isogrid.backends.interp.runtime import InterpRuntime
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.lacking import NOTHING, Lacking
from isogrid.pipeline import lower, optimise
from isogrid.printers.c_family import Printed
from isogrid.runtimes.protocol import BoundLaunch, is_small
from isogrid.support.errors import KernelRefused, KnownLimit
from isogrid.traps import Trap, trap_exception

SHIM = Path(__file__).parent / "shim"
NO_TRAP = (1 << 64) - 1
TOTAL_KEY = 1 << 63
SETTLE_THREADS = 256
#: How a text begins the entry that looks for lost totals.
SETTLES = "\nsettle("
#: Events that the watch has room for.
ROOM = 4096
#: Kernels of one translation unit.
TOGETHER = 48

Array = np.ndarray[Any, Any]
_NUMBERS = itertools.count()
#: Prints a kernel: device IR, whether the launch is small, name of the entry.
Print = Callable[[d.Kernel, Mapping[str, Any], bool, str], Printed]


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
    #: What the target cannot do; kernels are lowered for that.
    lacking: Lacking = NOTHING


@dataclass
class Unit:
    """One kernel's text and, once compiled, its launcher."""

    printed: Printed
    kernel: d.Kernel
    entry: str
    text: str
    launch: Any = None
    #: The entry that looks for lost totals, where the text has one.
    settle: Any = None


@dataclass
class Launch:
    """One noted launch: its text by language, its arrays before it, and what the interpreter made of them. `trap` is
    "" if nothing trapped."""

    units: dict[str, Unit]
    bound: BoundLaunch
    title: str
    trap: str = ""
    want: dict[str, Array] = field(default_factory=dict[str, Array])


class Collector:
    """A runtime that answers as the interpreter does, and notes each launch with its texts for a comparison later."""

    backend_options: Mapping[str, Any] = {}
    ignored_hints = frozenset({"always_inline"})

    def __init__(self, *languages: Language) -> None:
        # Kernels keep what was made for a device of some name.
        self.name = f"text{next(_NUMBERS)}"
        self.languages = languages
        self.interpreter = InterpRuntime()
        self.units: dict[str, list[Unit]] = {language.name: [] for language in languages}
        self.launches: list[Launch] = []
        #: What the notes of the next launches are called, and why texts of some were refused.
        self.title = ""
        self.refused: dict[tuple[str, str], str] = {}

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> Any:
        answer = self.interpreter.compile(kernel, options)
        return {"kernel": kernel, "options": dict(options), "variants": {}, "answer": answer}

    def launch(self, artifact: Any, bound: BoundLaunch) -> None:
        noted = self._noted(artifact, bound)
        try:
            self.interpreter.launch(artifact["answer"], bound)
        except Trap as trap:
            noted.trap = f"{type(trap).__name__}: {trap}"
            raise
        noted.want = {name: array.copy() for name, array in bound.arrays.items()}

    def _noted(self, artifact: Any, bound: BoundLaunch) -> Launch:
        kernel, variants = artifact["kernel"], artifact["variants"]
        small = is_small(kernel, bound)
        if small not in variants:
            variants[small] = self._printed(kernel, artifact["options"], small)
        arrays = {name: array.copy() for name, array in bound.arrays.items()}
        copied = BoundLaunch(arrays, bound.scalars, bound.dims, bound.extents, bound.options)
        self.launches.append(Launch(variants[small], copied, self.title))
        return self.launches[-1]

    def _printed(self, kernel: k.Kernel, options: Mapping[str, Any], small: bool) -> dict[str, Unit]:
        facts = LaunchFacts(small=small)
        disabled: frozenset[str] = options.get("disable", frozenset())
        better = optimise(kernel, disabled, facts, options)
        found: dict[str, Unit] = {}
        for language in self.languages:
            units = self.units[language.name]
            entry = f"run_{len(units)}"
            try:
                device = lower(better, facts, lacking=language.lacking)
                printed = language.print(device, options, small, entry)
            except (KnownLimit, KernelRefused) as refusal:
                self.refused[language.name, self.title] = str(refusal)
                continue
            found[language.name] = Unit(printed, device, entry, language.prepare(printed.text))
            units.append(found[language.name])
        return found


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
            if SETTLES in unit.text:
                unit.settle = getattr(library, f"settle_{unit.entry}")
                unit.settle.restype = ctypes.c_char_p


def _compiled(compiler: str, language: Language, units: list[Unit]) -> ctypes.CDLL:
    parts = [f'#include "{language.header}"']
    for unit in units:
        parts.append(f"namespace kernel_{unit.entry} {{\n{unit.text}\n}}")
        meets = "true" if language.meets(unit.text) else "false"
        parts.append(
            f'extern "C" const char* launch_{unit.entry}(void** slots, unsigned groups, unsigned threads) {{\n'
            f"    return host::launch(&kernel_{unit.entry}::{unit.entry}, slots, groups, threads, {meets});\n}}"
        )
        if SETTLES in unit.text:
            parts.append(
                f'extern "C" const char* settle_{unit.entry}(void** slots) {{\n'
                f"    return host::launch(&kernel_{unit.entry}::settle, slots, 1, {SETTLE_THREADS}, true);\n}}"
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


def run_launch(language: Language, unit: Unit, launch: Launch) -> Outcome:
    """Run one launch to its end; arrays are put back after a trap, as a runtime does it."""
    bound = launch.bound
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
    if unit.settle is not None:
        both = [np.array([array.ctypes.data], np.uint64) for array in (record, watch)]
        error = unit.settle((ctypes.c_void_p * 2)(*(word.ctypes.data for word in both)))
        assert not error, error.decode()
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
        return None if unit.settle is not None else _total(unit, watch), None
    if not language.records:
        return None, key
    site = kernel.sites[int(record[1])]
    if key == TOTAL_KEY:
        assert unit.settle is not None
        return trap_exception(site, kernel.name, None, [int(record[4])]), None
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
