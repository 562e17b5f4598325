"""The NVIDIA driver of this process and its devices: found once, or the reason why there is none."""

import functools
import os
from collections.abc import Callable
from dataclasses import field
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

from isogrid.runtimes.cuda_driver import Driver, DriverAbsent, load_driver
from isogrid.support.errors import IsogridError
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass

_P = ParamSpec("_P")
_R = TypeVar("_R")


class ForkedError(IsogridError):
    """The process was forked after the driver had started; the child cannot use it."""


@dataclass(slots=True)
class Machine:
    """A started driver. `contexts` holds the primary context of each device that was used."""

    driver: Driver
    version: int
    names: tuple[str, ...]
    capabilities: tuple[tuple[int, int], ...]
    process: int
    contexts: dict[int, int] = field(default_factory=dict[int, int])

    def enter(self, device: int) -> None:
        """Make the device's primary context that of this thread, until the method that `keeps_context` ends."""
        if os.getpid() != self.process:
            raise ForkedError(
                "this process was forked from one that used the GPU, and a GPU does not survive a fork; "
                "start processes with multiprocessing's 'spawn' or 'forkserver' method"
            )
        context = self.contexts.get(device)
        if context is None:
            with _LOCK:
                context = self.contexts.setdefault(device, self.driver.primary_context(device))
        if self.driver.thread_context() != context:
            self.driver.current_context(context)


class _OnMachine(Protocol):
    @property
    def machine(self) -> Machine: ...


_S = TypeVar("_S", bound=_OnMachine)


def keeps_context(method: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """A method of something on a machine, after which this thread's context is what it was before.

    Other libraries take it for the device that the program works on: PyTorch makes tensors there. A thread without a
    context keeps the one it got."""

    @functools.wraps(method)
    def call(self: _S, *arguments: _P.args, **keywords: _P.kwargs) -> _R:
        machine = self.machine
        if len(machine.names) == 1:
            return method(self, *arguments, **keywords)
        before = machine.driver.thread_context()
        try:
            return method(self, *arguments, **keywords)
        finally:
            if before and machine.driver.thread_context() != before:
                machine.driver.current_context(before)

    return call


class _Found:
    """What was found. Asked for once: a driver that is installed later needs a new process. Of an error its words are
    kept: the error itself would keep the arguments of the first launch alive."""

    def __init__(self) -> None:
        self.machine: Machine | None = None
        self.absent: tuple[str, str] | None = None


_LOCK: Final = new_lock()
_FOUND = _Found()


def machine() -> Machine:
    """The driver and its devices; raises `DriverAbsent`."""
    if _FOUND.machine is None:
        with _LOCK:
            if _FOUND.absent is not None:
                raise DriverAbsent(*_FOUND.absent)
            if _FOUND.machine is None:
                try:
                    _FOUND.machine = describe(load_driver())
                except DriverAbsent as absent:
                    _FOUND.absent = (str(absent), absent.remedy)
                    raise
    return _FOUND.machine


def describe(driver: Driver) -> Machine:
    """The machine of an initialised driver."""
    devices = range(driver.device_count())
    return Machine(
        driver,
        driver.version(),
        tuple(driver.device_name(device) for device in devices),
        tuple(
            (driver.device_attribute("major", device), driver.device_attribute("minor", device)) for device in devices
        ),
        os.getpid(),
    )


def absence() -> DriverAbsent | None:
    """Why there is no device, or None where there is one."""
    try:
        machine()
    except DriverAbsent as absent:
        return absent
    return None
