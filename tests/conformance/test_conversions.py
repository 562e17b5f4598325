"""Every cell of the conversion table, written out and at stores, with the values that trap one by one."""

from typing import Any

import pytest

from isogrid.builtins.conversions import COMPUTING, CONVERSIONS, store_conversion
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.table import Conversion
from isogrid.ir.types import Scalar

from .support import agree, column, corners, kernel, name_of, reference_value

CASTS = [row for row in CONVERSIONS.values() if row.target in COMPUTING]
STORES = [
    (source, element)
    for source in COMPUTING
    for element in (Scalar.I8, Scalar.I16, Scalar.U8, Scalar.U16, Scalar.I32, Scalar.U32)
    if source is not element and store_conversion(source, element) is not None
]


def pair_id(value: Any) -> str:
    if isinstance(value, Conversion):
        return f"{value.source.value}_to_{value.target.value}"
    return value.value


def run_split(made: Any, row: Conversion, device: str) -> None:
    """All values that have a result in one launch; each that traps in a launch of its own."""
    good: list[Any] = []
    bad: list[Any] = []
    with quiet():
        for value in corners(row.source):
            try:
                row.meaning(row.target, reference_value(row.source, value))
                good.append(value)
            except Trapped:
                bad.append(value)
    text, _ = agree(made, device, column(good, row.source), column([0] * len(good), row.target))
    assert not text
    assert bool(bad) <= row.can_trap
    for value in bad:
        values = [*good[:3], value, *good[:2]]
        text, _ = agree(made, device, column(values, row.source), column([0] * len(values), row.target))
        assert ", thread 3" in text or len(good) < 3


@pytest.mark.parametrize("row", CASTS, ids=pair_id)
def test_cast(row: Conversion, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(row.source)}, N], z: ig.Out[{name_of(row.target)}, N]) -> None:
    i = ig.gid()
    z[i] = {name_of(row.target)}(x[i])
""")
    run_split(made, row, device)


@pytest.mark.parametrize(("source", "element"), STORES, ids=pair_id)
def test_narrowing_store(source: Scalar, element: Scalar, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(source)}, N], z: ig.Out[{name_of(element)}, N]) -> None:
    i = ig.gid()
    z[i] = x[i]
""")
    row = store_conversion(source, element)
    assert row is not None
    run_split(made, row, device)


@pytest.mark.parametrize("element", [Scalar.I8, Scalar.I16, Scalar.U8, Scalar.U16], ids=lambda type: type.value)
def test_widening_load(element: Scalar, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(element)}, N], z: ig.Out[ig.i32, N]) -> None:
    i = ig.gid()
    z[i] = x[i] * 3 - 1000
""")
    agree(made, device, column(corners(element), element), column([0] * len(corners(element)), Scalar.I32))


@pytest.mark.parametrize("text", ["int(x[i])", "int(x[i] > 1.5)"])
def test_int(text: str, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.f32, N], z: ig.Out[ig.i64, N]) -> None:
    i = ig.gid()
    z[i] = {text}
""")
    values = [0.0, -0.0, 1.9, -1.9, 2.0**40, -(2.0**62)]
    agree(made, device, column(values, Scalar.F32), column([0] * len(values), Scalar.I64))
    if "bool" not in text:
        agree(made, device, column([1.0, float("nan")], Scalar.F32), column([0, 0], Scalar.I64))
