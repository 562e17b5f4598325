"""The simulator as a device, for the tests of this folder."""

import pytest

from isogrid.launch.backends import RUNTIMES


@pytest.fixture(autouse=True)
def simulated_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """`simulated` is a device while a test of this folder runs."""
    monkeypatch.setitem(RUNTIMES, "simulated", ("tests.cuda.executor", "SimulatedDevice"))
