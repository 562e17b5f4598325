"""Profiles: what ran, how often, how long, how many bytes; as a table and as a trace."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.arrays import kernels as k

import isogrid as ig


def test_a_profile_times_launches_transfers_and_compilations(device: str, tmp_path: Path) -> None:
    fresh = ig.kernel(grid=k.N, block=32)(k.saxpy.definition.function)
    x, y = ig.ones(100, ig.f32, device=device), ig.zeros(100, ig.f32, device=device)
    for _ in range(3):
        k.saxpy(1.0, x, y)
    with ig.profile() as p:
        fresh(1.0, x, y)
        for _ in range(4):
            k.saxpy(1.0, x, y)
        k.copy.on(device)(np.ones(50, np.float32), np.zeros(50, np.float32))
        y.numpy()
        with pytest.raises(ig.LaunchValueError, match="do not nest"), ig.profile():
            pass
    k.saxpy(1.0, x, y)
    assert y.numpy()[0] == 9
    count = {kind: sum(e.kind == kind for e in p.entries) for kind in ("launch", "compile", "copy in", "copy out")}
    assert count["launch"] == 6 and count["compile"] in (0, 1, 2)
    if device == "cuda":
        assert count["copy in"] >= 1 and count["copy out"] >= 2
        assert all(e.device_seconds is not None for e in p.entries if e.kind != "compile")
        assert sum(e.size for e in p.entries if e.kind == "copy out") == 50 * 4 + 400
    assert all(e.seconds > 0 and e.start >= 0 for e in p.entries)
    lines = str(p).splitlines()
    assert lines[0].split()[:4] == ["what", "name", "device", "calls"]
    assert any(line.split()[:4] == ["launch", "saxpy", device, "5"] for line in lines)
    p.write_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert sum(e["name"] == "launch saxpy" for e in events) == (10 if device == "cuda" else 5)
    assert all(e["ph"] == "X" and e["dur"] >= 0 for e in events)
