"""Queries: where a thread stands. Names, forms, uniformity and meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from isogrid.builtins.table import Variance
from isogrid.ir.types import INDEX, Scalar


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query. `tuple_of` is the scalar query that a plural form (`gids`) gives for every axis, else "".

    `of_warp` queries have no axis.

    `group_only` queries make a kernel grouped. `linear_refused` marks the one whose linear form is refused in a grouped
    kernel of 2 or 3 dimensions.
    """

    name: str
    spelling: str
    variance: Variance
    doc: str
    tuple_of: str = ""
    group_only: bool = False
    linear_refused: bool = False
    of_warp: bool = False

    @property
    def type(self) -> Scalar:
        return INDEX


_THREAD: Final = Variance.THREAD
_GROUP: Final = Variance.GROUP
_LAUNCH: Final = Variance.LAUNCH

QUERIES: Final[dict[str, QueryRow]] = {
    row.name: row
    for row in (
        QueryRow("gid", "isogrid.gid", _THREAD, "This thread's place in the grid.", linear_refused=True),
        QueryRow("lid", "isogrid.lid", _THREAD, "This thread's place in its group.", group_only=True),
        QueryRow("group_id", "isogrid.group_id", _GROUP, "The place of this thread's group.", group_only=True),
        QueryRow("group_size", "isogrid.group_size", _LAUNCH, "Threads of a group.", group_only=True),
        QueryRow("num_groups", "isogrid.num_groups", _LAUNCH, "Groups of the launch.", group_only=True),
        QueryRow(
            "grid_size",
            "isogrid.grid_size",
            _LAUNCH,
            "Threads of the launch; in a grouped kernel those of whole groups.",
        ),
        QueryRow("gids", "isogrid.gids", _THREAD, "`gid` of every axis, as a tuple.", tuple_of="gid"),
        QueryRow("lids", "isogrid.lids", _THREAD, "`lid` of every axis, as a tuple.", tuple_of="lid", group_only=True),
        QueryRow(
            "group_ids",
            "isogrid.group_ids",
            _GROUP,
            "`group_id` of every axis, as a tuple.",
            tuple_of="group_id",
            group_only=True,
        ),
        QueryRow(
            "lane_id",
            "isogrid.lane_id",
            _THREAD,
            "This thread's place in its warp: the linear `lid` modulo the width.",
            group_only=True,
            of_warp=True,
        ),
        QueryRow(
            "warp_id",
            "isogrid.warp_id",
            Variance.WARP,
            "This warp's place in its group: the linear `lid` divided by the width.",
            group_only=True,
            of_warp=True,
        ),
        QueryRow("warp_size", "isogrid.warp_size", _LAUNCH, "Threads of a warp, a constant.", of_warp=True),
    )
}


def linear(place: Sequence[int], extents: Sequence[int]) -> int:
    """The C-order number of a place; the last extent varies fastest."""
    number = 0
    for at, extent in zip(place, extents, strict=True):
        number = number * extent + at
    return number


def place(number: int, extents: Sequence[int]) -> tuple[int, ...]:
    """The place whose C-order number this is."""
    found: list[int] = []
    for extent in reversed(extents):
        number, at = divmod(number, extent)
        found.append(at)
    return tuple(reversed(found))
