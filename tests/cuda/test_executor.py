"""The comparison of the simulated device: halves of a launch may sign a NaN otherwise, and nothing else."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from isogrid.backends.cuda import layout as l
from tests.cuda import executor


def halves_that_write(value: float, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`run_halves` of a launch that wrote -NaN and 0.0, where the halves write `value` and 0.0."""

    def start(entry: str, kernel: Any, part: Any, bound: Any, arrays: Any, record: Any, watch: Any) -> None:
        arrays["y"][:] = [value, 0.0]

    monkeypatch.setattr(executor, "start", start)
    record = np.full(l.RECORD_WORDS, -1, np.int64)
    halves: Any = [(SimpleNamespace(alignment=4, sites=()), None)] * 2
    bound: Any = SimpleNamespace(arrays={"y": np.zeros(2, np.float32)})
    kernel: Any = None
    executor.run_halves(kernel, halves, bound, {"y": np.array([-np.nan, 0.0], np.float32)}, record, record)


def test_every_nan_is_the_same_value(monkeypatch: pytest.MonkeyPatch) -> None:
    halves_that_write(np.nan, monkeypatch)


@pytest.mark.parametrize("value", [0.0, np.inf])
def test_other_values_are_not(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="something else in y"):
        halves_that_write(value, monkeypatch)
