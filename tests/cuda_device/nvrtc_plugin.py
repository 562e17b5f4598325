"""`pytest -p tests.cuda_device.nvrtc_plugin`: the whole session compiles `cuda` through NVRTC."""

import pytest

import isogrid as ig


@pytest.fixture(autouse=True)
def through_nvrtc() -> None:
    """The option, as a default of the process."""
    ig.default_options(cuda={"codegen": "nvrtc"})
