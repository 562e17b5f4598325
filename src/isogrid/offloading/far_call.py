"""The quick call of a reducing loop whose arrays are on a GPU: the launch, the levels of the tree behind it, and one
element of each result brought back."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from isogrid.arrays.array import Array
from isogrid.launch.create import memory_of
from isogrid.launch.kernel_value import OF_THE_AUTHOR
from isogrid.offloading.placement import only_element
from isogrid.offloading.tree import BLOCK

#: What makes the ordinary call do everything again; only where the loop writes no array.
AGAIN: Final = object()

#: Blocks beyond which the ordinary call takes over.
MOST_BLOCKS: Final = 1 << 22


def far_call(
    device: str,
    native: Callable[..., Any],
    trips: Callable[[Sequence[Any]], int],
    types: Sequence[Any],
    scalars: Sequence[Any],
    folds: Sequence[Callable[..., Any]],
    finish: Callable[[Sequence[Any], list[Any]], Any],
    slow: Callable[..., Any],
) -> Callable[..., Any]:
    """A callable like the function; what it does not like, before anything is launched, it leaves to `slow`."""

    memory = memory_of(device)
    kinds = [np.dtype(type) for type in types]

    def empty(count: int, kind: Any) -> Array:
        block = memory.take(count * kind.itemsize)
        return Array(block, block.address, (count,), kind)

    def levels(values: Array, fold: Callable[..., Any]) -> Array:
        while values.size > 1:
            level = empty((values.size + BLOCK - 1) // BLOCK, values.dtype)
            fold(values, level)
            values = level
        return values

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            blocks = (trips(arguments) + BLOCK - 1) // BLOCK
        except (AttributeError, IndexError, TypeError):
            return slow(*arguments, **keywords)
        if keywords or not 0 < blocks < MOST_BLOCKS:
            return slow(*arguments, **keywords)
        partials = [empty(blocks, kind) for kind in kinds]
        if native(*arguments, *scalars, *partials) is not None:
            return slow(*arguments, **keywords)
        try:
            last = [levels(values, fold) for values, fold in zip(partials, folds, strict=True)]
            result = finish(arguments, [only_element(values) for values in last])
        except OF_THE_AUTHOR as error:
            raise error.with_traceback(None) from None
        return slow(*arguments) if result is AGAIN else result

    return call
