"""ISOGRID_EXPLAIN=1: one line per kernel, target and decision, when the kernel is first used there."""

import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cuda.fake_gpu import fake_gpu

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.dims import M, N
from isogrid.launch import dispatch
from isogrid.support.errors import KnownLimit


def fresh() -> ig.Kernel:
    @ig.kernel(grid=N)
    def gather(p: In[i32, N], x: In[f32, M], y: Out[f32, N]) -> None:
        i = ig.gid()
        y[i] = x[p[i]]

    return gather


def said(kernel: ig.Kernel, device: str, capsys: pytest.CaptureFixture[str], times: int = 2) -> list[str]:
    p, x = np.arange(9, dtype=np.int32), np.ones(9, np.float32)
    for _ in range(times):
        kernel.launch(p, x, np.zeros(9, np.float32), device=device)
    start = f"isogrid: gather on {device}: "
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith(start) for line in lines), lines
    return [line.removeprefix(start) for line in lines]


def test_a_line_for_each_decision_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(fresh(), "cpu", capsys) == [], "nobody asks"
    monkeypatch.setenv("ISOGRID_EXPLAIN", "1")
    lines = said(fresh(), "cpu", capsys)
    assert lines[:2] == ["passes that changed it: prove", "proved 2 checks, kept 1: index of `x`, line 26"]
    assert len(lines) > 2, "the emitter's own"
    assert said(fresh(), "interp", capsys) == ["runs as written, every check kept"]
    monkeypatch.setenv("ISOGRID_EXPLAIN", "0")
    assert said(fresh(), "cpu", capsys) == []


def test_options_and_passes_that_are_off(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGRID_EXPLAIN", "1")
    monkeypatch.setenv("ISOGRID_DISABLE", "prove")
    lines = said(fresh().options(unroll=False, max_threads=64), "cpu", capsys)
    assert lines[:4] == [
        "option disable=['prove']",
        "option max_threads=64",
        "option unroll=False",
        "passes that changed it: none",
    ]
    head, _, checks = lines[4].partition(": ")
    assert head == "proved 0 checks, kept 3"
    assert sorted(checks.split("; ")) == [f"index of `{name}`, line 26" for name in "pxy"]


def test_what_was_given_up(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    @ig.kernel(grid=N, deterministic=False, races=ig.trust("each once"))
    def gather(p: In[i32, N], x: In[f32, N], y: InOut[f32, N]) -> None:
        y[p[ig.gid()]] = x[ig.gid()]

    monkeypatch.setenv("ISOGRID_EXPLAIN", "1")
    lines = said(gather, "cpu", capsys)
    assert "deterministic=False: one of the results that some order gives" in lines
    assert "races=trust: nothing is derived from race freedom" in lines


def test_a_gpu_says_how_its_code_was_made(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGRID_EXPLAIN", "1")
    with fake_gpu():
        lines = said(fresh(), "cuda", capsys)
    assert lines[1] == "proved 2 checks, kept 1: index of `x`, line 26" and len(lines) > 2


def test_a_device_that_another_stands_in_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    @ig.kernel(grid=N, races="check")
    def gather(p: In[i32, N], x: In[f32, N], y: InOut[f32, N]) -> None:
        y[p[ig.gid()]] = x[ig.gid()]

    monkeypatch.setenv("ISOGRID_EXPLAIN", "1")
    p, x = np.arange(9, dtype=np.int32), np.ones(9, np.float32)
    gather(p, x, x.copy())
    assert "isogrid: gather on cpu: races are tracked, so interp runs it\n" in capsys.readouterr().err

    def refuse(*_: object) -> None:
        raise KnownLimit("it cannot")

    real = dispatch._compiled
    monkeypatch.setattr(dispatch, "choice_for", lambda *_: dispatch.Choice(dispatch.Device("interp"), named=False))
    monkeypatch.setattr(dispatch, "_compiled", lambda *a: refuse() if a[3] == "interp" else real(*a))
    with pytest.warns(ig.DeviceWarning):
        fresh()(p, x, x.copy())
    assert "isogrid: gather on interp: refused, falls back to cpu\n" in capsys.readouterr().err


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError("closed")


@pytest.mark.parametrize("stream", [None, Closed()])
def test_a_program_without_standard_error_runs(stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGRID_EXPLAIN", "1")
    monkeypatch.setenv("ISOGRID_TRACE", "1")
    monkeypatch.setattr(sys, "stderr", stream)
    p, x, y = np.arange(9, dtype=np.int32), np.ones(9, np.float32), np.zeros(9, np.float32)
    fresh().on("cpu")(p, x, y)
    assert (y == 1).all()


def test_warnings_that_are_errors_end_at_the_author_s_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch._SAID, "keys", set())
    x = np.ones(9, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ig.OptionWarning) as caught:
            fresh().options(always_inline=True).on("cpu")(np.arange(9, dtype=np.int32), x, x.copy())
    assert len(caught.traceback) == 2


def test_a_kernel_from_the_cache_is_explained_too(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nimport isogrid as ig\nfrom isogrid import InOut, f32\nfrom isogrid.dims import N\n\n"
        "@ig.kernel(grid=N)\ndef twice(x: InOut[f32, N]) -> None:\n    i = ig.gid()\n    x[i] = x[i] * 2\n\n"
        "twice(np.ones(9, np.float32))\n"
    )
    environment = os.environ | {
        "ISOGRID_CACHE_DIR": str(tmp_path / "cache"),
        "ISOGRID_EXPLAIN": "1",
        "ISOGRID_TRACE": "1",
    }
    first, second = (
        subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    )
    assert "compiled for cpu" in first and "found in the cache" in second
    explained = [line for line in first.splitlines() if " on cpu: " in line and "threads" not in line]
    assert len(explained) >= 3
    assert explained == [line for line in second.splitlines() if " on cpu: " in line and "threads" not in line]
