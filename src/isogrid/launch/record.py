"""`with ig.record() as g:` takes launches down without running them; `g()` runs them all, in order, again and again.

On a GPU the launches become one graph of the driver, which costs the host one call, unless one of them may trap: arrays
must then be put back and later launches skipped, and they are queued one by one. Everything is checked when a launch is
recorded; the arrays are those of that time and are kept alive.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from isogrid.arrays.array import Array
from isogrid.frontend.definition import Definition
from isogrid.launch.backends import runtime
from isogrid.launch.errors import LaunchValueError
from isogrid.launch.observe import current_graph, taken_by
from isogrid.launch.queued import run_bound, written_names
from isogrid.runtimes.protocol import BoundLaunch


class Graph:
    """Recorded launches. Calling it queues them, as if each were called now."""

    def __init__(self) -> None:
        self._steps: list[tuple[Definition, str, Any, BoundLaunch]] = []
        self._replay: Callable[[], None] | None = None
        self._open = True

    def __len__(self) -> int:
        return len(self._steps)

    def __repr__(self) -> str:
        return f"<isogrid graph of {len(self._steps)} launches>"

    def __call__(self) -> None:
        """Queue every recorded launch."""
        if self._open:
            raise LaunchValueError("a recording runs after its `with` block has ended")
        if self._replay is None:
            self._replay = self._built()
        self._replay()

    def add(self, definition: Definition, device: str, artifact: Any, bound: BoundLaunch) -> None:
        """Take one launch down; raises `LaunchValueError` for one that cannot be repeated as it is."""
        hosted = [name for name, array in bound.arrays.items() if not isinstance(array, Array)]
        if hosted:
            raise LaunchValueError(
                f"{definition.name}(): argument `{hosted[0]}` is an array on the host, and a recorded launch takes "
                "arrays on the device; make it one with ig.array(...)"
            )
        devices = {step[1] for step in self._steps} | {device}
        if len(devices) > 1:
            raise LaunchValueError(f"{definition.name}(): one recording holds launches of one device, not of {devices}")
        self._steps.append((definition, device, artifact, bound))

    def close(self) -> None:
        """No more launches."""
        self._open = False

    def _built(self) -> Callable[[], None]:
        if not self._steps:
            return lambda: None
        device: Any = runtime(self._steps[0][1])
        build = getattr(device, "build_graph", None)
        if build is None:
            return self._one_by_one
        steps = [(artifact, bound, _written(definition, bound)) for definition, _, artifact, bound in self._steps]
        return build(steps) or self._one_by_one

    def _one_by_one(self) -> None:
        for definition, device, artifact, bound in self._steps:
            run_bound(definition, device, artifact, bound)


def _written(definition: Definition, bound: BoundLaunch) -> list[str]:
    return [name for name in written_names(definition) if name in bound.arrays]


@contextmanager
def record() -> Generator[Graph]:
    """Take the launches of this block down. They do not run; call the graph after the block."""
    if current_graph() is not None:
        raise LaunchValueError("recordings do not nest")
    graph = Graph()
    with taken_by(graph):
        yield graph
    graph.close()
