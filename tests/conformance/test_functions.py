"""Every row and signature of the function table on corner values."""

import itertools
from typing import Any

import pytest

from isogrid.builtins.functions import FUNCTIONS
from isogrid.builtins.table import Builtin
from isogrid.ir.types import Scalar

from .support import agree, column, corners, kernel, name_of

#: Tuples of corner values per signature at most: all of them for one and two operands.
MOST = 1500


def row_id(row: Builtin) -> str:
    return row.name


def spelled(row: Builtin, result: Scalar, count: int) -> str:
    """The call with `a[i]`, `b[i]`, `c[i]` as operands."""
    name = row.spellings[0].replace("isogrid.", "ig.").replace("builtins.", "")
    operands = ", ".join(f"{letter}[i]" for letter in "abc"[:count])
    if row.name.startswith("saturate_"):
        return f"ig.saturate(ig.{row.name[9:]}, {operands})"
    return f"{name}({name_of(result)}, {operands})" if row.type_argument else f"{name}({operands})"


@pytest.mark.parametrize("row", FUNCTIONS, ids=row_id)
def test_function(row: Builtin, device: str) -> None:
    """One kernel per operand type; the amounts of a rotation share theirs."""
    for signature in row.signatures:
        if row.name == "rotate" and signature.parameters[1] not in (Scalar.I32, Scalar.U64, signature.parameters[0]):
            continue
        count = len(signature.parameters)
        arrays = ", ".join(f"{n}: ig.In[{name_of(t)}, N]" for n, t in zip("abc", signature.parameters, strict=False))
        made = kernel(f"""
@ig.kernel(grid=N)
def k({arrays}, z: ig.Out[{name_of(signature.result)}, N]) -> None:
    i = ig.gid()
    z[i] = {spelled(row, signature.result, count)}
""")
        rows = list(itertools.product(*(corners(type) for type in signature.parameters)))
        rows = rows[:: max(1, len(rows) // MOST)]
        columns = [column([values[at] for values in rows], type) for at, type in enumerate(signature.parameters)]
        text, _ = agree(made, device, *columns, column([0] * len(rows), signature.result))
        assert not text, signature


@pytest.mark.parametrize(
    "text",
    [
        "ig.fma(x[i], 2.0, 1)", "ig.clamp(x[i], -1.0, 1.0)", "max(x[i], 0.0)", "math.copysign(1.0, x[i])",
        "math.inf - x[i]", "-math.inf if x[i] < 0.0 else math.inf", "x[i] * ig.limits(ig.f32).max", "math.fabs(x[i])",
        "pow(x[i], 3)", "ig.select(x[i] > 0.0, x[i], 0.5)", "x[i] + 1", "2 * x[i] - 1 / 3",
    ],
)  # fmt: skip
def test_literal_operands(text: str, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.f32, N], z: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    z[i] = {text}
""")
    agree(made, device, column(corners(Scalar.F32), Scalar.F32), column([0] * len(corners(Scalar.F32)), Scalar.F32))


def test_every_function_is_covered() -> None:
    names: list[Any] = [row.name for row in FUNCTIONS]
    assert len(names) == len(set(names))
    assert {"sqrt", "fma", "bitcast", "mulhi", "rotate", "signbit", "popcount32", "clz64", "ctz64"} <= set(names)
