"""The `cuda` device: compiles kernel IR to machine code through LLVM and the driver, and queues launches on it."""

from collections.abc import Mapping
from typing import Any

from isogrid.backends.cuda.machine import machine
from isogrid.ir import kernel as k
from isogrid.runtimes.cuda_driver import DriverAbsent
from isogrid.runtimes.protocol import BoundLaunch, Presence
from isogrid.support.errors import KnownLimit

#: The oldest processors that LLVM's PTX reaches.
OLDEST_CAPABILITY = (7, 0)


class CudaRuntime:
    """Runtime of one NVIDIA device."""

    #: Helpers are always inlined here.
    ignored_hints = frozenset({"always_inline"})
    #: Keys of this device's own options and the types of their values.
    backend_options: Mapping[str, type] = {
        "max_registers": int,
        "min_blocks_per_sm": int,
        "codegen": str,
        "arch": str,
    }

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.name = "cuda" if number == 0 else f"cuda:{number}"

    @staticmethod
    def presence() -> Presence:
        """The devices that code can be made for."""
        try:
            found = machine()
        except DriverAbsent as absent:
            return Presence((), str(absent), absent.remedy)
        names = ["cuda" if n == 0 else f"cuda:{n}" for n, c in enumerate(found.capabilities) if c >= OLDEST_CAPABILITY]
        if names:
            return Presence(tuple(names))
        major, minor = found.capabilities[0]
        return Presence(
            (),
            f"{found.names[0]} has compute capability {major}.{minor}, and isogrid needs 7.0",
            "run kernels on the cpu, or use a card of the Volta generation or newer",
        )

    @property
    def description(self) -> str:
        """One line for `isogrid devices`."""
        found = machine()
        major, minor = found.capabilities[self.number]
        memory = found.driver.device_memory(self.number) >> 20
        speaks = f"driver speaks CUDA {found.version // 1000}.{found.version % 1000 // 10}"
        return f"{found.names[self.number]}, compute capability {major}.{minor}, {memory} MiB, {speaks}"

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> Any:
        raise KnownLimit("the cuda device does not compile kernels yet")

    def launch(self, artifact: Any, bound: BoundLaunch) -> None:
        raise KnownLimit("the cuda device does not launch kernels yet")
