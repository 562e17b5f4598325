"""Every operator, conversion and function, run on kernel IR and on device IR, does what its table row says."""

import itertools
from typing import Any

import numpy as np
import pytest

from isogrid.builtins.conversions import COMPUTING, CONVERSIONS
from isogrid.builtins.functions import FUNCTIONS
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.operators import OPERATORS
from isogrid.builtins.table import Builtin, Operator, Signature
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar

from ..builtins.exact import floats_of, integers_of
from .build import N, array, bind, gid, kernel, launch, load, store

TRAP = object()


def values_of(type: Scalar, count: int) -> list[Any]:
    if type is Scalar.BOOL:
        return [False, True]
    values = floats_of(type) if type.is_float else integers_of(type)
    return values[:: max(1, len(values) // count)] + values[-3:]


def expect(meaning: Any, result: Scalar, values: tuple[Any, ...]) -> Any:
    with quiet():
        try:
            return meaning(result, *values)
        except Trapped:
            return TRAP


def check(node: k.Expr, signature: Signature, meaning: Any, rows: list[tuple[Any, ...]]) -> None:
    """One launch for all rows that give a value, and one for each of a few that trap."""
    names = [f"a{n}" for n in range(len(signature.parameters))]
    parameters = [array(n, t, Access.IN) for n, t in zip(names, signature.parameters, strict=True)]
    program = kernel(
        store("out", gid(), value=node, element=signature.result),
        parameters=(*parameters, array("out", signature.result, Access.OUT)),
    )
    results = [(row, expect(meaning, signature.result, row)) for row in rows]
    good = [(row, value) for row, value in results if value is not TRAP]
    if good:
        run_rows(program, names, signature, [row for row, _ in good], [value for _, value in good])
    for row in [row for row, value in results if value is TRAP][:6]:
        arrays = as_arrays(names, signature, [row])
        outcome = launch(program, bind(arrays, (1,)), detect_races=False)
        assert outcome.trap is not None, row


def as_arrays(names: list[str], signature: Signature, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    arrays = {
        name: np.array([row[n] for row in rows], type.numpy)
        for n, (name, type) in enumerate(zip(names, signature.parameters, strict=True))
    }
    arrays["out"] = np.zeros(len(rows), signature.result.numpy)
    return arrays


def run_rows(
    program: k.Kernel, names: list[str], signature: Signature, rows: list[tuple[Any, ...]], want: list[Any]
) -> None:
    arrays = as_arrays(names, signature, rows)
    outcome = launch(program, bind(arrays, (len(rows),)), detect_races=False)
    assert outcome.trap is None
    expected = np.array(want, signature.result.numpy)
    got = arrays["out"]
    np.testing.assert_array_equal(got, expected)
    if signature.result.is_float:
        number = ~np.isnan(expected)
        assert (np.signbit(got) == np.signbit(expected))[number].all()


def operands(signature: Signature) -> list[k.Expr]:
    return [load(f"a{n}", gid(), type=type) for n, type in enumerate(signature.parameters)]


def rows_of(signature: Signature, count: int) -> list[tuple[Any, ...]]:
    return list(itertools.product(*(values_of(type, count) for type in signature.parameters)))


OPERATOR_CASES = [
    pytest.param(row, signature, id=f"{row.name}-{'-'.join(t.value for t in signature.parameters)}")
    for row in OPERATORS.values()
    for signature in row.signatures
    if not (row.name == "pow" and signature.result.is_float)
]


@pytest.mark.parametrize(("row", "signature"), OPERATOR_CASES)
def test_operator(row: Operator, signature: Signature) -> None:
    arguments = operands(signature)
    checked = row.can_trap(signature.parameters[0])
    match row.kind:
        case "unary":
            node: k.Expr = k.Unary(row.name, arguments[0], signature.result, checked)
        case "binary":
            node = k.Binary(row.name, arguments[0], arguments[1], signature.result, checked)
        case _:
            node = k.Compare(row.name, arguments[0], arguments[1])
    check(node, signature, row.meaning, rows_of(signature, 9))


@pytest.mark.parametrize("exponent", range(5))
@pytest.mark.parametrize("type", [Scalar.F32, Scalar.F64], ids=lambda t: t.value)
def test_float_power(type: Scalar, exponent: int) -> None:
    from isogrid.builtins import floats

    power = k.Const(floats.to_bits(type, floats.number(type, exponent)), type)
    node = k.Binary("pow", load("a0", gid(), type=type), power, type, False)
    check(
        node,
        Signature((type,), type),
        lambda result, x: floats.power(result, x, exponent),
        [(x,) for x in floats_of(type)],
    )


CONVERSION_CASES = [
    pytest.param(s, t, id=f"{s.value}-{t.value}") for s, t in CONVERSIONS if s in COMPUTING and t in COMPUTING
]


@pytest.mark.parametrize(("source", "target"), CONVERSION_CASES)
def test_conversion(source: Scalar, target: Scalar) -> None:
    row = CONVERSIONS[source, target]
    node = k.Cast(load("a0", gid(), type=source), target, row.can_trap)
    check(node, Signature((source,), target), row.meaning, [(v,) for v in values_of(source, 60)])


@pytest.mark.parametrize("element", [Scalar.I8, Scalar.I16, Scalar.U8, Scalar.U16], ids=lambda t: t.value)
@pytest.mark.parametrize("source", [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64], ids=lambda t: t.value)
def test_narrowing_store_and_widening_load(source: Scalar, element: Scalar) -> None:
    meaning = CONVERSIONS[source, element].meaning
    inside = [v for v in integers_of(source) if element.holds(v)]
    program = kernel(
        store("b", gid(), value=load("a", gid(), type=source), element=element),
        store("c", gid(), value=load("b", gid(), type=element), element=Scalar.I32),
        parameters=(array("a", source, Access.IN), array("b", element), array("c", Scalar.I32)),
    )
    for values in (inside, [v for v in integers_of(source) if not element.holds(v)][:1]):
        if not values:
            continue
        count = len(values)
        arrays = {
            "a": np.array(values, source.numpy),
            "b": np.zeros(count, element.numpy),
            "c": np.zeros(count, np.int32),
        }
        outcome = launch(program, bind(arrays, (count,)))
        if values is inside:
            assert [meaning(element, v) for v in values] == arrays["c"].tolist()
        else:
            assert outcome.trap is not None


FUNCTION_CASES = [
    pytest.param(row, signature, id=f"{row.name}-{'-'.join(t.value for t in signature.parameters)}-{n}")
    for row in FUNCTIONS
    for n, signature in enumerate(row.signatures)
    if not (row.name == "rotate" and signature.parameters[1] not in (Scalar.I32, Scalar.U64))
]


@pytest.mark.parametrize(("row", "signature"), FUNCTION_CASES)
def test_function(row: Builtin, signature: Signature) -> None:
    node = k.Call(row.name, tuple(operands(signature)), signature.result)
    check(node, signature, row.meaning, rows_of(signature, {1: 60, 2: 9, 3: 4}[len(signature.parameters)]))


def test_literals_are_exact() -> None:
    from isogrid.builtins import floats

    values = floats_of(Scalar.F64)
    body = [
        store(
            "out", k.Const(n, Scalar.I64), value=k.Const(floats.to_bits(Scalar.F64, v), Scalar.F64), element=Scalar.F64
        )
        for n, v in enumerate(values)
    ]
    program = kernel(*body, parameters=(array("out", Scalar.F64, Access.OUT),), extents=(k.Const(1, Scalar.I64),))
    out = np.zeros(len(values))
    launch(program, bind({"out": out}, (1,), N=len(values)), detect_races=False)
    np.testing.assert_array_equal(out, np.array(values))
    assert N.type is Scalar.I64
