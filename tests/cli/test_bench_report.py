"""What the benchmark keeps and says: summaries instead of thousands of samples, and every bar that is missed."""

import json
from pathlib import Path

import pytest
from benchmarks import plot
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


def test_a_picture_shows_how_much_longer_others_take(tmp_path: Path) -> None:
    from_card = {
        "card": "NVIDIA H200",
        "driver": "580.1",
        "date": "2026-11-30T11:51:48+00:00",
        "command": "python -m benchmarks.cuda.run streams",
        "rows": [{"name": "copy", "seconds": {"isogrid": 2.0, "cuda c": 3.0, "torch": 2.2}}],
    }
    figures = plot.read(from_card)
    assert figures.title == "NVIDIA H200, driver 580.1, 2026-11-30: python -m benchmarks.cuda.run streams"
    assert figures.rows == [plot.Row("copy", {"cuda c": 1.5, "torch": 1.1})]
    plot.draw(figures, tmp_path / "picture.svg")
    drawn = (tmp_path / "picture.svg").read_text()
    assert "<svg" in drawn and "<!-- copy -->" in drawn and "<!-- torch -->" in drawn


def test_a_picture_of_the_processor_reads_what_the_benchmark_keeps(tmp_path: Path) -> None:
    one = Result("saxpy", dict(zip(SIDES, ([2.0], [3.0], [4.0]), strict=True)))
    machine = {"processor": "p", "cores": 2}
    file = save(tmp_path / "kept.json", machine, [one], 1.0, [], {"before": 0.1, "after": 0.2}, "bench it")
    figures = plot.read(json.loads(file.read_text()))
    assert figures.title.startswith("p, 2 cores, 20") and figures.title.endswith(": bench it")
    assert figures.rows == [plot.Row("saxpy", {"numba:0": 1.5, "numba:1": 2.0})]
