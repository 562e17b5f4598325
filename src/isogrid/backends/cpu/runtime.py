"""The `cpu` device: compiles kernel IR to native code for this machine and launches it on all processors.

A launch whose kernel can trap keeps a copy of the arrays it writes. When a chunk reports a trap, the arrays are put
back and the kernel's precise twin runs from the lowest such chunk in reference order: it finds the trap of the launch,
with its thread and operands. Then the arrays are put back once more and the trap is raised.
"""

import ctypes
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu import artifact as a
from isogrid.backends.cpu import layout, pool, serial
from isogrid.backends.cpu.artifact import CpuArtifact, LoadedVariant, Variant
from isogrid.backends.cpu.objectcache import machine_facts
from isogrid.backends.cpu.options import BACKEND_OPTIONS, judge_option
from isogrid.backends.cpu.stub import native_call, whole_call
from isogrid.backends.plan import LaunchPlan, ReducingCall
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.runtimes.memory import HostMemory
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.support.errors import CompilerBug
from isogrid.traps import Trap, trap_exception

if TYPE_CHECKING:
    from isogrid.builtins.exactness import Exactness

_SMALL: Final = 1 << 31

Bytes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"


class CpuRuntime:
    """Runtime of the `cpu` device. Launches return when they are done."""

    name = "cpu"
    #: Helpers are always inlined here.
    ignored_hints = frozenset({"always_inline"})
    #: What `disable` may switch off here besides the passes of the pipeline.
    pass_names = ("vectorise", "fast_division", "streams", "halves")
    #: Keys of this device's own options and the types of their values, and what judges them.
    backend_options: Mapping[str, type] = BACKEND_OPTIONS
    judge_option = staticmethod(judge_option)

    #: What makes code of a kernel, imported when the first one is compiled.
    compiler_modules = ("isogrid.backends.cpu.compile",)

    def __init__(self) -> None:
        self.memory = HostMemory(self.name)

    def raise_pending(self) -> None:
        """Raise the first trap of a launch on device arrays that has not been raised."""
        self.memory.queue.settle()

    synchronize = raise_pending

    def exactness(self) -> "Exactness":
        """Why each operation is exact here."""
        from isogrid.backends.cpu.exactness import made_with, reason
        from isogrid.backends.cpu.target import host_target
        from isogrid.builtins.exactness import exactness_of

        target = host_target()
        return exactness_of(made_with(target), lambda operation: reason(operation, target))

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> CpuArtifact:
        """Native code for launches whose sizes are all below 2^31; the other variant follows when one is needed."""
        return a.make_artifact(kernel, options, _compile(kernel, options, LaunchFacts(small=True)))

    def decisions(self, kernel: k.Kernel, options: Mapping[str, Any]) -> list[str]:
        """How the code was made, for those who ask."""
        from isogrid.backends.cpu.compile import emitted

        _, module = emitted(kernel, options, LaunchFacts(small=True))
        writes = ["writes past the cache where arrays are large"] if module.streamed else []
        checks = ["checks first and writes then where a launch is large"] if module.halves else []
        return [*module.notes, *writes, *checks]

    def launch(self, artifact: CpuArtifact, bound: BoundLaunch) -> None:
        """Run the launch to its end. Raises its trap, arrays restored, or KeyboardInterrupt, arrays unspecified."""
        variant = artifact.small if is_small(artifact.head, bound) else _wide(artifact)
        _Launch(artifact.head, variant, bound).run()

    def native_launch(self, artifact: CpuArtifact, program: k.Kernel, plan: LaunchPlan) -> Callable[..., object] | None:
        """The launch stub for calls like the one that made this artifact, or None."""
        spec, definition = plan.specialisation, plan.definition
        return native_call(
            program,
            artifact.small,
            [None if p.name in spec.absent else p.name for p in definition.parameters],
            plan.unusual,
            constants=dict(spec.constants),
            derived=definition.derived,
            most_units=plan.most_units,
            open_extents=plan.open_extents,
        )

    def whole_call(
        self, native: Callable[..., object], slow: Callable[..., None], unusual: object
    ) -> Callable[..., None]:
        """A launch stub and the slow path behind it as one callable."""
        return whole_call(native, slow, unusual)

    def native_reduction(
        self, artifact: CpuArtifact, program: k.Kernel, plan: ReducingCall
    ) -> Callable[..., object] | None:
        """The whole call of an offloaded function that is one reducing loop, or None."""
        # Imported here, so that a first launch does not pay for it.
        from isogrid.backends.cpu.reduce_stub import native_reduction

        return native_reduction(program, artifact, plan)

    def cache_facts(self) -> tuple[str, ...]:
        """What stored artifacts depend on besides the kernel."""
        return machine_facts()

    def to_bytes(self, artifact: CpuArtifact) -> bytes:
        """For the disk cache."""
        return a.to_bytes(artifact)

    def from_bytes(self, payload: bytes) -> CpuArtifact:
        """An artifact from verified bytes; no compiler is loaded."""
        return a.from_bytes(payload)


def is_small(kernel: k.Kernel, bound: BoundLaunch) -> bool:
    """Whether `LaunchFacts.small` holds for this launch."""
    sizes = [*bound.dims.values(), *bound.extents, *(array.size for array in bound.arrays.values())]
    sizes.append(math.prod(bound.threads(kernel.geometry, kernel.grouped)))
    # Modular integers (`w32`, `w64`) are not counted: no proof assumes that they are small.
    checked = [p.name for p in kernel.parameters if isinstance(p, k.ScalarParameter) and p.type.is_checked]
    sizes.extend(abs(int(bound.scalars[name])) for name in checked)
    return max(sizes) < _SMALL


def _compile(kernel: k.Kernel, options: Mapping[str, Any], facts: LaunchFacts) -> LoadedVariant:
    # Imported here, so that a launch from the disk cache loads no compiler.
    from isogrid.backends.cpu.compile import compile_variant

    return compile_variant(kernel, options, facts)


def _wide(artifact: CpuArtifact) -> LoadedVariant:
    if artifact.wide is None:
        artifact.wide = _compile(artifact.kernel(), artifact.options, LaunchFacts(small=False))
    return artifact.wide


class _Launch:
    """One launch: the argument block and everything that it points to."""

    def __init__(self, kernel: k.Kernel, variant: LoadedVariant, bound: BoundLaunch) -> None:
        self.kernel = kernel
        self.variant = variant
        self.facts = variant.facts
        self.bound = bound
        self.units = _units(kernel, self.facts, bound)
        self.record = np.zeros(layout.RECORD_WORDS, np.int64)
        self.shadows = {name: np.zeros(bound.arrays[name].size, np.int64) for name in self.facts.layout.shadows}
        self.block = self._fill()
        self.start: Callable[[int, int, int], int] = serial.launch
        self.rerun: Callable[[int, int, int, int], int] = serial.precise
        if pool.is_supported():
            native = pool.native_pool()
            self.start, self.rerun = native.launch, native.precise
            due = variant.stream and native.stream_due(variant.address, ctypes.addressof(self.block), self.units)
            if due:
                variant.ensure_streamed()

    def _fill(self) -> "ctypes.Array[ctypes.c_int64]":
        places, bound = self.facts.layout, self.bound
        block = (ctypes.c_int64 * places.slots)()
        block[layout.RECORD_SLOT] = self.record.ctypes.data
        for parameter in self.kernel.parameters:
            slot = places.parameters[parameter.name]
            match parameter:
                case k.ScalarParameter(name=name, type=type):
                    block[slot] = scalar_bits(bound.scalars[name], type)
                case k.ArrayParameter(name=name):
                    block[slot] = bound.arrays[name].ctypes.data
        for name, slot in places.dims.items():
            block[slot] = bound.dims[name]
        for slot, extent in zip(places.extents, bound.extents, strict=True):
            block[slot] = extent
        for name, slot in places.shadows.items():
            block[slot] = self.shadows[name].ctypes.data
        return block

    def run(self) -> None:
        if self._checks_first():
            return
        room, saved = self._save()
        try:
            self._run(saved)
        finally:
            give_room(room)

    def _checks_first(self) -> bool:
        """Check, then write, where that is better than to save what is written. False, with nothing written, where it
        is not or a thread traps."""
        halves = self.variant.halves
        if halves is None or not pool.is_supported():
            return False
        size = sum(self.bound.arrays[name].nbytes for name in self._written())
        if not pool.native_pool().checks_first(self.variant.address, size):
            return False
        self.variant.ensure_halves()
        block = ctypes.addressof(self.block)
        return all(self.start(half, block, self.units) == pool.LAUNCH_DONE for half in (halves.check, halves.write))

    def _written(self) -> list[str]:
        return [p.name for p in self.kernel.parameters if isinstance(p, k.ArrayParameter) and p.access.writes]

    def _run(self, saved: Mapping[str, "np.ndarray[Any, Any]"]) -> None:
        trapped = self.start(self.variant.address, ctypes.addressof(self.block), self.units)
        trap = self._find(trapped, saved) if trapped >= 0 else None
        trap = trap or self._total()
        if trap is not None:
            self._restore(saved)
            raise trap

    def _save(self) -> tuple[Bytes, dict[str, "np.ndarray[Any, Any]"]]:
        """Copies of the arrays that a trap must put back, and the memory that they are in."""
        arrays = {name: self.bound.arrays[name] for name in self._written()} if self.facts.can_trap else {}
        room = take_room(sum(_lines(array.nbytes) for array in arrays.values()))
        saved: dict[str, np.ndarray[Any, Any]] = {}
        at = 0
        for name, array in arrays.items():
            saved[name] = room[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
            np.copyto(saved[name], array)
            at += _lines(array.nbytes)
        return room, saved

    def _restore(self, saved: Mapping[str, "np.ndarray[Any, Any]"]) -> None:
        for name, content in saved.items():
            np.copyto(self.bound.arrays[name], content)
        for counts in self.shadows.values():
            counts[...] = 0

    def _find(self, low: int, saved: Mapping[str, "np.ndarray[Any, Any]"]) -> Trap | None:
        """The first trap, which is at or above unit `low`.

        A kernel with a data race may take another way this time. Then the whole launch is run again in order, and
        what that run does is the result: it may also be that nothing traps.
        """
        self.variant.ensure_precise()
        for start in dict.fromkeys((low, 0)):
            self._restore(saved)
            block = ctypes.addressof(self.block)
            if self.rerun(self.variant.address, block, start, self.units) >= 0:
                return self._recorded()
        return None

    def _recorded(self) -> Trap:
        record: list[int] = self.record.tolist()
        site_number = record[layout.RECORD_SITE] - 1
        if not 0 <= site_number < len(self.facts.sites):
            raise CompilerBug(f"the trap record of `{self.kernel.name}` names no site: {record}")
        site = self.facts.sites[site_number]
        words = record[layout.RECORD_OPERANDS : layout.RECORD_OPERANDS + len(site.operands)]
        operands = [scalar_value(word, type) for word, type in zip(words, site.operands, strict=True)]
        thread = self._thread(record[layout.RECORD_THREAD], record[layout.RECORD_LOCAL])
        return trap_exception(site, self.kernel.name, thread, operands)

    def _thread(self, number: int, local: int) -> tuple[int, ...] | None:
        """The gid of the recorded thread along each axis; None for the total of a shared array."""
        geometry = self.kernel.geometry
        if not self.kernel.grouped:
            return place(number, self.bound.threads(geometry, False))
        if local < 0:
            return None
        group, lid = place(number, self.bound.groups(geometry)), place(local, geometry.block)
        return tuple(g * b + at for g, b, at in zip(group, geometry.block, lid, strict=True))

    def _total(self) -> Trap | None:
        """The first total that left its type: by parameter, then by element. The counters say how often it wrapped."""
        sites = dict(self.facts.totals)
        for parameter in self.kernel.parameters:
            counts = self.shadows.get(parameter.name)
            if counts is None:
                continue
            elements = np.flatnonzero(counts)
            if elements.size:
                site = self.facts.sites[sites[parameter.name]]
                return trap_exception(site, self.kernel.name, None, [int(elements[0])])
        return None


#: Memory of the last launch that kept copies: fresh pages would cost more than the copying.
_ROOM: Final[list[Bytes]] = []
_MOST_ROOM: Final = 1 << 28


def _lines(size: int) -> int:
    """Bytes of the cache lines that hold `size` bytes."""
    return -(-size // 64) * 64


def take_room(size: int) -> Bytes:
    """At least `size` bytes; nobody else has them until they are given back."""
    try:
        room = _ROOM.pop()
    except IndexError:
        room = np.empty(0, np.uint8)
    return room if room.size >= size else np.empty(size, np.uint8)


def give_room(room: Bytes) -> None:
    """Keep the memory for the next launch, unless it is much."""
    if 0 < room.size <= _MOST_ROOM and not _ROOM:
        _ROOM.append(room)


def _units(kernel: k.Kernel, facts: Variant, bound: BoundLaunch) -> int:
    match facts.unit:
        case "threads":
            return bound.threads(kernel.geometry, kernel.grouped)[0]
        case "rows":
            return math.prod(bound.threads(kernel.geometry, kernel.grouped)[:-1])
        case "groups":
            return math.prod(bound.groups(kernel.geometry))


def place(number: int, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Coordinates of linear position `number` in a C-ordered box."""
    coordinates: list[int] = []
    for extent in reversed(extents):
        number, at = divmod(number, extent)
        coordinates.append(at)
    return tuple(reversed(coordinates))


def scalar_bits(value: Any, type: Scalar) -> int:
    """The slot of a scalar: its bits in the low bytes, as a signed 64-bit number."""
    if type.is_float:
        return int.from_bytes(np.asarray(value, type.numpy).tobytes().ljust(8, b"\0"), "little", signed=True)
    number = int(value) & ((1 << type.bits) - 1)
    return number - (1 << 64) if number >> 63 else number


def scalar_value(word: int, type: Scalar) -> Any:
    """The value that a trap reports from the zero-extended bits of its record."""
    data = (word & ((1 << 64) - 1)).to_bytes(8, "little")[: type.size]
    value = np.frombuffer(data, type.numpy)[0]
    if type.is_float:
        return value
    return bool(value) if type is Scalar.BOOL else int(value)
