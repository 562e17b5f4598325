"""A kernel compiled for this machine: what the runtime needs to launch it, in memory and as bytes for the disk cache.

A stored artifact is complete: launching it reads no source, builds no IR and runs no pass. The kernel's body is kept as
bytes that are looked at only when a launch is too large for the usual variant and the other one must be compiled.
"""

import ctypes
import dataclasses
import pickle
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from isogrid.backends.cpu.layout import EmittedModule, Layout, StreamedUnit, Unit, totalled
from isogrid.backends.cpu.loader import load_object
from isogrid.backends.cpu.pool import Context, Halves, Stream
from isogrid.ir import kernel as k
from isogrid.ir.traps import TrapSite
from isogrid.support.records import dataclass

if TYPE_CHECKING:
    from isogrid.ir import device as d

#: Ranges of single threads start at multiples of this: whole cache lines of every element type.
THREAD_ALIGNMENT: Final = 64


@dataclass(frozen=True, slots=True)
class Variant:
    """Object code for one set of launch facts. `totals` pairs array parameters with the sites of their totals."""

    code: bytes
    layout: Layout
    unit: Unit
    sites: tuple[TrapSite, ...]
    totals: tuple[tuple[str, int], ...]
    polls: bool
    alone: bool
    streamed: StreamedUnit | None
    halves: bool

    @property
    def can_trap(self) -> bool:
        """Whether a launch must be able to put the written arrays back."""
        return bool(self.sites)


@dataclass(frozen=True, slots=True)
class Makers:
    """What compiles the forms of a kernel that few launches need: the precise twin and the form that writes past the
    cache, both by their addresses, and the halves that check and that write."""

    precise: Callable[[], int]
    streamed: Callable[[], int]
    halves: Callable[[], tuple["LoadedVariant", "LoadedVariant"]]


@dataclass(frozen=True, slots=True)
class LoadedVariant:
    """A variant with its code in memory. What the native side knows of it outlives every launch: it is never freed."""

    facts: Variant
    context: Context
    makers: Callable[[], Makers]
    stream: Stream | None
    halves: Halves | None

    @property
    def address(self) -> int:
        return ctypes.addressof(self.context)

    def ensure_precise(self) -> None:
        """Have the precise twin in the context. Most kernels never trap, so it is made at the first trap."""
        if not self.context.precise:
            self.context.precise = self.makers().precise()

    def ensure_streamed(self) -> None:
        """Have the form that writes past the cache. Few launches write much, so it is made when that is due."""
        if self.stream is not None and not self.stream.run:
            self.stream.run = self.makers().streamed()

    def ensure_halves(self) -> None:
        """Have the halves, where launches that write much check first. The first of them tells that both are there."""
        if self.halves is not None and not self.halves.check:
            check, write = self.makers().halves()
            write.ensure_streamed()
            self.halves.write = write.address
            self.halves.check = check.address


@dataclass(slots=True)
class CpuArtifact:
    """One fully specialised kernel. `head` is the kernel without body and tables; `wide` is compiled when needed."""

    head: k.Kernel
    source: bytes
    options: Mapping[str, Any]
    small: LoadedVariant
    wide: LoadedVariant | None = field(default=None)

    def kernel(self) -> k.Kernel:
        """The whole kernel IR."""
        return pickle.loads(self.source)


def make_variant(kernel: "d.Kernel", module: EmittedModule, code: bytes) -> Variant:
    """Join what the emitter says about a module with its object code."""
    return Variant(
        code=code,
        layout=module.layout,
        unit=module.unit,
        sites=kernel.sites,
        totals=tuple((name, site) for name, site in totalled(kernel.body).items() if name in module.layout.shadows),
        polls=module.polls,
        alone=module.alone,
        streamed=module.streamed,
        halves=module.halves,
    )


def load_variant(variant: Variant, makers: Callable[[], Makers]) -> LoadedVariant:
    """Map the code into memory. `makers` is asked when a rarer form is needed."""
    names = ("run", "run_alone") if variant.alone else ("run",)
    addresses = load_object(variant.code, names).addresses
    unit = variant.streamed
    stream = None if unit is None else _stream(unit)
    halves = Halves(check=None, write=None, written=0) if variant.halves else None
    context = Context(
        run=addresses["run"],
        precise=None,
        ticks_per_unit=0.0,
        alignment=THREAD_ALIGNMENT if variant.unit == "threads" else 1,
        polls=variant.polls,
        alone=addresses.get("run_alone"),
        stream=None if stream is None else ctypes.addressof(stream),
        halves=None if halves is None else ctypes.addressof(halves),
    )
    _KEPT.append((context, stream, halves))
    return LoadedVariant(variant, context, makers, stream, halves)


def _stream(unit: StreamedUnit) -> Stream:
    slots = (ctypes.c_int64 * len(unit.arrays))(*unit.arrays)
    return Stream(run=None, bytes=unit.bytes, slot=unit.slot, written=0, count=len(slots), arrays=slots)


#: The native side holds addresses of these.
_KEPT: Final[list[tuple[Context, Stream | None, Halves | None]]] = []


def make_artifact(kernel: k.Kernel, options: Mapping[str, Any], small: LoadedVariant) -> CpuArtifact:
    head = dataclasses.replace(kernel, body=(), tables=())
    return CpuArtifact(head, pickle.dumps(kernel), dict(options), small)


def to_bytes(artifact: CpuArtifact) -> bytes:
    """For the disk cache, which verifies the bytes before `from_bytes` sees them."""
    return pickle.dumps((artifact.head, artifact.source, artifact.options, artifact.small.facts))


def from_bytes(payload: bytes) -> CpuArtifact:
    head, source, options, facts = pickle.loads(payload)

    def makers() -> Makers:
        from isogrid.backends.cpu.compile import makers_again

        return makers_again(pickle.loads(source), options, facts)

    return CpuArtifact(head, source, options, load_variant(facts, makers))
