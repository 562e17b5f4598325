"""Loops of a launch of one thread, cut into pieces: between two of them it sees whether the host asks it to stop.

`for i = 0 .. trips` of 5 operations a trip runs as pieces of 16384 trips. The loop of a piece is as it would be without
them, and a look takes less than a thousandth of it. Such launches are those of offloaded loops that run in sequence.
"""

from typing import Final, assert_never

from isogrid.backends.cpu.emit_levels import expressions_of
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
