"""Run the launch that a witness describes and see whether its two threads really meet."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from isogrid.analysis.symbolic.witness import Witness
from isogrid.backends.interp.findings import Race
from isogrid.backends.interp.launch import run
from isogrid.diagnostics.report import Report
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.runtimes.protocol import BoundLaunch

#: Sizes tried for dimensions that the witness leaves open, and fillings of the data that it leaves open.
_OPEN_SIZES = (8, 1, 2, 4, 16, 32)
_FILLINGS = 6


def replays(kernel: k.Kernel, report: Report) -> bool:
    """Whether some launch with the witness's sizes, scalars and data races at its two places.

    The interpreter keeps one race for each pair of places, so the element need not be the same."""
    witness = report.witness
    assert isinstance(witness, Witness)
    array = report.title.split("`")[1].partition("[")[0]
    places = {label.span for label in (report.primary, *report.secondary)}
    return any(
        isinstance(f, Race) and f.array == array and {f.first.span, f.second.span} == places
        for bound in _launches(kernel, witness)
        for order in (None, 1, 2)
        for f in run(kernel, bound, order=order).findings
    )


def _launches(kernel: k.Kernel, witness: Witness) -> Iterator[BoundLaunch]:
    given = dict(witness.launch)
    fixed = {name: given[name] for name in kernel.dims if name in given}
    free = [name for name in kernel.dims if name not in given]
    scalars = {
        p.name: _scalar(p.type, given.get(f"${p.name}", 1))
        for p in kernel.parameters
        if isinstance(p, k.ScalarParameter)
    }
    for sizes in itertools.islice(itertools.product(_OPEN_SIZES, repeat=len(free)), 40):
        for filling in range(_FILLINGS):
            bound = _bind(kernel, fixed | dict(zip(free, sizes, strict=True)), scalars, witness, filling)
            if bound is None:
                break
            yield bound


def _scalar(type: Scalar, value: int) -> Any:
    if type is Scalar.BOOL:
        return bool(value)
    return type.numpy.type(value) if type.is_float else value


def _bind(
    kernel: k.Kernel, dims: dict[str, int], scalars: dict[str, Any], witness: Witness, filling: int
) -> BoundLaunch | None:
    parameters = [p for p in kernel.parameters if isinstance(p, k.ArrayParameter)]
    try:
        extents = tuple(int(evaluate(e, scalars, dims)) for e in kernel.geometry.extents)
        shapes = {p.name: tuple(int(evaluate(e, scalars, dims)) for e in p.shape) for p in parameters}
        if not all(evaluate(r.condition, scalars, dims) for r in kernel.requires):
            return None
    except CannotEvaluate:
        return None
    if min(extents) < 1 or any(min(s) < 0 or np.prod(s) > 100_000 for s in shapes.values()):
        return None
    rng = random.Random(filling)
    arrays: dict[str, Any] = {}
    for p in parameters:
        values = [
            0 if filling == 0 else rng.randrange((2, 4, 8)[filling % 3]) for _ in range(int(np.prod(shapes[p.name])))
        ]
        arrays[p.name] = np.array(values).reshape(shapes[p.name]).astype(p.element.numpy)
    for name, place, value in witness.data:
        if name in arrays:
            if not all(0 <= i < n for i, n in zip(place, arrays[name].shape, strict=True)):
                return None
            arrays[name][place] = value
    return BoundLaunch(arrays, scalars, dims, extents)
