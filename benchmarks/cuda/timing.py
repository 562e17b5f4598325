"""Times of queued work by wall clock between two waits for the card, many runs a sample, sides in turn."""

import statistics
import time
from collections.abc import Callable, Mapping

#: One sample lasts at least this long, so that the waits and the first launch vanish in it.
SAMPLE_SECONDS = 0.03
ROUNDS = 7


def seconds(run: Callable[[], None], wait: Callable[[], None], count: int) -> float:
    """Seconds of one of `count` runs queued one behind the other."""
    wait()
    start = time.perf_counter()
    for _ in range(count):
        run()
    wait()
    return (time.perf_counter() - start) / count


def compare(sides: Mapping[str, Callable[[], None]], wait: Callable[[], None]) -> dict[str, list[float]]:
    """Samples per side, in seconds a run; the sides take turns."""
    counts: dict[str, int] = {}
    for name, run in sides.items():
        seconds(run, wait, 1)
        once = seconds(run, wait, 2)
        counts[name] = max(2, min(1000, round(SAMPLE_SECONDS / once)))
    samples: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, run in sides.items():
            samples[name].append(seconds(run, wait, counts[name]))
    return samples


def median(samples: list[float]) -> float:
    return statistics.median(samples)
