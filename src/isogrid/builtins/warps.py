"""Warp operations: those of groups on a warp's values, ballots, and exchanges of values between lanes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from isogrid.builtins.collectives import COLLECTIVES
from isogrid.builtins.operators import NUMBERS
from isogrid.builtins.table import Variance
from isogrid.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class WarpRow:
    """One warp operation; `op` is the kernel-IR name. `totals` marks those that trap by a mathematical total.

    `lane` names the operand of a shuffle, any integer, "" where there is none. `meaning(type, values, lanes,
    exclusive)` gives one result per lane from the values and lane operands by lane.
    """

    op: str
    spelling: str
    types: tuple[Scalar, ...]
    meaning: Callable[[Scalar, Sequence[Any], Sequence[int], bool], list[Any]]
    uniform: bool
    doc: str
    lane: str = ""
    totals: bool = False

    @property
    def variance(self) -> Variance:
        """Results of different warps differ; a uniform one is the same for the threads of a warp."""
        return Variance.WARP if self.uniform else Variance.THREAD

    def result(self, type: Scalar, width: int) -> Scalar:
        """The type of the result for a value of this type."""
        if self.op == "ballot":
            return ballot_type(width)
        return type


def ballot_type(width: int) -> Scalar:
    """One bit per lane."""
    return Scalar.W64 if width == 64 else Scalar.W32


def _as_group(op: str) -> Callable[[Scalar, Sequence[Any], Sequence[int], bool], list[Any]]:
    meaning = COLLECTIVES[op].meaning
    return lambda type, values, lanes, exclusive: meaning(type, values, exclusive)


def _ballot(type: Scalar, values: Sequence[bool], lanes: Sequence[int], exclusive: bool) -> list[int]:
    """Bit t is the value of lane t."""
    return [sum(1 << lane for lane, value in enumerate(values) if value)] * len(values)


def _from(source: Callable[[int, int, int], int]) -> Callable[[Scalar, Sequence[Any], Sequence[int], bool], list[Any]]:
    """Each lane takes the value of `source(own, operand, width)`, its own where that is no lane."""

    def meaning(type: Scalar, values: Sequence[Any], lanes: Sequence[int], exclusive: bool) -> list[Any]:
        width = len(values)
        sources = [source(own, operand, width) for own, operand in enumerate(lanes)]
        return [values[s] if 0 <= s < width else values[own] for own, s in enumerate(sources)]

    return meaning


_BOOL: Final = (Scalar.BOOL,)

WARP_OPERATIONS: Final[dict[str, WarpRow]] = {
    row.op: row
    for row in (
        WarpRow("sum", "isogrid.warp_sum", NUMBERS, _as_group("sum"), True, "Sum of the warp's values.", totals=True),
        WarpRow("min", "isogrid.warp_min", NUMBERS, _as_group("min"), True, "Smallest of the warp's values."),
        WarpRow("max", "isogrid.warp_max", NUMBERS, _as_group("max"), True, "Largest of the warp's values."),
        WarpRow(
            "scan",
            "isogrid.warp_scan",
            NUMBERS,
            _as_group("scan"),
            False,
            "Sum of the values up to this lane's; `exclusive=True` leaves its own out.",
            totals=True,
        ),
        WarpRow("any", "isogrid.warp_any", _BOOL, _as_group("any"), True, "Whether some lane's value is True."),
        WarpRow("all", "isogrid.warp_all", _BOOL, _as_group("all"), True, "Whether every lane's value is True."),
        WarpRow(
            "ballot", "isogrid.ballot", _BOOL, _ballot, True, "Bit t is lane t's value: w32, or w64 for a width of 64."
        ),
        WarpRow(
            "shuffle",
            "isogrid.shuffle",
            NUMBERS,
            _from(lambda own, lane, width: lane % width),
            False,
            "The value of the lane `lane` modulo the width.",
            lane="lane",
        ),
        WarpRow(
            "shuffle_up",
            "isogrid.shuffle_up",
            NUMBERS,
            _from(lambda own, d, width: own - d),
            False,
            "The value of the lane `d` below; the own value where there is none.",
            lane="d",
        ),
        WarpRow(
            "shuffle_down",
            "isogrid.shuffle_down",
            NUMBERS,
            _from(lambda own, d, width: own + d),
            False,
            "The value of the lane `d` above; the own value where there is none.",
            lane="d",
        ),
        WarpRow(
            "shuffle_xor",
            "isogrid.shuffle_xor",
            NUMBERS,
            _from(lambda own, m, width: own ^ m),
            False,
            "The value of the lane whose number differs in the bits of `m`; the own value where there is none.",
            lane="m",
        ),
    )
}
