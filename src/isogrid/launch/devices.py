"""Devices as values: which there are, which one a launch takes, and the options that one carries."""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from isogrid.launch.backends import (
    LAST_RESORT,
    NUMBERED,
    PLANNED,
    PREFERRED,
    RUNTIMES,
    family,
    option_types,
    presence,
    runtime_attribute,
    trouble_of,
)
from isogrid.launch.errors import DeviceError, DeviceWarning
from isogrid.launch.options import HINTS, NO_OPTIONS, PORTABLE, Options, checked_options, tell_of_scope, type_text
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass
from isogrid.support.shown import nearest
from isogrid.support.warn import warn_author


@dataclass(frozen=True, slots=True)
class Device:
    """A device by name, with options that kernels launched on it get unless they say otherwise."""

    name: str
    carried: Options = NO_OPTIONS

    def options(self, **options: Any) -> "Device":
        """A value for the same device that carries more options."""
        return Device(self.name, checked_options(options).over(self.carried))

    @property
    def option_values(self) -> dict[str, Any]:
        """The options that this value carries."""
        return self.carried.values()

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.carried.values().items())
        return f"<isogrid device {self.name}{options}>"


@dataclass(frozen=True, slots=True)
class Choice:
    """The device of one launch; `named` says that somebody asked for it, so that it refuses rather than falls back."""

    device: Device
    named: bool


class _Scopes:
    """The scopes that `ig.use` has opened in this process: while there is none, a launch need not look for one.

    `lock` is held where something is decided by that. Finalisers run anywhere, so a thread may come by it twice, and a
    scope that ends waits for nobody.
    """

    def __init__(self) -> None:
        self.alive: set[int] = set()
        self.lock = new_lock()
        self.opening = new_lock()

    @property
    def open(self) -> int:
        """How many there are."""
        return len(self.alive)

    def add(self, number: int) -> None:
        """From now on every launch looks for its scope: who opens a later one must not run ahead of that either."""
        with self.opening:
            with self.lock:
                first = not self.alive
                self.alive.add(number)
            if first:
                tell_of_scope()


SCOPES: Final = _Scopes()


class _Scope:
    """What an `ig.use` block chooses. It lives as long as the block or as a context that was copied within: a task that
    was started there keeps its device when the block has ended."""

    __slots__ = ("device",)

    def __init__(self, device: Device) -> None:
        self.device: Final = device
        SCOPES.add(id(self))

    def __del__(self, discard: Callable[[int], None] = SCOPES.alive.discard) -> None:
        discard(id(self))


_USED: ContextVar[_Scope | None] = ContextVar("isogrid_device", default=None)


class DeviceList(list[Device]):
    """The devices of this machine. `absent` says why a family of devices is missing; printing the list shows it."""

    def __init__(self, found: Iterable[Device], absent: Mapping[str, str]) -> None:
        super().__init__(found)
        self.absent: Final = dict(absent)

    def __repr__(self) -> str:
        return super().__repr__() + "".join(f"\n  no {name}: {reason}" for name, reason in self.absent.items())


def devices() -> DeviceList:
    """Every device of this machine, the one that is used by default first, and why others are absent."""
    first = default_device().name
    found = {name: presence(name) for name in RUNTIMES}
    names = [name for one in found.values() for name in one.names if name != first]
    absent = {name: one.reason for name, one in found.items() if not one.names}
    return DeviceList([Device(first), *map(Device, names)], absent)


def device(name: "str | Device") -> Device:
    """The device of that name (`"cpu"`, `"cuda:1"`); raises `DeviceError` if there is none."""
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DeviceError(f"a device is named by a string such as 'cpu', not {name!r}")
    base, colon, number = name.partition(":")
    if base in PLANNED:
        raise DeviceError(f"this version of isogrid does not run on {base}; it has {', '.join(RUNTIMES)}")
    if base not in RUNTIMES:
        close = nearest(name.lower(), RUNTIMES)
        hint = f"did you mean {close!r}?" if close else f"there are {', '.join(RUNTIMES)}"
        raise DeviceError(f"there is no device {name!r}; {hint}")
    found = presence(base)
    if not found.names:
        raise DeviceError(f"there is no device {name!r}: {found.reason}; {found.remedy}")
    if colon and not number.isdecimal():
        raise DeviceError(f"there is no device {name!r}; a device is numbered from 0 on, as in '{base}:0'")
    exact = base if number in ("", "0") else name
    if exact in found.names:
        return Device(exact)
    if len(found.names) == 1:
        raise DeviceError(f"there is one device {base}, number 0; {name!r} does not exist")
    raise DeviceError(f"there is no device {name!r}; there are {', '.join(found.names)}")


@contextmanager
def use(name: "str | Device") -> Generator[Device]:
    """`with ig.use("interp"):` launches on that device, in this thread or task and in tasks that the block starts,
    unless a kernel names its own."""
    chosen = device(name)
    token = _USED.set(_Scope(chosen))
    try:
        yield chosen
    finally:
        _USED.reset(token)


def default_device() -> Device:
    """The best device that works here: the first preferred one that is present and passes its self-test."""
    for name in PREFERRED:
        found = presence(name)
        if found.names and (not found.needs_self_test or not _trouble_as_default(found.names[0])):
            return Device(found.names[0])
    return Device(LAST_RESORT)


class _Tested:
    """What the self-tests of this process have found, by device; `running` has those that this thread makes now."""

    def __init__(self) -> None:
        self.trouble: dict[str, str] = {}
        self.running: set[str] = set()
        self.said: set[str] = set()
        self.lock = new_lock()


TESTED: Final = _Tested()


def self_test(name: str) -> str:
    """What the self-test of a device found, "" if nothing; it runs at the first use. Launches of the test itself get
    "" meanwhile, other threads wait for its end."""
    found = TESTED.trouble.get(name)
    if found is not None:
        return found
    with TESTED.lock:
        if name in TESTED.running:
            return ""
        if name not in TESTED.trouble:
            TESTED.running.add(name)
            try:
                TESTED.trouble[name] = trouble_of(name)
            finally:
                TESTED.running.discard(name)
        return TESTED.trouble[name]


def require_tested(name: str) -> None:
    """Raise `DeviceError` for a device that failed its self-test."""
    if family(name) in NUMBERED and presence(family(name)).needs_self_test and (found := self_test(name)):
        raise DeviceError(f"{name} failed its self-test, so its results are not to be relied on: {found}; run on cpu")


def _trouble_as_default(name: str) -> str:
    found = self_test(name)
    if found and name not in TESTED.said:
        TESTED.said.add(name)
        warn_author(f"{name} failed its self-test and is not the default device: {found}", DeviceWarning)
    return found


def choose(explicit: "Device | None") -> Choice:
    """The device of a launch: the kernel's own, that of `ig.use`, that of ISOGRID_DEVICE, or the default."""
    if explicit is not None:
        return Choice(explicit, named=True)
    used = _USED.get()
    if used is not None:
        return Choice(used.device, named=True)
    wanted = os.environ.get("ISOGRID_DEVICE")
    if wanted:
        try:
            return Choice(device(wanted), named=True)
        except DeviceError as problem:
            raise DeviceError(f"ISOGRID_DEVICE={wanted}: {problem}") from None
    return Choice(default_device(), named=False)


def place_of(own: "Device | None", choice: "Choice | None" = None) -> "Choice | None":
    """Where a callable serves calls of a value whose device is `own`: where `choice` (by default that of now) is made
    again, while an `ig.use` block decides; else wherever the value is called, which None stands for."""
    if own is not None or not SCOPES.open:
        return None
    return choose(None) if choice is None else choice


def supported_options(name: "str | Device | None" = None) -> dict[str, str]:
    """Every option of a device with its contract; keys of its own group are written `cpu.key`."""
    chosen = device(name).name if name is not None else default_device().name
    ignored: frozenset[str] = runtime_attribute(chosen, "ignored_hints", frozenset())
    listed = {key: text + ("; does nothing here" if key in ignored else "") for key, text in PORTABLE.items()}
    for key, kind in option_types(chosen).items():
        listed[f"{family(chosen)}.{key}"] = type_text(kind)
    return listed


def ignored_hints(name: str, options: Options) -> list[str]:
    """Hints that are set and do nothing on the device."""
    ignored: frozenset[str] = runtime_attribute(name, "ignored_hints", frozenset())
    return [key for key in HINTS if key in ignored and options.get(key) is not None]
