"""`isogrid doctor`: what this installation consists of, and whether a small kernel runs on every device."""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from isogrid.cli.output import FINDINGS, FINE, say, say_json, stop, table


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: a name, what was found, and whether that is all right."""

    name: str
    value: str
    fine: bool = True


def doctor(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Describe the installation and try every device."""
    found = list(findings())
    if json:
        say_json([{"name": f.name, "value": f.value, "fine": f.fine} for f in found])
    else:
        say(table([("ok" if f.fine else "BAD", f.name, f.value) for f in found]))
    stop(FINE if all(f.fine for f in found) else FINDINGS)


def findings() -> Iterator[Finding]:
    """Everything worth knowing, in order."""
    yield Finding("python", f"{platform.python_version()} ({sys.platform}, {platform.machine()})")
    for package in ("isogrid", "numpy", "llvmlite"):
        yield _version(package)
    yield _llvm()
    for package in ("typer", "rich"):
        yield _version(package)
    yield Finding("processors", str(os.cpu_count()))
    yield _cache()
    for variable in sorted(name for name in os.environ if name.startswith("ISOGRID_")):
        yield _variable(variable)
    yield from _device_trials()


def _version(package: str) -> Finding:
    try:
        return Finding(package, importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return Finding(package, "not installed", fine=False)


def _llvm() -> Finding:
    try:
        from isogrid.backends.cpu.target import host_target, llvm_binding

        target = host_target()
        version = ".".join(map(str, llvm_binding().llvm_version_info))
        return Finding("LLVM", f"{version}, {target.triple}, {target.cpu}, {target.vector_bits}-bit vectors")
    except (ImportError, OSError, RuntimeError) as problem:
        return Finding("LLVM", f"does not load: {problem}", fine=False)


def _cache() -> Finding:
    from isogrid.support.diskcache import default_cache

    folder = default_cache().folder
    if folder is None:
        return Finding("cache", "off: no folder that only this user can write")
    return Finding("cache", str(folder))


def _variable(name: str) -> Finding:
    """A variable with its value, and what is wrong with it."""
    from isogrid.launch.devices import choose
    from isogrid.launch.errors import DeviceError, OptionError
    from isogrid.launch.options import switched_off_by_environment

    value = os.environ[name]
    try:
        if name == "ISOGRID_DEVICE":
            choose(None)
        if name == "ISOGRID_DISABLE":
            switched_off_by_environment()
    except (DeviceError, OptionError) as problem:
        return Finding(name, str(problem).removeprefix(f"{name}="), fine=False)
    return Finding(name, value)


def _device_trials() -> Iterator[Finding]:
    from isogrid.launch.backends import presence
    from isogrid.launch.devices import devices

    every = devices()
    for name, reason in every.absent.items():
        yield Finding(f"device {name}", f"absent: {reason}; to use it, {presence(name).remedy}")
    for device in every:
        name = f"device {device.name}"
        try:
            _try_device(device.name)
        except Exception as problem:  # the point of this command is to show any failure there may be
            yield Finding(name, f"{type(problem).__name__}: {problem}", fine=False)
        else:
            yield Finding(name, "runs a kernel and raises its trap")


def _try_device(device: str) -> None:
    """One launch with a known result, and one that must trap and leave its array as it was."""
    import numpy as np

    from isogrid.cli import trial
    from isogrid.traps import KernelOverflowError

    x: np.ndarray[Any, Any] = np.arange(1000, dtype=np.int32)
    y = np.zeros(1000, np.int32)
    trial.double.on(device)(x, y)
    if not np.array_equal(y, 2 * x):
        raise ValueError("2 * x is wrong")
    x[700] = 2**30
    before = y.copy()
    try:
        trial.double.on(device)(x, y)
    except KernelOverflowError:
        if np.array_equal(y, before):
            return
        raise ValueError("a trap changed an array") from None
    raise ValueError("an overflow was not noticed")
