"""The quick call of a reducing loop whose arrays are on a GPU: the launch, and the levels of the tree behind it.

The last level writes the results into pinned memory of the host, so that nothing is copied.

The arrays in between are kept for the next call of the same size, so that its launches of the tree are all known.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from isogrid.arrays.array import Array
from isogrid.launch.create import memory_of
from isogrid.launch.kernel_value import OF_THE_AUTHOR, Kernel
from isogrid.offloading.tree import BLOCK
from isogrid.runtimes.memory import Block
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass

#: What makes the ordinary call do everything again; only where the loop writes no array.
AGAIN: Final = object()

#: Blocks beyond which the ordinary call takes over.
MOST_BLOCKS: Final = 1 << 22

#: Results stand this far apart, so that each is where a kernel may expect an array.
_SLOT: Final = 16
#: Sizes that arrays are kept for, and sets of arrays of one size: calls in several threads need one each.
_MOST_SIZES: Final = 4
_MOST_SETS: Final = 4


@dataclass(frozen=True, slots=True)
class _Between:
    """What lies between a launch and its results, for one number of blocks. `folds` are the launches of the tree with
    their arrays; the last ones write to `arrived`, pinned memory of the host, in the order of `results`, a block of the
    device. `values` is what arrives, each as its type."""

    partials: tuple[Array, ...]
    folds: tuple[Callable[..., None], ...]
    results: Block
    arrived: "np.ndarray[Any, np.dtype[np.uint8]]"
    values: tuple["np.ndarray[Any, Any]", ...]


class _Kept:
    """The arrays of calls that are over."""

    def __init__(self, device: str, kinds: Sequence["np.dtype[Any]"], folds: Sequence[Kernel]) -> None:
        self.memory: Final[Any] = memory_of(device)
        self.kinds: Final = tuple(kinds)
        self.folds: Final = tuple(folds)
        self.sets: Final[dict[int, list[_Between]]] = {}
        self.lock: Final = new_lock()
        size = _SLOT * len(self.kinds)
        room = self.memory.pinned(size * _MOST_SETS * _MOST_SIZES)
        #: Where results may arrive; each set of arrays has one.
        self.places: Final = [room[at : at + size] for at in range(0, room.size, size)]

    def take(self, blocks: int) -> _Between:
        """Arrays that no other call has."""
        with self.lock:
            known = self.sets.get(blocks)
            if known:
                return known.pop()
            arrived = self.places.pop() if self.places else None
        # Pinned memory stays for the process: places that are given back serve later calls.
        return self._new(blocks, self.memory.pinned(_SLOT * len(self.kinds)) if arrived is None else arrived)

    def give_back(self, blocks: int, between: _Between) -> None:
        """The results have been read, so nothing on the GPU needs the arrays any more."""
        with self.lock:
            known = self.sets.get(blocks)
            if known is None:
                if len(self.sets) >= _MOST_SIZES:
                    self.places.extend(dropped.arrived for one in self.sets.values() for dropped in one)
                    self.sets.clear()
                known = self.sets[blocks] = []
            if len(known) < _MOST_SETS:
                known.append(between)
            else:
                self.places.append(between.arrived)

    def _new(self, blocks: int, arrived: "np.ndarray[Any, np.dtype[np.uint8]]") -> _Between:
        results = self.memory.take(arrived.size)
        partials: list[Array] = []
        folds: list[Callable[..., None]] = []
        for number, (kind, fold) in enumerate(zip(self.kinds, self.folds, strict=True)):
            last = Array(results, arrived.ctypes.data + _SLOT * number, (1,), kind)
            values = last if blocks == 1 else self._empty(blocks, kind)
            partials.append(values)
            while values.size > 1:
                count = -(-values.size // BLOCK)
                level = last if count == 1 else self._empty(count, kind)
                folds.append(fold.bind(values, level))
                values = level
        views = [arrived[_SLOT * n : _SLOT * n + kind.itemsize].view(kind) for n, kind in enumerate(self.kinds)]
        return _Between(tuple(partials), tuple(folds), results, arrived, tuple(views))

    def _empty(self, count: int, kind: "np.dtype[Any]") -> Array:
        block = self.memory.take(count * kind.itemsize)
        return Array(block, block.address, (count,), kind)


def far_call(
    device: str,
    native: Callable[..., Any],
    trips: Callable[[Sequence[Any]], int],
    types: Sequence[Any],
    scalars: Sequence[Any],
    folds: Sequence[Kernel],
    finish: Callable[[Sequence[Any], list[Any]], Any],
    slow: Callable[..., Any],
) -> Callable[..., Any]:
    """A callable like the function; what it does not like, before anything is launched, it leaves to `slow`."""
    kept = _Kept(device, [np.dtype(type) for type in types], folds)
    await_results = kept.memory.await_results

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            blocks = -(-trips(arguments) // BLOCK)
        except (AttributeError, IndexError, TypeError):
            return slow(*arguments, **keywords)
        if keywords or not 0 < blocks < MOST_BLOCKS:
            return slow(*arguments, **keywords)
        between = kept.take(blocks)
        if native(*arguments, *scalars, *between.partials) is not None:
            kept.give_back(blocks, between)
            return slow(*arguments, **keywords)
        try:
            for fold in between.folds:
                fold()
            await_results(between.results)
            result = finish(arguments, [values[0] for values in between.values])
        except OF_THE_AUTHOR as error:
            raise error.with_traceback(None) from None
        kept.give_back(blocks, between)
        return slow(*arguments) if result is AGAIN else result

    return call
