"""f64 functions and f32 functions of two arguments: against MPFR, and the same bits from interpreter and device."""

from typing import Any

import gmpy2
import numpy as np
import pytest
from tools.mathlib.accuracy import DOMAINS, PAIRS, arguments, pairs, reference_of, worst, wrong_f32

from isogrid.ir.types import Scalar
from isogrid.mathlib.source.constants import GAMMA_ZERO_HIGH
from tests.conformance.support import corners

from .support import ROWS, applied, bits_of

#: Inputs per function; `python -m tools.mathlib.accuracy` takes as many as asked for.
COUNT = 400
#: Inputs that the interpreter computes too, corner values included.
SHARED = 90


def computed(name: str, device: str, type: Scalar, *columns: Any) -> Any:
    """The function on a device, and on the interpreter where the inputs are few: the same bits."""
    kernel = applied(ROWS[name], *[type] * len(columns))
    found = np.empty(columns[0].size, type.numpy)
    kernel.on(device)(*columns, found)
    special = np.array(corners(type), type.numpy)
    few = [np.concatenate([column[:SHARED], np.roll(special, 7 * at)]) for at, column in enumerate(columns)]
    here, there = np.empty(few[0].size, type.numpy), np.empty(few[0].size, type.numpy)
    kernel.on("interp")(*few, here)
    kernel.on(device)(*few, there)
    different = np.flatnonzero(bits_of(here) != bits_of(there))
    assert not different.size, [column[different[:3]] for column in few]
    return found


@pytest.mark.parametrize("name", list(DOMAINS))
def test_one_argument(name: str, device: str) -> None:
    x = arguments(name, COUNT, np.random.default_rng(7))
    error, at = worst(computed(name, device, Scalar.F64, x), reference_of(name), x)
    assert error < 0.6, at


@pytest.mark.parametrize("name", list(PAIRS))
def test_two_arguments(name: str, device: str) -> None:
    columns = pairs(COUNT, np.random.default_rng(8))
    error, at = worst(computed(name, device, Scalar.F64, *columns), reference_of(name), *columns)
    assert error < 0.6, at
    narrow = [column.astype(np.float32) for column in columns]
    assert wrong_f32(computed(name, device, Scalar.F32, *narrow), reference_of(name), *narrow) == []


def test_lgamma_next_to_its_zeros_below_zero(device: str) -> None:
    """One ulp of results down to 2^-54, where the pair's own error is a billion of them."""
    zeros = np.array(GAMMA_ZERO_HIGH[:30])
    steps = np.array([0, 1, -1, 2, -3, 100, -1000, 1e5, -1e7, 1e9, -1e10])
    x = (zeros[:, None] + np.spacing(zeros)[:, None] * steps).ravel()
    x = np.concatenate([x, (zeros[:12, None] + 2.0 ** -np.arange(10, 30)).ravel()])
    x = x[x != np.floor(x)]
    found = np.empty_like(x)
    applied(ROWS["lgamma"], Scalar.F64).on(device)(x, found)
    with gmpy2.context(gmpy2.get_context(), precision=400):
        error, at = worst(found, lambda v: gmpy2.lgamma(v)[0], x)
    assert error < 0.6, at


@pytest.mark.parametrize("name", ["remainder", "nextafter"])
@pytest.mark.parametrize("type", [Scalar.F32, Scalar.F64], ids=lambda t: t.value)
def test_exact_functions(name: str, type: Scalar, device: str) -> None:
    columns = [column.astype(type.numpy) for column in pairs(COUNT, np.random.default_rng(9))]
    found = computed(name, device, type, *columns)
    wanted = np.nextafter(*columns) if name == "nextafter" else _remainders(*columns)
    assert np.array_equal(bits_of(found), bits_of(wanted.astype(type.numpy)))


def _remainders(x: Any, y: Any) -> Any:
    import math

    return np.array([math.remainder(a, b) if b else math.nan for a, b in zip(x.tolist(), y.tolist(), strict=True)])


@pytest.mark.parametrize("type", [Scalar.F32, Scalar.F64], ids=lambda t: t.value)
def test_power_ties(type: Scalar, device: str) -> None:
    """Exact results and exact ties of f32 powers: 24-bit bases of few bits, and exponents in eighths."""
    rng = np.random.default_rng(10)
    roots = rng.integers(1, 5000, 3000).astype(np.float64)
    powers = rng.choice([2, 3, 4, 5, 7, 0.5, 0.25, 1.5, 1.25, 2.5, 0.125], 3000)
    base = np.where(powers % 1, roots**4 % 2**24, roots) + 0.0
    x, y = (base * np.exp2(rng.integers(-8, 8, 3000) * 8.0)).astype(type.numpy), powers.astype(type.numpy)
    found = np.empty(x.size, type.numpy)
    applied(ROWS["pow"], type, type).on(device)(x, y, found)
    if type is Scalar.F32:
        assert wrong_f32(found, reference_of("pow"), x, y) == []
    else:
        assert worst(found, reference_of("pow"), x, y)[0] <= 0.5001


def test_angles_just_below_a_tie(device: str) -> None:
    """atan q is q less a third of its cube: where q lies between two f32, the lower is nearer, however small q is."""
    mantissa = np.array([0x1464E5C, 0x1000001, 0x1800003, 0x1FFFFFF], np.float64)
    y = np.ldexp(mantissa, -150).astype(np.float32)
    y = np.concatenate([y, np.ldexp(np.array([1, 3, 5, 0x464E5B, 0x7FFFFF]), -149).astype(np.float32)])
    x = np.full(y.size, 2.0, np.float32)
    found = np.empty_like(y)
    applied(ROWS["atan2"], Scalar.F32, Scalar.F32).on(device)(y, x, found)
    assert wrong_f32(found, reference_of("atan2"), y, x) == []
    odd = y.view(np.uint32) % 2 == 1
    assert odd.any() and np.all(2 * found[odd].astype(np.float64) < y[odd])
