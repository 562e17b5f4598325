"""The devices under test: those of ISOGRID_CONFORMANCE_DEVICES (commas between), else the CPU."""

import os

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", os.environ.get("ISOGRID_CONFORMANCE_DEVICES", "cpu").split(","))
