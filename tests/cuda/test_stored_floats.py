"""f16 and bf16 in code for NVIDIA GPUs, on the simulator: every element, 2^20 values of f32, f64 beside ties."""

from typing import Any

import numpy as np
import pytest
from tools.mathlib.stored_floats import kept_bits

from isogrid.builtins.conversions import STORED_FLOATS
from isogrid.ir.types import Scalar
from isogrid.mathlib.digests import subset
from tests.builtins.exact import near_ties
from tests.conformance.support import agree, bits, kernel, launch


def _rounding(source: str, element: Scalar) -> Any:
    return kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.{source}, N], y: ig.Out[ig.{element.value}, N]) -> None:
    i = ig.gid()
    y[i] = ig.{element.value}(x[i])
""")


@pytest.mark.parametrize("element", STORED_FLOATS, ids=lambda type: type.value)
def test_rounding(element: Scalar) -> None:
    inputs = subset()
    found = np.zeros(inputs.size, element.numpy)
    text, (_, found) = launch(_rounding("f32", element), "simulated", (inputs.view(np.float32), found))
    want = kept_bits(element.value, inputs).view(np.float32).astype(element.numpy)
    assert not text and np.array_equal(found.view(np.uint16), bits(want))
    nan = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    _, (_, found) = launch(_rounding("f32", element), "simulated", (nan, np.zeros(4, element.numpy)))
    assert set(found.view(np.uint16).tolist()) == {0x7E00 if element is Scalar.F16 else 0x7FC0}
    with np.errstate(over="ignore"):
        ties = np.array([float(tie) for tie in near_ties(element, 9, 20)])
    agree(_rounding("f64", element), "simulated", ties, np.zeros(ties.size, element.numpy))


@pytest.mark.parametrize("element", STORED_FLOATS, ids=lambda type: type.value)
def test_every_element(element: Scalar) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.{element.value}, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]
""")
    x = np.arange(1 << 16, dtype=np.uint16).view(element.numpy)
    _, (_, y) = agree(made, "simulated", x, np.zeros(x.size, np.float32))
    assert np.array_equal(bits(y), bits(x.astype(np.float32)))
