"""Recorded launches as one graph of the driver, replayed by a single call."""

from collections.abc import Sequence
from typing import Any

from isogrid.backends.cuda.launch import Launch
from isogrid.backends.cuda.machine import Machine, keeps_context
from isogrid.backends.cuda.queue import Queue
from isogrid.runtimes.memory import Block, Poison


class DeviceGraph:
    """An instantiated graph. It lives as long as this object, with the arrays that it works on."""

    def __init__(self, queue: Queue, launches: Sequence[Launch], written: Sequence[Block]) -> None:
        self.queue = queue
        self.driver = queue.driver
        self.launches = tuple(launches)
        self.touched = tuple(dict.fromkeys(block for launch in launches for block in launch.blocks.values()))
        self.written = tuple(dict.fromkeys(written))
        self.executable = self._instantiate()

    def _instantiate(self) -> int:
        stream = self.driver.create_stream()
        self.driver.begin_capture(stream)
        try:
            for launch in self.launches:
                launch.start_in(stream)
        finally:
            graph = self.driver.end_capture(stream)
            self.driver.destroy_stream(stream)
        try:
            return self.driver.instantiate(graph)
        finally:
            self.driver.destroy_graph(graph)

    @property
    def machine(self) -> Machine:
        return self.queue.machine

    @keeps_context
    def __call__(self) -> None:
        """Queue the whole graph, unless a trap that has not been raised stands behind one of its arrays."""
        queue = self.queue
        with queue.lock:
            poisons = self._poisons()
            if poisons:
                queue.collect()
                poisons = self._poisons()
            if poisons:
                for block in self.written:
                    block.poisons = poisons
                return
            stream = queue.order(self.touched)
            self.driver.launch_graph(self.executable, stream)

    def _poisons(self) -> tuple[Poison, ...]:
        return tuple(dict.fromkeys(poison for block in self.touched for poison in block.live_poisons()))

    def __del__(self) -> None:
        executable: Any = getattr(self, "executable", None)
        if executable is not None:
            self.driver.destroy_executable(executable)
