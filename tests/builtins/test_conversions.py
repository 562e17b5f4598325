"""Every cell of the conversion table on corner values, written out again from the language's table."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from isogrid.builtins import floats
from isogrid.builtins.conversions import (
    COMPUTING,
    CONVERSIONS,
    STORAGE,
    STORED_FLOATS,
    conversion,
    refusal,
    store_conversion,
    widen,
)
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar

from .exact import LEAST_EXPONENT, PRECISION, TOP_EXPONENT, as_type, bits, floats_of, integers_of, near_ties, rounded

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


def ties(source: Scalar, target: Scalar) -> list[Any]:
    """Values between neighbours of a narrower float type."""
    if source not in (Scalar.F32, Scalar.F64) or target not in (*STORED_FLOATS, Scalar.F32) or source is target:
        return []
    wide = {float(rounded(source, tie)): None for tie in near_ties(target, 1, 60)}
    return [as_type(source, value) for value in wide]


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
    if target in STORED_FLOATS:
        value = float(rounded(Scalar.F32, Fraction(int(value))))
    return rounded(target, Fraction(value))


def refused(source: Scalar, target: Scalar) -> bool:
    return target in STORED_FLOATS and (source is Scalar.BOOL or source.is_modular)


PAIRS = [(s, t) for s in COMPUTING for t in COMPUTING + STORAGE]


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda t: t.value)
def test_conversion(source: Scalar, target: Scalar) -> None:
    row = conversion(source, target)
    assert (row is None) == refused(source, target) == bool(refusal(source, target))
    if row is None:
        return
    trapped = False
    with quiet():
        for value in values_of(source) + near_limits(source, target) + ties(source, target):
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


def test_what_rounding_twice_would_do() -> None:
    """The ties above tell one rounding from two: through f32, the tie decides."""
    for target in STORED_FLOATS:
        values = ties(Scalar.F64, target)
        with quiet():
            twice = [rounded(target, Fraction(float(np.float32(v)))) for v in values if np.isfinite(np.float32(v))]
            once = [rounded(target, Fraction(v)) for v in values if np.isfinite(np.float32(v))]
        assert sum(a != b for a, b in zip(once, twice, strict=True)) >= 20


@pytest.mark.parametrize("element", STORED_FLOATS, ids=lambda t: t.value)
def test_every_element_widens_to_its_value_and_comes_back(element: Scalar) -> None:
    digits, least, top = PRECISION[element], LEAST_EXPONENT[element], TOP_EXPONENT[element]
    back = CONVERSIONS[Scalar.F32, element]
    for word in range(1 << 16):
        value = widen(element, floats.from_bits(element, word))
        assert type(value) is np.float32
        exponent, fraction = (word & 0x7FFF) >> (digits - 1), word & ((1 << (digits - 1)) - 1)
        sign = -1.0 if word >> 15 else 1.0
        if exponent == (1 << (16 - digits)) - 1:
            assert math.isnan(value) if fraction else value == sign * math.inf
        else:
            whole = fraction + (1 << (digits - 1) if exponent else 0)
            assert (
                float(value) == sign * math.ldexp(whole, least + max(exponent - 1, 0)) and abs(float(value)) < 2.0**top
            )
        canonical = floats.to_bits(element, widen(element, math.nan)) if value != value else word
        assert floats.to_bits(element, back.meaning(element, value)) == canonical


def test_widening() -> None:
    widening = {pair for pair, row in CONVERSIONS.items() if row.widens}
    assert widening == {(Scalar.I32, Scalar.I64), (Scalar.U32, Scalar.I64)}
