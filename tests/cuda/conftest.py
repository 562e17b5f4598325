"""The simulated device stands beside the real ones in these tests."""

from isogrid.launch.backends import RUNTIMES

RUNTIMES.setdefault("simulated", ("tests.cuda.executor", "SimulatedDevice"))
