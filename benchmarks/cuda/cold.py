"""What the first launch of each kernel of the gallery costs without any cache: source, proofs, LLVM, driver, load."""

import importlib
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import isogrid as ig
from benchmarks.cuda.latency import Latency, no_cache, row
from isogrid.launch import dispatch

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
#: The most that the first launch of the largest kernel may cost, in seconds.
BAR: Final = 250e-3
REPEATS: Final = 5


def largest() -> Latency:
    """The kernel that costs most, several times."""
    _, example, kernel = max((seconds, example, kernel) for (example, kernel), seconds in first_launches().items())
    samples = [first_launches(example)[example, kernel] for _ in range(REPEATS)]
    return row(f"first launch of the gallery's {kernel}", samples, BAR)


def first_launches(*names: str) -> dict[tuple[str, str], float]:
    """Seconds of the first launch of each kernel of these examples, by example and kernel; the compiler is loaded."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    gallery: Any = importlib.import_module("gallery")
    found: dict[tuple[str, str], float] = {}
    with no_cache():
        _run(gallery, "saxpy", {})
        for name in names or gallery.NAMES:
            _run(gallery, name, found)
    return found


def _run(gallery: Any, name: str, found: dict[tuple[str, str], float]) -> None:
    """One example, from a module that is new, so that its kernels have compiled nothing."""
    sys.modules.pop(name, None)
    example = gallery.load(name)
    job = example.prepare(example.make_inputs(example.sizes[-1], 1), "cuda")
    with _timed(name, found):
        job.launch()


@contextmanager
def _timed(example: str, found: dict[tuple[str, str], float]) -> Generator[None]:
    """Time the first launch of every kernel in the block."""
    launch = dispatch.launch

    def timed(kernel: Any, *rest: Any) -> None:
        name = (example, kernel.definition.name)
        if name in found:
            launch(kernel, *rest)
            return
        ig.synchronize()
        started = time.perf_counter()
        launch(kernel, *rest)
        ig.synchronize()
        found[name] = time.perf_counter() - started

    dispatch.launch = timed
    try:
        yield
    finally:
        dispatch.launch = launch
