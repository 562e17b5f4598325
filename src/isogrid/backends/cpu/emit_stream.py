"""Stores past the cache: which arrays a kernel writes whole cache lines of, and where a range's first such line is.

A store to memory that is not in the cache first fetches its line, only to overwrite it. A non-temporal store of a whole
line does not (decision 0069). It needs an address where a line begins, so the lanes before the first one run apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from isogrid.backends.cpu.emit_guards import LaneFacts, resolved, split_guards
from isogrid.backends.cpu.emit_interior import find_interior
from isogrid.backends.cpu.emit_levels import find_levels
from isogrid.backends.cpu.emit_memory import evaluate, place_in
from isogrid.backends.cpu.emit_regions import every_statement
from isogrid.backends.cpu.emit_strategy import is_adjacent
from isogrid.backends.cpu.emit_values import Lanes, Val
from isogrid.backends.cpu.layout import LINE
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import element_type, type_text

#: Nodes of a body that may be worth it: memory is not what longer ones wait for, and they take long to compile.
_MOST_NODES: Final = 256
#: What an index may be made of: nothing that some operands leave undefined, since empty ranges compute it too.
_PLAIN: Final = frozenset({"iadd", "isub", "imul", "ineg", "sext", "zext", "trunc"})


@dataclass(frozen=True, slots=True)
class Stream:
    """Every thread stores one element of `size` bytes at `index` of each of `buffers`, which the kernel never loads.
    `index` follows from the thread's coordinates and the launch, and neighbouring lanes store to neighbours."""

    buffers: tuple[str, ...]
    index: d.Expr
    size: int
    #: The axis of the lanes.
    axis: int

    @property
    def written(self) -> int:
        """Bytes that a thread writes."""
        return self.size * len(self.buffers)


def find_stream(kernel: d.Kernel, width: int) -> Stream | None:
    """The arrays that `width` lanes at a time write whole lines of; None where there are none.

    A kernel that may trap has none: its launches copy what they write beforehand, which is then in the cache.
    """
    if width == 0 or kernel.grouped or kernel.races != "prove":
        return None
    nodes = tuple(islice(visit(kernel.body), _MOST_NODES + 1))
    statements = tuple(every_statement(kernel.body))
    if len(nodes) > _MOST_NODES or not all(isinstance(s, d.Let | d.Set | d.Store | d.If) for s in statements):
        return None
    stores = [s.buffer for s in statements if isinstance(s, d.Store)]
    loaded = {n.buffer for n in nodes if isinstance(n, d.Load)}
    alone = [b for b in kernel.buffers if stores.count(b.name) == 1 and b.name not in loaded and _lines(b, width)]
    if not alone:
        return None
    axis = kernel.geometry.rank - 1
    facts = LaneFacts(find_levels(kernel, axis, frozenset()), {b.name: b.space for b in kernel.buffers}, axis, False)
    split = split_guards(kernel.body, facts)
    if split.single or split.hole is not None:
        return None
    interior = find_interior(split.body, facts)
    places = _places(split.body if interior is None else interior.body, facts)
    found: dict[tuple[d.Expr, int], list[str]] = {}
    for buffer in alone:
        if buffer.name in places:
            found.setdefault((places[buffer.name], _size(buffer)), []).append(buffer.name)
    streams = [Stream(tuple(names), index, size, axis) for (index, size), names in found.items()]
    return max(streams, key=lambda stream: stream.written, default=None)


def _lines(buffer: d.Buffer, width: int) -> bool:
    return buffer.space is Space.GLOBAL and width * _size(buffer) % LINE == 0


def _size(buffer: d.Buffer) -> int:
    return element_type(buffer.element).bits // 8


def _places(body: d.Block, facts: LaneFacts) -> Mapping[str, d.Expr]:
    """Where every thread stores to arrays, as far as coordinates tell and neighbouring lanes store to neighbours."""
    defined: dict[str, d.Expr] = {}
    found: dict[str, d.Expr] = {}
    for node in body:
        if isinstance(node, d.Let):
            defined[node.name] = node.value
        elif isinstance(node, d.Store):
            index = resolved(node.index, defined)
            if _is_plain(index) and is_adjacent(index, facts):
                found[node.buffer] = index
    return found


def _is_plain(node: d.Expr) -> bool:
    match node:
        case d.Op():
            return node.op in _PLAIN and all(_is_plain(a) for a in node.arguments)
        case d.Literal() | d.Argument() | d.Special():
            return True
        case d.Value() | d.Load():
            return False


def whole_lines(outside: Lanes, stream: Stream, width: int, lo: str, hi: str) -> tuple[str, str]:
    """The lanes of lo..hi that write whole vectors of whole lines: lo <= first <= last <= hi, where lo <= hi."""
    w, types = outside.w, ["i64", "i64"]
    here = replace(outside, specials=outside.specials | {("thread", stream.axis): Val(Machine.I64, lo)})
    buffer = outside.code.buffers[stream.buffers[0]]
    index = place_in(here, buffer, evaluate(here, stream.index))
    element = type_text(element_type(buffer.element))
    address = w.emit(f"getelementptr {element}, ptr {buffer.pointer}, i64 {index.text}", "p")
    missing = w.emit(f"sub i64 0, {w.emit(f'ptrtoint ptr {address} to i64')}")
    head = w.emit(f"lshr i64 {w.emit(f'and i64 {missing}, {LINE - 1}')}, {stream.size.bit_length() - 1}")
    end = w.call("llvm.smax.i64", "i64", types, [lo, hi])
    first = w.call("llvm.smin.i64", "i64", types, [w.emit(f"add i64 {lo}, {head}"), end])
    whole = w.emit(f"and i64 {w.emit(f'sub i64 {end}, {first}')}, {-width}")
    return first, w.emit(f"add i64 {first}, {whole}")


def lines_agree(pointers: Sequence[str]) -> list[str]:
    """LLVM IR that says in `%agree` whether the lines of all arrays begin at the same lanes."""
    lines = [f"  %line.{k} = ptrtoint ptr {pointer} to i64" for k, pointer in enumerate(pointers)]
    apart = "0"
    for k in range(1, len(pointers)):
        lines.append(f"  %differs.{k} = xor i64 %line.0, %line.{k}")
        lines.append(f"  %apart.{k} = or i64 {apart}, %differs.{k}")
        apart = f"%apart.{k}"
    return [*lines, f"  %within = and i64 {apart}, {LINE - 1}", "  %agree = icmp eq i64 %within, 0"]
