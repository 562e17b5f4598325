"""Launches and the queue of their device: what is run at once, what only seems so, and where traps are raised.

A launch of which every array is on the device is queued: its trap is raised at the next synchronisation. That holds on
devices that finish each launch at once too, so that a program raises at the same points everywhere. A launch with an
array on the host waits, and raises what was pending before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from isogrid.arrays.array import Array
from isogrid.frontend.definition import ArrayDeclaration, Definition
from isogrid.ir import kernel as k
from isogrid.launch.arrays import on_the_host
from isogrid.launch.backends import runtime
from isogrid.launch.options import forget_native_callables
from isogrid.runtimes.memory import HostQueue
from isogrid.runtimes.protocol import BoundLaunch


def written_names(definition: Definition) -> list[str]:
    """Array parameters that a launch may write."""
    return [p.name for p in definition.parameters if isinstance(p, ArrayDeclaration) and p.access.writes]


def raise_pending(device: str, values: Sequence[Any]) -> None:
    """The first check of a launch that waits: a trap of the device that has not been raised yet."""
    if not any(on_the_host(value) for value in values):
        return
    waiting: Any = runtime(device)
    settle = getattr(waiting, "raise_pending", None)
    if settle is not None:
        settle()


def on_host(arrays: Mapping[str, Any], fact: k.ArrayFact) -> dict[str, Any]:
    """The arrays that a precondition looks at, where NumPy can read them."""
    names = [name for name in (fact.array, fact.where) if name]
    found = {name: arrays[name] for name in names}
    return {name: _read(array) if isinstance(array, Array) else array for name, array in found.items()}


def _read(array: Array) -> Any:
    return array.host_view() if array.block.memory.is_host else array.numpy()


def run_bound(definition: Definition, device: str, artifact: Any, bound: BoundLaunch) -> bool:
    """Run or queue a launch; whether nothing stands in the way of a native callable for the next one."""
    running: Any = runtime(device)
    held = {name: array for name, array in bound.arrays.items() if isinstance(array, Array)}
    if not held:
        running.launch(artifact, bound)
        return not pending_on(device)
    memory: Any = next(iter(held.values())).block.memory
    if memory.is_host:
        _launch_at_once(definition, running, memory.queue, artifact, bound, held)
        return not pending_on(device)
    if memory.device == device:
        running.launch(artifact, bound)
        return True
    _launch_on_copies(definition, running, artifact, bound, held)
    return False


def pending_on(device: str) -> bool:
    """Whether a trap of a device that finishes launches at once waits to be raised."""
    memory: Any = getattr(runtime(device), "memory", None)
    return memory is not None and memory.is_host and bool(memory.queue.pending)


def _launch_at_once(
    definition: Definition,
    running: Any,
    queue: HostQueue,
    artifact: Any,
    bound: BoundLaunch,
    held: dict[str, Array],
) -> None:
    arrays = {name: held[name].host_view() if name in held else array for name, array in bound.arrays.items()}
    visible = BoundLaunch(arrays, bound.scalars, bound.dims, bound.extents, bound.options)
    written = [held[name].block for name in written_names(definition) if name in held]
    before = len(queue.pending)
    queue.launch([array.block for array in held.values()], written, lambda: running.launch(artifact, visible))
    if len(held) < len(bound.arrays):
        queue.settle()
    if len(queue.pending) > before:
        forget_native_callables()  # they look at no pending trap


def _launch_on_copies(
    definition: Definition, running: Any, artifact: Any, bound: BoundLaunch, held: dict[str, Array]
) -> None:
    """A launch that another device runs for the one that holds the arrays."""
    copies = {name: array.numpy() for name, array in held.items()}
    arrays = {**bound.arrays, **copies}
    running.launch(artifact, BoundLaunch(arrays, bound.scalars, bound.dims, bound.extents, bound.options))
    for name in written_names(definition):
        if name in copies:
            held[name][...] = copies[name]
