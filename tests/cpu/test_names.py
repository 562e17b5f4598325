"""Names in generated code: a parameter's never equals one that the emitter counts up."""

import linecache
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import InOut
from isogrid.dims import N

_SOURCE = """
@ig.kernel(groups=N, block=4)
def count({before}amount: ig.i32, counts: InOut[ig.i32, N]) -> None:
    own = ig.shared(ig.i32, 4)
    ig.atomic_add(own, 0, amount)
    ig.barrier()
    if ig.lid() == 0:
        ig.atomic_add(counts, ig.group_id() // 2, own[0])
"""


@pytest.mark.parametrize("before", range(12))
def test_totals_of_shared_and_global_arrays_are_apart(before: int) -> None:
    """Whatever number the parameter has, the shadow of the shared array has another name."""
    names = [f"unused{i}" for i in range(before)]
    source = _SOURCE.format(before="".join(f"{name}: ig.i32, " for name in names))
    scope: dict[str, Any] = {"ig": ig, "InOut": InOut, "N": N}
    name = f"<counts after {before}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), scope)
    kernel = scope["count"]
    found, want = np.zeros(5, np.int32), np.zeros(5, np.int32)
    kernel.on("cpu")(*range(before), 3, found)
    kernel.on("interp")(*range(before), 3, want)
    np.testing.assert_array_equal(found, want)
