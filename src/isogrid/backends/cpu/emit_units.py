"""Ungrouped kernels: lanes of a range of threads, or rows of lanes along the last axis."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_frame import FunctionFrame, variable_slots, work_array
from isogrid.backends.cpu.emit_guards import Bound, LaneFacts, Split, split_guards
from isogrid.backends.cpu.emit_interior import Interior, find_interior
from isogrid.backends.cpu.emit_lanes import emit_thread, in_versions, zeroed_slots
from isogrid.backends.cpu.emit_levels import LANE, Levels
from isogrid.backends.cpu.emit_memory import evaluate
from isogrid.backends.cpu.emit_polled import poll
from isogrid.backends.cpu.emit_strategy import Strategy
from isogrid.backends.cpu.emit_stream import Stream, whole_lines
from isogrid.backends.cpu.emit_values import BufferRef, Code, Lanes, Slot, Val, apply, splat
from isogrid.backends.cpu.layout import LINE
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.printers.llvm_text import Writer, element_type


def emit_threads(frame: FunctionFrame, levels: Levels, strategy: Strategy) -> None:
    """Units are threads of a 1-D launch."""
    specials = _launch_specials(frame)
    _lane_range(frame, levels, strategy, specials, frame.lo, frame.hi, None)


def emit_rows(frame: FunctionFrame, levels: Levels, strategy: Strategy) -> None:
    """Units are rows: the leading coordinates follow from the unit, the last axis is the lane loop."""
    w, rank = frame.code.w, frame.kernel.geometry.rank

    def row(unit: str) -> None:
        specials = _launch_specials(frame)
        totals = _thread_extents(frame)
        rest = unit
        for axis in reversed(range(1, rank - 1)):
            specials[("thread", axis)] = Val(Machine.I64, w.emit(f"urem i64 {rest}, {totals[axis]}"))
            rest = w.emit(f"udiv i64 {rest}, {totals[axis]}")
        specials[("thread", 0)] = Val(Machine.I64, rest)
        first = w.emit(f"mul i64 {unit}, {totals[rank - 1]}")
        poll(_scalar(frame, levels, specials, {}))
        _lane_range(frame, levels, strategy, specials, "0", totals[rank - 1], first)

    counted(w, frame.lo, frame.hi, "1", row)


def _thread_extents(frame: FunctionFrame) -> list[str]:
    geometry = frame.kernel.geometry
    if geometry.kind == "grid":
        return list(frame.extents)
    return [frame.code.w.emit(f"mul i64 {e}, {b}") for e, b in zip(frame.extents, geometry.block, strict=True)]


def _launch_specials(frame: FunctionFrame) -> dict[tuple[str, int], Val]:
    specials: dict[tuple[str, int], Val] = {}
    for axis, extent in enumerate(_thread_extents(frame)):
        specials[("extent", axis)] = Val(Machine.I64, extent)
    for axis, extent in enumerate(frame.extents):
        groups = extent
        if frame.kernel.geometry.kind == "grid":
            block = frame.kernel.geometry.block[axis]
            padded = frame.code.w.emit(f"add i64 {extent}, {block - 1}")
            groups = frame.code.w.emit(f"udiv i64 {padded}, {block}")
        specials[("groups", axis)] = Val(Machine.I64, groups)
    return specials


def _scalar(
    frame: FunctionFrame, levels: Levels, specials: dict[tuple[str, int], Val], slots: dict[str, Slot]
) -> Lanes:
    return Lanes(frame.code, 1, specials, {}, slots, Val(Machine.I64, "0"), levels)


#: Runs lanes: the first one, a mask or None, how many.
LaneBody: TypeAlias = Callable[[str, str | None, int], None]


def _lane_range(
    frame: FunctionFrame,
    levels: Levels,
    strategy: Strategy,
    specials: dict[tuple[str, int], Val],
    lo: str,
    hi: str,
    row: str | None,
) -> None:
    """All lanes of one range; `row` is the linear id of the range's lane 0, None where lanes are linear ids."""
    kernel, axis = frame.kernel, frame.kernel.geometry.rank - 1
    spaces = {b.name: b.space for b in kernel.buffers}
    facts = LaneFacts(levels, spaces, axis, False)
    split = split_guards(kernel.body, facts)
    width = 1 if split.single else strategy.width
    outside = _scalar(frame, levels, specials, {})
    lo, hi = bounded_range(outside, split, lo, hi)
    varying = {name: level == LANE for name, level in levels.values.items()}
    names = dict(kernel.variables) | levels.escaping
    looping = has_loop(split.body)

    def running(inner: d.Block) -> LaneBody:
        def threads(first: str, mask: str | None, lanes: int) -> None:
            if lanes == 1 or mask is not None:
                version(inner, first, mask, "", lanes)
            else:
                in_versions(outside, inner, lambda slow: version(inner, first, mask, slow, lanes))

        return threads

    def version(inner: d.Block, first: str, mask: str | None, slow: str, width: int) -> None:
        here = dict(specials)
        here[("thread", axis)] = Val(Machine.I64, first, 0 if width == 1 else 1)
        here[("record", 0)] = Val(Machine.I64, _linear(frame, first, row))
        here[("record", 1)] = Val(Machine.I64, "0")
        local = _locals(frame, width)
        slots = variable_slots(frame, varying, width, names)
        lanes = Lanes(frame.code, width, here, {}, slots, Val(Machine.I64, "0", 0 if width == 1 else 1), levels, mask)
        frame.code.buffers.update(local)
        lanes.slow, lanes.last = slow, mask is not None
        if looping:
            poll(lanes)
        zeroed_slots(lanes)
        emit_thread(lanes, inner)

    interior = None if frame.code.precise or split.single else find_interior(split.body, facts)
    narrower = 0 if row is None else strategy.narrower
    skips = row is not None and strategy.skips
    whole = running(split.body)

    def each(lo: str, hi: str) -> None:
        if interior is None and frame.stream is None:
            lane_loop(frame.code, width, lo, hi, whole, narrower=narrower, skips=skips)
            return
        start, end = (lo, hi) if interior is None else _inside(outside, interior, lo, hi)
        inner = whole if interior is None else running(interior.body)
        if frame.stream is not None:
            _in_lines(outside, frame.stream, width, (lo, start, end, hi), inner, whole)
            return
        lane_loop(frame.code, width, start, end, inner, narrower=narrower, skips=skips)
        for_edges(outside, (lo, start, end, hi), lambda lo, hi: lane_loop(frame.code, width, lo, hi, whole))

    if split.hole is None:
        each(lo, hi)
    else:
        for_edges(outside, (lo, *_around(outside, split.hole, lo, hi), hi), each)


def _around(outside: Lanes, hole: Bound, lo: str, hi: str) -> tuple[str, str]:
    """Where the lanes below the one that is left out end, and where those above it begin."""
    lane = _limit(outside, hole)
    behind = _limit(outside, replace(hole, extra=1))
    return extreme(outside.w, "smin", hi, lane), extreme(outside.w, "smax", lo, behind)


def _in_lines(
    outside: Lanes, stream: Stream, width: int, ends: tuple[str, str, str, str], inner: LaneBody, whole: LaneBody
) -> None:
    """`inner` for vectors of whole lines between the two middle ends, `whole` around them, a line at a time."""
    lo, start, end, hi = ends
    start, end = whole_lines(outside, stream, width, start, end)
    counted(outside.w, start, end, str(width), lambda first: inner(first, None, width))
    line = LINE // stream.size
    for_edges(outside, (lo, start, end, hi), lambda lo, hi: masked_loop(outside.code, line, lo, hi, whole))


def _inside(outside: Lanes, interior: Interior, lo: str, hi: str) -> tuple[str, str]:
    """The interior's lanes, with lo <= start <= end <= hi."""
    w, types = outside.w, ["i64", "i64"]
    start, end = bounded_range(outside, Split(interior.bounds, (), ()), lo, hi)
    # A range that is empty may lie anywhere, far behind the last lane too.
    last = w.call("llvm.smax.i64", "i64", types, [lo, hi])
    start, end = (w.call("llvm.smin.i64", "i64", types, [place, last]) for place in (start, end))
    return start, w.call("llvm.smax.i64", "i64", types, [start, end])


def for_edges(outside: Lanes, ends: tuple[str, str, str, str], body: Callable[[str, str], None]) -> None:
    """Run `body` for the lanes below the interior, then for those above, from one copy of its code."""
    w = outside.w
    lo, start, end, hi = ends

    def edge(number: str) -> None:
        first = w.emit(f"icmp eq i64 {number}, 0")
        low = w.emit(f"select i1 {first}, i64 {lo}, i64 {end}")
        high = w.emit(f"select i1 {first}, i64 {start}, i64 {hi}")
        body(low, high)

    counted(w, "0", "2", "1", edge)


def _linear(frame: FunctionFrame, first: str, row: str | None) -> str:
    if row is None or not frame.code.precise:
        return first
    return frame.code.w.emit(f"add i64 {row}, {first}")


def _locals(frame: FunctionFrame, width: int) -> dict[str, BufferRef]:
    found: dict[str, BufferRef] = {}
    for buffer in frame.kernel.buffers:
        if buffer.space is Space.LOCAL:
            size = element_type(buffer.element).bits // 8
            pointer = work_array(frame, "", (buffer.count or 0) * width, size, "local")
            found[buffer.name] = BufferRef(pointer, buffer.element, Space.LOCAL, buffer.count, pitch=width)
    return found


def has_loop(body: d.Block) -> bool:
    for node in body:
        match node:
            case d.For() | d.Loop():
                return True
            case d.If():
                if has_loop(node.then) or has_loop(node.otherwise):
                    return True
            case d.Scope():
                if has_loop(node.body):
                    return True
            case _:
                continue
    return False


# --- lane loops ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Range:
    lo: str
    hi: str


def bounded_range(outside: Lanes, split: Split, lo: str, hi: str) -> tuple[str, str]:
    """The lanes that the guards leave; empty where a uniform condition is false."""
    w = outside.w
    for bound in split.bounds:
        limit = _limit(outside, bound)
        if bound.upper:
            hi = extreme(w, "smin", hi, limit)
        else:
            lo = extreme(w, "smax", lo, limit)
    for bound in split.bounds:
        if bound.dynamic and bound.offset is not None:
            hi = w.emit(f"select i1 {_does_not_wrap(outside, bound.offset)}, i64 {hi}, i64 {lo}")
    for gate in split.gates:
        hi = w.emit(f"select i1 {evaluate(outside, gate).text}, i64 {hi}, i64 {lo}")
    return lo, hi


def extreme(w: Writer, op: str, a: str, b: str) -> str:
    """The smaller or larger of two i64, at once where both are numbers."""
    if _is_number(a) and _is_number(b):
        return str((min if op == "smin" else max)(int(a), int(b)))
    return w.call(f"llvm.{op}.i64", "i64", ["i64", "i64"], [a, b])


def _does_not_wrap(outside: Lanes, offset: d.Expr) -> str:
    moved = outside.w.emit(f"add i64 {evaluate(outside, offset).text}, {1 << 62}")
    return outside.w.emit(f"icmp sge i64 {moved}, 0")


def _limit(outside: Lanes, bound: Bound) -> str:
    limit = evaluate(outside, bound.limit)
    if limit.constant is not None:
        limit = Val(Machine.I64, str(limit.constant - ((limit.constant >> 63) << 64)))
    if bound.offset is not None:
        offset = evaluate(outside, bound.offset)
        text = outside.w.call("llvm.ssub.sat.i64", "i64", ["i64", "i64"], [limit.text, offset.text])
        limit = Val(Machine.I64, text)
    if bound.extra and _is_number(limit.text):
        limit = Val(Machine.I64, str(min(int(limit.text) + bound.extra, (1 << 63) - 1)))
    elif bound.extra:
        text = outside.w.call("llvm.sadd.sat.i64", "i64", ["i64", "i64"], [limit.text, str(bound.extra)])
        limit = Val(Machine.I64, text)
    return limit.text


def lane_loop(
    code: Code,
    width: int,
    lo: str,
    hi: str,
    body: LaneBody,
    unrolled: int = 0,
    narrower: int = 0,
    skips: bool = False,
) -> None:
    """Run `body(first lane, mask, lanes)` over lo..hi: whole vectors without a mask, then one masked vector.

    Between constants up to `unrolled` vectors are written out, the last ones narrower instead of masked. Vectors of
    `narrower` lanes, if that is not 0, run what the whole ones leave, so that the masked one is narrow as well. With
    `skips` the first, third, fifth whole vector run before the others.
    """
    w = code.w
    if _is_number(lo) and _is_number(hi) and _vectors(int(hi) - int(lo), width) <= unrolled:
        _written_out(width, int(lo), int(hi), body)
        return
    if width == 1:
        counted(w, lo, hi, "1", lambda first: body(first, None, 1))
        return
    count = w.call("llvm.smax.i64", "i64", ["i64", "i64"], [w.emit(f"sub i64 {hi}, {lo}"), "0"])
    whole = w.emit(f"and i64 {count}, {-width}")
    end = w.emit(f"add i64 {lo}, {whole}")

    def whole_vectors(first: str, step: int) -> None:
        counted(w, first, end, str(step), lambda first: body(first, None, width))

    if skips:
        counted(w, "0", str(2 * width), str(width), lambda at: whole_vectors(w.emit(f"add i64 {lo}, {at}"), 2 * width))
    else:
        whole_vectors(lo, width)
    if _is_number(lo) and _is_number(hi) and (int(hi) - int(lo)) % width == 0:
        return
    tail, done = w.block("tail"), w.block("tail.end")
    if 0 < narrower < width:
        whole = w.emit(f"and i64 {count}, {-narrower}")
        first, end = end, w.emit(f"add i64 {lo}, {whole}")
        counted(w, first, end, str(narrower), lambda first: body(first, None, narrower))
        width = narrower
    w.branch(w.emit(f"icmp ne i64 {count}, {whole}"), tail, done)
    w.place(tail)
    body(end, _lanes_below(code, width, end, hi), width)
    w.place(done)


def masked_loop(code: Code, width: int, lo: str, hi: str, body: LaneBody) -> None:
    """As `lane_loop`, every vector with a mask: little code, for few lanes."""
    counted(code.w, lo, hi, str(width), lambda first: body(first, _lanes_below(code, width, first, hi), width))


def _lanes_below(code: Code, width: int, first: str, hi: str) -> str:
    """The mask of the lanes below `hi`, of which there is at least one."""
    w = code.w
    if code.cheap_masks:
        name = f"llvm.get.active.lane.mask.v{width}i1.i64"
        return w.call(name, f"<{width} x i1>", ["i64", "i64"], [first, hi])
    # Without AVX-512, LLVM compares 64-bit lanes for that, and packs what it finds.
    left = extreme(w, "smin", w.emit(f"sub i64 {hi}, {first}"), str(width))
    count = splat(w, w.emit(f"trunc i64 {left} to i32"), Machine.I32, width)
    numbers = ", ".join(f"i32 {k}" for k in range(width))
    return w.emit(f"icmp sgt <{width} x i32> {count}, <{numbers}>")


def _written_out(width: int, lo: int, hi: int, body: LaneBody) -> None:
    at = lo
    while at < hi:
        while width > hi - at:
            width //= 2
        body(str(at), None, width)
        at += width


def _vectors(count: int, width: int) -> int:
    """How many vectors cover `count` lanes, the last ones halved until they fit."""
    return count // width + (count % width).bit_count() if count > 0 else 0


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


__all__ = ["apply", "bounded_range", "emit_rows", "emit_threads", "has_loop", "lane_loop"]
