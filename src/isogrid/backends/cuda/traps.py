"""Where launches report their traps: status words on the device, mirrored in host memory, and the exceptions they are.

A status is `STATUS_WORDS` words: the trap record of a launch, then its poison word, all ones until it trapped or was
skipped. `restore` copies what it finds to the mirror, which the host reads after it has waited.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from isogrid.backends.cuda import layout
from isogrid.backends.cuda.layout import MIRROR_WORD, POISON_WORD
from isogrid.backends.cuda.support import STATUS_WORDS
from isogrid.ir import kernel as k
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.ir.types import Scalar
from isogrid.runtimes.cuda_driver import Driver
from isogrid.runtimes.memory import bytes_at
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.support.errors import CompilerBug
from isogrid.traps import Trap, trap_exception

_STATUSES: Final = 1024
_BYTES: Final = 8 * STATUS_WORDS
_NOTHING: Final = (1 << 64) - 1


class Statuses:
    """The status words of one device. All are clean (all ones) while nobody holds them."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._device = driver.allocate(_STATUSES * _BYTES)
        self._host = driver.allocate_host(_STATUSES * _BYTES)
        words = bytes_at(self._host, _STATUSES * _BYTES).view(np.uint64)
        self._mirror: np.ndarray[Any, np.dtype[np.uint64]] = words.reshape(_STATUSES, STATUS_WORDS)
        self._mirror[...] = _NOTHING
        self._mirror[:, MIRROR_WORD] = self._host + _BYTES * np.arange(_STATUSES, dtype=np.uint64)
        driver.copy_in(self._device, self._host, _STATUSES * _BYTES, 0)
        driver.synchronise()
        self._free = list(range(_STATUSES - 1, -1, -1))

    @property
    def room(self) -> int:
        """How many launches may still take one."""
        return len(self._free)

    def take(self) -> int:
        return self._free.pop()

    def record(self, number: int) -> int:
        """Device address of the trap record."""
        return self._device + number * _BYTES

    def poison(self, number: int) -> int:
        """Device address of the word that later launches wait for."""
        return self._device + number * _BYTES + 8 * POISON_WORD

    def mirror(self, number: int) -> int:
        """Address of the mirror."""
        return self._host + number * _BYTES

    def words(self, number: int) -> list[int]:
        """The mirrored record; read after the launch is done."""
        return self._mirror[number].tolist()

    def trapped(self) -> list[bool]:
        """Whether there is a trap, for every status."""
        return (self._mirror[:, layout.RECORD_KEY] != _NOTHING).tolist()

    def give_back(self, number: int, dirty: bool) -> None:
        """Nobody looks at it any more, and no launch that does is still running."""
        if dirty:
            self._mirror[number, :MIRROR_WORD] = _NOTHING
            self._driver.fill_bytes(self.record(number), 0xFF, 8 * MIRROR_WORD, 0)
            self._driver.synchronise_stream(0)
        self._free.append(number)


def too_many_wraps(words: Sequence[int]) -> bool:
    """Whether the watch of a launch had too little room to tell which total left its type."""
    return words[layout.RECORD_SITE] == layout.SITE_TOO_MANY


def trap_of(head: k.Kernel, sites: Sequence[TrapSite], bound: BoundLaunch, words: Sequence[int]) -> Trap:
    """The exception that a record describes."""
    number = words[layout.RECORD_SITE]
    if not 0 <= number < len(sites):
        raise CompilerBug(f"the trap record of `{head.name}` names no site: {words[: layout.RECORD_WORDS]}")
    site = sites[number]
    found = words[layout.RECORD_OPERANDS : layout.RECORD_OPERANDS + len(site.operands)]
    operands = [_value(word, type) for word, type in zip(found, site.operands, strict=True)]
    # The total of an array belongs to no thread.
    total = site.kind is TrapKind.TOTAL and bool(site.operands)
    thread = None if total else _thread(head, bound, words[layout.RECORD_KEY])
    return trap_exception(site, head.name, thread, operands)


def _thread(head: k.Kernel, bound: BoundLaunch, key: int) -> tuple[int, ...]:
    geometry = head.geometry
    if not head.grouped:
        return _place(key, bound.threads(geometry, False))
    number, local = divmod(key, geometry.group_size)
    group, lid = _place(number, bound.groups(geometry)), _place(local, geometry.block)
    return tuple(g * b + at for g, b, at in zip(group, geometry.block, lid, strict=True))


def _place(number: int, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Coordinates of linear position `number` in a C-ordered box."""
    coordinates: list[int] = []
    for extent in reversed(extents):
        number, at = divmod(number, extent)
        coordinates.append(at)
    return tuple(reversed(coordinates))


def _value(word: int, type: Scalar) -> Any:
    data = word.to_bytes(8, "little")[: type.size]
    value = np.frombuffer(data, type.numpy)[0]
    if type.is_float:
        return value
    return bool(value) if type is Scalar.BOOL else int(value)
