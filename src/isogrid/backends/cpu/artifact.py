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
from isogrid.backends.cpu.pool import Context, Stream
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

    @property
    def can_trap(self) -> bool:
        """Whether a launch must be able to put the written arrays back."""
        return bool(self.sites)


@dataclass(frozen=True, slots=True)
class LoadedVariant:
    """A variant with its code in memory. The context outlives every launch: it is never freed.

    `make_precise` compiles the precise twin and gives its address; `make_streamed`, from the address of `run`, the form
    that writes past the cache.
    """

    facts: Variant
    context: Context
    make_precise: Callable[[], int]
    make_streamed: Callable[[int], int]
    stream: Stream | None

    @property
    def address(self) -> int:
        return ctypes.addressof(self.context)

    def ensure_precise(self) -> None:
        """Have the precise twin in the context. Most kernels never trap, so it is made at the first trap."""
        if not self.context.precise:
            self.context.precise = self.make_precise()

    def ensure_streamed(self) -> None:
        """Have the form that writes past the cache. Few launches write much, so it is made when that is due."""
        if self.stream is not None and not self.stream.run:
            self.stream.run = self.make_streamed(self.context.run)


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
    )


def load_variant(
    variant: Variant, make_precise: Callable[[], int], make_streamed: Callable[[int], int]
) -> LoadedVariant:
    """Map the code into memory."""
    names = ("run", "run_alone") if variant.alone else ("run",)
    addresses = load_object(variant.code, names).addresses
    unit = variant.streamed
    stream = None if unit is None else _stream(unit)
    context = Context(
        run=addresses["run"],
        precise=None,
        ticks_per_unit=0.0,
        alignment=THREAD_ALIGNMENT if variant.unit == "threads" else 1,
        polls=variant.polls,
        alone=addresses.get("run_alone"),
        stream=None if stream is None else ctypes.addressof(stream),
    )
    _KEPT.append((context, stream))
    return LoadedVariant(variant, context, make_precise, make_streamed, stream)


def _stream(unit: StreamedUnit) -> Stream:
    slots = (ctypes.c_int64 * len(unit.arrays))(*unit.arrays)
    return Stream(run=None, bytes=unit.bytes, slot=unit.slot, written=0, count=len(slots), arrays=slots)


#: The native side holds addresses of these.
_KEPT: Final[list[tuple[Context, Stream | None]]] = []


def make_artifact(kernel: k.Kernel, options: Mapping[str, Any], small: LoadedVariant) -> CpuArtifact:
    head = dataclasses.replace(kernel, body=(), tables=())
    return CpuArtifact(head, pickle.dumps(kernel), dict(options), small)


def to_bytes(artifact: CpuArtifact) -> bytes:
    """For the disk cache, which verifies the bytes before `from_bytes` sees them."""
    return pickle.dumps((artifact.head, artifact.source, artifact.options, artifact.small.facts))


def from_bytes(payload: bytes) -> CpuArtifact:
    head, source, options, facts = pickle.loads(payload)

    def make_precise() -> int:
        from isogrid.backends.cpu.compile import precise_again

        return precise_again(pickle.loads(source), options, facts)

    def make_streamed(usual: int) -> int:
        from isogrid.backends.cpu.compile import streamed_again

        return streamed_again(pickle.loads(source), options, facts, usual)

    return CpuArtifact(head, source, options, load_variant(facts, make_precise, make_streamed))
