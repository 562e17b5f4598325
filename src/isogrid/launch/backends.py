"""The devices of this version, one line each: where the runtime is, imported when it is first used."""

import functools
from collections.abc import Mapping
from typing import Any, Final, cast

from isogrid.runtimes.protocol import Presence, Runtime
from isogrid.support.imports import imported
from isogrid.support.locks import new_lock

#: Device name to the runtime's module and class.
RUNTIMES: Final[dict[str, tuple[str, str]]] = {
    "cpu": ("isogrid.backends.cpu.runtime", "CpuRuntime"),
    "interp": ("isogrid.backends.interp.runtime", "InterpRuntime"),
    "cuda": ("isogrid.backends.cuda.runtime", "CudaRuntime"),
}

#: Families of numbered devices that a machine may lack, and what looks for them.
NUMBERED: Final = {"cuda": ("isogrid.backends.cuda.presence", "presence")}

#: Devices that the contract names; their option groups are accepted although this version does not run on them.
PLANNED: Final = ("opencl", "vulkan", "webgpu", "metal", "hip")

#: Devices to prefer when nobody names one: the best that works comes first, `cpu` is the last resort.
PREFERRED: Final[list[str]] = ["cuda"]

LAST_RESORT: Final = "cpu"

#: The device that follows every access of a kernel with `races="check"`.
TRACKER: Final = "interp"

#: What tests a device at its first use. It launches kernels, so nothing that launches imports it.
_SELF_TEST: Final = ("isogrid.launch.selftest", "trouble")

#: What turns a kernel into checked and optimised IR.
_COMPILER: Final = ("isogrid.frontend.build", "isogrid.pipeline")

_LOCK: Final = new_lock()
_MADE: Final[dict[str, Any]] = {}


def family(name: str) -> str:
    """`cuda` of `cuda:1`: what the options of a device and its runtime go by."""
    return name.partition(":")[0]


def presence(name: str) -> Presence:
    """Which devices of a family this machine has, or why it has none."""
    return _class(*NUMBERED[name])() if name in NUMBERED else Presence((name,))


def trouble_of(name: str) -> str:
    """What the self-test of a device finds, "" if nothing."""
    module, function = _SELF_TEST
    return getattr(imported(module), function)(name)


def runtime(name: str) -> Runtime:
    """The one runtime of a device in this process."""
    base, _, number = name.partition(":")
    with _LOCK:
        made = _MADE.get(name)
        if made is None:
            kind = _class(*RUNTIMES[base])
            made = _MADE[name] = kind(int(number or 0)) if base in NUMBERED else kind()
        return cast(Runtime, made)


def load_compiler(device: str = "") -> None:
    """Import the compiler, and what makes code for a device, in one go."""
    for module in (*_COMPILER, *(runtime_attribute(device, "compiler_modules", ()) if device else ())):
        imported(module)


def runtime_attribute(name: str, attribute: str, otherwise: Any) -> Any:
    """A class attribute of a runtime without starting it, `otherwise` where it has none."""
    return getattr(_class(*RUNTIMES[family(name)]), attribute, otherwise)


def option_types(name: str) -> Mapping[str, Any]:
    """Keys of a device's own option group with the types of their values."""
    if family(name) not in RUNTIMES:
        return {}
    return cast(Mapping[str, Any], runtime_attribute(name, "backend_options", {}))


def made_runtimes() -> list[str]:
    """Names of the devices that this process has used, in the order of their first use."""
    return list(_MADE)


@functools.cache
def _class(module: str, name: str) -> Any:
    return getattr(imported(module), name)
