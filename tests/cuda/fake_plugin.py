"""`pytest -p tests.cuda.fake_plugin`: the whole session has a simulated GPU as `cuda`."""

from collections.abc import Iterator

import pytest

from tests.cuda.fake_gpu import fake_gpu


@pytest.fixture(autouse=True, scope="session")
def simulated_gpu() -> Iterator[None]:
    """The GPU."""
    with fake_gpu():
        yield
