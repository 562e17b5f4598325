"""One call of an offloaded function: its sections in order, with the scalars between them on the host.

What the proof assumed is checked before anything runs, for every loop whose numbers are known by then. A trap puts all
arrays back; copies for that are taken only where a later section may end the call.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isogrid.arrays.array import Array
from isogrid.frontend.definition import Definition
from isogrid.ir import kernel as k
from isogrid.launch.arguments import Arguments
from isogrid.launch.arrays import device_of
from isogrid.launch.create import synchronize
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.offloading.execute import MANY_UPDATES, SMALL, Executor, Ready, argument, host_value, is_scalar
from isogrid.offloading.launch_checks import Values, check_loop, iterations
from isogrid.offloading.placement import HostCopies, is_far, new_partials, only_element, touched, wait_for
from isogrid.offloading.ranges import scalars_for_locals
from isogrid.offloading.sections import Section
from isogrid.offloading.totals import finished
from isogrid.offloading.tree import BLOCK, Part, parts_of
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Checked:
    """A loop of this call that passed its checks. `ready` is the kernel for it, None where it has no iterations."""

    trips: range
    ready: Ready | None


@dataclass(frozen=True, slots=True)
class _Saved:
    array: Any
    copy: Any


class Call:
    """Arguments on their way through the sections. `run` gives the returned scalars."""

    def __init__(
        self, executor: Executor, values: Sequence[Any], arguments: Arguments, dims: Mapping[str, int]
    ) -> None:
        self.executor = executor
        self.definition: Definition = executor.definition
        self.values = tuple(values)
        self.arguments = arguments
        self.dims = dims
        self.scalars: dict[str, Any] = dict(arguments.scalars)
        self.saved: dict[str, _Saved] = {}
        self.checked: dict[int, Checked] = {}
        self.launching = list(executor.plan.sections)
        sizes = [*dims.values(), *(array.size for array in arguments.arrays.values())]
        numbers = [v for v in arguments.scalars.values() if isinstance(v, int)]
        self.is_small = all(abs(number) < SMALL for number in (*sizes, *numbers))
        self.devices = {d for d in map(device_of, arguments.arrays.values()) if d is not None}

    def run(self) -> tuple[Any, ...]:
        """Raises with every array as it was before the call."""
        if self.executor.plan.results:
            wait_for(self.devices)
        self._look_ahead()
        queued = self._is_queued()
        if not queued:
            wait_for(self.devices)
        try:
            for section in self.executor.plan.sections:
                if not self._section(section):
                    break
            if not queued:
                for name in sorted(self.devices):
                    synchronize(name)
        except BaseException:
            self._restore()
            raise
        return tuple(self.scalars[local.name] for local in self.executor.plan.results)

    def _section(self, section: Section) -> bool:
        """Run one section; False when the function returned in it."""
        if section.accepted is not None:
            self._loop(section)
            return True
        found = _on_host(section, self.scalars, self.dims)
        if found is None:
            return self._sequential(section)
        self.scalars = found
        return True

    # --- before anything runs ----------------------------------------------------------------------------------------

    def _look_ahead(self) -> None:
        """Check every loop up to the first statements that need a kernel: only they can change what later ones see."""
        scalars: dict[str, Any] | None = dict(self.scalars)
        for section in self.executor.plan.sections:
            if section.accepted is None:
                scalars = _on_host(section, scalars, self.dims)
                if scalars is None:
                    return
                self.launching = [other for other in self.launching if other is not section]
                continue
            self.checked[section.number] = self._check(section, scalars)
            scalars = {name: v for name, v in scalars.items() if name not in section.accepted.reductions}

    def _check(self, section: Section, scalars: Mapping[str, Any]) -> Checked:
        executor, name = self.executor, self.definition.name
        accepted, inner = section.accepted, section.inner
        assert accepted is not None
        values = Values(scalars, self.dims)
        trips = iterations(name, section.number, section.loop, values)
        if not trips or (inner is not None and not iterations(name, section.number, inner, values)):
            return Checked(trips, None)
        shapes = {array: value.shape for array, value in self.arguments.arrays.items()}
        check_loop(name, section.number, accepted, executor.index_checks(section), trips, values, shapes)
        quick = self._facts_hold(section, scalars)
        gathering = executor.gathering(section, self.dims) if quick and len(trips) >= MANY_UPDATES else None
        return Checked(trips, gathering or executor.parallel(section, quick))

    def _facts_hold(self, section: Section, scalars: Mapping[str, Any]) -> bool:
        try:
            return all(evaluate(require.condition, scalars, self.dims) for require in self.executor.requires(section))
        except CannotEvaluate:
            return False

    def _is_queued(self) -> bool:
        """Whether nobody waits for this call: it returns nothing, and its only trap, if any, restores itself.

        Every launch of a call takes all its arrays, so none runs behind one that has trapped."""
        if self.executor.plan.results or not self.devices or any(map(_may_overflow, self.launching)):
            return False
        return len(self.launching) == 1 or not any(map(self._may_fail, self.launching))

    def _may_fail(self, section: Section) -> bool:
        """Whether a section may still end the call with an error."""
        # What the section is given may be what an earlier one has computed.
        small = self.is_small and not any(local.type.is_integer and local.type.bits == 64 for local in section.inputs)
        if section.accepted is None:
            return self.executor.may_fail(section, small)
        known = self.checked.get(section.number)
        if known is None:
            return True
        return known.ready is not None and (known.ready.traps(small) or _may_overflow(section))

    # --- sequential sections -----------------------------------------------------------------------------------------

    def _sequential(self, section: Section) -> bool:
        executor = self.executor
        on_cpu = is_far(executor.where) and self._belongs_on_the_cpu(section)
        ready = executor.sequential(section, on_cpu)
        self._save(ready, section)
        outputs = [np.zeros(1, type.numpy) for _, type in ready.program.arrays]
        if on_cpu:
            self._launch_on_the_cpu(ready, section, outputs)
        else:
            self._launch(ready, self.values, outputs)
        left = False
        for (name, type), output in zip(ready.program.arrays, outputs, strict=True):
            value = host_value(type, output[0])
            if name == "left.function.out":
                left = bool(value)
            else:
                self.scalars[name.removesuffix(".out")] = value
        return not left

    def _belongs_on_the_cpu(self, section: Section) -> bool:
        """One thread of a GPU is slow: only statements without loops, on elements that are there, run on it."""
        if any(isinstance(node, k.For | k.While) for node in section.statements):
            return True
        return not any(isinstance(self.arguments.arrays.get(name), Array) for name in touched(section.statements))

    def _launch_on_the_cpu(self, ready: Ready, section: Section, outputs: Sequence[Any]) -> None:
        copies = HostCopies(self.arguments.arrays, touched(section.statements))
        self._launch(ready, copies.values([p.name for p in self.definition.parameters], self.values), outputs)
        copies.write_back(_written(ready))

    # --- loops -------------------------------------------------------------------------------------------------------

    def _loop(self, section: Section) -> None:
        checked = self.checked.get(section.number) or self._check(section, self.scalars)
        ready, accepted = checked.ready, section.accepted
        assert accepted is not None
        if ready is None:
            return
        self._save(ready, section)
        if not accepted.reductions:
            self._launch(ready, self.values, ())
            return
        blocks = -(-len(checked.trips) // BLOCK)
        partials = new_partials(self.executor.where, blocks, [type for _, type in ready.program.arrays])
        self._launch(ready, self.values, partials)
        self._finish(section, dict(zip((n for n, _ in ready.program.arrays), partials, strict=True)))

    def _finish(self, section: Section, partials: Mapping[str, Any]) -> None:
        assert section.accepted is not None
        found: dict[str, Any] = {}
        for name, reduction in section.accepted.reductions.items():
            parts = parts_of(reduction)
            folded = {part.name: self._folded(part, partials[f"{part.name}.partial"]) for part in parts}
            last = {part.name: host_value(part.type, only_element(folded[part.name])) for part in parts}
            found[name] = finished(self.definition.name, reduction, self.scalars[name], last, parts)
        self.scalars |= found

    def _folded(self, part: Part, values: Any) -> Any:
        while values.size > 1:
            (blocks,) = new_partials(self.executor.where, -(-values.size // BLOCK), [part.type])
            self.executor.fold(part).kernel(values, blocks)
            values = blocks
        return values

    # --- launches and restoring --------------------------------------------------------------------------------------

    def _launch(self, ready: Ready, values: Sequence[Any], arrays: Sequence[Any]) -> None:
        scalars = [
            argument(local.type, self.scalars[local.name.removesuffix(".in")]) for local in ready.program.scalars
        ]
        ready.kernel(*values, *scalars, *arrays)

    def _behind(self, section: Section) -> list[Section]:
        at = next((n for n, other in enumerate(self.launching) if other is section), len(self.launching))
        return self.launching[at + 1 :]

    def _save(self, ready: Ready, section: Section) -> None:
        """Keep what a later section's trap must bring back. A trap of this section itself is restored by its launch."""
        if not _may_overflow(section) and not any(map(self._may_fail, self._behind(section))):
            return
        for name in sorted(_written(ready) - set(self.saved)):
            array = self.arguments.arrays.get(name)
            if array is not None:
                self.saved[name] = _Saved(array, array.copy())

    def _restore(self) -> None:
        """Put every array back that an earlier section changed."""
        for saved in self.saved.values():
            saved.array[...] = saved.copy


def _on_host(section: Section, scalars: Mapping[str, Any], dims: Mapping[str, int]) -> dict[str, Any] | None:
    """Scalar assignments need no kernel, unless one of them traps, which a kernel then words."""
    if not all(isinstance(s, k.Assign) and is_scalar(s.value) for s in section.statements):
        return None
    found = dict(scalars)
    try:
        for statement in section.statements:
            assert isinstance(statement, k.Assign)
            found[statement.name] = evaluate(scalars_for_locals(statement.value), found, dims)
    except (CannotEvaluate, KeyError):
        return None
    return found


def _may_overflow(section: Section) -> bool:
    """Whether the total of a reduction may leave its type, which only shows when the loop has run."""
    if section.accepted is None:
        return False
    return any(r.type.is_checked and r.op in ("add", "mul") for r in section.accepted.reductions.values())


def _written(ready: Ready) -> set[str]:
    parameters = ready.program.kernel.parameters
    return {p.name for p in parameters if isinstance(p, k.ArrayParameter) and p.access.writes}
