"""The shell of an emitted function: unpack the argument block, call a body with `noalias` arguments, return."""

from dataclasses import dataclass, field

from isogrid.backends.cpu.emit_ranges import Ranges
from isogrid.backends.cpu.emit_stream import Stream, lines_agree
from isogrid.backends.cpu.emit_values import BufferRef, Code, Slot
from isogrid.backends.cpu.layout import INTERRUPT_SLOT, RECORD_SLOT, Layout, layout_of, totalled
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.kernel import ScalarParameter
from isogrid.ir.types import Access, Scalar, Space
from isogrid.printers.llvm_text import Writer, element_type, type_text

#: Arrays of a function together above this go to the heap, since workers have small stacks.
STACK_BYTES = 192 * 1024


@dataclass(slots=True)
class FunctionFrame:
    """One function being emitted: `extents` are the evaluated grid extents, `lo` and `hi` the range of units."""

    kernel: d.Kernel
    name: str
    code: Code
    layout: Layout
    parameters: list[tuple[str, str, int, Machine | None]]
    extents: tuple[str, ...]
    arrays: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    #: What whole lines are written of, and the function that runs where lines of several arrays do not agree.
    stream: Stream | None = None
    otherwise: str = ""
    lo: str = "%lo"
    hi: str = "%hi"


def begin_function(kernel: d.Kernel, name: str, flags: str, *, precise: bool) -> FunctionFrame:
    layout = layout_of(kernel)
    arguments: dict[tuple[str, str], str] = {}
    buffers: dict[str, BufferRef] = {}
    parameters: list[tuple[str, str, int, Machine | None]] = []
    globals_ = {b.name: b for b in kernel.buffers if b.space is Space.GLOBAL}
    totals = totalled(kernel.body)
    atomics = _atomic_buffers(kernel.body)
    for number, parameter in enumerate(kernel.parameters):
        slot, text = layout.parameters[parameter.name], f"%arg.{number}"
        if isinstance(parameter, ScalarParameter):
            machine = Machine.I1 if parameter.type is Scalar.BOOL else element_type(parameter.type)
            arguments[("scalar", parameter.name)] = text
            parameters.append((text, type_text(machine), slot, machine))
            continue
        # Without a dot: an emitter's own names end in a dot and a count, and shared arrays have shadows too.
        shadow = f"%shadow{number}" if parameter.name in layout.shadows else ""
        buffers[parameter.name] = BufferRef(
            text, parameter.element, Space.GLOBAL, None, shadow=shadow, total=totals.get(parameter.name)
        )
        # Non-aliasing of what is written follows from race freedom: a kernel that is only trusted does not get it.
        trusted = kernel.races != "prove" and globals_[parameter.name].access is not Access.IN
        attributes = "" if parameter.name in atomics or trusted else " noalias"
        attributes += " readonly" if globals_[parameter.name].access is Access.IN else ""
        parameters.append((text, "ptr" + attributes, slot, None))
        if shadow:
            parameters.append((shadow, "ptr", layout.shadows[parameter.name], None))
    for number, dim in enumerate(kernel.dims):
        arguments[("dim", dim)] = f"%dim.{number}"
        parameters.append((f"%dim.{number}", "i64", layout.dims[dim], Machine.I64))
    for axis, slot in enumerate(layout.extents):
        parameters.append((f"%extent.{axis}", "i64", slot, Machine.I64))
    for buffer in kernel.buffers:
        if buffer.space is Space.TABLE:
            buffers[buffer.name] = BufferRef(table_name(buffer.name), buffer.element, buffer.space, buffer.count)
    code = Code(Writer(), arguments, buffers, "%interrupt", "%record", precise, flags, ranges=Ranges(kernel))
    extents = tuple(f"%extent.{axis}" for axis in range(kernel.geometry.rank))
    return FunctionFrame(kernel, name, code, layout, parameters, extents)


def _atomic_buffers(body: d.Block) -> frozenset[str]:
    found: set[str] = set()
    for node in body:
        match node:
            case d.Atomic():
                found.add(node.buffer)
            case d.If():
                found |= _atomic_buffers(node.then) | _atomic_buffers(node.otherwise)
            case d.For() | d.Loop() | d.Scope():
                found |= _atomic_buffers(node.body)
            case _:
                continue
    return frozenset(found)


def work_array(frame: FunctionFrame, text: str, count: int, bytes_each: int, stem: str) -> str:
    """A zero-cost name for `count` elements of scratch memory, 64-aligned; placed on the stack or heap at the end."""
    name = frame.code.w.name(stem)
    frame.arrays.append((name, (count * bytes_each + 63) // 64 * 64))
    return name


def variable_slots(
    frame: FunctionFrame, varying: dict[str, bool], width: int, names: dict[str, Machine]
) -> dict[str, Slot]:
    """An alloca for each variable."""
    slots: dict[str, Slot] = {}
    for name, type in names.items():
        lanes = varying.get(name, False) and width > 1
        pointer = frame.code.w.alloca(type_text(type, width if lanes else 1), "var")
        slots[name] = Slot(pointer, type, lanes)
    return slots


def end_function(frame: FunctionFrame) -> str:
    """The function's text: the exported wrapper and the internal body."""
    w = frame.code.w
    total = sum(size for _, size in frame.arrays)
    heap = total > STACK_BYTES
    entry = _place_arrays(frame, total, heap)
    release = ["  call void @free(ptr %work)"] if heap else []
    exits = [*release, "  ret i64 0"] if w.open else []
    for label, value in ((frame.code.trap_label, 1), (frame.code.stop_label, -1)):
        exits += [f"{label}:", *release, f"  ret i64 {value}"]
    listed = ", ".join(f"{type} {name}" for name, type, _, _ in frame.parameters)
    head = f"ptr %record, ptr %interrupt, {listed}{', ' if listed else ''}i64 %lo, i64 %hi"
    attributes = "#1" if frame.code.precise else "noinline #0"
    body = [
        f"define internal i64 @{frame.name}.body({head}) {attributes} {{",
        "entry:",
        *w.allocas,
        *entry,
        "  br label %start",
        "start:",
        *w.lines,
        *exits,
        "}",
    ]
    return "\n".join([*body, *_wrapper(frame)])


def _place_arrays(frame: FunctionFrame, total: int, heap: bool) -> list[str]:
    if not frame.arrays:
        return []
    lines: list[str] = []
    if heap:
        frame.code.w.declare("aligned_alloc", "noalias ptr", ["i64", "i64"])
        frame.code.w.declare("free", "void", ["ptr"])
        lines.append(f"  %work = call ptr @aligned_alloc(i64 64, i64 {total})")
        offset = 0
        for name, size in frame.arrays:
            lines.append(f"  {name} = getelementptr inbounds i8, ptr %work, i64 {offset}")
            offset += size
        return lines
    return [f"  {name} = alloca [{size} x i8], align 64" for name, size in frame.arrays]


def _wrapper(frame: FunctionFrame) -> list[str]:
    lines = [f"define i64 @{frame.name}(ptr %args, i64 %lo, i64 %hi) #0 {{"]
    passed: list[str] = []
    for name, slot in (("%record", RECORD_SLOT), ("%interrupt", INTERRUPT_SLOT)):
        lines += _read_slot(name, "ptr", slot)
        passed.append(f"ptr {name}")
    for name, type, slot, machine in frame.parameters:
        plain = type.split()[0]
        if machine is Machine.I1:
            lines += _read_slot(f"{name}.byte", "i8", slot)
            lines.append(f"  {name} = icmp ne i8 {name}.byte, 0")
        else:
            lines += _read_slot(name, plain, slot)
        passed.append(f"{plain} {name}")
    call = f"  %result = call i64 @{frame.name}.body({', '.join(passed)}, i64 %lo, i64 %hi)"
    if frame.stream is None:
        return [*lines, call, "  ret i64 %result", "}"]
    # The fence puts what went past the cache before everything that tells others that the range is done.
    frame.code.w.declare("llvm.x86.sse.sfence", "void", [])
    fenced = [call, "  call void @llvm.x86.sse.sfence()", "  ret i64 %result"]
    if not frame.otherwise:
        return [*lines, *fenced, "}"]
    return [
        *lines,
        *lines_agree([frame.code.buffers[name].pointer for name in frame.stream.buffers]),
        "  br i1 %agree, label %together, label %apart",
        "together:",
        *fenced,
        "apart:",
        f"  %other = call i64 @{frame.otherwise}(ptr %args, i64 %lo, i64 %hi)",
        "  ret i64 %other",
        "}",
    ]


def _read_slot(name: str, type: str, slot: int) -> list[str]:
    return [
        f"  {name}.slot = getelementptr i64, ptr %args, i64 {slot}",
        f"  {name} = load {type}, ptr {name}.slot",
    ]


def table_name(name: str) -> str:
    plain = (c if (c.isalnum() and c.isascii()) or c in "._" else f"${ord(c):x}" for c in name)
    return f'@"table.{"".join(plain)}"'


def table_text(name: str, data: bytes) -> str:
    """A constant array as a global."""
    text = "".join(f"\\{b:02X}" for b in data)
    return f'{table_name(name)} = internal constant [{len(data)} x i8] c"{text}", align 64'
