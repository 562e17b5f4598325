"""What two GPUs of one host must do, on two simulated ones; tests/cuda_device/two_gpus.py runs it on real ones."""

from collections.abc import Callable, Iterator

import pytest

from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu
from tests.cuda_device import two_gpus


@pytest.fixture(autouse=True)
def _two_gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(two_gpus, "SIZES", [1, 1000, 5000])
    with fake_gpu(FakeDriver(devices=2)):
        yield


@pytest.mark.parametrize(
    "part",
    [two_gpus.copies_between, two_gpus.arrays_of_two_devices, two_gpus.traps_apart],
    ids=lambda part: part.__name__,
)
def test_two_gpus(part: Callable[[], None]) -> None:
    part()
