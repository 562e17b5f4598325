"""The native side of this process: worker pool and launcher, loaded once, usable from every thread and after a fork.

On Linux with x86-64 launches run on all processors this process may use. Elsewhere there is no native side, and
`serial.py`'s launcher runs each launch on the calling thread: the same results, one processor.
"""

import ctypes
import functools
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from isogrid.backends.cpu.caches import most_cached
from isogrid.backends.cpu.loader import load_object
from isogrid.backends.cpu.objectcache import cached_object
from isogrid.backends.cpu.target import host_target
from isogrid.support.direct_call import enter_at, entry_text, wants_entry
from isogrid.support.records import dataclass
from isogrid.support.warn import warn_author

#: Results of a launch; anything not negative is the first unit of the lowest chunk in which a thread trapped.
LAUNCH_DONE: Final = -1

_PARTS: Final = ("pool.ll", "launch.ll", "call.ll", "reduce.ll")
_NAMES: Final = (
    "isogrid_setup",
    "isogrid_reset",
    "isogrid_ticks",
    "isogrid_statistic",
    "isogrid_set_streams",
    "isogrid_stream_due",
    "isogrid_checks_first",
    "isogrid_launch",
    "isogrid_precise",
    "isogrid_call",
    "isogrid_whole_call",
    "isogrid_reduce",
)
#: Bytes after which 10 to 20 ms for making a form of a kernel are won back by the next so many.
STREAMS_WORTH: Final = 1 << 29
_STATISTICS: Final = ("workers", "joined", "moved", "sleepers")
_MOST_WORKERS: Final = 255
#: What the module `signal` is made of; that one makes three enumerations, a millisecond of each start.
_signal: Final[Any] = sys.modules["_signal"] if "_signal" in sys.modules else importlib.import_module("signal")
#: The native side holds the addresses of these two; a program may replace them in their module.
_SIGNAL_FUNCTIONS: Final = (_signal.getsignal, _signal.default_int_handler)


class Context(ctypes.Structure):
    """What the native side keeps of one compiled kernel; `%Context` of pool.ll."""

    _fields_ = (
        ("run", ctypes.c_void_p),
        ("precise", ctypes.c_void_p),
        ("ticks_per_unit", ctypes.c_double),
        ("alignment", ctypes.c_int64),
        ("polls", ctypes.c_int64),
        ("alone", ctypes.c_void_p),
        ("stream", ctypes.c_void_p),
        ("halves", ctypes.c_void_p),
        ("shared_ticks", ctypes.c_double),
    )


class Stream(ctypes.Structure):
    """What the native side knows of a kernel that may write past the cache; `%Stream` of pool.ll."""

    _fields_ = (
        ("run", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
        ("slot", ctypes.c_int64),
        ("written", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("arrays", ctypes.POINTER(ctypes.c_int64)),
    )


class Halves(ctypes.Structure):
    """What the native side knows of a kernel whose large launches check first; `%Halves` of pool.ll."""

    _fields_ = (("check", ctypes.c_void_p), ("write", ctypes.c_void_p), ("written", ctypes.c_int64))


@dataclass(frozen=True, slots=True)
class NativePool:
    """Entry points of the native side. `launch` and `precise` take addresses of a `Context` and an argument block.

    Both raise KeyboardInterrupt (or what another signal handler raised) when the launch was stopped.
    """

    launch: Callable[[int, int, int], int]
    precise: Callable[[int, int, int, int], int]
    call_address: int
    whole_call_address: int
    reduce_address: int
    #: From how many bytes on launches write past the cache and check first, and how many a kernel's launches write
    #: before they may.
    set_streams: Callable[[int, int], None]
    #: Whether, before a launch of so many units, the form that does so should be made.
    stream_due: Callable[[int, int, int], int]
    #: Whether a launch that would save so many bytes should check first; it then needs the halves.
    checks_first: Callable[[int, int], int]
    _statistic: Callable[[int], int]
    _reset: Callable[[], None]

    def statistic(self, name: str) -> int:
        """Counts for tests and `explain`: workers, joined, moved, sleepers."""
        return self._statistic(_STATISTICS.index(name))


@functools.cache
def native_pool() -> NativePool:
    """The native side of this process. Workers start at the first launch that is worth one."""
    text = "".join(Path(__file__).with_name(name).read_text() for name in _PARTS)
    code = load_object(cached_object(text, "vectorise"), _NAMES)
    # A PYFUNCTYPE call keeps the GIL and raises what the native side has set; the launcher releases the GIL itself.
    launch = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    precise = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    statistic = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    reset = ctypes.PYFUNCTYPE(None)
    pool = NativePool(
        launch=launch(code["isogrid_launch"]),
        precise=precise(code["isogrid_precise"]),
        call_address=code["isogrid_call"],
        whole_call_address=code["isogrid_whole_call"],
        reduce_address=code["isogrid_reduce"],
        set_streams=ctypes.PYFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(code["isogrid_set_streams"]),
        stream_due=launch(code["isogrid_stream_due"]),
        checks_first=ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(code["isogrid_checks_first"]),
        _statistic=statistic(code["isogrid_statistic"]),
        _reset=reset(code["isogrid_reset"]),
    )
    _set_up(code.addresses)
    if wants_entry():
        enter_at(load_object(cached_object(entry_text(), "vectorise"), ("enter",))["enter"])
    pool.set_streams(most_cached(usable_processors()), STREAMS_WORTH)
    pool._reset()  # pyright: ignore[reportPrivateUsage]
    os.register_at_fork(after_in_child=pool._reset)  # pyright: ignore[reportPrivateUsage]
    return pool


def _set_up(addresses: dict[str, int]) -> None:
    setup = ctypes.PYFUNCTYPE(None, ctypes.c_int64, ctypes.c_double, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(
        addresses["isogrid_setup"]
    )
    workers = min(usable_processors() - 1, _MOST_WORKERS)
    placement = _places_workers()
    setup(workers, _ticks_per_us(addresses), placement, *map(id, _SIGNAL_FUNCTIONS))


def _ticks_per_us(addresses: dict[str, int]) -> float:
    """Speed of the processor's time stamp counter, measured over a fifth of a millisecond.

    Each end is a reading of the counter between two of the clock; the pair that took least counts, since on a busy
    machine this thread may lose the processor between any two readings.
    """
    ticks: Callable[[], int] = ctypes.PYFUNCTYPE(ctypes.c_int64)(addresses["isogrid_ticks"])

    def reading() -> tuple[int, int]:
        best = (1 << 62, 0, 0)
        for _ in range(5):
            before = time.perf_counter_ns()
            count = ticks()
            after = time.perf_counter_ns()
            best = min(best, (after - before, before + after >> 1, count))
        return best[1:]

    start, first = reading()
    while time.perf_counter_ns() - start < 200_000:
        pass
    end, last = reading()
    return max((last - first) / ((end - start) / 1000), 1.0)


def _places_workers() -> bool:
    chosen = os.environ.get("ISOGRID_PLACEMENT", "")
    if chosen not in ("", "0", "1"):
        warn_author(f"ISOGRID_PLACEMENT={chosen} is neither 0 nor 1; workers are placed", RuntimeWarning)
    return chosen != "0"


def usable_processors() -> int:
    """Processors that this process may use: its affinity mask, and the processor share of its control group.

    `ISOGRID_THREADS` overrides it.
    """
    chosen = os.environ.get("ISOGRID_THREADS", "")
    if chosen.isdecimal() and int(chosen) > 0:
        return int(chosen)
    if chosen:
        warn_author(f"ISOGRID_THREADS={chosen} is no number from 1 on; all processors are used", RuntimeWarning)
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, _group_share()))


def _group_share() -> int:
    """Whole processors that a container's limit leaves, rounded up; a large number where there is no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return -(-int(quota) // int(period))
    except (OSError, ValueError):
        return 1 << 16


def is_supported() -> bool:
    """Whether the native side exists for this platform and this Python."""
    return host_target().is_native_pool
