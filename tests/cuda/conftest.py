"""The simulator as a device, for the tests of the emitter; those of the runtime use the real one."""

import sys
from pathlib import Path

import pytest

from isogrid.launch.backends import RUNTIMES

# The gallery's files import each other by name.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))


@pytest.fixture(autouse=True)
def simulated_device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`simulated` is a device while a test of the emitter runs."""
    if not request.path.name.startswith("test_runtime"):
        monkeypatch.setitem(RUNTIMES, "simulated", ("tests.cuda.executor", "SimulatedDevice"))
