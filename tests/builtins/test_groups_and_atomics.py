"""Group operations in the fixed pairing, atomics by element, and linear thread numbers."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from isogrid.builtins.atomics import ATOMICS
from isogrid.builtins.collectives import COLLECTIVES, identity, tree
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.queries import QUERIES, linear, place
from isogrid.ir.types import Scalar

CASES = json.loads((Path(__file__).parent.parent / "cases" / "tree_reduction_cases.json").read_text())


def hash_value(i: int) -> np.float32:
    """The input formula of the cases."""
    h = (i * 2654435761 + 12345) % 2**32
    h ^= h >> 16
    h = (h * 2246822519) % 2**32
    h ^= h >> 13
    return np.float32(float(h >> 8) * 2000 / 16777216 - 1000)


def hexadecimal(x: np.float32) -> str:
    return struct.pack(">f", x).hex()


def test_inputs_are_those_of_the_cases() -> None:
    assert [hexadecimal(hash_value(i)) for i in range(8)] == CASES["x0_7"]


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda c: f"{c['op']}-{c['n']}")
def test_tree_order(case: dict) -> None:
    """Groups of 256 give the partial results that NumPy's f32 gives in the fixed order."""
    values = [hash_value(i) for i in range(case["n"])]
    blocks = [values[at : at + 256] for at in range(0, len(values), 256)]
    with quiet():
        results = [COLLECTIVES[case["op"]].meaning(Scalar.F32, block, False) for block in blocks]
    # A short block is padded to a power of two by us and to 256 by the cases: the identity makes no difference.
    assert [hexadecimal(r[0]) for r in results] == case["partials"]
    assert all(len(r) == len(b) and len({hexadecimal(x) for x in r}) == 1 for r, b in zip(results, blocks, strict=True))


def test_negative_zeros_stay() -> None:
    zeros = [np.float32(-0.0)] * 5
    assert hexadecimal(COLLECTIVES["sum"].meaning(Scalar.F32, zeros, False)[0]) == "80000000"
    assert hexadecimal(identity("sum", Scalar.F32)) == "80000000"


def test_tree_pairs_far_slots_first() -> None:
    text = tree(Scalar.I64, "sum", ["a", "b", "c", "d", "e"], lambda a, b: f"({a}{b})")
    assert text == "(((ae)(c0))((b0)(d0)))"


def test_scan_pairs_by_doubling() -> None:
    values = [np.float32(v) for v in (1e8, 1.0, -1e8, 1.0, 3.0, 1e-3, 7.0)]
    step1 = [values[0], *[values[t - 1] + values[t] for t in range(1, 7)]]
    step2 = [*step1[:2], *[step1[t - 2] + step1[t] for t in range(2, 7)]]
    step4 = [*step2[:4], *[step2[t - 4] + step2[t] for t in range(4, 7)]]
    assert COLLECTIVES["scan"].meaning(Scalar.F32, values, False) == step4
    exclusive = COLLECTIVES["scan"].meaning(Scalar.F32, values, True)
    assert exclusive == [np.float32(0), *step4[:-1]]


def test_integer_totals() -> None:
    big = 2**31 - 1
    assert COLLECTIVES["sum"].meaning(Scalar.I32, [big, big, -big], False) == [big] * 3, "partial sums do not matter"
    with pytest.raises(Trapped) as caught:
        COLLECTIVES["sum"].meaning(Scalar.I32, [big, 0, 1], False)
    assert caught.value.operands == (0,)
    with pytest.raises(Trapped) as caught:
        COLLECTIVES["scan"].meaning(Scalar.I32, [big, 0, 1, -5], False)
    assert caught.value.operands == (2,), "the lowest thread whose own prefix leaves the type"
    with pytest.raises(Trapped) as caught:
        COLLECTIVES["scan"].meaning(Scalar.I32, [big, 0, 1, -5], True)
    assert caught.value.operands == (3,)
    assert COLLECTIVES["scan"].meaning(Scalar.I32, [big, 0, 1], True) == [0, big, big]
    assert COLLECTIVES["sum"].meaning(Scalar.W32, [2**32 - 1, 2], False) == [1, 1]
    assert COLLECTIVES["scan"].meaning(Scalar.W64, [2**64 - 1, 2], False) == [2**64 - 1, 1]
    assert COLLECTIVES["min"].meaning(Scalar.U32, [5, 3, 9], False) == [3] * 3
    assert COLLECTIVES["any"].meaning(Scalar.BOOL, [False, True], False) == [True, True]
    assert COLLECTIVES["all"].meaning(Scalar.BOOL, [False, True], False) == [False, False]


def test_float_extremes_of_a_group() -> None:
    nan, inf = np.float32("nan"), np.float32("inf")
    assert np.isnan(COLLECTIVES["min"].meaning(Scalar.F32, [nan, inf, -inf], False)[0])
    assert COLLECTIVES["min"].meaning(Scalar.F32, [inf] * 3, False)[0] == inf
    zeros = [np.float32(0.0), np.float32(-0.0), np.float32(0.0)]
    assert hexadecimal(COLLECTIVES["min"].meaning(Scalar.F32, zeros, False)[0]) == "80000000"
    assert hexadecimal(COLLECTIVES["max"].meaning(Scalar.F32, zeros, False)[0]) == "00000000"


def test_atomics() -> None:
    assert ATOMICS["add"].meaning(Scalar.I32, 2**31 - 1, 1) == -(2**31)
    assert ATOMICS["add"].meaning(Scalar.W32, 2**32 - 1, 2) == 1
    assert ATOMICS["min"].meaning(Scalar.I32, 3, -4) == -4
    assert np.isnan(ATOMICS["max"].meaning(Scalar.F32, np.float32("nan"), np.float32(1)))
    assert ATOMICS["and"].meaning(Scalar.I32, -1, 6) == 6
    assert ATOMICS["or"].meaning(Scalar.U64, 1, 2**63) == 2**63 + 1
    assert ATOMICS["xor"].meaning(Scalar.I32, -1, -1) == 0
    assert ATOMICS["exchange"].meaning(Scalar.I32, 1, 9) == 9
    assert ATOMICS["cas"].meaning(Scalar.I32, 1, 9, 1) == 9
    assert ATOMICS["cas"].meaning(Scalar.I32, 2, 9, 1) == 2


def test_places() -> None:
    assert [place(t, (2, 3)) for t in range(6)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert all(linear(place(t, (2, 3, 5)), (2, 3, 5)) == t for t in range(30))
    assert {q.tuple_of for q in QUERIES.values() if q.tuple_of} == {"gid", "lid", "group_id"}
