"""Time one gallery kernel on isogrid and in both Numba forms: three processes, alternating, results compared."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SIDES = ("cpu", "numba:0", "numba:1")


@dataclass(slots=True)
class Result:
    """Times in seconds per launch by side, and what the comparison of the results said (empty: as promised)."""

    name: str
    samples: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    error: str = ""

    def least(self, side: str) -> float:
        return min(self.samples[side])

    def median(self, side: str) -> float:
        return statistics.median(self.samples[side])

    @property
    def rival(self) -> str:
        """The faster Numba form, by least time."""
        return min(SIDES[1:], key=self.least)

    @property
    def ratio(self) -> float:
        """Least time of the faster Numba form over isogrid's."""
        return self.least(self.rival) / self.least("cpu")

    @property
    def median_ratio(self) -> float:
        return min(self.median(side) for side in SIDES[1:]) / self.median("cpu")


class Process:
    """A worker process and its line of requests."""

    def __init__(
        self, side: str, module: str = "benchmarks.worker", environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.side = side
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        reply: dict[str, Any] = json.loads(line) if line else {"error": "the worker died"}
        if "error" in reply:
            raise RuntimeError(f"{self.side}: {reply['error']}")
        return reply

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(timeout=10)


def compare(name: str, rounds: int = 4, seconds: float = 0.15, seed: int = 1) -> Result:
    """Prepare on every side, compare the results, then time the sides in turn."""
    result = Result(name)
    processes = [Process(side) for side in SIDES]
    try:
        with tempfile.TemporaryDirectory() as folder:
            for process in processes:
                file = str(Path(folder) / f"{process.side.replace(':', '')}.npz")
                result.first[process.side] = process.ask(
                    do="prepare", name=name, side=process.side, seed=seed, file=file
                )["first"]
            result.error = _disagreement(name, Path(folder))
        for turn in range(rounds):
            for process in processes if turn % 2 == 0 else reversed(processes):
                time.sleep(0.03)
                found = process.ask(do="time", seconds=seconds)["samples"]
                result.samples.setdefault(process.side, []).extend(found)
    except RuntimeError as error:
        result.error = str(error)
    finally:
        for process in processes:
            process.close()
    return result


def _disagreement(name: str, folder: Path) -> str:
    """Why a Numba form's outputs are not what isogrid computed; empty if they are."""
    from benchmarks import numba_blocks, numba_loops, numba_streams

    forms = {**numba_streams.FORMS, **numba_loops.FORMS, **numba_blocks.FORMS}[name]
    ours = np.load(folder / "cpu.npz")
    for at, form in enumerate(forms):
        theirs = np.load(folder / f"numba{at}.npz")
        for output in ours.files:
            a, b = ours[output], theirs[output]
            if form.relative is not None:
                limit = form.relative * float(np.abs(a.astype(np.float64)).max(initial=0))
                bad = float(np.mean(~(np.abs(a.astype(np.float64) - b) <= limit)))
            else:
                bad = float(np.mean(a != b))
            if bad > form.unequal:
                return f"numba:{at} differs in {bad:.2%} of `{output}`"
    return ""
