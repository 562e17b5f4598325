"""Every group operation on every type and several group sizes; float pairing, NaN, signed zero; totals that trap."""

import numpy as np
import pytest

from isogrid.builtins.collectives import COLLECTIVES, CollectiveRow
from isogrid.ir.types import Scalar

from .support import agree, column, corners, kernel, name_of

PAIRS = [(row, type, exclusive) for row in COLLECTIVES.values() for type in row.types
         for exclusive in ((False, True) if row.op == "scan" else (False,))]  # fmt: skip
BLOCKS = (1, 3, 16, 33)


def pair_id(value: object) -> str:
    if isinstance(value, CollectiveRow):
        return value.op
    return value.value if isinstance(value, Scalar) else str(value)


@pytest.mark.parametrize(("row", "type", "exclusive"), PAIRS, ids=pair_id)
def test_collective(row: CollectiveRow, type: Scalar, exclusive: bool, device: str) -> None:
    option = ", exclusive=True" if exclusive else ""
    for block in BLOCKS if type in (Scalar.F32, Scalar.I32, Scalar.BOOL) else (33,):
        made = kernel(f"""
@ig.kernel(groups=G, block={block})
def k(x: ig.In[{name_of(type)}, N], z: ig.Out[{name_of(type)}, N], totals: ig.Out[{name_of(type)}, G]) -> None:
    i = ig.gid()
    value = x[i] if i < len(x) else x[0]
    found = {row.spelling.replace("isogrid.", "ig.")}(value{option})
    if i < len(z):
        z[i] = found
    if ig.lid() == 0:
        totals[ig.group_id()] = found
""")
        values = corners(type) * 8
        if row.totals and type.is_checked:
            values = [value for value in values if abs(float(value)) < 1000]
        values = values[: 4 * block]
        groups = -(-len(values) // block)
        text, _ = agree(made, device, column(values, type), column([0] * len(values), type), column([0] * groups, type))
        assert not text


@pytest.mark.parametrize("type", [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64], ids=lambda type: type.value)
def test_sum_traps_by_its_total(type: Scalar, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N, block=4)
def k(x: ig.In[{name_of(type)}, N], z: ig.Out[{name_of(type)}, N]) -> None:
    i = ig.gid()
    z[i] = ig.group_sum(x[i])
""")
    top = type.maximum
    text, _ = agree(made, device, column([1, 2, 3, 4, top, 0, 1, 0], type), column([0] * 8, type))
    assert ", thread 4" in text
    if type.is_signed:
        text, _ = agree(made, device, column([top, top, -top, -top] * 2, type), column([0] * 8, type))
        assert not text


def test_scan_traps_at_its_own_prefix(device: str) -> None:
    made = kernel("""
@ig.kernel(grid=N, block=4)
def k(x: ig.In[ig.i32, N], z: ig.Out[ig.i32, N]) -> None:
    i = ig.gid()
    z[i] = ig.group_scan(x[i])
""")
    text, _ = agree(made, device, np.array([1, 2**31 - 1, -5, 0, 1, 1, 1, 1], np.int32), np.zeros(8, np.int32))
    assert ", thread 1" in text


def test_in_a_uniform_loop_and_branch(device: str) -> None:
    made = kernel("""
@ig.kernel(grid=N, block=8)
def k(rounds: ig.i32, x: ig.In[ig.f32, N], z: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    v = x[i] if i < len(x) else 0.0
    for r in range(rounds):
        if r % 2 == 0:
            v = ig.group_sum(v) * 0.25
        else:
            v += ig.group_scan(v, exclusive=True)
        if ig.group_any(v > 1000.0):
            break
    if i < len(z):
        z[i] = v
""")
    for rounds in (0, 1, 2, 5, 12):
        agree(made, device, rounds, np.arange(21, dtype=np.float32) / 7, np.zeros(21, np.float32))


@pytest.mark.parametrize("type", [Scalar.I32, Scalar.W32, Scalar.F32], ids=lambda type: type.value)
def test_scans_right_after_each_other(device: str, type: Scalar) -> None:
    """The operand of the second goes where other threads still read results of the first, if it may."""
    name = name_of(type)
    made = kernel(f"""
@ig.kernel(grid=N, block=70)
def k(x: ig.In[{name}, N], y: ig.Out[{name}, N], z: ig.Out[{name}, N]) -> None:
    i = ig.gid()
    v = x[i] if i < len(x) else {name}(0)
    before = ig.group_scan(v, exclusive=True)
    both = ig.group_scan(before)
    last = ig.group_scan(both + before, exclusive=True)
    if i < len(y):
        y[i] = both
    if i < len(z) and ig.lid() < 66:
        z[i] = last
""")
    x = column([(k * 37) % 11 for k in range(150)], type)
    agree(made, device, x, column([0] * 150, type), column([0] * 150, type))
