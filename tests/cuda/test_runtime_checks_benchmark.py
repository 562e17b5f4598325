"""The benchmark of checks: its three sides are three codes of one kernel."""

from typing import Any

import numpy as np
import pytest
from benchmarks.cuda import checks
from benchmarks.cuda.work import Call, Work

import isogrid as ig
from tests.arrays import kernels as k
from tests.cuda.fake_gpu import fake_gpu


def noting(made: list[Any]) -> Any:
    """`checks.kernel_of`, which notes what it makes."""
    original = checks.kernel_of

    def kernel_of(*arguments: Any) -> Any:
        made.append(original(*arguments))
        return made[-1]

    return kernel_of


@pytest.mark.parametrize(("kernel", "proved"), [("gather", False), ("copy", True)])
def test_the_sides_differ_in_their_checks(kernel: str, proved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    x, at = np.arange(100, dtype=np.float32), np.arange(100, dtype=np.int32)[::-1].copy()
    arguments = ("at", "x", "y") if kernel == "gather" else ("x", "y")
    contents: dict[str, Any] = {"x": x, "at": at, "y": np.zeros_like(x)}
    work = Work(kernel, contents, [Call(getattr(k, kernel), arguments)], [], ["y"], 400.0, "B")
    traps: dict[str, bool] = {}
    with fake_gpu():
        for side in checks.SIDES:
            made: list[Any] = []
            monkeypatch.setattr(checks, "kernel_of", noting(made))
            checks.ready(side, work, "cuda")()
            monkeypatch.undo()
            monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
            (artifact,) = made[0].compiled.artifacts.values()
            traps[side] = any(loaded.can_trap for loaded in artifact.loaded.values())
        ig.synchronize()
    assert traps == {"as it is": not proved, "compiled out": False, "all kept": True}
