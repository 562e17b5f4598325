"""Every cell of the conversion table on corner values, written out again from the language's table."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from isogrid.builtins.conversions import COMPUTING, CONVERSIONS, STORAGE, conversion, refusal, store_conversion, widen
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar

from .exact import as_type, bits, floats_of, integers_of, rounded

TRAP = object()


def values_of(type: Scalar) -> list[Any]:
    if type is Scalar.BOOL:
        return [False, True]
    return floats_of(type) if type.is_float else integers_of(type)


def near_limits(source: Scalar, target: Scalar) -> list[Any]:
    """Values just inside and outside the target's range."""
    if not target.is_integer or source is Scalar.BOOL:
        return []
    edges = [edge + offset for edge in (target.minimum, target.maximum) for offset in (-1, 0, 1)]
    if not source.is_float:
        return [e for e in edges if source.holds(e)]
    halves = [Fraction(e) + Fraction(d, 2) for e in edges for d in (-1, 0, 1)]
    return [x for h in halves if Fraction(float(x := rounded(source, h))) == h or abs(h) > 2**20]


def expected(source: Scalar, target: Scalar, value: Any) -> Any:
    """The table again, in the order of its columns."""
    if source is target:
        return value
    if target.is_checked or (target.is_modular and source.is_float):
        if source.is_float:
            if not math.isfinite(value):
                return TRAP
            value = math.trunc(float(value))
        value = int(value)
        return value if target.minimum <= value <= target.maximum else TRAP
    if target.is_modular:
        return int(value) % 2**target.bits
    if target is Scalar.BOOL:
        return bool(value != 0)
    if source.is_float:
        if not math.isfinite(value):
            return as_type(target, float(value))
        zero = as_type(target, math.copysign(0.0, value))
        return rounded(target, Fraction(float(value))) if value != 0 else zero
    return rounded(target, Fraction(int(value)))


@pytest.mark.parametrize("source", COMPUTING, ids=lambda t: t.value)
@pytest.mark.parametrize("target", [t for t in COMPUTING + STORAGE if t is not Scalar.F16], ids=lambda t: t.value)
def test_conversion(source: Scalar, target: Scalar) -> None:
    row = conversion(source, target)
    assert row is not None
    trapped = False
    with quiet():
        for value in values_of(source) + near_limits(source, target):
            want = expected(source, target, value)
            if want is TRAP:
                trapped = True
                with pytest.raises(Trapped) as caught:
                    row.meaning(target, value)
                assert (caught.value.kind, bits(caught.value.operands[0])) == (TrapKind.VALUE, bits(value))
            else:
                got = row.meaning(target, value)
                assert bits(got) == bits(want), (value, got, want)
                assert type(got) is type(want)
    assert row.can_trap == trapped


@pytest.mark.parametrize("value", [2**24 + 1, 2**60 + 2**36 + 1, 2**63 + 2**39 + 1, 2**64 - 1, 2**64 - 2**39 - 1])
def test_integer_to_f32_rounds_once(value: int) -> None:
    """Through f64 the odd last bit would be lost and the tie would go to even."""
    row = CONVERSIONS[Scalar.U64, Scalar.F32]
    assert bits(row.meaning(Scalar.F32, value)) == bits(rounded(Scalar.F32, Fraction(value)))


def test_double_rounding_would_show() -> None:
    value = 2**60 + 2**36 + 1
    assert np.float32(float(value)) != CONVERSIONS[Scalar.I64, Scalar.F32].meaning(Scalar.F32, value)


def test_narrowing_stores() -> None:
    assert store_conversion(Scalar.I64, Scalar.U8) is not None
    assert store_conversion(Scalar.U64, Scalar.I32) is not None
    assert store_conversion(Scalar.I32, Scalar.U32) is None
    assert store_conversion(Scalar.F64, Scalar.F32) is None
    assert store_conversion(Scalar.I32, Scalar.F32) is None
    assert store_conversion(Scalar.W32, Scalar.U8) is None


def test_half_precision_elements() -> None:
    row = CONVERSIONS[Scalar.F64, Scalar.F16]
    with quiet():
        tie_only_in_f32 = np.float64(1 + 2.0**-11 + 2.0**-40)
        assert row.meaning(Scalar.F16, tie_only_in_f32) == np.float16(1 + 2.0**-10)
        assert math.isinf(row.meaning(Scalar.F16, np.float64(1e6)))
    assert conversion(Scalar.W32, Scalar.F16) is None
    assert conversion(Scalar.BOOL, Scalar.F16) is None
    assert "f16" in refusal(Scalar.BOOL, Scalar.F16)
    assert isinstance(widen(Scalar.F16, np.float16(1.5)), np.float32)


def test_widening() -> None:
    widening = {pair for pair, row in CONVERSIONS.items() if row.widens}
    assert widening == {(Scalar.I32, Scalar.I64), (Scalar.U32, Scalar.I64)}
