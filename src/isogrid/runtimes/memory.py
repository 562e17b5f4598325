"""Memory of a device as arrays see it: blocks, copies, fills, and the traps of launches that are still queued.

A launch that trapped leaves its arrays untouched and poisons them: later launches that touch them do nothing, and what
those would have written is poisoned too, until the trap has been raised, once.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeAlias

import numpy as np

from isogrid.traps import Trap

Bytes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"


class Poison:
    """A queued launch that has trapped, or may have. `live` until its trap was raised or it turned out not to trap."""

    __slots__ = ("live", "trap")

    def __init__(self, trap: Trap | None = None) -> None:
        self.live = True
        self.trap = trap

    def clear(self) -> None:
        """The trap was raised, or there was none."""
        self.live = False


class Block:
    """A piece of a device's memory. It goes back to its memory when nobody refers to it any more.

    `owner` is what holds the bytes, where that is not the memory itself. A `foreign` block belongs to another library;
    `left_library` says that others may hold the address. `stream` is the stream that used the block last. `used`
    says of a foreign block that launches may be queued on it when it is dropped.
    """

    __slots__ = (
        "__weakref__",
        "address",
        "foreign",
        "left_library",
        "memory",
        "owner",
        "poisons",
        "size",
        "stream",
        "used",
    )

    def __init__(
        self, memory: "Memory", address: int, size: int, owner: Any = None, foreign: bool = False, stream: int = 0
    ) -> None:
        self.memory = memory
        self.address = address
        self.size = size
        self.owner = owner
        self.foreign = foreign
        self.left_library = foreign
        self.stream = stream
        self.used = False
        self.poisons: tuple[Poison, ...] = ()

    def live_poisons(self) -> tuple[Poison, ...]:
        """Launches whose trap, if they have one, has not been raised."""
        if self.poisons:
            self.poisons = tuple(poison for poison in self.poisons if poison.live)
        return self.poisons

    def __del__(self) -> None:
        self.memory.give_back(self)


class Memory(Protocol):
    """What a device's memory can do. Addresses are plain numbers; every call is ordered behind what is queued."""

    @property
    def device(self) -> str:
        """Name of the device."""
        ...

    @property
    def number(self) -> int:
        """Number of the device among those of its family."""
        ...

    @property
    def is_host(self) -> bool:
        """Whether the processor can read it."""
        ...

    def entered(self) -> AbstractContextManager[None]:
        """A block in which other libraries take this device for the thread's."""
        ...

    def take(self, size: int) -> Block:
        """A block of at least that many bytes, not initialised. Raises `DeviceMemoryError`."""
        ...

    def give_back(self, block: Block) -> None:
        """A block that nobody refers to any more; the device may still be at work on it. A foreign one has an owner
        that must live until then."""
        ...

    def read(self, target: Bytes, block: Block, address: int) -> None:
        """Copy to the host and wait. Raises the first pending trap of the device in its place."""
        ...

    def write(self, block: Block, address: int, source: Bytes) -> None:
        """Copy from the host; `source` may change when the call returns."""
        ...

    def reaches(self, other: "Memory") -> bool:
        """Whether `copy` takes sources of that memory."""
        ...

    def copy(self, target: Block, target_address: int, source: Block, source_address: int, size: int) -> None:
        """Copy from a block of a memory that this one reaches."""
        ...

    def fill(self, block: Block, address: int, element: bytes, count: int) -> None:
        """Repeat an element."""
        ...

    def share(self, block: Block, stream: Any) -> None:
        """Order a stream of another library behind what is queued on the block, and raise the block's traps."""
        ...

    def follow(self, stream: int) -> None:
        """Order what comes next behind what another library has queued in its stream."""
        ...

    def release(self) -> int:
        """Give memory that is kept for later back to the system; returns its bytes."""
        ...

    def statistics(self) -> dict[str, int]:
        """Bytes in use, reserved and at most in use, and counts of requests."""
        ...


class DeviceMemoryError(MemoryError):
    """The device has no memory left, also after everything that was kept for later had been given back."""


class HostQueue:
    """Launches on a device that finishes each at once, with the traps of a device that does not."""

    def __init__(self) -> None:
        self.pending: list[Poison] = []

    def launch(self, touched: list[Block], written: list[Block], run: Any) -> bool:
        """Run, unless a touched block is poisoned. A trap poisons what the launch would have written."""
        poisons = tuple(dict.fromkeys(poison for block in touched for poison in block.live_poisons()))
        if poisons:
            for block in written:
                block.poisons = tuple(dict.fromkeys((*block.live_poisons(), *poisons)))
            return False
        try:
            run()
        except Trap as trap:
            poison = Poison(trap.with_traceback(None))  # its frames hold the arguments of the call
            self.pending.append(poison)
            for block in written:
                block.poisons = (*block.live_poisons(), poison)
        return True

    def settle(self) -> None:
        """Raise the first trap that has not been raised."""
        if self.pending:
            self._raise(self.pending[0])

    def access(self, block: Block) -> None:
        """The host touches the block: raise the first trap that stands behind its contents."""
        poisons = block.live_poisons()
        if poisons:
            self._raise(poisons[0])

    def _raise(self, poison: Poison) -> None:
        self.pending.remove(poison)
        poison.clear()
        if poison.trap is not None:
            raise poison.trap.with_traceback(None)


class HostMemory:
    """Ordinary memory, for the devices that run on the processor."""

    is_host = True
    number = 0

    def __init__(self, device: str) -> None:
        self.device = device
        self.queue = HostQueue()
        self._used = 0
        self._most = 0
        self._requests = 0

    def entered(self) -> AbstractContextManager[None]:
        return nullcontext()

    def take(self, size: int) -> Block:
        """Bytes from NumPy, aligned to a cache line."""
        try:
            content = np.empty(size + 64, np.uint8)
        except MemoryError:
            raise DeviceMemoryError(f"{self.device} has no memory for an array of {size} bytes") from None
        address = -(-content.ctypes.data // 64) * 64
        self._requests += 1
        self._used += size
        self._most = max(self._most, self._used)
        return Block(self, address, size, owner=content)

    def give_back(self, block: Block) -> None:
        """NumPy frees the bytes with their owner."""
        if not block.foreign:
            self._used -= block.size

    def read(self, target: Bytes, block: Block, address: int) -> None:
        self.queue.settle()
        np.copyto(target, host_bytes(block, address, target.size))

    def write(self, block: Block, address: int, source: Bytes) -> None:
        self.queue.access(block)
        np.copyto(host_bytes(block, address, source.size), source)

    def reaches(self, other: Memory) -> bool:
        return other is self

    def copy(self, target: Block, target_address: int, source: Block, source_address: int, size: int) -> None:
        self.queue.access(target)
        self.queue.access(source)
        np.copyto(host_bytes(target, target_address, size), host_bytes(source, source_address, size))

    def fill(self, block: Block, address: int, element: bytes, count: int) -> None:
        self.queue.access(block)
        place = host_bytes(block, address, len(element) * count)
        place.reshape(count, len(element))[...] = np.frombuffer(element, np.uint8)

    def share(self, block: Block, stream: Any) -> None:
        self.queue.access(block)

    def follow(self, stream: int) -> None:
        """There are no streams on the host."""

    def release(self) -> int:
        """Nothing is kept."""
        return 0

    def statistics(self) -> dict[str, int]:
        return {"used": self._used, "most_used": self._most, "reserved": self._used, "requests": self._requests}


def host_bytes(block: Block, address: int, size: int) -> Bytes:
    """Bytes of a block in ordinary memory, in place; they keep the block alive."""
    return bytes_at(address, size, block)


def bytes_at(address: int, size: int, owner: object = None) -> Bytes:
    """Bytes at an address that the processor reads; they keep `owner` alive."""
    if size == 0:
        return np.empty(0, np.uint8)
    return np.asarray(_Exposed(owner, address, size))


class _Exposed:
    """Bytes for NumPy's array interface."""

    def __init__(self, owner: object, address: int, size: int) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}
