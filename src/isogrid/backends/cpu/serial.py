"""Launches on the calling thread alone: what the CPU tier does where the native pool does not exist.

The same results and traps, one processor. Ctrl-C is seen between chunks, since each is one call from Python.
"""

import ctypes
from collections.abc import Callable
from typing import Final

from isogrid.backends.cpu.layout import INTERRUPT_SLOT, SLOT_BYTES
from isogrid.backends.cpu.pool import LAUNCH_DONE, Context

#: Units that one call from Python runs: long enough to hide the call, short enough for Ctrl-C.
_CHUNK: Final = 4096

_RANGE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def launch(context: int, block: int, units: int) -> int:
    """`isogrid_launch` of the native pool."""
    return _in_order(Context.from_address(context).run, block, 0, units)


def precise(context: int, block: int, low: int, high: int) -> int:
    """`isogrid_precise` of the native pool."""
    return _in_order(Context.from_address(context).precise, block, low, high)


def _in_order(address: int, block: int, low: int, high: int) -> int:
    flag = ctypes.c_int32(0)
    ctypes.c_int64.from_address(block + INTERRUPT_SLOT * SLOT_BYTES).value = ctypes.addressof(flag)
    run: Callable[[int, int, int], int] = _RANGE(address)
    for start in range(low, high, _CHUNK):
        if run(block, start, min(start + _CHUNK, high)):
            return start
    return LAUNCH_DONE
