"""How long one waits: import, first result (warm process, disk cache), a small launch, the interpreter's pace."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

IMPORT = """
import json, time
{before}
t = time.perf_counter()
{what}
print(json.dumps({{"seconds": time.perf_counter() - t}}))
"""

SAXPY = """
import isogrid as ig
from isogrid import In, InOut, f32
from isogrid.dims import N

@ig.kernel(grid=N, block=256)
def {name}(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = ig.fma(a, x[i], y[i])
"""

MORE = """
from typing import TypeVar
from isogrid import Out, f64

T = TypeVar("T", f32, f64)

@ig.kernel(block=256)
def opened(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    if i < len(x):
        y[i] = ig.fma(a, x[i], y[i])

@ig.kernel(grid=N, block=256)
def both(x: In[T, N], y: Out[T, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + x[i]
"""

FIRST = """
import json, pathlib, sys, time
import numpy as np
import isogrid, llvmlite.binding
sys.path.insert(0, {folder!r})
x, y = np.ones(1024, np.float32), np.ones(1024, np.float32)
{warm}
t = time.perf_counter()
from saxpy_source import saxpy
saxpy.on("cpu")(2.0, x, y)
print(json.dumps({{"seconds": time.perf_counter() - t}}))
"""

WARM = """
from saxpy_other import other
other.on("cpu")(2.0, x, y)
"""

LAUNCH = """
import json, sys, time
import numpy as np
sys.path.insert(0, {folder!r})
x, y = np.ones(1024, np.float32), np.ones(1024, np.float32)
{make}
def run(launch, a, x, y):
    # Local names: looking up global ones four times a launch is no part of it.
    t = time.perf_counter()
    for _ in range(2000): launch(a, x, y)
    return (time.perf_counter() - t) / 2000
run(launch, a, x, y)
found = [run(launch, a, x, y) for _ in range(40)]
print(json.dumps({{"seconds": min(found), "median": sorted(found)[20]}}))
"""

NUMBA = """
from numba import njit, prange
@njit(parallel=True)
def launch(a, x, y):
    for i in prange(x.size): y[i] = a * x[i] + y[i]
a = np.float32(1e-6)
"""

NUMBA_SERIAL = NUMBA.replace("parallel=True", "")

OURS = """
from saxpy_source import saxpy
launch = saxpy.on("cpu")
a = 1e-6
"""

OTHER_FORMS = """
import json, sys, time
import numpy as np
import isogrid as ig
sys.path.insert(0, {folder!r})
from saxpy_source import saxpy, opened, both
x, y, v, w = (np.ones(1024, kind) for kind in (np.float32, np.float32, np.float64, np.float64))
a, launch = np.float32(1e-6), saxpy.on("cpu")
bound, geometry, types = launch.bind(1e-6), opened.on("cpu").launch, both.on("cpu")
hx, hy = ig.array(x, device="cpu"), ig.array(y, device="cpu")
forms = {{
    "with a NumPy scalar": lambda: launch(a, x, y),
    "with keywords": lambda: launch(a=1e-6, x=x, y=y),
    "with one argument bound": lambda: bound(x, y),
    "with geometry given": lambda: geometry(1e-6, x, y, grid=1024),
    "with isogrid's own arrays": lambda: launch(1e-6, hx, hy),
    "of two types in turn, each": lambda: (types(x, y), types(v, w)),
}}
found = {{}}
for name, form in forms.items():
    for _ in range(20): form()
    least = 1e9
    for _ in range(20):
        t = time.perf_counter()
        for _ in range(200): form()
        least = min(least, (time.perf_counter() - t) / 200)
    found[name] = least / (2 if name.endswith("each") else 1)
print(json.dumps(found))
"""

INTERPRETER = """
import json, sys, time
import numpy as np
sys.path.insert(0, {folder!r})
from saxpy_source import saxpy
x, y = np.ones(65536, np.float32), np.ones(65536, np.float32)
launch = saxpy.on("interp")
launch(2.0, x[:256], y[:256])
t = time.perf_counter()
launch(2.0, x, y)
print(json.dumps({{"seconds": time.perf_counter() - t}}))
"""


def measure() -> list[dict[str, Any]]:
    """One row per figure: name, value, unit, bar."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "saxpy_source.py").write_text(SAXPY.format(name="saxpy") + MORE)
        (Path(folder) / "saxpy_other.py").write_text(
            SAXPY.format(name="other").replace("fma(a, x[i], y[i])", "fma(a, y[i], x[i])")
        )
        cache = str(Path(folder) / "cache")
        rows = [_row("import isogrid beyond numpy, llvmlite included", _import_seconds(), 1e3, "ms", 100)]
        rows.append(_row("import llvmlite.binding alone", _import_seconds("import llvmlite.binding"), 1e3, "ms", None))
        rows.append(_row("source to first result, warm process", _first(folder, WARM, None), 1e3, "ms", 150))
        _run(FIRST.format(folder=folder, warm=""), cache)
        rows.append(_row("first result from the disk cache, new process", _first(folder, "", cache), 1e3, "ms", 30))
        launch = _run(LAUNCH.format(folder=folder, make=OURS), cache)
        rows.append(_row("launch on 1,024 elements (least)", launch["seconds"], 1e6, "us", 0.5))
        rows.append(_row("launch on 1,024 elements (median)", launch["median"], 1e6, "us", None))
        for name, seconds in _run(OTHER_FORMS.format(folder=folder), cache).items():
            rows.append(_row(f"launch on 1,024 elements {name} (least)", seconds, 1e6, "us", None))
        for name, text in (("parallel", NUMBA), ("serial", NUMBA_SERIAL)):
            numba = _run(LAUNCH.format(folder=folder, make=text), cache)
            rows.append(_row(f"Numba's launch on 1,024 elements, {name} (least)", numba["seconds"], 1e6, "us", None))
        rows.append(
            _row(
                "interpreter, 65,536 threads of saxpy",
                _run(INTERPRETER.format(folder=folder), cache)["seconds"],
                1,
                "s",
                1,
            )
        )
    return rows


def _row(name: str, seconds: float, scale: float, unit: str, bar: float | None) -> dict[str, Any]:
    return {"name": name, "value": seconds * scale, "unit": unit, "bar": bar}


def _run(script: str, cache: str | None) -> dict[str, Any]:
    """Run a script in a new process; it prints one JSON object last. A cache of None is an empty one."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "ISOGRID_CACHE_DIR": cache or empty}
        # An installed package has its modules as bytecode.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment, cwd=ROOT, check=False
        )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    reply: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reply


def _import_seconds(what: str = "import isogrid, llvmlite.binding") -> float:
    script = IMPORT.format(before="import numpy", what=what)
    _run(script, None)  # writes bytecode
    return statistics.median(_run(script, None)["seconds"] for _ in range(9))


def _first(folder: str, warm: str, cache: str | None) -> float:
    return statistics.median(_run(FIRST.format(folder=folder, warm=warm), cache)["seconds"] for _ in range(5))
