"""A GPU for the tests of offloading: the machine's own, or the simulated one."""

from collections.abc import Iterator

import pytest

from isogrid.launch import backends
from tests.cuda.fake_gpu import fake_gpu, has_gpu


@pytest.fixture(autouse=True, scope="module")
def gpu() -> Iterator[None]:
    """`cuda` is there, and the default device is `cpu`."""
    if has_gpu():
        preferred = list(backends.PREFERRED)
        backends.PREFERRED.clear()
        yield
        backends.PREFERRED.extend(preferred)
        return
    with fake_gpu():
        yield
