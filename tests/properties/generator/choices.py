"""Where a generated kernel's decisions come from: one list of small numbers that can be recorded, replayed, shrunk."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Decisions from a seed, or from a recorded list. The smallest answer, 0, is what a list that ran out gives."""

    def __init__(self, seed: int | None = None, replay: Sequence[int] | None = None) -> None:
        self._random = random.Random(seed) if replay is None else None
        self._replay = list(replay or ())
        self.record: list[int] = []

    def below(self, count: int) -> int:
        """A number in 0 .. count-1."""
        if self._random is not None:
            value = self._random.randrange(count)
        else:
            at = len(self.record)
            value = self._replay[at] % count if at < len(self._replay) else 0
        self.record.append(value)
        return value

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def chance(self, percent: float) -> bool:
        """True in `percent` of the cases; a choice of 0 says no."""
        return self.below(1000) >= 1000 - percent * 10

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """An option by its weight; put the simplest first."""
        at = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            if at < weight:
                return option
            at -= weight
        raise AssertionError("weights do not add up")
