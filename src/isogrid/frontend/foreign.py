"""What other kernel languages call the things of this one, for remedies: CUDA, Numba, OpenCL and Triton names."""

import ast
import math
from collections.abc import Mapping
from typing import Final

#: Names of other languages, and what to write here.
_NAMES: Final[Mapping[str, str]] = {
    "threadIdx": "ig.lid()",
    "blockIdx": "ig.group_id()",
    "blockDim": "ig.group_size()",
    "gridDim": "ig.num_groups()",
    "grid": "ig.gid()",
    "gridsize": "ig.grid_size()",
    "tid": "ig.lid()",
    "thread_id": "ig.lid()",
    "block_id": "ig.group_id()",
    "block_dim": "ig.group_size()",
    "program_id": "ig.group_id()",
    "get_global_id": "ig.gid()",
    "get_local_id": "ig.lid()",
    "get_group_id": "ig.group_id()",
    "get_local_size": "ig.group_size()",
    "get_global_size": "ig.grid_size()",
    "syncthreads": "ig.barrier()",
    "sync_threads": "ig.barrier()",
    "__syncthreads": "ig.barrier()",
    "syncwarp": "ig.warp_barrier()",
    "__syncwarp": "ig.warp_barrier()",
    "warpsize": "ig.warp_size()",
    "warpSize": "ig.warp_size()",
    "laneid": "ig.lane_id()",
    "atomicAdd": "ig.atomic_add(array, index, value)",
    "atomicMin": "ig.atomic_min(array, index, value)",
    "atomicMax": "ig.atomic_max(array, index, value)",
    "atomicCAS": "ig.atomic_cas(array, index, expected, new)",
    "atomicExch": "ig.atomic_exchange(array, index, value)",
    "shared_array": "ig.shared(f32, shape)",
    "local_array": "ig.local(f32, shape)",
    "where": "ig.select(condition, a, b)",
    "float32": "f32",
    "float64": "f64",
    "int32": "i32",
    "int64": "i64",
}


#: What Python's `float` reads from a string, and what to write instead.
_SPECIAL_FLOATS: Final[Mapping[str, str]] = {
    "inf": "math.inf",
    "-inf": "-math.inf",
    "infinity": "math.inf",
    "-infinity": "-math.inf",
    "nan": "math.nan",
    "-nan": "math.nan",
}

#: Python's functions that kernels call without a module.
_PLAIN: Final = frozenset({"abs", "len", "max", "min", "pow", "range", "round"})


def meant_by(name: str) -> str | None:
    """What to write for a name that another language, Python or `math` has; None for any other name."""
    if name in _PLAIN:
        return f"{name}(...)"
    if callable(getattr(math, name, None)):
        return f"math.{name}(...)"
    return _NAMES.get(name)


def special_float(node: ast.expr) -> str | None:
    """How to write what `float("inf")` and its like mean; None for anything but such a string."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return None
    return _SPECIAL_FLOATS.get(node.value.lower().lstrip("+"))
