"""Device IR as text in a C-like language. What that is like is a `Spelling`; the printer does not know its name.

y[i] = a * x[i] + y[i]        const int i = (int)blockIdx.x * 256 + (int)threadIdx.x;
                        ->    if (i >= extent) return;
                              y[i] = __fmaf_rn(a, x[i], y[i]);
"""

from collections.abc import Mapping
from dataclasses import replace

from isogrid.analysis.meetings import find_meetings
from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit
from isogrid.printers.c_family_exits import structure_exits
from isogrid.printers.c_family_expressions import Expressions
from isogrid.printers.c_family_frame import Frame, Parameter, scalar_types
from isogrid.printers.c_family_handover import handover
from isogrid.printers.c_family_helpers import helper_texts
from isogrid.printers.c_family_intervals import close_intervals
from isogrid.printers.c_family_meetings import Together
from isogrid.printers.c_family_names import Names, inline_temporaries, names_of
from isogrid.printers.c_family_ranges import Ranges
from isogrid.printers.c_family_signs import Signs
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_statements import Body, Source
from isogrid.printers.c_family_tables import table_text
from isogrid.printers.c_family_text import CType, element_type
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Printed:
    """One kernel as text.

    `parameters` say what the entry takes, in order. A launch is one row of groups of `threads` threads, as many groups
    as there are boxes of `tile` in the extents. `shared_bytes` is the memory of a group.
    """

    text: str
    entry: str
    parameters: tuple[Parameter, ...]
    threads: int
    tile: tuple[int, ...]
    shared_bytes: int


def no_source(span: Span) -> str:
    """Shows no source lines."""
    return ""


def print_kernel(
    kernel: d.Kernel,
    spelling: Spelling,
    *,
    small: bool,
    entry: str = "run",
    bounds: str = "",
    source: Source = no_source,
) -> Printed:
    """The text of a kernel for launches that are `small`: no size, product or number of threads reaches 2^31.

    `bounds` is the language's word for limits of a group, in front of the entry. `source` gives the comment that shows
    a source line.
    """
    kernel = _prepared(kernel, spelling)
    names = names_of(kernel)
    frame = Frame(kernel, spelling, names, small=small)
    scalars = scalar_types(kernel)
    ranges = Ranges(kernel, scalars, small=small)
    elements = {b.name: b.element for b in kernel.buffers}
    expressions = Expressions(spelling, ranges, names.given, frame.specials, elements, scalars)
    meetings = find_meetings(kernel)
    if spelling.barrier_apart and any(id(n) in meetings.followed for n in visit(kernel.body) if isinstance(n, d.Check)):
        spelling = replace(spelling, barrier=spelling.barrier_apart)
    together = Together(kernel, spelling, frame, meetings)
    body = Body(kernel, spelling, names, expressions, Signs(kernel, dict(scalars)), source, handover(together), 1)
    body.skipped = frozenset(frame.aliases)
    for name in frame.aliases:
        special = next(n.value for n in kernel.body if isinstance(n, d.Let) and n.name == name)
        assert isinstance(special, d.Special)
        expressions.types[name] = frame.specials[special.kind, special.axis].type
        ranges.bind(name, special)
    body.block(kernel.body)
    if not (kernel.body and isinstance(kernel.body[-1], d.Return)):
        together.end(body)
    head, bytes_ = _head(kernel, spelling, frame, together)
    threads = frame.threads
    signature = spelling.entry.format(
        name=entry,
        parameters=",\n    ".join(frame.parameter_texts()),
        threads=threads,
        block=", ".join(str(n) for n in (threads, 1, 1)),
        bounds=bounds,
    )
    parts = [
        "\n".join(spelling.prelude),
        *(table_text(spelling, names, b) for b in kernel.buffers if b.space is Space.TABLE),
        *helper_texts(spelling, expressions.needs),
        *(text.strip("\n") for text in together.functions.values()),
        "\n".join([signature, "{", *head, *body.lines, "}"]),
    ]
    tile = (1,) * frame.rank if kernel.geometry.kind == "groups" else frame.block
    return Printed("\n\n".join(parts) + "\n", entry, frame.parameters, threads, tile, bytes_)


def _prepared(kernel: d.Kernel, spelling: Spelling) -> d.Kernel:
    kernel = inline_temporaries(kernel)
    if not spelling.barrier_or and kernel.grouped:
        kernel = close_intervals(kernel, find_meetings(kernel))
    return structure_exits(kernel)


def _head(kernel: d.Kernel, spelling: Spelling, frame: Frame, together: Together) -> tuple[list[str], int]:
    """What stands before the body, and the bytes of the group's arrays."""
    arrays, bytes_ = _arrays(kernel, spelling, frame, together)
    lines = [
        *arrays,
        "// Nothing is done while a trap of an earlier launch waits to be raised.",
        "if (guard != 0 && *guard != ~(u64)0) return;",
        *frame.lines,
    ]
    if together.needs_key:
        key = frame.key_text() if spelling.barrier_or else frame.group_key_text()
        lines.append(f"const u64 key = {key};")
    if together.shared_totals:
        lines.append("bool sum_wrapped = false;")
    lines += _zeroing(kernel, spelling, frame, together)
    return ["    " + line for line in lines], bytes_


def _arrays(kernel: d.Kernel, spelling: Spelling, frame: Frame, together: Together) -> tuple[list[str], int]:
    lines: list[str] = []
    bytes_ = 0
    for buffer in kernel.buffers:
        type, name = element_type(buffer.element), frame.names.give("buffer", buffer.name)
        if buffer.space is Space.SHARED:
            lines.append(spelling.shared_array.format(type=type.value, name=name, count=buffer.count))
            bytes_ += (buffer.count or 0) * type.bits // 8
            if buffer.name in together.shared_totals:
                lines.append(
                    spelling.shared_array.format(type="int", name=together.counters(buffer.name), count=buffer.count)
                )
                bytes_ += 4 * (buffer.count or 0)
        elif buffer.space is Space.LOCAL:
            lines.append(f"{type.value} {name}[{buffer.count}];")
    for name, (type_name, count) in together.shared.items():
        lines.append(spelling.shared_array.format(type=type_name, name=name, count=count))
        bytes_ += count * CType(type_name).bits // 8
    return lines, bytes_


def _zeroing(kernel: d.Kernel, spelling: Spelling, frame: Frame, together: Together) -> list[str]:
    """Shared arrays are zero before the first thread runs, where some read is not proved to follow a write."""
    lines: list[str] = []
    thread = frame.local_index.text
    for buffer in kernel.buffers:
        names: list[str] = []
        if buffer.space is Space.SHARED and buffer.zeroed:
            names.append(frame.names.give("buffer", buffer.name))
        if buffer.name in together.shared_totals:
            names.append(together.counters(buffer.name))
        for name in names:
            if (buffer.count or 0) <= frame.threads:
                test = f"if ({thread} < {buffer.count}) " if buffer.count != frame.threads else ""
                lines.append(f"{test}{name}[{thread}] = 0;")
            else:
                lines.append(f"for (int at = {thread}; at < {buffer.count}; at += {frame.threads}) {name}[at] = 0;")
    if "lost_total" in together.shared:
        type = CType(together.shared["lost_total"][0])
        lines.append(f"if ({thread} == 0) lost_total[0] = ~({type.value})0;")
    if lines:
        lines.append(spelling.barrier)
    return lines


def entry_name(kernel: d.Kernel) -> str:
    """The author's name of the kernel, as an entry may be called."""
    return Names().fresh(kernel.name)


def uses_f64(kernel: d.Kernel) -> bool:
    """Whether a kernel has a 64-bit float anywhere."""
    if any(getattr(p, "element", getattr(p, "type", None)) is Scalar.F64 for p in kernel.parameters):
        return True
    if any(b.element is Scalar.F64 for b in kernel.buffers):
        return True
    return any(getattr(node, "type", None) is d.Machine.F64 for node in visit(kernel.body))


def with_support(text: str, support: Mapping[str, str]) -> str:
    """The text with those functions behind its head that something in it calls."""
    called = [function for call, function in support.items() if call in text]
    if not called:
        return text
    end = text.index("\n\n")
    return text[:end] + "\n\n" + "\n\n".join(called) + text[end:]
