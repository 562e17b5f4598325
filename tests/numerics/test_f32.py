"""f32 functions of one argument: hard cases, 2^20 inputs by digest, special values against the interpreter."""

import numpy as np
import pytest

from isogrid.cli.device_digests import STORED
from isogrid.ir.types import Scalar
from isogrid.mathlib.digests import digest_of, known, known_functions, subset
from tests.conformance.support import corners

from .support import ROWS, UNARY, applied, bits_of, hard_cases, subset_digest

INPUTS = subset()


@pytest.mark.parametrize("name", UNARY)
def test_correctly_rounded(name: str, device: str) -> None:
    run = applied(ROWS[name], Scalar.F32).on(device)
    hard, wanted = hard_cases(name)
    special = np.array(corners(Scalar.F32), np.float32)
    x = np.concatenate([INPUTS.view(np.float32), hard.view(np.float32), special])
    y = np.empty_like(x)
    run(x, y)
    found = bits_of(y)
    wrong = np.flatnonzero(found[INPUTS.size : -special.size] != wanted)
    assert not wrong.size, f"{wrong.size} hard cases, the first at 0x{hard[wrong[0]]:08x}"
    digest = subset_digest(name)
    assert digest is None or digest_of(INPUTS, found[: INPUTS.size]) == digest
    again = np.empty_like(special)
    applied(ROWS[name], Scalar.F32).on("interp")(special, again)
    assert np.array_equal(bits_of(again), found[-special.size :])


def test_every_function_has_hard_cases_or_is_exact() -> None:
    exact = {"round_away"}
    # cospi shares its code with sinpi, and has its cases from the sweep alone.
    assert [n for n in UNARY if not hard_cases(n)[0].size and n not in exact | {"cospi"}] == []
    assert [n for n in UNARY if subset_digest(n) is None and n not in exact] == []


def test_digests_are_those_of_the_values() -> None:
    """The digests of all inputs that are kept are whole files, and a changed value changes its block's."""
    assert set(known_functions()) <= {*UNARY, *STORED}
    for name in known_functions():
        assert known(name).shape == (1024,)
    x = np.arange(1 << 12, dtype=np.uint32)
    y = x ^ np.uint32(5)
    before = digest_of(x, y)
    y[77] += np.uint32(1)
    assert digest_of(x, y) != before
