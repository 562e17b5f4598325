"""What emitted code, launch stub and runtime share: the argument block, the trap record, the emitted module.

The argument block of saxpy is eight 8-byte slots: record, interrupt flag, a, x, y, N, extent 0 and nothing else.
"""

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from isogrid.ir.kernel import ArrayParameter
from isogrid.support.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isogrid.ir import device

#: Slot of the pointer to the trap record and of the pointer to the i32 interrupt flag (nonzero: stop).
RECORD_SLOT: Final = 0
INTERRUPT_SLOT: Final = 1
FIRST_PARAMETER_SLOT: Final = 2
SLOT_BYTES: Final = 8

#: The trap record is `RECORD_WORDS` i64: site + 1 (0: none), the linear gid (ungrouped) or linear group, the linear lid
#: (grouped; -1 for the total of a shared array), and from `RECORD_OPERANDS` on the operands' bits, zero-extended.
RECORD_WORDS: Final = 16
RECORD_SITE: Final = 0
RECORD_THREAD: Final = 1
RECORD_LOCAL: Final = 2
RECORD_OPERANDS: Final = 4
MAX_OPERANDS: Final = RECORD_WORDS - RECORD_OPERANDS

#: Bytes of a cache line.
LINE: Final = 64

#: Results of `run`: no trap, some lane trapped (memory is then unspecified), stopped by the interrupt flag.
RUN_DONE: Final = 0
RUN_TRAPPED: Final = 1
RUN_INTERRUPTED: Final = -1

#: What `lo` and `hi` of `run` and `precise` count: threads (1-D ungrouped), rows along the last axis, or groups.
Unit: TypeAlias = Literal["threads", "rows", "groups"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Slot numbers of one kernel's argument block.

    `parameters` follow `kernel.parameters` (array: data pointer; scalar: its bits in the low bytes), `dims` and
    `extents` are i64, `shadows` holds for each array parameter with a checked atomic total the pointer to one i64
    counter per element, zero at launch: +1 for each add that wrapped upward, -1 downward.
    """

    parameters: dict[str, int]
    dims: dict[str, int]
    extents: tuple[int, ...]
    shadows: dict[str, int]

    @property
    def slots(self) -> int:
        """Number of slots of the block."""
        return FIRST_PARAMETER_SLOT + len(self.parameters) + len(self.dims) + len(self.extents) + len(self.shadows)


def layout_of(kernel: "device.Kernel") -> Layout:
    """The argument block of `kernel`."""
    slot = FIRST_PARAMETER_SLOT
    parameters = {p.name: slot + k for k, p in enumerate(kernel.parameters)}
    slot += len(parameters)
    dims = {name: slot + k for k, name in enumerate(kernel.dims)}
    slot += len(dims)
    extents = tuple(slot + k for k in range(kernel.geometry.rank))
    slot += len(extents)
    shadowed = [p.name for p in kernel.parameters if isinstance(p, ArrayParameter) and p.name in totalled(kernel.body)]
    return Layout(parameters, dims, extents, {name: slot + k for k, name in enumerate(shadowed)})


def unit_of(kernel: "device.Kernel") -> Unit:
    """What one step of `run` is."""
    if kernel.grouped:
        return "groups"
    return "threads" if kernel.geometry.rank == 1 else "rows"


def totalled(block: "device.Block") -> dict[str, int]:
    """Buffers with a checked atomic total, and the trap site of the first such atomic in the text."""
    found: dict[str, int] = {}
    _collect_totals(block, found)
    return found


def _collect_totals(block: "device.Block", found: dict[str, int]) -> None:
    from isogrid.ir import device  # late: a launch from the disk cache needs no device IR

    for statement in block:
        match statement:
            case device.Atomic():
                if statement.total is not None:
                    found.setdefault(statement.buffer, statement.total)
            case device.If():
                _collect_totals(statement.then, found)
                _collect_totals(statement.otherwise, found)
            case device.For() | device.Loop() | device.Scope():
                _collect_totals(statement.body, found)
            case _:
                continue


@dataclass(frozen=True, slots=True)
class StreamedUnit:
    """What a unit writes past the cache: `bytes` times what is in `slot` of the argument block (-1: once). Pointers to
    the arrays are in the slots `arrays`."""

    bytes: int
    slot: int
    arrays: tuple[int, ...]


def streamed_unit(kernel: "device.Kernel", arrays: "Sequence[str]", bytes: int) -> StreamedUnit:
    """What a unit writes if each of its threads writes `bytes`."""
    layout = layout_of(kernel)
    slots = tuple(layout.parameters[name] for name in arrays)
    if unit_of(kernel) == "threads":
        return StreamedUnit(bytes, -1, slots)
    each = 1 if kernel.geometry.kind == "grid" else kernel.geometry.block[-1]
    return StreamedUnit(bytes * each, layout.extents[-1], slots)


@dataclass(frozen=True, slots=True)
class EmittedModule:
    """LLVM IR text with `run`.

    `pipeline` names the passes that the text was written for (`loader.py`); `polls` tells whether `run` reads the
    interrupt flag inside a range; `alone` whether there is a `run_alone`, for when no other thread runs a launch;
    `streamed` what `emit_streamed` would write past the cache, None where it would write nothing; `halves` whether
    large launches check first and write then; `notes` say which strategy was taken, for `explain`.
    """

    text: str
    unit: Unit
    layout: Layout
    pipeline: Literal["vectorise", "plain"]
    polls: bool
    notes: tuple[str, ...] = ()
    alone: bool = False
    streamed: StreamedUnit | None = None
    halves: bool = False
