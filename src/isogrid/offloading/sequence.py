"""The quick call of a function that runs in sequence as a whole: its one kernel, and the results from its outputs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from isogrid.launch.native import whole_callable
from isogrid.offloading.execute import Executor, native_of


def sequential_call(executor: Executor, slow: Callable[..., Any]) -> Callable[..., Any] | None:
    """A callable like the function that has just run, or None where more than one kernel is needed, or none serves."""
    (section, *others) = executor.plan.sections
    ready = executor.kernels.get(("sequential", id(section), False))
    if others or ready is None or ready.program.scalars or executor.base.facts or executor.specialisation.absent:
        return None
    found = native_of(executor, ready.kernel)
    places = {name: place for place, (name, _) in enumerate(ready.program.arrays)}
    results = [places.get(f"{local.name}.out") for local in executor.plan.results]
    if found is None or None in results:
        return None
    native, runtime = found
    types = [type.numpy for _, type in ready.program.arrays]
    if not types:
        return whole_callable(runtime, native, slow)
    zeros, order, gives_tuple = np.zeros, [place for place in results if place is not None], executor.plan.returns_tuple

    def call(*arguments: Any, **keywords: Any) -> Any:
        if keywords:
            return slow(*arguments, **keywords)
        outputs = [zeros(1, type) for type in types]
        if native(*arguments, *outputs) is not None:
            return slow(*arguments)
        values = [outputs[place].item() for place in order]
        return tuple(values) if gives_tuple else values[0] if values else None

    return call
