"""What holds for all tests: a disk cache of their own, no settings of the user's shell, and `--update`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

_SETTINGS = ("ISOGRID_DEVICE", "ISOGRID_DISABLE", "ISOGRID_TRACE", "ISOGRID_EXPLAIN")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    folder: Path = tmp_path_factory.mktemp("cache")
    before = {name: os.environ.pop(name, None) for name in (*_SETTINGS, "ISOGRID_CACHE_DIR")}
    os.environ["ISOGRID_CACHE_DIR"] = str(folder)
    yield
    del os.environ["ISOGRID_CACHE_DIR"]
    os.environ.update({name: value for name, value in before.items() if value is not None})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write expected texts instead of comparing with them")


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected texts are to be written."""
    return bool(request.config.getoption("--update"))
