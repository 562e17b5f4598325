"""A machine with a GPU that is not there: the `cuda` device on the fake driver, for the time of a test."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import isogrid as ig
from isogrid.backends.cuda import machine
from isogrid.launch import backends, devices
from isogrid.launch.options import forget_native_callables
from tests.cuda.fake_driver import FakeDriver


def has_gpu() -> bool:
    """Whether this machine has a GPU of its own."""
    return machine.absence() is None


@contextmanager
def fake_gpu(driver: FakeDriver | None = None, *, tested: bool = True) -> Iterator[FakeDriver]:
    """Let `cuda` be a simulated GPU. The default device stays what it was. A `tested` one has passed its self-test."""
    driver = driver or FakeDriver()
    trouble = devices.TESTED.trouble
    devices.TESTED.trouble = {name: "" for name in ("cuda", "cuda:1") if tested}
    devices.TESTED.said.clear()
    found, preferred = machine._FOUND, list(backends.PREFERRED)
    kept = {name: made for name, made in backends._MADE.items() if backends.family(name) == "cuda"}
    _forget()
    machine._FOUND = type(found)()
    machine._FOUND.machine = machine.describe(driver)
    backends.PREFERRED.clear()
    try:
        yield driver
        ig.synchronize()
    finally:
        gc.collect()
        _forget()
        machine._FOUND = found
        backends.PREFERRED.extend(preferred)
        backends._MADE.update(kept)
        devices.TESTED.trouble = trouble


def _forget() -> None:
    forget_native_callables()
    for name in [name for name in backends._MADE if backends.family(name) == "cuda"]:
        del backends._MADE[name]
