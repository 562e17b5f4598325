"""Whether somebody watches launches: a recording that takes them, a profile that times them.

While anybody does, every launch goes through the launcher in Python: native callables stand aside.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from isogrid.launch.backends import made_runtimes, runtime
from isogrid.launch.options import forget_native_callables
from isogrid.support.locks import new_lock

if TYPE_CHECKING:
    from isogrid.launch.profile import Profile
    from isogrid.launch.record import Graph


class _Watching:
    """How many watchers this process has. Under `lock` that changes, and everybody is told."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = new_lock()
        self.profile: Profile | None = None


WATCHING: Final = _Watching()
_GRAPH: ContextVar["Graph | None"] = ContextVar("isogrid_graph", default=None)


@contextmanager
def watching() -> Generator[None]:
    """Let every launch come through the launcher."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(by: int) -> None:
    with WATCHING.lock:
        WATCHING.count += by
        forget_native_callables()
        for name in made_runtimes():
            device: Any = runtime(name)
            if hasattr(device, "watch"):
                device.watch(WATCHING.count > 0)


def is_watched() -> bool:
    """Whether launches are recorded or timed."""
    return WATCHING.count > 0


def current_profile() -> "Profile | None":
    """The profile that times the launches of this process."""
    return WATCHING.profile


def current_graph() -> "Graph | None":
    """The recording that takes the launches of this thread or task."""
    return _GRAPH.get()


@contextmanager
def taken_by(graph: "Graph") -> Generator[None]:
    """Let a recording take the launches of this thread or task."""
    token = _GRAPH.set(graph)
    try:
        with watching():
            yield
    finally:
        _GRAPH.reset(token)
