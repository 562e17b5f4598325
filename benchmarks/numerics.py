"""f32 elementary functions on one thread, 16,384 elements in the second cache, against NumPy and libmvec.

    python -m benchmarks.numerics [FUNCTION...]     prints a table and writes results/numerics.json

Each figure is the median of many calls, each of which is as long as two passes over the data; the candidates take
turns, so that whatever else the machine does falls on all of them.
"""

import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import processor
from isogrid.builtins.elementary import ELEMENTARY

RESULTS = Path(__file__).parent / "results" / "numerics.json"
COUNT, ROUNDS, PASSES = 16384, 120, 2
Array = np.ndarray[Any, Any]

#: Arguments are uniform in a range where the function does something.
RANGES: dict[str, tuple[float, float]] = {
    "log": (0.01, 100), "log2": (0.01, 100), "log10": (0.01, 100), "log1p": (0.01, 100), "rsqrt": (0.01, 100),
    "asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 100), "sqrt": (0.01, 100), "lgamma": (0.1, 10),
    "tgamma": (0.1, 10), "erf": (-3, 3), "erfc": (-3, 3),
}  # fmt: skip
NUMPY = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
HOT = ("exp", "log", "sin", "cos", "tanh", "sqrt")

_SOURCE = """
import math
import isogrid as ig
from isogrid.dims import N

@ig.kernel(grid=N)
def {name}(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = {call}(x[i])
"""


def kernel(name: str) -> Callable[[Array, Array], Any]:
    """The map kernel of a function, on one thread."""
    import linecache

    spellings = {row.name: row.spellings[0].replace("isogrid.", "ig.") for row in ELEMENTARY}
    text, file = _SOURCE.format(name=name, call=spellings.get(name, f"math.{name}")), f"<benchmark {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "benchmarks.numerics"}
    exec(compile(text, file, "exec"), space)
    return space[name].on("cpu")


def numpy_function(name: str) -> Callable[[Array, Array], Any] | None:
    if name == "rsqrt":
        one = np.float32(1.0)
        return lambda x, y: np.divide(one, np.sqrt(x, out=y), out=y)
    function = getattr(np, NUMPY.get(name, name), None)
    return None if function is None else lambda x, y: function(x, out=y)


def vector_library(name: str) -> Callable[[Array, Array], Any] | None:
    """glibc's function of 16 lanes (4 ulp) in a loop, where the machine has AVX-512 and the library."""
    from llvmlite import binding as llvm

    symbol = f"_ZGVeN16v_{name}f"
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if not llvm.get_host_cpu_features().get("avx512f", False) or not _loaded(llvm, symbol):
        return None
    text = f"""
declare <16 x float> @{symbol}(<16 x float>)
define void @loop(ptr %x, ptr %y, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %p = getelementptr float, ptr %x, i64 %i
  %q = getelementptr float, ptr %y, i64 %i
  %v = load <16 x float>, ptr %p, align 4
  %r = call <16 x float> @{symbol}(<16 x float> %v)
  store <16 x float> %r, ptr %q, align 4
  %next = add i64 %i, 16
  %more = icmp ult i64 %next, %n
  br i1 %more, label %head, label %done
done:
  ret void
}}
"""
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(engine.get_function_address("loop"))
    _ENGINES.append(engine)
    return lambda x, y: loop(x.ctypes.data, y.ctypes.data, x.size)


#: Engines whose code is in use.
_ENGINES: list[Any] = []


def _loaded(llvm: Any, symbol: str) -> bool:
    try:
        library = ctypes.CDLL("libmvec.so.1")
    except OSError:
        return False
    llvm.load_library_permanently("libmvec.so.1")
    return hasattr(library, symbol)


def measure(name: str, rng: np.random.Generator) -> dict[str, float]:
    """Nanoseconds per element of each candidate that exists."""
    low, high = RANGES.get(name, (-10, 10))
    x = rng.uniform(low, high, COUNT).astype(np.float32)
    y = np.empty_like(x)
    candidates = {"isogrid": kernel(name), "numpy": numpy_function(name), "libmvec": vector_library(name)}
    running = {key: function for key, function in candidates.items() if function is not None}
    times: dict[str, list[float]] = {key: [] for key in running}
    for function in running.values():
        function(x, y)
    for _ in range(ROUNDS):
        for key, function in running.items():
            started = time.perf_counter()
            for _ in range(PASSES):
                function(x, y)
            times[key].append((time.perf_counter() - started) / PASSES / COUNT * 1e9)
    return {key: round(statistics.median(values), 3) for key, values in times.items()}


def main() -> None:
    import os

    os.environ["ISOGRID_THREADS"] = "1"
    one = [row.name for row in ELEMENTARY if len(row.parameters) == 1 and row.spellings and "frexp" not in row.name]
    names = sys.argv[1:] or [*HOT, *(name for name in one if name not in HOT)]
    rng = np.random.default_rng(0)
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"functions": {}}
    for name in names:
        figures = found["functions"][name] = measure(name, rng)
        own = figures["isogrid"]
        ratios = ", ".join(f"{figures[key] / own:.2f} of {key}" for key in ("numpy", "libmvec") if key in figures)
        print(f"{name:10} {own:8.3f} ns   {ratios}", flush=True)
    found["processor"] = processor()
    found["numpy"] = np.__version__
    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
