"""Where source is found: files, notebooks and `exec` through `linecache`, the prompt, and many lambdas on one line."""

import linecache
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import InOut, f32, i32
from isogrid.dims import H, N, W
from isogrid.frontend.capture import capture
from isogrid.frontend.define import define
from isogrid.frontend.geometry import expression_text

HEAD = "import isogrid as ig\nfrom isogrid import InOut, f32\nfrom isogrid.dims import N\n"


def plain(é: InOut[f32, N]) -> None:
    é[0] = 1.0


def test_places_are_those_of_the_file() -> None:
    captured = capture(plain)
    assert captured.file == __file__ and captured.first_line == plain.__code__.co_firstlineno
    store = captured.tree.body[0]
    span = captured.span(store)
    assert captured.lines[span.line - 1][span.column - 1 : span.end_column - 1] == "é[0] = 1.0"
    assert captured.span(captured.tree.args.args[0].annotation).column == len("def plain(é: ") + 1  # type: ignore[arg-type]


def executed(text: str, name: str) -> dict[str, Any]:
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": "made"}
    exec(compile(text, name, "exec"), space)
    return space


def test_text_in_linecache() -> None:
    space = executed(HEAD + "@ig.kernel(grid=N)\ndef k(x: InOut[f32, N]) -> None:\n    x[ig.gid()] = 2.0\n", "<cell 1>")
    assert space["k"].definition.span.file == "<cell 1>" and space["k"].definition.span.line == 5


def test_a_plain_function_of_another_cell_needs_the_decorator() -> None:
    text = HEAD + "@ig.kernel(grid=N)\ndef k(x: InOut[f32, N]) -> None:\n    x[ig.gid()] = twice(1.0)\n"
    space = executed(text, "<cell 4>")
    space["twice"] = executed("def twice(v): return 2 * v\n", "<cell 3>")["twice"]
    (report,) = space["k"].check()
    assert [remedy.text for remedy in report.remedies] == ["decorate `twice` with `@ig.func`"]


def test_future_annotations() -> None:
    text = "from __future__ import annotations\n" + HEAD + "class Own(ig.Dim): ...\n"
    text += "@ig.kernel(grid=Own)\ndef k(x: InOut[ig.Real, Own], y: 'InOut[f32, Own] | None' = None) -> None: ...\n"
    definition = executed(text, "<cell 2>")["k"].definition
    assert [p.name for p in definition.parameters] == ["x", "y"] and definition.parameters[1].optional


EDITED = (
    HEAD
    + """
@ig.func
def plus(v):
    return v + {added}

@ig.kernel(grid=N)
def k(x: InOut[f32, N]) -> None:
    x[ig.gid()] = {factor} * plus(x[ig.gid()])
"""
)


@pytest.mark.parametrize("later", [{"added": 1, "factor": 3}, {"added": 2, "factor": 2}, None])
def test_a_file_edited_before_the_first_launch(tmp_path: Path, later: dict[str, int] | None) -> None:
    """What runs is what was imported, as in Python, and not a mixture of both."""
    file = tmp_path / "edited.py"
    file.write_text(EDITED.format(added=1, factor=2))
    space: dict[str, Any] = {"__name__": "edited"}
    exec(compile(file.read_text(), str(file), "exec"), space)
    if later is None:
        file.unlink()
    else:
        file.write_text("\n" * later["added"] + EDITED.format(**later) + "\n")
    x = np.full(3, 5, np.float32)
    space["k"](x)
    assert x.tolist() == [12, 12, 12]


def extents(grid: Any, function: Any) -> list[str]:
    definition = define(function, grid=grid)
    assert definition.extents is not None
    return [expression_text(extent) for extent in definition.extents]


def three(n: i32, x: InOut[f32, H, W]) -> None: ...


SIDE = 3


def by_function(x: Any, n: Any) -> Any:
    """Read, not called."""
    return min(n, x.size) // SIDE_DIM, x.shape[-1]


SIDE_DIM = N - N + 3


def test_geometry_callables_are_read() -> None:
    first, second = (lambda n: n + 1), (lambda x: (len(x), x.shape[1] % 2))  # two on one line
    assert extents(first, three) == ["n + 1"]
    assert extents(second, three) == ["H", "W % 2"]
    assert extents(lambda x, n: ig.cdiv(x.size, 4) * n, three) == ["ig.cdiv(H * W, 4) * n"]
    assert extents((H, W // 2 - 1, 7), three) == ["H", "(W // 2) - 1", "7"]


def test_a_callable_may_mention_only_bound_dimensions() -> None:
    with pytest.raises(ig.KernelRefused, match="no array of `three` has an axis of the size `N`"):
        define(three, grid=by_function)


def test_blocks() -> None:
    def block(block: Any, grid: Any = (H, W)) -> list[str]:
        definition = define(three, grid=grid, block=block)
        assert definition.block is not None
        return [expression_text(extent) for extent in definition.block]

    assert block(128) == ["1", "128"] and block((4, 8)) == ["4", "8"] and block([2, 2]) == ["2", "2"]
    assert block(64, (H, W, 1)) == ["1", "1", "64"] and block(32, None) == ["32"]


def test_kernels_typed_at_the_prompt(tmp_path: Path) -> None:
    """A real prompt in a terminal of its own."""
    lines = [
        "import numpy as np, isogrid as ig",
        "from isogrid import InOut, f32",
        "from isogrid.dims import N",
        "@ig.kernel(grid=lambda x: x.shape[0])",
        "def k(x: InOut[f32, N]) -> None:",
        "    i = ig.gid()",
        "    x[i + 1] = 3.0",
        "",
        "x = np.zeros(2, np.float32)",
        "k.on('interp')(x)",
        "exit()",
    ]
    master, slave = pty.openpty()
    env = {
        **os.environ,
        "PYTHONPATH": "src",
        "TERM": "dumb",
        "HOME": str(tmp_path),
        "PYTHON_HISTORY": str(tmp_path / "h"),
    }
    prompt = subprocess.Popen([sys.executable, "-i", "-q"], stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    os.write(master, ("\n".join(lines) + "\n").encode())
    seen, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    prompt.wait(10)
    os.close(master)
    text = seen.decode()
    assert "KernelIndexError: index 2 is out of range for axis 0 of `x` with extent 2" in text, text
    assert "x[i + 1] = 3.0\r\n" in text.rpartition("KernelIndexError")[2], text
