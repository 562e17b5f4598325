"""The default device: a GPU that is there and passes its self-test, else the processor."""

import re
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.backends.cpu.target import host_target
from isogrid.backends.cuda import traps
from isogrid.cli.stages import generated, stages_of
from isogrid.cli.text_targets import ptx_text
from isogrid.launch import backends, devices, selftest
from tests.arrays import kernels as k
from tests.cuda.fake_gpu import fake_gpu


@pytest.fixture(autouse=True)
def no_device_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGRID_DEVICE", raising=False)


def test_a_gpu_that_passes_is_the_default() -> None:
    with fake_gpu(tested=False) as driver:
        backends.PREFERRED[:] = ["cuda"]
        assert ig.devices()[0].name == "cuda" and devices.default_device().name == "cuda"
        before = driver.launches
        y = np.zeros(10, np.float32)
        k.saxpy(2.0, np.ones(10, np.float32), y)
        assert driver.launches == before + 1 and (y == 2).all()
        assert ig.zeros(3).device == "cuda"


def test_it_is_tested_outside_of_a_recording() -> None:
    with fake_gpu(tested=False), warnings.catch_warnings():
        warnings.simplefilter("error")
        backends.PREFERRED[:] = ["cuda"]
        x, y = ig.ones(10, ig.f32, device="cuda"), ig.zeros(10, ig.f32, device="cuda")
        with ig.record() as graph:
            k.saxpy(2.0, x, y)
        assert devices.default_device().name == "cuda" and len(graph) == 1


def test_a_gpu_that_fails_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_gpu(tested=False) as driver:
        backends.PREFERRED[:] = ["cuda"]
        monkeypatch.setattr(traps.Statuses, "trapped", lambda *_: [False] * 1024)
        with pytest.warns(ig.DeviceWarning, match=r"cuda failed its self-test .*: an overflow was not noticed"):
            assert devices.default_device().name == "cpu"
        monkeypatch.undo()
        devices.TESTED.trouble.clear()
        devices.TESTED.said.clear()
        driver.fail("load", "CUDA_ERROR_NO_BINARY_FOR_GPU", times=4)
        fresh = ig.kernel(grid=selftest.Count, block=64)(selftest.arithmetic.definition.function)
        monkeypatch.setattr(selftest, "arithmetic", fresh)
        with pytest.warns(ig.DeviceWarning, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
            assert devices.default_device().name == "cpu"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert devices.default_device().name == "cpu", "it is said once"


class Nudged:
    """A kernel with one bit of one of its last arrays wrong on one device."""

    def __init__(self, kernel: Any, place: int, at: int) -> None:
        self.kernel, self.place, self.at, self.__name__ = kernel, place, at, kernel.__name__

    def on(self, device: ig.Device) -> Any:
        def launch(*arrays: Any) -> None:
            self.kernel.on("cpu")(*arrays)
            if device.name == "interp":
                found = arrays[self.place].reshape(-1)
                found.view(f"u{found.itemsize}")[self.at] ^= 1

        return launch


def test_one_wrong_bit_of_any_launch_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for kernel, inputs, outputs in list(selftest._launches()):
        for place in range(-len(outputs), 0):
            launches = [(Nudged(kernel, place, 31), inputs, outputs)]
            monkeypatch.setattr(selftest, "_launches", lambda launches=launches: launches)
            found = selftest.trouble("interp")
            assert re.search(f"it computes .* and not .* in `{kernel.__name__}`", found), found


def test_what_is_known_is_what_the_interpreter_computes() -> None:
    found = {k.__name__: selftest.digest(selftest._results(k, "interp", i, o)) for k, i, o in selftest._launches()}
    assert found == selftest.KNOWN


def test_it_takes_what_stands_on_measurements() -> None:
    """The approximations that devices have are part of the code that the self-test runs on them."""
    stages = {k.__name__: stages_of(k) for k, *_ in selftest._launches()}
    assert "rcp.approx.ftz.f32" in ptx_text(stages["quotients"])
    assert "rsqrt.approx.ftz.f32" in ptx_text(stages["quotients"])
    assert "rcp.approx.ftz.f64" in ptx_text(stages["functions"])
    if host_target().divides_slowly:
        assert {"rcp14", "rsqrt14"} <= set(re.findall("rcp14|rsqrt14", generated(stages["quotients"]).text))


def test_the_processor_and_the_interpreter_pass() -> None:
    assert selftest.trouble("cpu") == ""
    assert selftest.trouble("interp") == ""


def test_a_gpu_that_somebody_names_is_tested_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_gpu(tested=False) as driver:
        before = driver.launches
        y = np.zeros(10, np.float32)
        k.saxpy.on("cuda")(2.0, np.ones(10, np.float32), y)
        assert driver.launches > before + 1 and (y == 2).all()
        before = driver.launches
        k.saxpy.on("cuda")(2.0, np.ones(10, np.float32), y)
        assert driver.launches == before + 1, "it is tested once"
    with fake_gpu(tested=False):
        monkeypatch.setattr(traps.Statuses, "trapped", lambda *_: [False] * 1024)
        with pytest.raises(ig.DeviceError, match=r"cuda failed its self-test.*an overflow was not noticed; run on cpu"):
            k.saxpy.on("cuda")(2.0, np.ones(10, np.float32), y)
        assert (y == 4).all(), "it did not run"


def test_threads_wait_for_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    entered, seen = threading.Event(), list[str]()

    def slow(name: str) -> str:
        entered.set()
        time.sleep(0.2)
        return "slow" if devices.self_test(name) == "" else "tests itself"

    monkeypatch.setattr(selftest, "trouble", slow)
    monkeypatch.setattr(devices.TESTED, "trouble", {})
    threads = [threading.Thread(target=lambda: seen.append(devices.self_test("a"))) for _ in range(2)]
    threads[0].start()
    entered.wait()
    threads[1].start()
    for thread in threads:
        thread.join()
    assert seen == ["slow", "slow"]
