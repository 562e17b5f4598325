"""Which device a launch takes, and what happens where the default one cannot."""

import asyncio
import contextvars
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.launch import kernels as k

import isogrid as ig
from isogrid.launch import backends, devices, dispatch
from isogrid.launch.devices import SCOPES, choose
from isogrid.support.errors import KnownLimit

F32 = np.float32


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CPU", "there is no device 'CPU'; did you mean 'cpu'?"),
        ("cpu:", "there is no device 'cpu:'; a device is numbered from 0 on, as in 'cpu:0'"),
        ("cpu:x", "there is no device 'cpu:x'; a device is numbered from 0 on, as in 'cpu:0'"),
        ("cpu:-1", "there is no device 'cpu:-1'; a device is numbered from 0 on, as in 'cpu:0'"),
    ],
)
def test_names_that_are_nearly_right(name: str, said: str) -> None:
    with pytest.raises(ig.DeviceError) as caught:
        ig.device(name)
    assert str(caught.value) == said


@pytest.mark.parametrize("name", ["fuse", "autotune", "struct", "DeviceLost", "LaunchTimeout"])
def test_what_this_version_has_not_is_absent_in_words(name: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}': a later version brings it; "):
        getattr(ig, name)
    assert not hasattr(ig, name)


def test_devices() -> None:
    assert [device.name for device in ig.devices()] == ["cpu", "interp"]
    assert ig.device("cpu") == ig.device("cpu:0") and repr(ig.device("cpu")) == "<isogrid device cpu>"
    carrying = ig.device("cpu").options(unroll=False)
    assert repr(carrying) == "<isogrid device cpu, unroll=False>" and carrying.option_values == {"unroll": False}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cpuu", "there is no device 'cpuu'; did you mean 'cpu'?"),
        ("metal", "this version of isogrid does not run on metal; it has cpu, interp, cuda"),
        ("cpu:1", "there is one device cpu, number 0; 'cpu:1' does not exist"),
        ("fpga", "there is no device 'fpga'; there are cpu, interp, cuda"),
        (3, "a device is named by a string such as 'cpu', not 3"),
    ],
)
def test_no_such_device(name: Any, message: str) -> None:
    with pytest.raises(ig.DeviceError) as caught:
        ig.device(name)
    assert str(caught.value) == message


def test_order_of_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGRID_DEVICE", raising=False)
    assert choose(None).device.name == "cpu" and not choose(None).named
    monkeypatch.setenv("ISOGRID_DEVICE", "interp")
    assert choose(None).device.name == "interp" and choose(None).named
    with ig.use("cpu") as used:
        assert used.name == "cpu" and choose(None).device.name == "cpu" and choose(None).named
        with ig.use("interp"):
            assert choose(None).device.name == "interp"
        assert choose(None).device.name == "cpu"
        assert choose(ig.device("interp")).device.name == "interp"
    assert choose(None).device.name == "interp"
    monkeypatch.setenv("ISOGRID_DEVICE", "intrep")
    with pytest.raises(ig.DeviceError, match=r"^ISOGRID_DEVICE=intrep: .* did you mean 'interp'"):
        k.saxpy.options()(1.0, np.ones(1, F32), np.ones(1, F32))


class Refusing:
    """A device that everybody prefers and that can do nothing."""

    name = "best"

    def compile(self, kernel: Any, options: Mapping[str, Any]) -> Any:
        raise KnownLimit("it has no arithmetic")

    def launch(self, artifact: Any, bound: Any) -> None:
        raise AssertionError("nothing was compiled")


@pytest.fixture
def refusing_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(backends.RUNTIMES, "best", (__name__, "Refusing"))
    monkeypatch.setattr(backends, "PREFERRED", backends.PREFERRED)
    monkeypatch.setattr(dispatch, "_SAID", type(dispatch._SAID)())
    backends.PREFERRED.insert(0, "best")
    monkeypatch.delenv("ISOGRID_DEVICE", raising=False)
    yield
    backends.PREFERRED.remove("best")


@pytest.mark.usefixtures("refusing_default")
def test_the_default_device_falls_back_and_says_so_once() -> None:
    fresh = ig.kernel(grid=k.N)(k.scale.definition.function)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            y = np.zeros(2, F32)
            fresh(2.0, np.ones(2, F32), y)
            assert (y == 2).all()
    assert [(w.category, str(w.message)) for w in said] == [
        (ig.DeviceWarning, "kernel scale runs on cpu, because best refused it: it has no arithmetic")
    ]


@pytest.mark.usefixtures("refusing_default")
def test_a_named_device_refuses() -> None:
    fresh = ig.kernel(grid=k.N)(k.scale.definition.function)
    with pytest.raises(KnownLimit):
        fresh.on("best")(2.0, np.ones(2, F32), np.ones(2, F32))
    with pytest.raises(KnownLimit), ig.use("best"):
        fresh(2.0, np.ones(2, F32), np.ones(2, F32))


def test_use_reaches_kernels_that_have_launched_natively() -> None:
    fresh = ig.kernel(grid=k.N)(k.fill.definition.function)
    out = np.zeros(2, np.int64)
    fresh(1, True, 1, 1, out)
    started: list[str] = []
    original = dispatch._run
    try:
        dispatch._run = lambda *a: (started.append(a[1]), original(*a))[1]
        with ig.use("interp"):
            fresh(2, True, 1, 1, out)
            fresh(3, True, 1, 1, out)
        with ig.use("cpu"):
            fresh(4, True, 1, 1, out)
        fresh.on("interp")(5, True, 1, 1, out)
    finally:
        dispatch._run = original
    assert started[:2] == ["interp", "interp"] and started[-1] == "interp" and out[0] == 7


def test_a_task_keeps_the_device_of_the_block_that_started_it() -> None:
    """Also when the block has ended and the same kernel has a native callable of the default device."""
    fresh = ig.kernel(grid=k.N)(k.fill.definition.function)
    out = np.zeros(2, np.int64)
    fresh(1, True, 1, 1, out)
    ran: list[str] = []

    async def work() -> None:
        fresh(2, True, 1, 1, out)
        ran.append(choose(None).device.name)

    async def start() -> None:
        with ig.use("interp"):
            task = asyncio.create_task(work())
        fresh(3, True, 1, 1, out)
        await task

    asyncio.run(start())
    assert ran == ["interp"] and {device for _, device, _ in fresh.compiled.artifacts} == {"cpu", "interp"}


def test_what_a_copied_context_chose_is_not_used_outside() -> None:
    fresh, out = ig.kernel(grid=k.N)(k.fill.definition.function), np.zeros(2, np.int64)
    with ig.use(ig.device("cpu").options(unroll=False)):
        context = contextvars.copy_context()
    for _ in range(3):
        context.run(fresh, 1, True, 1, 1, out)
    fresh(1, True, 1, 1, out)
    assert [options.values() for _, _, options in fresh.compiled.artifacts] == [{"unroll": False}, {}]
    assert SCOPES.open == 1
    del context
    assert SCOPES.open == 0


def test_a_block_is_open_when_every_kernel_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second thread that opens one waits for the first, which is still telling the kernels."""
    telling, told, second = threading.Event(), threading.Event(), threading.Event()
    tell = devices.tell_of_scope

    def slowly() -> None:
        telling.set()
        assert told.wait(10)
        tell()

    def use(entered: threading.Event) -> None:
        with ig.use("interp"):
            entered.set()

    monkeypatch.setattr(devices, "tell_of_scope", slowly)
    threads = [threading.Thread(target=use, args=(event,)) for event in (threading.Event(), second)]
    threads[0].start()
    assert telling.wait(10)
    threads[1].start()
    assert not second.wait(0.05)
    told.set()
    for thread in threads:
        thread.join()
    assert second.is_set() and SCOPES.open == 0


def test_trace() -> None:
    code = (
        "import numpy as np\nfrom tests.launch import kernels as k\n"
        "x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)\n"
        "k.saxpy(1.0, x, y)\nk.saxpy(1.0, x, y)\nk.saxpy(1.0, x[:0], y[:0])\n"
        "k.open_fill.on('interp').launch(1, np.zeros(4, np.int32), groups=2, block=2)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."]), "ISOGRID_TRACE": "1", "ISOGRID_CACHE_DIR": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    lines = [line.rpartition(", ")[0] or line for line in done.stderr.splitlines() if "compiled" not in line]
    assert lines == [
        "isogrid: saxpy on cpu: 1000 threads (grid 1000, block 256)",
        "isogrid: saxpy on cpu: 1000 threads (grid 1000, block 256)",
        "isogrid: saxpy: 0 threads (grid 0, block 256)",
        "isogrid: open_fill on interp: 4 threads (groups 2, block 2)",
    ]
