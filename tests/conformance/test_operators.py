"""Every operator on every type: all pairs of corner values, and every pair that traps on its own."""

import itertools
from typing import Any

import pytest

from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.operators import OPERATORS
from isogrid.builtins.table import Operator, Signature
from isogrid.ir.types import Scalar

from .support import Array, agree, column, corners, kernel, name_of, reference_value

#: Trapping pairs that are launched per signature; they are spread over all that trap.
TRAPS = 12
SIGNATURES = [
    (row, signature)
    for row in OPERATORS.values()
    for signature in row.signatures
    if not (row.name == "pow" and signature.result.is_float)
]


def spelling(row: Operator) -> str:
    """The operator applied to `x[i]` and `y[i]`."""
    match row.name:
        case "neg":
            return "-x[i]"
        case "invert":
            return "~x[i]"
        case "not":
            return "not x[i]"
        case "abs":
            return "abs(x[i])"
        case "min" | "max":
            return f"{row.name}(x[i], y[i])"
        case _:
            return f"x[i] {row.symbol} y[i]"


def operator_kernel(row: Operator, signature: Signature) -> Any:
    types = [name_of(type) for type in signature.parameters]
    arrays = ", ".join(f"{name}: ig.In[{type}, N]" for name, type in zip("xy", types, strict=False))
    return kernel(f"""
@ig.kernel(grid=N)
def k({arrays}, z: ig.Out[{name_of(signature.result)}, N]) -> None:
    i = ig.gid()
    z[i] = {spelling(row)}
""")


def split(row: Operator, signature: Signature) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """All tuples of corner values: those that have a value, those that trap."""
    good: list[tuple[Any, ...]] = []
    bad: list[tuple[Any, ...]] = []
    with quiet():
        for values in itertools.product(*(corners(type) for type in signature.parameters)):
            operands = [reference_value(t, v) for t, v in zip(signature.parameters, values, strict=True)]
            if row.name == "pow" and abs(operands[1]) > 70:
                continue
            try:
                row.meaning(signature.parameters[0] if row.kind == "compare" else signature.result, *operands)
                good.append(values)
            except Trapped:
                bad.append(values)
    return good, bad


def columns(signature: Signature, rows: list[tuple[Any, ...]]) -> list[Array]:
    arrays = [column([row[at] for row in rows], type) for at, type in enumerate(signature.parameters)]
    return [*arrays, column([0] * len(rows), signature.result)]


def test_id(value: Any) -> str:
    return value.name if isinstance(value, Operator) else "_".join(type.value for type in value.parameters)


test_id.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize(("row", "signature"), SIGNATURES, ids=test_id)
def test_operator(row: Operator, signature: Signature, device: str) -> None:
    made = operator_kernel(row, signature)
    good, bad = split(row, signature)
    text, _ = agree(made, device, *columns(signature, good))
    assert not text
    assert bool(bad) == (bool(row.traps.get(signature.parameters[0])) and bool(bad))
    for values in bad[:: max(1, len(bad) // TRAPS)]:
        text, _ = agree(made, device, *columns(signature, [*good[:5], values, *good[:3], *bad[:1]]))
        assert f", thread {len(good[:5])}" in text


@pytest.mark.parametrize("type", [Scalar.F32, Scalar.F64], ids=lambda type: type.value)
@pytest.mark.parametrize("exponent", range(5))
def test_float_power(type: Scalar, exponent: int, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(type)}, N], z: ig.Out[{name_of(type)}, N]) -> None:
    i = ig.gid()
    z[i] = x[i] ** {exponent}
""")
    agree(made, device, column(corners(type), type), column([0] * len(corners(type)), type))


@pytest.mark.parametrize("type", [Scalar.I32, Scalar.U64, Scalar.W32, Scalar.F32], ids=lambda type: type.value)
def test_min_max_of_three(type: Scalar, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(type)}, N], y: ig.In[{name_of(type)}, N], z: ig.Out[{name_of(type)}, N]) -> None:
    i = ig.gid()
    z[i] = min(x[i], max(y[i], 3, x[i]), y[i])
""")
    pairs = list(itertools.product(corners(type), corners(type)))
    agree(made, device, *(column([p[at] for p in pairs], type) for at in (0, 1)), column([0] * len(pairs), type))


@pytest.mark.parametrize("narrow", ["i32", "u32"])
@pytest.mark.parametrize("op", ["+", "-", "*", "//", "%", "&", "|", "^", "<", "==", "min", "max"])
def test_widening_beside_i64(narrow: str, op: str, device: str) -> None:
    expression = f"{op}(x[i], w)" if op in ("min", "max") else f"x[i] {op} w"
    result = "bool" if op in ("<", "==") else "ig.i64"
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.{narrow}, N], y: ig.In[ig.i64, N], z: ig.Out[{result}, N]) -> None:
    i = ig.gid()
    w = y[i] | 1
    z[i] = {expression}
""")
    type = Scalar(narrow)
    values = corners(type)
    other = column([(-1) ** at * (at + 1) for at in range(len(values))], Scalar.I64)
    agree(
        made,
        device,
        column(values, type),
        other,
        column([0] * len(values), Scalar.BOOL if result == "bool" else Scalar.I64),
    )
