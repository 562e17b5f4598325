"""CUDA C of peers.cu on the card: compiled by NVRTC with default flags, launched through the driver."""

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.cuda.work import Launch
from isogrid.backends.cuda.nvrtc import compile_nvrtc
from isogrid.runtimes.cuda_driver import Driver

SOURCE: Final = Path(__file__).with_name("peers.cu")


class Peers:
    """The functions of peers.cu, loaded in the driver's current context."""

    def __init__(self, driver: Driver, capability: tuple[int, int]) -> None:
        major, minor = capability
        image = compile_nvrtc(SOURCE.read_text(), f"sm_{major}{minor}")
        self.driver = driver
        self.module = driver.load(image)
        self.queue = ctypes.CDLL("libcuda.so.1").cuLaunchKernel

    def prepare(self, launches: Sequence[Launch], arrays: Mapping[str, Any]) -> "Prepared":
        """Launches with their arguments packed once."""
        return Prepared([self._pack(launch, arrays) for launch in launches], self.queue)

    def _pack(self, launch: Launch, arrays: Mapping[str, Any]) -> tuple[Any, ...]:
        values = [ctypes.c_void_p(arrays[a].address) if isinstance(a, str) else a for a in launch.arguments]
        slots = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))
        function = ctypes.c_void_p(self.driver.function(self.module, launch.function))
        words = (function, *launch.grid, *launch.block, 0, None, slots, None)
        # The values must live as long as the slots that point to them.
        return words, values


class Prepared:
    """A row of launches, ready to be queued again and again in the default stream."""

    def __init__(self, packed: Sequence[tuple[Any, ...]], queue: Any) -> None:
        self.packed = packed
        self.queue = queue

    def __call__(self) -> None:
        for words, _ in self.packed:
            result = self.queue(*words)
            if result:
                raise RuntimeError(f"a launch of CUDA C failed with error {result}")
