"""Memory of one GPU: blocks from a pool in front of the driver, copies and fills in stream order."""

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from isogrid.backends.cuda.machine import Machine, keeps_context
from isogrid.backends.cuda.transfer import Staging
from isogrid.runtimes.cuda_driver import OUT_OF_MEMORY, DriverError
from isogrid.runtimes.memory import Block, Bytes, DeviceMemoryError, Memory, bytes_at
from isogrid.runtimes.pool import OutOfMemory, Pool

if TYPE_CHECKING:
    from isogrid.backends.cuda.queue import Queue


class CudaMemory:
    """What arrays and launches ask of a GPU's memory."""

    is_host = False

    def __init__(self, machine: Machine, number: int, device: str) -> None:
        self.machine = machine
        self.number = number
        self.device = device
        self.driver = machine.driver
        self.pool = Pool(self._obtain, self._give_up, self._wait)
        self.staging = Staging(machine.driver, partial(machine.enter, number))
        #: Set by the queue of this device, which orders everything.
        self.queue: Queue

    # --- blocks ------------------------------------------------------------------------------------------------------

    @contextmanager
    def entered(self) -> Generator[None]:
        before = self.driver.thread_context()
        self.machine.enter(self.number)
        try:
            yield
        finally:
            if before:
                self.driver.current_context(before)

    @keeps_context
    def take(self, size: int) -> Block:
        self.machine.enter(self.number)
        return self.take_inside(size)

    def take_inside(self, size: int) -> Block:
        """The same where the thread is in the context of the device already."""
        try:
            address, rounded, stream = self.pool.take(size)
        except OutOfMemory:
            raise DeviceMemoryError(self._nothing_left(size)) from None
        return Block(self, address, rounded, stream=max(stream, 0))

    @keeps_context
    def give_back(self, block: Block) -> None:
        if not block.foreign:
            self.pool.give_back(block.address, block.size, block.stream)
        elif block.used:
            self.queue.outlive(block)

    @keeps_context
    def release(self) -> int:
        self.machine.enter(self.number)
        return self.pool.release()

    def statistics(self) -> dict[str, int]:
        return self.pool.statistics()

    def _obtain(self, size: int) -> int:
        try:
            return self.driver.allocate(size)
        except DriverError as error:
            if error.name == OUT_OF_MEMORY:
                raise OutOfMemory from None
            raise

    def _give_up(self, address: int) -> None:
        self.driver.free(address)

    def _wait(self) -> None:
        self.driver.synchronise()

    def _nothing_left(self, size: int) -> str:
        free, total = self.driver.memory_free(), self.driver.device_memory(self.number)
        return (
            f"{self.device} has no memory for {_amount(size)}: {_amount(self.pool.used)} are in use by arrays of this "
            f"process, and {_amount(free)} of {_amount(total)} are free"
        )

    # --- contents ----------------------------------------------------------------------------------------------------

    @keeps_context
    def read(self, target: Bytes, block: Block, address: int) -> None:
        self.queue.settle()
        if target.size == 0:
            return
        stream = self.queue.order([block])
        with self.queue.timed("copy out", "array", stream, target.size):
            self.staging.copy_out(target, address, stream)

    @keeps_context
    def pinned(self, size: int) -> Bytes:
        """Host memory that the GPU writes directly. It is there until the process ends."""
        self.machine.enter(self.number)
        return bytes_at(self.driver.allocate_host(size), size)

    @keeps_context
    def await_results(self, block: Block) -> None:
        """Wait for launches that write into pinned memory in the order of `block`. Raises the first pending trap."""
        if self.queue.pending:
            self.queue.settle()
        self.driver.synchronise_stream(self.queue.order([block]))

    @keeps_context
    def write(self, block: Block, address: int, source: Bytes) -> None:
        self.queue.access(block)
        if source.size:
            stream = self.queue.order([block])
            with self.queue.timed("copy in", "array", stream, source.size):
                self.staging.copy_in(address, source, stream)

    def reaches(self, other: Memory) -> bool:
        return isinstance(other, CudaMemory) and other.driver is self.driver

    @keeps_context
    def copy(self, target: Block, target_address: int, source: Block, source_address: int, size: int) -> None:
        self.queue.access(target)
        if isinstance(source.memory, CudaMemory) and source.memory is not self:
            self._copy_from_peer(source.memory, target, target_address, source, source_address, size)
            return
        self.queue.access(source)
        if size:
            stream = self.queue.order([target, source])
            self.driver.copy_within(target_address, source_address, size, stream)

    def _copy_from_peer(
        self, peer: "CudaMemory", target: Block, target_address: int, source: Block, source_address: int, size: int
    ) -> None:
        """Between two GPUs. The driver goes directly where the cards can, else through the host."""
        peer.queue.access(source)
        if size == 0:
            return
        driver, contexts = self.driver, self.machine.contexts
        before = peer.queue.mark([source])
        stream = self.queue.order([target])
        driver.wait_event(stream, before)
        here, there = contexts[self.number], contexts[peer.number]
        driver.copy_peer(target_address, here, source_address, there, size, stream)
        behind = self.queue.mark([target])
        driver.wait_event(peer.queue.order([source]), behind)
        driver.destroy_event(before)
        driver.destroy_event(behind)

    @keeps_context
    def fill(self, block: Block, address: int, element: bytes, count: int) -> None:
        self.queue.access(block)
        if count == 0:
            return
        stream = self.queue.order([block])
        while len(element) > 1 and element[: len(element) // 2] == element[len(element) // 2 :]:
            element, count = element[: len(element) // 2], count * 2
        value = int.from_bytes(element, "little")
        match len(element):
            case 1:
                self.driver.fill_bytes(address, value, count, stream)
            case 2:
                self.driver.fill_shorts(address, value, count, stream)
            case 4:
                self.driver.fill_words(address, value, count, stream)
            case _:
                self._fill_doubles(address, element, count, stream)

    def _fill_doubles(self, address: int, element: bytes, count: int, stream: int) -> None:
        """The driver has no fill of 8 bytes: fill a start, then double what is there."""
        done = min(count, 512)
        self.staging.copy_in(address, np.frombuffer(element * done, np.uint8), stream)
        while done < count:
            more = min(done, count - done)
            self.driver.copy_within(address + 8 * done, address, 8 * more, stream)
            done += more

    @keeps_context
    def share(self, block: Block, stream: Any) -> None:
        self.queue.share(block, stream)

    @keeps_context
    def follow(self, stream: int) -> None:
        self.machine.enter(self.number)
        self.queue.wait_for(self.queue.stream, stream)


def _amount(size: int) -> str:
    """`1.5 GiB`."""
    value = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} GiB"
