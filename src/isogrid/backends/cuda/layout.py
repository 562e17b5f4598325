"""What emitted device code, its C spelling and the runtime share: kernel parameters, the trap record, the module.

The parameters of saxpy are guard, a, x, y, N and the grid extent, each in an 8-byte host slot that the driver reads
the low bytes of. A kernel that can trap has the record in front of them.
"""

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from isogrid.ir.kernel import ArrayParameter, ScalarParameter
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar, Space
from isogrid.support.records import dataclass

if TYPE_CHECKING:
    from isogrid.ir import device

#: The trap record is `RECORD_WORDS` u64, all ones before the launch: key, site number, lock, unused, operands (the
#: bits of each, zero-extended). The key orders traps as the reference does: the linear gid of an ungrouped kernel; in a
#: grouped one the linear group times the threads of a group, plus the linear lid. All ones: nothing has trapped.
RECORD_WORDS: Final = 16
RECORD_KEY: Final = 0
RECORD_SITE: Final = 1
RECORD_LOCK: Final = 2
RECORD_OPERANDS: Final = 4
MAX_OPERANDS: Final = RECORD_WORDS - RECORD_OPERANDS
#: Behind the record: the word that later launches wait for, and the address in host memory that a trap is reported to.
POISON_WORD: Final = RECORD_WORDS
MIRROR_WORD: Final = RECORD_WORDS + 1
NO_TRAP: Final = (1 << 64) - 1
#: The key of the total of a global array, which ranks behind every thread.
TOTAL_KEY: Final = 1 << 63
#: The site that `settle` records when more sums wrapped than the watch has room for.
SITE_TOO_MANY: Final = 1 << 32

#: The watch is u64 words: number of events, room for events, then two words each: parameter number * 2 + 1 if a sum
#: of that array wrapped downward (else + 0), and the element.
WATCH_COUNT: Final = 0
WATCH_CAPACITY: Final = 1
WATCH_EVENTS: Final = 2
#: Or, where the room is this, a count for every element, which cannot be too few: word 2 + p is the place of the first
#: count of parameter p, the word behind those of all parameters the end. A count is the wraps upward less those
#: downward; `settle` leaves all of them zero.
WATCH_DENSE: Final = 1 << 63

#: Threads of the one block that `settle` is launched with.
SETTLE_THREADS: Final = 256

SlotKind: TypeAlias = Literal["record", "watch", "guard", "first_block", "array", "scalar", "dim", "extent", "divider"]
SlotType: TypeAlias = Literal["ptr", "i8", "i16", "i32", "i64", "float", "double"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One kernel parameter.

    record: pointer to the trap record. watch: pointer to the events of wrapped sums. guard: pointer to a u64, may be
    null; where it holds anything but all ones the launch does nothing. first_block: number of the first block of this
    launch. array, scalar: a parameter of the kernel by name; dim: a dimension by name; extent: an evaluated extent of
    the geometry, by axis; divider: what divides by the number of tiles along an axis, see `divider`.
    """

    kind: SlotKind
    name: str
    type: SlotType


@dataclass(frozen=True, slots=True)
class Layout:
    """The parameters of `run`, in order. `small`: no size, product or thread count of a launch reaches 2^31. `watched`
    names the arrays that the watch is for."""

    slots: tuple[Slot, ...]
    small: bool
    watched: tuple[str, ...] = ()

    def index(self, kind: SlotKind, name: str = "") -> int | None:
        """Where a parameter stands, None if the kernel has none such."""
        for number, slot in enumerate(self.slots):
            if slot.kind == kind and slot.name == name:
                return number
        return None


def layout_of(kernel: "device.Kernel", *, small: bool, divides: bool = False, starts: bool = False) -> Layout:
    """The parameters of `kernel`; `divides` asks for a divider for every axis but the first, `starts` for the number of
    the first block, which a launch that is not small has anyway."""
    slots: list[Slot] = []
    if kernel.sites:
        slots.append(Slot("record", "", "ptr"))
    if watched(kernel):
        slots.append(Slot("watch", "", "ptr"))
    slots.append(Slot("guard", "", "ptr"))
    if starts or not small:
        slots.append(Slot("first_block", "", "i64"))
    for parameter in kernel.parameters:
        match parameter:
            case ArrayParameter(name=name):
                slots.append(Slot("array", name, "ptr"))
            case ScalarParameter(name=name, type=type):
                slots.append(Slot("scalar", name, scalar_type(type)))
    size: SlotType = "i32" if small else "i64"
    slots += [Slot("dim", name, size) for name in kernel.dims]
    slots += [Slot("extent", str(axis), size) for axis in range(kernel.geometry.rank)]
    if divides:
        slots += [Slot("divider", str(axis), "i64") for axis in range(1, kernel.geometry.rank)]
    return Layout(tuple(slots), small, tuple(watched(kernel)))


def divider(count: int) -> int:
    """A factor and, from bit 32 on, a shift: n // count is (2 n * factor >> 32) >> shift for every n below 2^31.

    The factor is 2^(31 + shift) / count, rounded up. It is too large by less than one part in 2^31, so that the
    quotient of such an n never reaches the next integer.
    """
    shift = (count - 1).bit_length()
    return -(-(1 << (31 + shift)) // count) | shift << 32


def scalar_type(type: Scalar) -> SlotType:
    """How a scalar parameter is passed; a bool is a byte."""
    if type.is_float:
        return "float" if type is Scalar.F32 else "double"
    names: dict[int, SlotType] = {8: "i8", 16: "i16", 32: "i32", 64: "i64"}
    return names[type.bits]


def watched(kernel: "device.Kernel") -> dict[str, int]:
    """Array parameters with an atomic total that may leave its type, and the site of the first such atomic."""
    return {name: site for name, site in totalled(kernel).items() if name in {p.name for p in kernel.parameters}}


def totalled(kernel: "device.Kernel") -> dict[str, int]:
    """Every buffer, shared ones too, with an atomic total that may leave its type, and the site of the first one."""
    from isogrid.ir import device  # late: a launch from the disk cache needs no device IR
    from isogrid.ir.walk import visit

    found: dict[str, int] = {}
    for node in visit(kernel.body):
        if isinstance(node, device.Atomic) and node.total is not None:
            found.setdefault(node.buffer, node.total)
    return found


def shared_totals(kernel: "device.Kernel") -> dict[str, int]:
    """The shared buffers among them."""
    shared = {b.name for b in kernel.buffers if b.space is Space.SHARED}
    return {name: site for name, site in totalled(kernel).items() if name in shared}


@dataclass(frozen=True, slots=True)
class CudaModule:
    """One kernel as LLVM IR for NVPTX.

    The grid is one-dimensional: as many blocks as there are boxes of `tile` in the extents (of the grid, or groups), of
    `block` threads each. `alignment` is what the array pointers of a launch must be multiples of, `dynamic_shared` the
    bytes to ask for at launch. `settle` is an entry too where there is a watch. `notes` say what was done, for
    `explain`. `in_turn`: a block goes on with the box as far behind its own as there are blocks, so that any number of
    blocks does all. `waits`: a launch may start before the one in front of it ends, since the code waits for that.
    """

    text: str
    layout: Layout
    entries: tuple[str, ...]
    block: int
    tile: tuple[int, ...]
    alignment: int
    static_shared: int
    dynamic_shared: int
    sites: tuple[TrapSite, ...]
    notes: tuple[str, ...] = ()
    in_turn: bool = False
    waits: bool = False
