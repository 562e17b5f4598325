"""Loops of a launch of one thread, cut into pieces: between two of them it sees whether the host asks it to stop.

`for i = 0 .. trips` of 5 operations a trip runs as pieces of 16384 trips. The loop of a piece is as it would be without
them, and a look takes less than a thousandth of it. Such launches are those of offloaded loops that run in sequence.
"""

from dataclasses import dataclass
from typing import Final, assert_never

from isogrid.backends.cpu.emit_levels import expressions_of
from isogrid.backends.cpu.emit_values import Lanes
from isogrid.ir import device as d
from isogrid.ir import kernel as k

#: Operations and loads between two looks of a loop that has no other in pieces inside, and of one that has: together
#: at most some 20 ms, even where every load goes to memory.
_INNER_WORK: Final = 1 << 18
_OUTER_WORK: Final = 1 << 21
#: Trips of the longest piece, a multiple of what a vectorised loop takes at a time.
_MOST_TRIPS: Final = 1 << 14


def is_one_thread(geometry: k.Geometry) -> bool:
    """Whether every launch has one thread."""
    return geometry.group_size == 1 and all(isinstance(e, k.Const) and e.value == 1 for e in geometry.extents)


def trips_of_a_piece(node: d.For | d.Loop) -> int | None:
    """How many trips the loop makes between two looks; None where it makes few at all, or its trips look themselves."""
    if isinstance(node, d.Loop) and not node.bounded:
        return None
    work, looks = _work(node.body)
    known = _known_trips(node)
    if known is not None and known * work <= _INNER_WORK and not looks:
        return None
    trips = (_OUTER_WORK if looks else _INNER_WORK) // work
    return 1 << max(0, min(trips, _MOST_TRIPS).bit_length() - 1)


def _known_trips(node: d.For | d.Loop) -> int | None:
    return node.trips.bits if isinstance(node, d.For) and isinstance(node.trips, d.Literal) else None


def _work(body: d.Block) -> tuple[int, bool]:
    """Operations of one run without a look, and whether a loop inside looks."""
    work, looks = 1, False
    for node in body:
        work += sum(_operations(e) for e in expressions_of(node))
        match node:
            case d.If():
                for part in (node.then, node.otherwise):
                    inner, inside = _work(part)
                    work, looks = work + inner, looks or inside
            case d.Scope():
                inner, inside = _work(node.body)
                work, looks = work + inner, looks or inside
            case d.For() | d.Loop():
                inner, inside = _work(node.body)
                piece = trips_of_a_piece(node)
                once = piece or _known_trips(node) or 1
                work, looks = work + once * inner, looks or inside or piece is not None or isinstance(node, d.Loop)
            case _:
                work += 1
    return work, looks


def _operations(node: d.Expr) -> int:
    match node:
        case d.Op():
            return 1 + sum(_operations(argument) for argument in node.arguments)
        case d.Load():
            return 1 + _operations(node.index)
        case d.Literal() | d.Value() | d.Argument() | d.Special():
            return 0
        case _:
            assert_never(node)


@dataclass(frozen=True, slots=True)
class Piece:
    """Trips of a loop between two looks: how many, how many there were before, and whether more are left."""

    trips: str
    before: str
    more: str
    slot: str
    begin: str
    end: str


def begin_piece(lanes: Lanes, trip: str, trips: str, most: int) -> Piece:
    """The loop of a piece counts from 0, as a whole loop does: LLVM then knows what it knew of that one."""
    w = lanes.w
    slot, begin, end = w.alloca("i64", "before"), w.block("for.piece"), w.block("for.piece.end")
    w.do(f"store i64 0, ptr {slot}")
    w.place(begin)
    before = w.emit(f"load i64, ptr {slot}")
    left = w.emit(f"sub nuw i64 {trips}, {before}")
    more = w.emit(f"icmp ugt i64 {left}, {most}")
    size = w.emit(f"select i1 {more}, i64 {most}, i64 {left}")
    w.do(f"store i64 0, ptr {trip}")
    return Piece(size, before, more, slot, begin, end)


def end_piece(lanes: Lanes, piece: Piece, exit: str) -> None:
    """Look at the flag only where trips are left: most loops within loops are done after one piece."""
    w = lanes.w
    again = w.block("for.more")
    w.place(piece.end)
    w.branch(piece.more, again, exit)
    w.place(again)
    w.do(f"store i64 {w.emit(f'add nuw i64 {piece.before}, {piece.trips}')}, ptr {piece.slot}")
    poll(lanes)
    w.jump(piece.begin)


def count_down(lanes: Lanes, left: str, piece: int | None) -> None:
    """Look at the flag when a piece of a loop that counts no trips is done."""
    w = lanes.w
    done, going = w.block("loop.piece.end"), w.block("loop.goes")
    now = w.emit(f"sub nuw i64 {w.emit(f'load i64, ptr {left}')}, 1")
    w.do(f"store i64 {now}, ptr {left}")
    w.branch(w.emit(f"icmp eq i64 {now}, 0"), done, going)
    w.place(done)
    poll(lanes)
    w.do(f"store i64 {piece}, ptr {left}")
    w.place(going)


def poll(lanes: Lanes) -> None:
    """Leave the range when the host asks for it."""
    w, code = lanes.w, lanes.code
    code.polls = True
    going = w.block("going")
    flag = w.emit(f"load volatile i32, ptr {code.interrupt}")
    w.branch(w.emit(f"icmp eq i32 {flag}, 0"), going, code.stop_label)
    w.place(going)
