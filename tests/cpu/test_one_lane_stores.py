"""Stores of one lane of a vector write that lane's element and nothing beside it."""

import numpy as np
import pytest
from tests.conformance.support import kernel

TEXT = """
class T0(ig.Dim, equals=N * {block}):
    pass

@ig.kernel(groups=N, block={block})
def k(x: ig.In[ig.i64, N], y: ig.InOut[ig.{element}, T0]) -> None:
    i = ig.gid(0)
    v = ig.f64(x[0])
    for n in range(1, -3, -1):
        if (ig.f32(x[i & 1]) < ig.f32(i)) & (v > 1e30):
            continue
        v += v
    least = ig.group_min(v)
    y[i] = min(max(y[i] + y[i], -100), 100) & {most}
"""


@pytest.mark.parametrize(("element", "most"), [("u8", 255), ("u16", 65535)])
@pytest.mark.parametrize("block", [17, 33])
def test_a_tail_of_one_thread(element: str, most: int, block: int) -> None:
    """LLVM 22 knows the mask of this tail and stored 32 bits, over what the second group begins with. Random kernels
    found it."""
    made = kernel(TEXT.format(element=element, most=most, block=block))
    start = np.random.default_rng(1).integers(0, 60, 2 * block).astype(element.replace("u", "uint"))
    for disabled in ((), ("prove",)):
        want, got = start.copy(), start.copy()
        made.on("interp")(np.array([5, 7]), want)
        made.options(disable=disabled).on("cpu")(np.array([5, 7]), got)
        assert np.array_equal(want, got), np.nonzero(want != got)
