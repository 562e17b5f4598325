"""Ctrl-C ends offloaded loops that run in sequence, within 100 ms, whichever loop of a nest has the trips."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isogrid.backends.cpu import emit_polled
from tests.offload.written import HEAD, called, function

IN_N = HEAD + "from isogrid.dims import N\n"

LOOPS = {
    "one": """
        def f(y: InOut[f64, N], few: i64, many: i64) -> None:
            for i in range(many):
                y[0] = y[0] * 0.5 + 1.0
    """,
    "inner": """
        def f(y: InOut[f64, N], few: i64, many: i64) -> None:
            for i in range(few):
                for j in range(many):
                    y[0] = y[0] * 0.5 + 1.0
    """,
    "outer": """
        def f(y: InOut[f64, N], few: i64, many: i64) -> None:
            for i in range(many):
                for j in range(few):
                    y[0] = y[0] * 0.5 + f64(j)
    """,
    "constant inner": """
        def f(y: InOut[f64, N], few: i64, many: i64) -> None:
            for i in range(many):
                for j in range(300):
                    y[0] = y[0] * 0.5 + 1.0
    """,
    "while": """
        def f(y: InOut[f64, N], few: i64, many: i64) -> None:
            for i in range(few):
                k = i
                while k < many:
                    y[0] = y[0] * 0.5 + 1.0
                    k += 1
    """,
}

PROGRAM = """
import time, warnings
import numpy as np
import isogrid as ig
from isogrid import InOut, f64, i64
from isogrid.dims import N
warnings.simplefilter("ignore")

@ig.offload
{text}

y = np.ones(4)
f.on("cpu")(y, 2, 3)
f.on("cpu")(y, 2, 3)
print("ready", flush=True)
try:
    f.on("cpu")(y, 3, 10**12)
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
f.on("cpu")(y, 2, 3)
"""


def _seconds_to_interrupt(file: Path) -> float:
    process = subprocess.Popen(
        [sys.executable, str(file)], env=os.environ | {"ISOGRID_CACHE_DIR": ""}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert text.startswith("interrupted"), text
    assert process.returncode == 0
    return float(text.split()[1]) - sent


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the native pool catches Ctrl-C on Linux")
@pytest.mark.parametrize("name", LOOPS)
def test_ctrl_c_ends_it(name: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(text=textwrap.dedent(LOOPS[name]).strip()))
    took = 1.0
    for _ in range(3):  # another process may have the processors at the wrong moment
        took = min(took, _seconds_to_interrupt(file))
        if took < 0.1:
            break
    assert took < 0.1


PIECES = {
    "break": """
        def f(x: In[f32, N], y: InOut[f32, N], p: In[i32, N]) -> i64:
            last = 0
            for i in range(1, N):
                if x[i] > 30:
                    break
                if p[i] == 3:
                    continue
                y[i] = y[i - 1] * 0.5 + x[i]
                last = i
            return last
    """,
    "downwards in a nest": """
        def f(x: In[f32, N], y: InOut[f32, N], p: In[i32, N]) -> i64:
            count = 0
            for i in range(N - 1, 0, -3):
                for j in range(i, p[i]):
                    y[j] = y[i] + x[j - 1] * y[j]
                    count += 1
            return count
    """,
    "while": """
        def f(x: In[f32, N], y: InOut[f32, N], p: In[i32, N]) -> i64:
            total = 0
            for i in range(N):
                k = i
                while k < 2 * i:
                    total += p[k % N] * k
                    k += 1
                y[p[i]] = y[i] + f32(total)
            return total
    """,
    "trap": """
        def f(x: In[f32, N], y: InOut[f32, N], p: In[i32, N]) -> i64:
            s = 0
            for i in range(1, N):
                y[i] = y[i - 1] + x[i]
                s = s + 100 // (p[i] - 9)
            return s
    """,
}


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("most", [1, 4, 1 << 14])
def test_pieces_change_no_result(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the length of pieces, and whether they divide the trips."""
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    monkeypatch.setattr(emit_polled, "_MOST_TRIPS", most)
    f: Any = function("@ig.offload\n" + textwrap.dedent(PIECES[name]).lstrip(), f"pieces_{most}", IN_N)
    for n in (1, 2, 9, 41):
        rng = np.random.default_rng(n)
        p = np.arange(n) if name == "trap" and n == 41 else rng.integers(0, min(n, 9), n)
        arguments = {
            "x": np.arange(n, dtype=np.float32),
            "y": rng.random(n, np.float32),
            "p": p.astype(np.int32),
        }
        result, arrays, _, error = called(f.on("cpu"), arguments)
        expected, others, _, wrong = called(f.on("interp"), arguments)
        assert (type(error), str(error), result) == (type(wrong), str(wrong), expected)
        assert all(arrays[key].tobytes() == others[key].tobytes() for key in arrays)


def test_only_a_lone_thread_looks_in_its_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop of 5 operations looks once in 16384 trips, and the loop around it once in 8."""
    from isogrid.backends.cpu import compile as compiling

    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    texts: list[str] = []

    def kept(*arguments: Any) -> Any:
        module = emit_module(*arguments)
        texts.append(module.text)
        return module

    emit_module = compiling.emit_module
    monkeypatch.setattr(compiling, "emit_module", kept)
    f: Any = function("@ig.offload\n" + textwrap.dedent(LOOPS["inner"]).lstrip(), "looks", IN_N)
    f.on("cpu")(np.ones(4), 2, 3)
    pieces = {int(size) for text in texts for size in re.findall(r"icmp ugt i64 %v\.\d+, (\d+)$", text, re.M)}
    assert pieces == {8, 1 << 14}
    texts.clear()
    k: Any = function(
        """
        @ig.kernel(grid=N)
        def k(y: InOut[f64, N], many: i64) -> None:
            i = ig.gid()
            for j in range(many):
                y[i] = y[i] * 0.5 + 1.0
        """,
        "threads",
        IN_N,
        "k",
    )
    k.on("cpu")(np.ones(4), 3)
    assert texts and "piece" not in texts[0]
