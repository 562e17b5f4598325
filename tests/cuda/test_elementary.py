"""Builds of elementary functions for GPUs: correctly rounded from inverses as wrong as may be; constants and words."""

import numpy as np
import pytest

from isogrid.builtins.elementary import BUILDS
from isogrid.cli.stages import stages_of
from isogrid.cli.text_targets import ptx_text
from isogrid.ir.types import Scalar
from isogrid.mathlib.digests import subset
from tests.numerics.support import ROWS, applied, bits_of, hard_cases

#: One or two of each kind; all are compared over all inputs by `isogrid numerics`.
NAMES = ("exp", "tanh", "log", "sin", "tan", "asin", "atan", "asinh", "cbrt", "rsqrt")
assert {f"{name}_f32" for name in NAMES} <= set(BUILDS["gpu"])
#: Where ranges end, and what is special.
CORNERS = [0.0, 1.0, 0.5, 2.0, 1e-45, 1e-38, 2.0**-126, 87.0, 88.8, 37.6, 126.0, 131072.0, 131080.0, 1e9, 1e30, 3e38]
EVERY = 8191


@pytest.mark.parametrize("name", ["rsqrt", "tgamma"])
def test_only_builds_for_gpus_start_from_wrong_inverses(name: str) -> None:
    x = np.exp2(np.random.default_rng(1).uniform(-3, 3, 100))
    y, again = np.empty_like(x), np.empty_like(x)
    run = applied(ROWS[name], Scalar.F64)
    run.on("simulated")(x, y)
    run.on("cpu")(x, again)
    assert np.array_equal(y, again)


def test_maps_by_one_function_fill_a_multiprocessor() -> None:
    """1,280 threads in rounds, in ten blocks. Not what already holds other values, nor what an author says."""
    row = ROWS["atan"]
    assert ".minnctapersm 10" in ptx_text(stages_of(applied(row, Scalar.F32)))
    assert ".minnctapersm" not in ptx_text(stages_of(applied(row, Scalar.F64)))
    limited = applied(row, Scalar.F32).options(cuda={"max_registers": 64})
    assert ".minnctapersm" not in ptx_text(stages_of(limited))


@pytest.mark.parametrize("name", NAMES)
def test_correctly_rounded(name: str) -> None:
    """The simulator's inverses are wrong by 2^-18.1, and those of the hardware by about 2^-20."""
    hard, wanted = (column[:1000] for column in hard_cases(name))
    special = np.array([*CORNERS, *(-c for c in CORNERS), np.inf, -np.inf, np.nan], np.float32)
    x = np.concatenate([hard.view(np.float32), special, subset()[::EVERY].view(np.float32)])
    y, again = np.empty_like(x), np.empty_like(x)
    run = applied(ROWS[name], Scalar.F32)
    run.on("simulated")(x, y)
    run.on("cpu")(x, again)
    assert np.array_equal(bits_of(y)[: hard.size], wanted)
    assert np.array_equal(bits_of(y), bits_of(again))
