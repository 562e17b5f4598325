"""The shell of a kernel: its parameters, shared memory, the coordinates of a thread, and the module around it."""

from dataclasses import dataclass
from itertools import accumulate

from isogrid.backends.cuda.emit_code import GLOBAL_POINTER, SHARED_POINTER, BufferRef, Code
from isogrid.backends.cuda.emit_collective import scratch_bytes
from isogrid.backends.cuda.layout import Layout, shared_totals
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar, Space
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import element_type, type_text

#: More shared memory than this must be asked for at launch.
STATIC_SHARED = 48 * 1024
_ALIGNMENT = 16


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Where each shared buffer starts, in bytes. `dynamic`: all of it is asked for at launch."""

    offsets: dict[str, int]
    sizes: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.sizes.values())

    @property
    def dynamic(self) -> bool:
        return self.total > STATIC_SHARED

    def pointer(self, name: str) -> str:
        if self.dynamic:
            return f"getelementptr (i8, {SHARED_POINTER} @dynamic, i64 {self.offsets[name]})"
        return symbol("shared", name)


def plan_shared(kernel: d.Kernel) -> SharedMemory:
    """Shared arrays, counters of their totals, and the scratch memory of group and warp operations."""
    sizes = {b.name: (b.count or 0) * element_type(b.element).bits // 8 for b in _shared(kernel)}
    for name in shared_totals(kernel):
        count = next(b.count or 0 for b in _shared(kernel) if b.name == name)
        sizes[f"{name} counters"] = 4 * count
    if shared_totals(kernel):
        sizes["totals"] = 8
    if any(isinstance(n, d.Collective) and n.op not in ("any", "all") for n in visit(kernel.body)):
        sizes["scratch"] = 2 * scratch_bytes(threads_of(kernel))
    if kernel.warp > 32 and any(isinstance(n, d.WarpCollective) for n in visit(kernel.body)):
        sizes["warp scratch"] = 2 * threads_of(kernel) // kernel.warp * scratch_bytes(kernel.warp)
    rounded = {name: -(-size // _ALIGNMENT) * _ALIGNMENT for name, size in sizes.items()}
    starts = accumulate(rounded.values(), initial=0)
    return SharedMemory(dict(zip(rounded, starts, strict=False)), rounded)


def threads_of(kernel: d.Kernel) -> int:
    return kernel.geometry.group_size


def _shared(kernel: d.Kernel) -> list[d.Buffer]:
    return [b for b in kernel.buffers if b.space is Space.SHARED]


def symbol(kind: str, name: str) -> str:
    plain = (c if (c.isalnum() and c.isascii()) or c in "_" else f"${ord(c):x}" for c in name)
    return f"@{kind}_{''.join(plain)}"


def shared_text(shared: SharedMemory, kernel: d.Kernel) -> list[str]:
    """The declarations of shared memory."""
    if shared.dynamic:
        return [f"@dynamic = external addrspace(3) global [0 x i8], align {_ALIGNMENT}"]
    return [
        f"{symbol('shared', name)} = internal addrspace(3) global [{size} x i8] undef, align {_ALIGNMENT}"
        for name, size in shared.sizes.items()
    ]


def table_text(buffer: d.Buffer) -> str:
    """A constant array of the author's."""
    data = "".join(f"\\{b:02X}" for b in buffer.data)
    return (
        f'{symbol("table", buffer.name)} = internal addrspace(1) constant [{len(buffer.data)} x i8] c"{data}", align 16'
    )


# --- parameters -------------------------------------------------------------------------------------------------------


def buffers_of(kernel: d.Kernel, shared: SharedMemory) -> dict[str, BufferRef]:
    """Where every buffer is. Arrays that the kernel does not write to are read through the cache for constants."""
    found: dict[str, BufferRef] = {}
    totals = shared_totals(kernel)
    for number, buffer in enumerate(kernel.buffers):
        match buffer.space:
            case Space.GLOBAL:
                pointer, constant = parameter_name(kernel, buffer.name), buffer.access is Access.IN
            case Space.TABLE:
                pointer, constant = symbol("table", buffer.name), True
            case Space.SHARED:
                pointer, constant = shared.pointer(buffer.name), False
            case Space.LOCAL:
                pointer, constant = f"%local.{number}", False
        counters = shared.pointer(f"{buffer.name} counters") if buffer.name in totals else ""
        found[buffer.name] = BufferRef(pointer, buffer.element, buffer.space, buffer.count, constant, counters)
    for name in ("scratch", "warp scratch", "totals"):
        if name in shared.offsets:
            found[name] = BufferRef(shared.pointer(name), Scalar.I64, Space.SHARED, None)
    return found


def parameter_name(kernel: d.Kernel, name: str) -> str:
    return f"%arg.{next(n for n, p in enumerate(kernel.parameters) if p.name == name)}"


def local_allocas(kernel: d.Kernel) -> list[str]:
    return [
        f"  %local.{number} = alloca [{buffer.count} x {type_text(element_type(buffer.element))}], align 16"
        for number, buffer in enumerate(kernel.buffers)
        if buffer.space is Space.LOCAL
    ]


def parameter_list(kernel: d.Kernel, layout: Layout, alignment: int) -> str:
    """The parameters of `run`. Arrays of one launch do not overlap. But where threads of a group hand elements to each
    other, LLVM would take `noalias` to mean that no barrier changes an array, so written ones do not get it."""
    listed: list[str] = []
    writes = {b.name: b.access is not Access.IN for b in kernel.buffers if b.space is Space.GLOBAL}
    for slot in layout.slots:
        match slot.kind:
            case "record" | "watch" | "guard":
                listed.append(f"{GLOBAL_POINTER} %{slot.kind}")
            case "first_block":
                listed.append("i64 %first_block")
            case "array":
                alone = not writes[slot.name] or (not kernel.grouped and kernel.races == "prove")
                attributes = " noalias" if alone and kernel.deterministic else ""
                attributes += "" if writes[slot.name] else " readonly"
                attributes += f" align {alignment}" if alignment > 1 else ""
                listed.append(f"{GLOBAL_POINTER}{attributes} {parameter_name(kernel, slot.name)}")
            case "scalar":
                listed.append(f"{slot.type} {parameter_name(kernel, slot.name)}")
            case "dim":
                listed.append(f"{slot.type} %dim.{kernel.dims.index(slot.name)}")
            case "extent":
                listed.append(f"{slot.type} %extent.{slot.name}")
            case "divider":
                listed.append(f"i64 %divider.{slot.name}")
    return ", ".join(listed)


def bind_arguments(code: Code, layout: Layout) -> None:
    """The values that device IR sees of scalars and dimensions: bools as i1, sizes as i64."""
    kernel, w = code.kernel, code.w
    for slot in layout.slots:
        match slot.kind:
            case "scalar":
                value = parameter_name(kernel, slot.name)
                if slot.type == "i8":
                    value = w.emit(f"icmp ne i8 {value}, 0")
                code.arguments[("scalar", slot.name)] = value
            case "dim":
                value = f"%dim.{kernel.dims.index(slot.name)}"
                power = _known_power(kernel, slot.name)
                if power > 1:
                    # Changes nothing, and shows what rows are aligned to.
                    value = w.emit(f"and {slot.type} {value}, {-power}")
                    code.zeros[f"dim {slot.name}"] = power.bit_length() - 1
                code.arguments[("dim", slot.name)] = _as_i64(code, value, slot.type)
            case _:
                continue


def _known_power(kernel: d.Kernel, name: str) -> int:
    """The largest power of two that a precondition says to divide a dimension: 64 for `N % 192 == 0`."""
    found = 1
    conditions = [require.condition for require in kernel.requires]
    while conditions:
        match conditions.pop():
            case k.Logical(op="and", left=left, right=right):
                conditions += [left, right]
            case (
                k.Compare(op="eq", left=k.Binary(op="mod", left=k.DimValue(name=of), right=k.Const(value=int(by)))) as c
            ):
                if of == name and by > 0 and isinstance(c.right, k.Const) and c.right.value == 0:
                    found = max(found, by & -by)
            case _:
                continue
    return found


def _as_i64(code: Code, value: str, type: str) -> str:
    return value if type == "i64" else code.w.emit(f"zext nneg {type} {value} to i64")


# --- coordinates ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Where the block of this thread starts: the box of tiles that it is (`tile` per axis, as `index` values), and the
    thread's place in the block along each axis (i32). `index` is the type of sizes, i32 or i64."""

    index: str
    tile: tuple[str, ...]
    local: tuple[str, ...]


def find_place(code: Code, layout: Layout, block: tuple[int, ...], tile: tuple[int, ...], number: str = "") -> Place:
    """Split the number of a box, this block's if it is not given, over the tiles in C order, and the thread's over the
    block."""
    w = code.w
    index = "i32" if layout.small else "i64"
    code.local = w.call("llvm.nvvm.read.ptx.sreg.tid.x", "i32", [], [])
    number = number or w.call("llvm.nvvm.read.ptx.sreg.ctaid.x", "i32", [], [])
    if not layout.small:
        number = w.emit(f"add i64 %first_block, {w.emit(f'zext i32 {number} to i64')}")
    elif layout.index("first_block") is not None:
        number = w.emit(f"add nuw i32 {w.emit('trunc i64 %first_block to i32')}, {number}")
    boxes: list[str] = []
    for axis in reversed(range(len(tile))):
        if axis == 0:
            boxes.append(number)
            break
        count = ceiling(code, index, f"%extent.{axis}", tile[axis])
        quotient = _quotient(code, number, axis) if code.divides else w.emit(f"udiv {index} {number}, {count}")
        boxes.append(w.emit(f"sub nuw {index} {number}, {w.emit(f'mul nuw {index} {quotient}, {count}')}"))
        number = quotient
    local: list[str] = []
    rest = code.local
    for axis in reversed(range(len(block))):
        if all(extent == 1 for extent in block[:axis]):
            local.append(rest)
            rest = "0"
            continue
        local.append(w.emit(f"urem i32 {rest}, {block[axis]}"))
        rest = w.emit(f"udiv i32 {rest}, {block[axis]}")
    return Place(index, tuple(reversed(boxes)), tuple(reversed(local)))


def _quotient(code: Code, number: str, axis: int) -> str:
    """Divide by the number of tiles along an axis, in three instructions instead of some twenty."""
    w = code.w
    factor = w.emit(f"and i64 %divider.{axis}, {(1 << 32) - 1}")
    shift = w.emit(f"trunc i64 {w.emit(f'lshr i64 %divider.{axis}, 32')} to i32")
    twice = w.emit(f"zext i32 {w.emit(f'shl nuw i32 {number}, 1')} to i64")
    high = w.emit(f"lshr i64 {w.emit(f'mul nuw i64 {twice}, {factor}')}, 32")
    return w.emit(f"lshr i32 {w.emit(f'trunc i64 {high} to i32')}, {shift}")


def ceiling(code: Code, index: str, extent: str, by: int) -> str:
    if by == 1:
        return extent
    more = code.w.emit(f"add nuw {index} {extent}, {by - 1}")
    return code.w.emit(f"udiv {index} {more}, {by}")


def group_specials(code: Code, layout: Layout, place: Place) -> None:
    """Coordinates of a thread of a grouped kernel, and its key in the order of traps."""
    w, index, geometry = code.w, place.index, code.kernel.geometry
    for axis, extent in enumerate(geometry.block):
        group, local = place.tile[axis], _widened(code, place.local[axis], index)
        first = w.emit(f"mul nuw {index} {group}, {extent}")
        thread = w.emit(f"add nuw {index} {first}, {local}")
        groups = f"%extent.{axis}"
        if geometry.kind == "grid":
            groups = ceiling(code, index, groups, extent)
        for kind, value in (("group", group), ("local", local), ("thread", thread), ("groups", groups)):
            code.specials[(kind, axis)] = _as_i64(code, value, index)
        code.specials[("extent", axis)] = _as_i64(code, w.emit(f"mul nuw {index} {groups}, {extent}"), index)
    linear = code.specials[("group", 0)]
    for axis in range(1, geometry.rank):
        linear = w.emit(f"mul nuw i64 {linear}, {code.specials[('groups', axis)]}")
        linear = w.emit(f"add nuw i64 {linear}, {code.specials[('group', axis)]}")
    scaled = w.emit(f"mul nuw i64 {linear}, {geometry.group_size}")
    code.key = w.emit(f"add nuw i64 {scaled}, {w.emit(f'zext nneg i32 {code.local} to i64')}")


def thread_specials(code: Code, threads: tuple[str, ...], index: str) -> None:
    """Coordinates of a thread of an ungrouped kernel."""
    for axis, thread in enumerate(threads):
        code.specials[("thread", axis)] = _as_i64(code, thread, index)
        code.specials[("extent", axis)] = _as_i64(code, f"%extent.{axis}", index)
    code.key = code.specials[("thread", 0)]
    for axis in range(1, len(threads)):
        code.key = code.w.emit(f"mul nuw i64 {code.key}, {code.specials[('extent', axis)]}")
        code.key = code.w.emit(f"add nuw i64 {code.key}, {code.specials[('thread', axis)]}")


def _widened(code: Code, value: str, index: str) -> str:
    if index == "i32":
        return value
    return code.w.emit(f"zext nneg i32 {value} to i64")


def first_threads(code: Code, place: Place, tile: tuple[int, ...], items: tuple[int, ...]) -> tuple[str, ...]:
    """The first grid coordinates of this thread, which takes `items` threads of the grid along each axis."""
    w, found = code.w, list[str]()
    for axis, extent in enumerate(tile):
        first = w.emit(f"mul nuw {place.index} {place.tile[axis]}, {extent}")
        local = _widened(code, place.local[axis], place.index)
        if items[axis] > 1 and code.gaps[axis] == 1:
            local = w.emit(f"mul nuw {place.index} {local}, {items[axis]}")
        found.append(w.emit(f"add nuw {place.index} {first}, {local}"))
    return tuple(found)
