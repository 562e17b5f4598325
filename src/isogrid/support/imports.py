"""Imports that come late, while a program runs: no foreign code runs within one, and no fork cuts one in two.

A finaliser that the garbage collector calls during an import may launch a kernel, which needs the modules that are half
there, or waits for a lock whose holder waits for this import. And the child of a fork finds the locks of modules that
other threads were importing held for ever. So the compiler and devices are imported by `imported`, and a fork waits for
all imports of this package and of llvmlite.
"""

import gc
import importlib
import os
import sys
import threading
import time
from types import ModuleType
from typing import Any, Final

from isogrid.support.locks import new_lock

#: Longest time that a fork waits for imports, in seconds: the child of one that has waited in vain may hang.
LONGEST_WAIT: Final = 20.0
#: Packages whose modules are imported late.
_OURS: Final = ("isogrid", "llvmlite")
_LOCK: Final = new_lock()
_DONE: Final[dict[str, ModuleType]] = {}
#: A fork that is about to happen holds the lock of imports.
_FORKING: Final[list[bool]] = []
_imp: Final[Any] = sys.modules["_imp"]


def imported(name: str) -> ModuleType:
    """The module of this name, imported if it is not there; the garbage collector pauses meanwhile."""
    module = _DONE.get(name)
    if module is not None:
        return module
    with _LOCK:
        collects = gc.isenabled()
        gc.disable()
        try:
            module = importlib.import_module(name)
        finally:
            if collects:
                gc.enable()
        _DONE[name] = module
    return module


def _others_import() -> bool:
    """Whether another thread is importing a module of ours. Asked under the lock that the start of an import takes."""
    bootstrap: Any = sys.modules["_frozen_importlib"]
    locks: dict[str, Any] = getattr(bootstrap, "_module_locks", {})
    own = threading.get_ident()
    for name, reference in list(locks.items()):
        if name.partition(".")[0] in _OURS and getattr(reference(), "owner", None) not in (None, own):
            return True
    return False


def _await_imports() -> None:
    """Wait until no other thread imports a module of ours, and let none begin until the fork is done."""
    end = time.monotonic() + LONGEST_WAIT
    _imp.acquire_lock()
    while _others_import() and time.monotonic() < end:
        _imp.release_lock()
        time.sleep(0.001)
        _imp.acquire_lock()
    _FORKING.append(True)


def _let_imports_begin() -> None:
    if _FORKING:
        _FORKING.pop()
        _imp.release_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_await_imports, after_in_parent=_let_imports_begin, after_in_child=_let_imports_begin)
