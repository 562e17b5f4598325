"""`isogrid check` on offloaded functions: each loop, where it runs, and the rule that took each write."""

import json
from pathlib import Path

import pytest

from isogrid.cli.main import main

_SOURCE = """
import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64
from isogrid.dims import H, M, N, W


@ig.offload
def normalise(x: In[f32, N], y: Out[f32, N], off: i64, stride: i64) -> f32:
    s = 0.0
    for i in range(len(x) - off):
        s += x[i] * x[i]
        y[i * stride + off] = 2 * x[i]
    for i in range(1, len(x)):
        y[i - 1] = x[i]
    return s


@ig.offload
def rows(y: InOut[f32, M], image: Out[f32, H, W], bins: InOut[i32, N], h: i64, w: i64) -> None:
    for i in range(h):
        for j in range(w):
            y[i * w + j] += 1.0
    for i in range(h * w):
        image[i // w, i % w] = 1.0
        bins[i % 4] += 1
    for i in range(h):
        bins[i % 2] *= 2
    for i in range(1, h):
        y[i] = y[i - 1]
"""


def _checked(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[object, str]:
    file = folder / "loops.py"
    file.write_text(_SOURCE)
    with pytest.raises(SystemExit) as ended:
        main(["check", *options, str(file)])
    return ended.value.code, capsys.readouterr().out


def test_the_text_lists_loops_and_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = _checked(tmp_path, capsys)
    assert code == 0, text
    for line in (
        "line 10   loop over `i` runs as a kernel",
        "`y`: R3 scaled: `stride * i + off`",
        "`s`: R3 reduction by `+`, in the 256-wide tree, f32",
        "`y`: R3 affine: `i + -1`",
        "line 20   loop over `i` runs as a kernel over a grid of two axes",
        "`y`: R3 tile: rows of `w` elements",
        "`image`: R3 image: `[i // w, i % w]`",
        "`bins`: R3 scatter by `+`",
        "line 26   loop over `i` is accepted, and runs on one thread: its updates are no atomic operations",
        "line 28   loop over `i` runs in sequence, see below",
        "warning[IG8070]: the loop over `i` in `rows` runs in sequence",
    ):
        assert line in text, text


def test_the_same_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = _checked(tmp_path, capsys, "--json")
    assert code == 0
    (file,) = json.loads(text)["files"]
    loops = [loop for f in file["offloaded"] for loop in f["loops"]]
    assert [loop["accepted"] for loop in loops] == [True, True, True, True, True, False]
    assert loops[0]["writes"][0] == {"name": "y", "rule": "R3 scaled: `stride * i + off`"}


def test_explain_shows_loops_reasons_and_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loops.py"
    file.write_text(_SOURCE)
    with pytest.raises(SystemExit) as ended:
        main(["explain", f"{file}::rows"])
    text = capsys.readouterr().out
    assert ended.value.code == 0, text
    for line in (
        "rows(y, image, bins, h, w), offloaded",
        "`bins`: R3 scatter by `+`",
        "IG8070: line 29 reads `y[i - 1]`, which another iteration may write, so the loop over `i` in `rows` runs in "
        "sequence. Read `y` only where the iteration writes it",
        "== loop 1 over `i`: a thread per pair of iterations: kernel IR",
        "== from line 26: one thread, in sequence: kernel IR",
    ):
        assert line in text, line
    affine = text.split("== loop 1 over")[1].split("== loop 2 over")[0]
    assert "atomic" not in affine
    scatter = text.split("== loop 2 over")[1].split("== from line 26")[0].split("device IR")[0]
    assert scatter.count("atomic_add!(bins") == 1


def test_emit_prints_each_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loops.py"
    file.write_text(_SOURCE)
    for target in ("kernel-ir", "ptx", "opencl"):
        with pytest.raises(SystemExit) as ended:
            main(["emit", f"{file}::normalise", "--target", target])
        text = capsys.readouterr().out
        assert ended.value.code == 0, text
        assert "== normalise, loop 1 over `i`: a thread per iteration" in text
        assert "== normalise, loop 1: one level of the tree of `s`" in text
