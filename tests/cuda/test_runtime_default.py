"""The default device: a GPU that is there and passes its self-test, else the processor."""

import warnings
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.backends.cuda import traps
from isogrid.launch import backends, devices, selftest
from tests.arrays import kernels as k
from tests.cuda.fake_gpu import fake_gpu


@pytest.fixture(autouse=True)
def untested(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.delenv("ISOGRID_DEVICE", raising=False)
    devices._passes.cache_clear()
    yield
    devices._passes.cache_clear()


def test_a_gpu_that_passes_is_the_default() -> None:
    with fake_gpu() as driver:
        backends.PREFERRED[:] = ["cuda"]
        assert ig.devices()[0].name == "cuda" and devices.default_device().name == "cuda"
        before = driver.launches
        y = np.zeros(10, np.float32)
        k.saxpy(2.0, np.ones(10, np.float32), y)
        assert driver.launches == before + 1 and (y == 2).all()
        assert ig.zeros(3).device == "cuda"


def test_it_is_tested_outside_of_a_recording() -> None:
    with fake_gpu(), warnings.catch_warnings():
        warnings.simplefilter("error")
        backends.PREFERRED[:] = ["cuda"]
        x, y = ig.ones(10, ig.f32, device="cuda"), ig.zeros(10, ig.f32, device="cuda")
        with ig.record() as graph:
            k.saxpy(2.0, x, y)
        assert devices.default_device().name == "cuda" and len(graph) == 1


def test_a_gpu_that_fails_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_gpu() as driver:
        backends.PREFERRED[:] = ["cuda"]
        monkeypatch.setattr(traps.Statuses, "trapped", lambda *_: [False] * 1024)
        with pytest.warns(ig.DeviceWarning, match=r"cuda failed its self-test .*: an overflow was not noticed"):
            assert devices.default_device().name == "cpu"
        monkeypatch.undo()
        devices._passes.cache_clear()
        driver.fail("load", "CUDA_ERROR_NO_BINARY_FOR_GPU", times=4)
        fresh = ig.kernel(grid=selftest.Count, block=64)(selftest.arithmetic.definition.function)
        monkeypatch.setattr(selftest, "arithmetic", fresh)
        with pytest.warns(ig.DeviceWarning, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
            assert devices.default_device().name == "cpu"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert devices.default_device().name == "cpu", "it is said once"


def test_one_wrong_bit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nudged:
        """The kernel with its result off by one bit on one device."""

        def on(self, device: ig.Device) -> Any:
            def launch(x: Any, y: Any, out: Any) -> None:
                real.on(device)(x, y, out)
                if device.name == "interp":
                    out.view(np.uint32)[40] ^= 1

            return launch

    real = selftest.arithmetic
    monkeypatch.setattr(selftest, "arithmetic", Nudged())
    with pytest.warns(ig.DeviceWarning, match=r"it computes .* and not"):
        assert not selftest.passes("interp")
