"""Locks that a fork leaves open, and that the thread which holds one may take again.

A fork copies the locks that other threads hold, and none of those threads is there to open them in the child. And
finalisers and signal handlers run between any two steps of a thread: they may come by a lock that it holds.
"""

import os
import sys
import threading
import weakref
from typing import Any, Final

_ALL: Final[dict[int, "weakref.ref[Any]"]] = {}
_HELD: Final[list[Any]] = []


def new_lock() -> Any:
    """A lock that its holder may take again. In the child of a fork it is open, unless the thread that forks has it."""
    lock = threading.RLock()
    number = id(lock)
    _ALL[number] = weakref.ref(lock, lambda _: _ALL.pop(number, None))
    return lock


def _hold_compiler() -> None:
    """LLVM has locks of its own, so no thread may be inside it when the process is copied."""
    binding = sys.modules.get("llvmlite.binding.ffi")
    lock: Any = getattr(getattr(binding, "lib", None), "_lock", None)
    if lock is not None:
        lock.__enter__()
        _HELD.append(lock)


def _release_compiler() -> None:
    if _HELD:
        _HELD.pop().__exit__(None, None, None)


def _open_all() -> None:
    """What the holders were about to do is not half done: each step under these locks is one step of Python."""
    _release_compiler()
    for reference in list(_ALL.values()):
        lock = reference()
        if lock is not None and not lock._is_owned():
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_compiler, after_in_parent=_release_compiler, after_in_child=_open_all)
