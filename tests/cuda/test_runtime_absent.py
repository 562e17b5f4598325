"""Without a driver: why there is no `cuda` device, what to do about it, and nothing else changes."""

import json
import subprocess
import sys
import weakref
from typing import Any

import pytest

import isogrid as ig
from isogrid.backends.cuda import machine
from isogrid.launch.devices import default_device
from isogrid.runtimes import cuda_driver
from isogrid.runtimes.cuda_driver import DriverAbsent, DriverError, require_device


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has looked for a driver yet, and the machine has no library of it."""
    monkeypatch.setattr(machine, "_FOUND", type(machine._FOUND)())
    monkeypatch.setattr(cuda_driver, "_NAMES", ("libnvidia-is-not-here.so.1",))
    monkeypatch.delenv("ISOGRID_DEVICE", raising=False)


class Library:
    """A driver library of which every call is scripted."""

    def __init__(self, start: int, version: int, devices: int) -> None:
        self.start, self.version, self.devices = start, version, devices

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return self.start

    def cuDriverGetVersion(self, out: Any) -> int:  # noqa: N802
        out._obj.value = self.version
        return 0

    def cuDeviceGetCount(self, out: Any) -> int:  # noqa: N802
        out._obj.value = self.devices
        return 0

    def cuGetErrorName(self, result: int, out: Any) -> int:  # noqa: N802
        out._obj.value = {100: b"CUDA_ERROR_NO_DEVICE"}.get(result, b"CUDA_ERROR_UNKNOWN")
        return 0

    def cuGetErrorString(self, result: int, out: Any) -> int:  # noqa: N802
        out._obj.value = b"unknown error"
        return 0


def test_devices_says_why_there_is_none() -> None:
    found = ig.devices()
    assert [device.name for device in found] == ["cpu", "interp"]
    assert found.absent == {"cuda": "the NVIDIA driver's library libnvidia-is-not-here.so.1 is not installed"}
    assert repr(found).endswith("\n  no cuda: the NVIDIA driver's library libnvidia-is-not-here.so.1 is not installed")
    assert default_device().name == "cpu"


def test_the_search_keeps_no_arguments_of_its_callers() -> None:
    """The first launch of a process searches, with its arrays in the frames of the error."""

    def launch(arguments: Library) -> str:
        return machine.absence().__class__.__name__

    arguments = Library(0, 0, 0)
    gone = weakref.ref(arguments)
    assert launch(arguments) == launch(arguments) == "DriverAbsent"
    del arguments
    assert gone() is None


def test_a_named_device_says_what_to_do() -> None:
    with pytest.raises(ig.DeviceError) as caught:
        ig.device("cuda")
    assert str(caught.value) == (
        "there is no device 'cuda': the NVIDIA driver's library libnvidia-is-not-here.so.1 is not installed; "
        "install the NVIDIA driver (its library is enough; no toolkit is needed)"
    )


@pytest.mark.parametrize(
    ("library", "reason", "remedy"),
    [
        (Library(0, 13000, 0), "sees no device", "nvidia-smi -L"),
        (Library(100, 13000, 0), "sees no device", "nvidia-smi -L"),
        (Library(0, 11020, 1), "too old: it speaks CUDA 11.2", "CUDA 11.8 or newer"),
        (Library(999, 13000, 1), "does not start: cuInit failed: CUDA_ERROR_UNKNOWN", "nvidia-smi"),
    ],
)
def test_a_driver_that_cannot_be_used(
    library: Library, reason: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_driver, "_library", lambda: library)
    with pytest.raises(DriverAbsent, match=reason) as caught:
        cuda_driver.load_driver()
    assert remedy in caught.value.remedy
    assert list(ig.devices().absent) == ["cuda"]


def test_a_usable_driver_is_accepted() -> None:
    require_device(13000, 1)


def test_failures_carry_the_name_and_the_text_of_the_driver() -> None:
    driver = cuda_driver.Driver(Library(999, 13000, 1))
    with pytest.raises(DriverError) as caught:
        driver.initialise()
    assert caught.value.name == "CUDA_ERROR_UNKNOWN"
    assert str(caught.value) == "cuInit failed: CUDA_ERROR_UNKNOWN (unknown error)"


@pytest.mark.skipif(ig.devices().absent == {}, reason="this machine has a GPU")
def test_the_commands_say_it_too() -> None:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "isogrid", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "absent" in run("devices")
    listed = json.loads(run("devices", "--json"))
    assert [entry["name"] for entry in listed if "absent" in entry] == ["cuda"]
    (finding,) = [f for f in json.loads(run("doctor", "--json")) if f["name"] == "device cuda"]
    assert (
        finding["fine"] and finding["value"].startswith("absent: ") and "install the NVIDIA driver" in finding["value"]
    )


def test_a_card_that_is_too_old_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.cuda import fake_driver
    from tests.cuda.fake_gpu import fake_gpu

    monkeypatch.setitem(fake_driver._ATTRIBUTES, "major", 6)
    with fake_gpu():
        assert ig.devices().absent == {
            "cuda": "Simulated GPU 0 has compute capability 6.0, and isogrid needs 7.0",
        }
