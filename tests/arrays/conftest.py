"""The devices under test: those of ISOGRID_TEST_DEVICES (commas between), else all, with a simulated GPU."""

import os
from collections.abc import Iterator

import pytest
from tests.cuda.fake_gpu import fake_gpu, has_gpu


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", os.environ.get("ISOGRID_TEST_DEVICES", "cpu,interp,cuda").split(","))


@pytest.fixture(autouse=True)
def gpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """A GPU for the tests that ask for it."""
    parameters = getattr(getattr(request.node, "callspec", None), "params", {})
    if parameters.get("device") != "cuda" or has_gpu():
        yield
        return
    with fake_gpu():
        yield
