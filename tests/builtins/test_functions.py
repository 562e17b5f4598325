"""Functions of the tables on corner values against independent formulas."""

import math
import random
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from isogrid.builtins.elementary import INSTEAD, NOT_YET
from isogrid.builtins.functions import SATURATE_TARGETS
from isogrid.builtins.index import all_builtins, builtin_named, builtins_spelled, resolve
from isogrid.builtins.meaning import quiet
from isogrid.ir.types import Scalar

from .exact import as_type, bits, floats_of, integers_of, rounded

FLOATS = [Scalar.F32, Scalar.F64]
INTEGERS = [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64, Scalar.W32, Scalar.W64]


def call(name: str, type: Scalar, *values: Any) -> Any:
    with quiet():
        return builtin_named(name).meaning(type, *values)


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_fma_is_rounded_once(type: Scalar) -> None:
    finite = [x for x in floats_of(type) if math.isfinite(x)]
    rng = random.Random(1)
    triples = [tuple(rng.choice(finite) for _ in range(3)) for _ in range(4000)]
    triples += [
        (a, b, as_type(type, -float(a) * float(b))) for a, b, _ in triples[:400] if abs(a) < 1e15 and abs(b) < 1e15
    ]
    for a, b, c in triples:
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) if math.isfinite(c) else None
        if exact is None or exact == 0:
            continue
        assert bits(call("fma", type, a, b, c)) == bits(rounded(type, exact)), (a, b, c)


def test_fma_f32_near_ties() -> None:
    """A product just off a tie of the sum: rounding to f64 in between would fall on the tie."""
    a, b = np.float32(1 + 2.0**-12), np.float32(1 + 2.0**-12)  # product 1 + 2^-11 + 2^-24: a tie in f32
    for tiny in (2.0**-100, -(2.0**-100), 0.0):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(tiny)
        assert bits(call("fma", Scalar.F32, a, b, np.float32(tiny))) == bits(rounded(Scalar.F32, exact))


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_fma_specials(type: Scalar) -> None:
    def fma(a: float, b: float, c: float) -> str:
        return bits(call("fma", type, as_type(type, a), as_type(type, b), as_type(type, c)))

    inf, nan = math.inf, math.nan
    for args, want in [
        ((inf, 0.0, 1.0), nan),
        ((inf, 1.0, -inf), nan),
        ((1.0, 1.0, inf), inf),
        ((-inf, 2.0, 1.0), -inf),
        ((nan, 1.0, inf), nan),
        ((0.0, 1.0, -0.0), 0.0),
        ((-0.0, 1.0, -0.0), -0.0),
        ((1.0, -1.0, 1.0), 0.0),
        ((0.0, -5.0, -0.0), -0.0),
        ((3.0, 0.0, 7.0), 7.0),
    ]:
        assert fma(*args) == bits(as_type(type, want)), args
    most = float(np.finfo(np.float32 if type is Scalar.F32 else np.float64).max)
    assert fma(most, 2.0, 0.0) == bits(as_type(type, inf))
    assert fma(most, 2.0, -most) == bits(as_type(type, most))


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_sqrt_is_nearest(type: Scalar) -> None:
    rng = random.Random(2)
    samples = floats_of(type) + [as_type(type, rng.random() * 2.0 ** rng.randrange(-140, 120)) for _ in range(500)]
    for x in samples:
        root = call("sqrt", type, x)
        if x != x or x < 0:
            assert bits(root) == "nan"
        elif x == 0 or math.isinf(x):
            assert bits(root) == bits(x)
        else:
            exact, r = Fraction(float(x)), Fraction(float(root))
            below = Fraction(float(np.nextafter(root, as_type(type, 0.0))))
            above = Fraction(float(np.nextafter(root, as_type(type, math.inf))))
            assert ((r + below) / 2) ** 2 <= exact <= ((r + above) / 2) ** 2


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_rounding_functions(type: Scalar) -> None:
    rules = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round}
    halves = [as_type(type, v) for v in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, -0.2, 8388607.5)]
    for name, rule in rules.items():
        for x in floats_of(type) + halves:
            got = call(name, type, x)
            if not math.isfinite(x):
                assert bits(got) == bits(x)
                continue
            whole = rule(Fraction(float(x)))
            assert Fraction(float(got)) == whole, (name, x)
            assert math.copysign(1, got) == math.copysign(1, x), "the sign stays, also of a zero"
            assert type is (Scalar.F32 if isinstance(got, np.float32) else Scalar.F64)


@pytest.mark.parametrize("type", FLOATS, ids=lambda t: t.value)
def test_sign_and_class(type: Scalar) -> None:
    negative_nan = as_type(type, struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0])
    for x in [*floats_of(type), negative_nan]:
        nan = bool(x != x)
        sign = not nan and math.copysign(1, x) < 0
        assert call("signbit", Scalar.BOOL, x) is sign
        assert call("isnan", Scalar.BOOL, x) is nan
        assert call("isinf", Scalar.BOOL, x) is (float(abs(x)) == math.inf)
        assert call("isfinite", Scalar.BOOL, x) is (not nan and float(abs(x)) != math.inf)
        for y in [*floats_of(type), negative_nan]:
            want = math.nan if nan else math.copysign(x, 1.0 if y != y else y)
            assert bits(call("copysign", type, x, y)) == bits(as_type(type, want))


@pytest.mark.parametrize("width", [32, 64])
def test_bitcast(width: int) -> None:
    float_type = Scalar.F32 if width == 32 else Scalar.F64
    modular = Scalar.W32 if width == 32 else Scalar.W64
    signed = Scalar.I32 if width == 32 else Scalar.I64
    code = {32: (">f", ">I"), 64: (">d", ">Q")}[width]
    canonical = {32: 0x7FC00000, 64: 0x7FF8000000000000}[width]
    negative_nan = as_type(float_type, struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0])
    for x in [*floats_of(float_type), negative_nan]:
        want = canonical if x != x else struct.unpack(code[1], struct.pack(code[0], x))[0]
        assert call("bitcast", modular, x) == want
        assert call("bitcast", signed, x) == (want - 2**width if want >> (width - 1) else want)
        assert bits(call("bitcast", float_type, want)) == bits(x)
    assert call("bitcast", modular, -1) == 2**width - 1
    assert call("bitcast", signed, 2**width - 1) == -1


@pytest.mark.parametrize("target", SATURATE_TARGETS, ids=lambda t: t.value)
def test_saturate(target: Scalar) -> None:
    for source in (*INTEGERS, *FLOATS):
        values = floats_of(source) if source.is_float else integers_of(source)
        for x in values:
            got = call(f"saturate_{target.value}", target.computing, x)
            if x != x:
                assert got == 0
                continue
            clamped = min(max(float(x) if source.is_float else x, target.minimum), target.maximum)
            assert got == math.trunc(clamped)


@pytest.mark.parametrize("type", INTEGERS, ids=lambda t: t.value)
def test_bit_counting(type: Scalar) -> None:
    for x in integers_of(type):
        text = format(x % 2**type.bits, f"0{type.bits}b")
        assert call(f"popcount{type.bits}", Scalar.I32, x) == text.count("1")
        assert call(f"clz{type.bits}", Scalar.I32, x) == (text + "1").index("1")
        assert call(f"ctz{type.bits}", Scalar.I32, x) == (text[::-1] + "1").index("1")
        for amount in [0, 1, -1, 31, 32, 33, 63, 64, 2**63, -(2**63)]:
            turn = amount % type.bits
            rotated = int(text[turn:] + text[:turn], 2)
            got = call("rotate", type, x, amount)
            assert got % 2**type.bits == rotated
            assert type.holds(got)
        for y in integers_of(type):
            got = call("mulhi", type, x, y)
            assert type.holds(got)
            assert got == math.floor(Fraction(x * y, 2**type.bits))


def test_select_and_clamp() -> None:
    assert call("select", Scalar.I32, True, 1, 2) == 1
    assert call("select", Scalar.I32, False, 1, 2) == 2
    assert call("clamp", Scalar.I32, 5, 0, 3) == 3
    assert call("clamp", Scalar.I32, 5, 4, 3) == 3, "the upper bound wins where the bounds cross"
    assert bits(call("clamp", Scalar.F32, np.float32("nan"), np.float32(0), np.float32(1))) == "nan"
    assert bits(call("clamp", Scalar.F32, np.float32(-0.0), np.float32(0), np.float32(1))) == bits(np.float32(0.0))


def test_lookup() -> None:
    names = [row.name for row in all_builtins()]
    assert len(set(names)) == len(names)
    for row in all_builtins():
        assert builtin_named(row.name) is row
        for spelling in row.spellings:
            assert row in builtins_spelled(spelling)
        for signature in row.signatures:
            target = row.target or (signature.result if row.type_argument else None)
            assert resolve(row.spellings[0], signature.parameters, target) == (row, signature)
            assert signature.result.is_computing
    assert resolve("math.sqrt", [Scalar.I32]) is None
    assert builtins_spelled("math.ulp") == ()
    assert NOT_YET["math.ulp"] == "math.ulp"
    assert set(INSTEAD) <= set(NOT_YET)
    assert not set(NOT_YET) & {s for row in all_builtins() for s in row.spellings}
