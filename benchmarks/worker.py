"""One side of a comparison, in a process of its own: prepares a kernel, runs it once, then times it when asked.

Reads one JSON request a line, answers one JSON line: {"do": "prepare", "name", "side", "seed", "file"} writes the
outputs of the first launch to `file`; {"do": "time", "seconds"} gives seconds per launch of several samples.
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]

#: A sample lasts at least this long, so that the clock does not count.
SAMPLE_SECONDS = 0.002


def prepare(name: str, side: str, seed: int) -> tuple[Callable[[], Any], Any]:
    """The launch and its outputs. `side` is a device of isogrid, or numba:0 (idiomatic), numba:1 (same algorithm)."""
    import gallery

    example = gallery.load(name)
    inputs = example.make_inputs(example.bench, seed)
    if side.startswith("numba:"):
        from benchmarks import numba_blocks, numba_loops, numba_streams

        forms = {**numba_streams.FORMS, **numba_loops.FORMS, **numba_blocks.FORMS}
        launch, outputs = forms[name][int(side[6:])].prepare(inputs)
        return launch, outputs
    job = example.prepare(inputs, side)
    return job.launch, job.outputs


def samples(launch: Callable[[], Any], seconds: float) -> list[float]:
    """Seconds per launch: samples of several launches each, for about `seconds`."""
    started = time.perf_counter()
    launch()
    once = max(time.perf_counter() - started, 1e-7)
    count = max(1, int(SAMPLE_SECONDS / once))
    end = time.perf_counter() + seconds
    found: list[float] = []
    while not found or (time.perf_counter() < end and len(found) < 200):
        started = time.perf_counter()
        for _ in range(count):
            launch()
        found.append((time.perf_counter() - started) / count)
    return found


def answer(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """What one request asks for."""
    if request["do"] == "prepare":
        started = time.perf_counter()
        state["launch"], outputs = prepare(request["name"], request["side"], request["seed"])
        state["launch"]()
        first = time.perf_counter() - started
        np.savez(request["file"], **outputs)
        for _ in range(3):
            state["launch"]()
        return {"first": first}
    return {"samples": samples(state["launch"], request["seconds"])}


def main() -> None:
    replies = sys.stdout
    state: dict[str, Any] = {}
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            try:
                reply = answer(json.loads(line), state)
            except Exception as error:
                reply = {"error": f"{type(error).__name__}: {error}"}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


if __name__ == "__main__":
    main()
