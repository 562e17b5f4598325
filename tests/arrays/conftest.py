"""The devices under test: those of ISOGRID_TEST_DEVICES (commas between), else the two that every machine has."""

import os

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", os.environ.get("ISOGRID_TEST_DEVICES", "cpu,interp").split(","))
