"""What the benchmark keeps and says: summaries instead of thousands of samples, and every bar that is missed."""

import json
from pathlib import Path

import pytest
from benchmarks.compare import SIDES, Result
from benchmarks.run import KEPT, misses, save, spread


def result(name: str, ours: float, numba: float) -> Result:
    return Result(name, dict(zip(SIDES, ([ours], [numba], [2 * numba]), strict=True)))


def test_spread_keeps_a_summary_and_few_samples() -> None:
    found = spread([float(n) for n in range(1, 1002)])
    assert found["count"] == 1001
    assert [found[k] for k in ("least", "lower_quartile", "median", "upper_quartile")] == [1, 251, 501, 751]
    assert len(found["some"]) <= KEPT
    assert found["some"][:2] == [1.0, 22.0]
    assert spread([0.25]) == {
        "count": 1, "least": 0.25, "lower_quartile": 0.25, "median": 0.25, "upper_quartile": 0.25, "some": [0.25]
    }  # fmt: skip


def test_misses_names_every_bar_that_is_missed() -> None:
    results = [result("saxpy", 1.0, 0.9), result("dot", 1.0, 3.6), result("scan", 1.0, 0.5)]
    late = [
        {"name": "import", "value": 120.0, "unit": "ms", "bar": 100},
        {"name": "median", "value": 9.0, "unit": "us", "bar": None},
    ]
    assert misses(results, 1.5, late) == [
        "saxpy: 0.90 of 0.95 (streaming)",
        "geometric mean: 1.50 of 2",
        "import: 120 ms, at most 100",
    ]
    assert misses(results[1:], 2.5, late[1:]) == []


@pytest.mark.parametrize("samples", [1, 7])
def test_the_file_says_where_when_and_how(tmp_path: Path, samples: int) -> None:
    one = Result("saxpy", {side: [0.00123456] * samples for side in SIDES}, dict.fromkeys(SIDES, 0.5))
    file = save(tmp_path / "kept.json", {"processor": "p"}, [one], 1.0, [], {"before": 0.1, "after": 0.2}, "bench it")
    content = json.loads(file.read_text())
    assert [content[key] for key in ("command", "machine", "load")] == [
        "bench it",
        {"processor": "p"},
        {"before": 0.1, "after": 0.2},
    ]
    assert content["time"]
    kept = content["kernels"][0]
    assert (kept["ratio"], kept["bar"], kept["samples"]["cpu"]["least"]) == (1.0, 0.95, 0.001235)
