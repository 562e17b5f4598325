"""Every cell of the operator table on corner values, against rationals, Python's ints and CPython's float operators."""

import math
import operator
from fractions import Fraction
from typing import Any

import pytest

from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.operators import OPERATORS, can_trap
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar

from .exact import as_type, bits, floats_of, integers_of, rounded

INTEGERS = [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64, Scalar.W32, Scalar.W64]
FLOATS = [Scalar.F32, Scalar.F64]


def outcome(op: str, type: Scalar, *values: Any) -> Any:
    """The result, or what the trap says."""
    with quiet():
        try:
            return OPERATORS[op].meaning(type, *values)
        except Trapped as trapped:
            return trapped.kind, trapped.operands


def fitted(type: Scalar, exact: int, *operands: int) -> Any:
    if type.is_modular:
        return exact % 2**type.bits
    return exact if type.holds(exact) else (TrapKind.OVERFLOW, operands)


def expected_integer(op: str, type: Scalar, a: int, b: int) -> Any:
    match op:
        case "add" | "sub" | "mul":
            return fitted(type, getattr(operator, op)(a, b), a, b)
        case "floordiv" | "mod" if b == 0:
            return TrapKind.ZERO_DIVISION, (a,)
        case "floordiv":
            return fitted(type, math.floor(Fraction(a, b)), a, b)
        case "mod":
            return a - b * math.floor(Fraction(a, b))
        case "shl" | "shr" if not 0 <= b < type.bits:
            return TrapKind.VALUE, (b,)
        case "shl":
            return fitted(type, a * 2**b, a, b)
        case "shr":
            return math.floor(Fraction(a, 2**b))
        case "and" | "or" | "xor":
            logic = getattr(operator, {"and": "and_", "or": "or_", "xor": "xor"}[op])
            raw = logic(a % 2**type.bits, b % 2**type.bits)
            return raw - 2**type.bits if raw > type.maximum else raw
        case "min":
            return a if a < b else b
        case "max":
            return a if a > b else b
        case _:
            raise AssertionError(op)


BINARY = ["add", "sub", "mul", "floordiv", "mod", "shl", "shr", "and", "or", "xor", "min", "max"]


@pytest.mark.parametrize("type", INTEGERS, ids=lambda t: t.value)
@pytest.mark.parametrize("op", BINARY)
def test_integer_operators(op: str, type: Scalar) -> None:
    trapped = set()
    for a in integers_of(type):
        for b in integers_of(type):
            got = outcome(op, type, a, b)
            assert got == expected_integer(op, type, a, b), (op, a, b)
            if isinstance(got, tuple):
                trapped.add(got[0])
    assert trapped == set(OPERATORS[op].traps.get(type, ()))
    assert can_trap(op, type) == bool(trapped)


@pytest.mark.parametrize("type", INTEGERS, ids=lambda t: t.value)
def test_integer_power(type: Scalar) -> None:
    for base in integers_of(type):
        for exponent in [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65]:
            assert outcome("pow", type, base, exponent) == fitted(type, base**exponent, base, exponent)
        for huge in [2**62, 2**62 + 1]:
            got = outcome("pow", type, base, huge)
            if base in (0, 1, -1):
                assert got == (base if huge % 2 else base * base)
            elif not type.is_modular:
                assert got == (TrapKind.OVERFLOW, (base, huge))
        assert outcome("pow", type, base, -1) == (TrapKind.VALUE, (-1,))


@pytest.mark.parametrize("type", INTEGERS, ids=lambda t: t.value)
def test_integer_unary(type: Scalar) -> None:
    for a in integers_of(type):
        assert outcome("neg", type, a) == fitted(type, -a, a)
        assert outcome("abs", type, a) == (a if a >= 0 else fitted(type, -a, a))
        complement = 2**type.bits - 1 - a % 2**type.bits
        assert outcome("invert", type, a) == (complement - 2**type.bits if complement > type.maximum else complement)


def test_corner_traps() -> None:
    least = Scalar.I32.minimum
    assert outcome("floordiv", Scalar.I32, least, -1) == (TrapKind.OVERFLOW, (least, -1))
    assert outcome("mod", Scalar.I32, least, -1) == 0
    assert outcome("neg", Scalar.U32, 1) == (TrapKind.OVERFLOW, (1,))
    assert outcome("neg", Scalar.U32, 0) == 0
    assert outcome("shl", Scalar.I64, 1, 63) == (TrapKind.OVERFLOW, (1, 63))
    assert outcome("shl", Scalar.I64, -1, 63) == Scalar.I64.minimum
    assert outcome("shl", Scalar.U64, 1, 63) == 2**63
    assert outcome("shr", Scalar.I64, -1, 2**63) == (TrapKind.VALUE, (2**63,))


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_float_arithmetic_is_rounded_once(type: Scalar) -> None:
    exact = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
    finite = [x for x in floats_of(type) if math.isfinite(x)]
    for op, function in exact.items():
        for a in finite:
            for b in finite:
                got = outcome(op, type, a, b)
                if op == "div" and b == 0:
                    assert bits(got) == bits(_ieee_division_by_zero(type, a, b))
                    continue
                value = function(Fraction(float(a)), Fraction(float(b)))
                if value != 0:
                    assert bits(got) == bits(rounded(type, value)), (op, a, b)
                else:
                    assert got == 0
                    if op in ("mul", "div"):
                        assert math.copysign(1, got) == math.copysign(1, a) * math.copysign(1, b)


def _ieee_division_by_zero(type: Scalar, a: Any, b: Any) -> Any:
    return as_type(type, math.nan if a == 0 else math.copysign(math.inf, a) * math.copysign(1, b))


def test_f64_floor_division_and_remainder_are_cpythons() -> None:
    for a in floats_of(Scalar.F64):
        for b in floats_of(Scalar.F64):
            if b != 0:
                assert bits(outcome("floordiv", Scalar.F64, a, b)) == bits(float(a) // float(b)), (a, b)
                assert bits(outcome("mod", Scalar.F64, a, b)) == bits(float(a) % float(b)), (a, b)
            else:
                assert bits(outcome("mod", Scalar.F64, a, b)) == "nan"
                expected = math.nan if a != a else _ieee_division_by_zero(Scalar.F64, a, b)
                assert bits(outcome("floordiv", Scalar.F64, a, b)) == bits(expected)


def test_f32_floor_division_and_remainder_step_by_step() -> None:
    """CPython's algorithm with every step rounded to f32 from exact rationals."""

    def step(value: Fraction) -> Fraction:
        return Fraction(float(rounded(Scalar.F32, value)))

    finite = [x for x in floats_of(Scalar.F32) if math.isfinite(x) and x != 0]
    for a in finite:
        for b in finite:
            fa, fb = Fraction(float(a)), Fraction(float(b))
            r = fa - fb * math.trunc(fa / fb)
            with_sign = r != 0 and (r < 0) != (fb < 0)
            expected = rounded(Scalar.F32, r + fb if with_sign else r)
            if r == 0:
                expected = as_type(Scalar.F32, math.copysign(0.0, b))
            assert bits(outcome("mod", Scalar.F32, a, b)) == bits(expected), (a, b)
            difference = rounded(Scalar.F32, fa - r)
            quotient = rounded(Scalar.F32, Fraction(float(difference)) / fb)
            if not math.isfinite(quotient):
                assert bits(outcome("floordiv", Scalar.F32, a, b)) == bits(quotient)
                continue
            d = Fraction(float(quotient))
            if with_sign:
                d = step(d - 1)
            whole = Fraction(math.floor(d))
            if step(d - whole) > Fraction(1, 2):
                whole = step(whole + 1)
            got = outcome("floordiv", Scalar.F32, a, b)
            assert Fraction(float(got)) == whole, (a, b)
            if d == 0:
                assert math.copysign(1, got) == math.copysign(1, a) * math.copysign(1, b)


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_float_min_max_compare_unary(type: Scalar) -> None:
    def key(x: Any) -> tuple[float, float]:
        return float(x), math.copysign(1, x)

    for a in floats_of(type):
        assert bits(outcome("abs", type, a)) == bits(as_type(type, math.fabs(a)))
        if a == a:
            assert math.copysign(1, outcome("neg", type, a)) == -math.copysign(1, a)
        for b in floats_of(type):
            nan = a != a or b != b
            assert bits(outcome("min", type, a, b)) == ("nan" if nan else bits(min(a, b, key=key)))
            assert bits(outcome("max", type, a, b)) == ("nan" if nan else bits(max(a, b, key=key)))
            x, y = float(a), float(b)
            for op, value in {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}.items():
                assert outcome(op, type, a, b) is value


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_float_literal_powers_multiply_from_the_left(type: Scalar) -> None:
    with quiet():
        for x in floats_of(type):
            products = [as_type(type, 1.0), x, x * x, (x * x) * x, ((x * x) * x) * x]
            for exponent, product in enumerate(products):
                assert bits(outcome("pow", type, x, as_type(type, exponent))) == bits(product)


def test_bool_logic_stays_bool() -> None:
    for a in (False, True):
        assert outcome("not", Scalar.BOOL, a) is (not a)
        for b in (False, True):
            assert outcome("and", Scalar.BOOL, a, b) is (a and b)
            assert outcome("or", Scalar.BOOL, a, b) is (a or b)
            assert outcome("xor", Scalar.BOOL, a, b) is (a != b)
            assert outcome("eq", Scalar.BOOL, a, b) is (a == b)
            assert outcome("ne", Scalar.BOOL, a, b) is (a != b)


def test_every_computing_type_is_accepted_or_refused_in_words() -> None:
    computing = [s for s in Scalar if s.is_computing]
    for row in OPERATORS.values():
        if row.name == "not":
            continue
        for type in computing:
            assert (type in row.types) != (type in row.refusals), (row.name, type)
