"""The table of warp operations: group meanings on a warp, ballots, and shuffles by exact arithmetic."""

from isogrid.builtins.collectives import COLLECTIVES
from isogrid.builtins.warps import WARP_OPERATIONS
from isogrid.ir.operations import WARP_COLLECTIVES
from isogrid.ir.types import Scalar


def test_every_operation_has_a_row() -> None:
    assert tuple(WARP_OPERATIONS) == WARP_COLLECTIVES


def test_reductions_are_those_of_groups() -> None:
    values = [3, -5, 7, 11]
    for op in ("sum", "min", "max", "scan"):
        group = COLLECTIVES[op].meaning(Scalar.I32, values, False)
        assert WARP_OPERATIONS[op].meaning(Scalar.I32, values, [0] * 4, False) == group


def test_a_ballot_has_the_bit_of_each_lane() -> None:
    row = WARP_OPERATIONS["ballot"]
    assert row.meaning(Scalar.BOOL, [True, False, False, True], [0] * 4, False) == [0b1001] * 4
    assert row.result(Scalar.BOOL, 32) is Scalar.W32
    assert row.result(Scalar.BOOL, 64) is Scalar.W64


def test_shuffles_outside_the_warp_give_the_own_value() -> None:
    values, far = [10, 11, 12, 13], 2**70
    for op, lanes, want in (
        ("shuffle", [5, -1, far, 0], [11, 13, 10, 10]),
        ("shuffle_up", [0, 1, 3, -1], [10, 10, 12, 13]),
        ("shuffle_down", [3, 3, -2, far], [13, 11, 10, 13]),
        ("shuffle_xor", [1, 3, 4, -1], [11, 12, 12, 13]),
    ):
        assert WARP_OPERATIONS[op].meaning(Scalar.I32, values, lanes, False) == want
