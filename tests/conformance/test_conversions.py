"""Every cell of the conversion table, written out and at stores, with the values that trap one by one."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from isogrid.builtins.conversions import COMPUTING, CONVERSIONS, STORAGE, STORED_FLOATS, store_conversion
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.table import Conversion
from isogrid.ir.types import Scalar
from tests.builtins.exact import near_ties, rounded

from .support import agree, bits, column, corners, kernel, name_of, reference_value

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


def edges(source: Scalar, target: Scalar) -> list[Any]:
    """The floats next to those where an integer type ends: the last that fit, and the first that do not."""
    if not source.is_float or not target.is_integer:
        return []
    found: list[Any] = []
    for end, away in ((target.minimum - 1, -1), (target.maximum + 1, 1)):
        first = source.numpy.type(end)
        if float(first) * away < end * away:
            first = np.nextafter(first, source.numpy.type(away * np.inf))
        inside = np.nextafter(first, source.numpy.type(0))
        found += [first, inside, np.nextafter(inside, source.numpy.type(0))]
    return found


def test_edges_are_edges() -> None:
    for source in (Scalar.F32, Scalar.F64):
        for target in (*COMPUTING, *STORAGE):
            for outside, inside, _ in zip(*[iter(edges(source, target))] * 3, strict=True):
                assert not target.holds(int(outside)) and target.holds(int(inside)), (source, target)


def values_for(row: Conversion) -> list[Any]:
    """Corners of the source and edges of the target; of the floats only a few where there are many targets."""
    if row.source.is_float and row.target in STORAGE:
        return [*edges(row.source, row.target), *(row.source.numpy.type(v) for v in (-0.0, 1, 99.9, np.nan, np.inf))]
    return [*corners(row.source), *edges(row.source, row.target)]


def run_split(made: Any, row: Conversion, device: str) -> None:
    """All values that have a result in one launch; each that traps in a launch of its own."""
    good: list[Any] = []
    bad: list[Any] = []
    with quiet():
        for value in values_for(row):
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


@pytest.mark.parametrize(
    "row",
    [row for row in CONVERSIONS.values() if row.source.is_float and row.target in STORAGE and row.target.is_integer],
    ids=pair_id,
)
def test_cast_at_a_store(row: Conversion, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(row.source)}, N], z: ig.Out[{name_of(row.target)}, N]) -> None:
    i = ig.gid()
    z[i] = {name_of(row.target)}(x[i])
""")
    run_split(made, row, device)


@pytest.mark.parametrize("source", [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64, Scalar.W64], ids=lambda t: t.value)
def test_integers_between_floats(source: Scalar, device: str) -> None:
    """Ties of both float types and what lies beside them, at every size: each is rounded once."""
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(source)}, N], y: ig.Out[ig.f32, N], z: ig.Out[ig.f64, N]) -> None:
    i = ig.gid()
    y[i] = ig.f32(x[i])
    z[i] = ig.f64(x[i])
""")
    halves = [2 * top + 1 << shift for shift in range(40) for top in (0x800000, 0xABCDEF, 0xFFFFFF)]
    halves += [2 * top + 1 << shift for shift in range(11) for top in (1 << 52, (1 << 53) - 1)]
    ties = [half + beside for half in halves for beside in (-1, 0, 1)]
    values = [sign * v for v in ties for sign in (1, -1) if source.holds(sign * v)]
    x = np.array(values, source.numpy)
    _, (_, y, z) = agree(made, device, x, np.zeros(x.size, np.float32), np.zeros(x.size))
    assert np.array_equal(z, [float(v) for v in values])
    assert np.array_equal(y, [float(rounded(Scalar.F32, Fraction(v))) for v in values])


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


@pytest.mark.parametrize("element", STORED_FLOATS, ids=lambda type: type.value)
def test_every_stored_float_widens_and_comes_back(element: Scalar, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(element)}, N], y: ig.Out[ig.f32, N], z: ig.Out[{name_of(element)}, N]) -> None:
    i = ig.gid()
    y[i] = x[i]
    z[i] = {name_of(element)}(x[i])
""")
    x = np.arange(1 << 16, dtype=np.uint16).view(element.numpy)
    _, (x, y, z) = agree(made, device, x, np.zeros(1 << 16, np.float32), np.zeros_like(x))
    assert np.array_equal(y, x.astype(np.float32), equal_nan=True)
    assert np.array_equal(z.view(np.uint16), bits(x))


@pytest.mark.parametrize("row", [row for row in CONVERSIONS.values() if row.target in STORED_FLOATS], ids=pair_id)
def test_rounding_store(row: Conversion, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(row.source)}, N], z: ig.Out[{name_of(row.target)}, N]) -> None:
    i = ig.gid()
    z[i] = {name_of(row.target)}(x[i])
""")
    values = corners(row.source)
    if row.source.is_float:
        with quiet():
            values += [row.source.numpy.type(float(tie)) for tie in near_ties(row.target, 7, 12)]
            values += [row.source.numpy.type(np.float16(tie)) for tie in near_ties(Scalar.F16, 8, 3)]
    agree(made, device, column(values, row.source), np.zeros(len(values), row.target.numpy))


@pytest.mark.parametrize("element", STORED_FLOATS, ids=lambda type: type.value)
def test_stored_floats_in_every_memory(element: Scalar, device: str) -> None:
    """Shared, local and constant arrays, literals, a choice of literals, and loops over elements."""
    name = name_of(element)
    made = kernel(f"""
TABLE = np.array([0.5, -1.25, 3.0e-7, 1.0], np.float16)
TABLE.flags.writeable = False

@ig.func
def total(row: ig.In[{name}, N]) -> float:
    s = 0.0
    for v in row:
        s += v
    return s

@ig.kernel(groups=G, block=32)
def k(x: ig.In[{name}, G, 32], y: ig.Out[ig.f32, G, 32], z: ig.Out[{name}, G, 32]) -> None:
    g, i = ig.group_id(), ig.lid()
    tile = ig.shared({name}, 33)
    own = ig.local({name}, 2)
    tile[i] = {name}(x[g, i] * TABLE[i % 4])
    own[0] = 0.1
    own[1] = 1.5 if i % 3 == 0 else -3.0e-8
    ig.barrier()
    y[g, i] = tile[(i + 1) % 33] * own[0] + own[1] + total(x[g]) + TABLE[2]
    z[g, i] = 65504.0 if i % 2 == 0 else 1.0e-7
""")
    x = (np.arange(96, dtype=np.float32).reshape(3, 32) / 7 - 5).astype(element.numpy)
    _, (_, y, z) = agree(made, device, x, np.zeros((3, 32), np.float32), np.zeros_like(x))
    assert z[0, 1] == np.float64(1.0e-7).astype(element.numpy) and abs(y[0, 0]) < 100


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
