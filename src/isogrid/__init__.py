"""isogrid: portable GPU kernels in typed Python.

Public names, nothing else. What compiles is imported when it is first needed; see `__init__.pyi` for types.
"""

import importlib
from typing import Any

from isogrid.frontend.dims import Dim, cdiv, tunable
from isogrid.frontend.language import (
    DTYPES,
    FUNCTIONS,
    In,
    InOut,
    Int,
    Out,
    Real,
    func,
    trust,
)

__version__ = "0.1.0"

globals().update(DTYPES)
globals().update(FUNCTIONS)

_LATE = {
    "Kernel": "isogrid.launch.kernel_value",
    "kernel": "isogrid.launch.kernel_value",
    "LaunchError": "isogrid.launch.errors",
    "LaunchTypeError": "isogrid.launch.errors",
    "LaunchValueError": "isogrid.launch.errors",
    "RequirementError": "isogrid.launch.errors",
    "OptionError": "isogrid.launch.errors",
    "OptionWarning": "isogrid.launch.errors",
    "DeviceError": "isogrid.launch.errors",
    "DeviceWarning": "isogrid.launch.errors",
    "Device": "isogrid.launch.devices",
    "device": "isogrid.launch.devices",
    "devices": "isogrid.launch.devices",
    "use": "isogrid.launch.devices",
    "default_options": "isogrid.launch.options",
    "supported_options": "isogrid.launch.devices",
    "Array": "isogrid.arrays.array",
    "array": "isogrid.launch.create",
    "empty": "isogrid.launch.create",
    "empty_like": "isogrid.launch.create",
    "full": "isogrid.launch.create",
    "ones": "isogrid.launch.create",
    "zeros": "isogrid.launch.create",
    "zeros_like": "isogrid.launch.create",
    "from_dlpack": "isogrid.launch.create",
    "synchronize": "isogrid.launch.create",
    "record": "isogrid.launch.record",
    "Stream": "isogrid.launch.stream",
    "Event": "isogrid.launch.stream",
    "profile": "isogrid.launch.profile",
    "memory_statistics": "isogrid.launch.create",
    "release_memory": "isogrid.launch.create",
    "DeviceMemoryError": "isogrid.runtimes.memory",
    "offload": "isogrid.offloading.function",
    "OffloadWarning": "isogrid.offloading.finding",
    "Trap": "isogrid.traps",
    "KernelIndexError": "isogrid.traps",
    "KernelOverflowError": "isogrid.traps",
    "KernelZeroDivisionError": "isogrid.traps",
    "KernelValueError": "isogrid.traps",
    "KernelAssertionError": "isogrid.traps",
    "KernelRaceError": "isogrid.traps",
    "IsogridError": "isogrid.support.errors",
    "KernelRefused": "isogrid.support.errors",
    "KnownLimit": "isogrid.support.errors",
    "CompilerBug": "isogrid.support.errors",
    "OutsideKernelError": "isogrid.support.errors",
    "dims": "isogrid.dims",
}

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "Dim",
    "In",
    "InOut",
    "Int",
    "Out",
    "Real",
    "cdiv",
    "func",
    "trust",
    "tunable",
    *DTYPES,
    *FUNCTIONS,
    *_LATE,
]


#: What the contract names and this version has not.
_NOT_YET = {
    "autotune": "choose options and tunables with .options(...)",
    "fuse": "write one kernel",
    "struct": "use an array for each field",
    "DeviceLost": "a driver's error ends a launch",
    "LaunchTimeout": "launches have no limit of time",
}


def __getattr__(name: str) -> Any:
    home = _LATE.get(name)
    if home is None:
        later = f": a later version brings it; {_NOT_YET[name]}" if name in _NOT_YET else ""
        raise AttributeError(f"module 'isogrid' has no attribute {name!r}{later}")
    module = importlib.import_module(home)
    value = module if home == f"isogrid.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})


importlib.import_module("isogrid.launch.warm")
