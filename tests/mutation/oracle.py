"""The truth about one kernel, as far as running can tell: the interpreter's detectors on several launches.

Loops are given fuel (an assertion that fails after many trips), so that a mutant that never ends is a trapped one.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.interp.findings import Finding
from isogrid.backends.interp.launch import run_program
from isogrid.backends.interp.program import compile_program
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar
from isogrid.ir.walk import map_kernel
from isogrid.launch.evaluate import CannotEvaluate, evaluate
from isogrid.launch.facts import broken_fact
from isogrid.runtimes.protocol import BoundLaunch
from isogrid.support.errors import CompilerBug

FUEL = 60
_MOST_THREADS = 40
_MOST_ELEMENTS = 400
_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11)


@dataclass(frozen=True, slots=True)
class Truth:
    """What running showed: a finding, or a claim of a pass that was false; `ran` launches took place."""

    finding: Finding | None
    false_claim: str
    ran: int
    trapped: int

    @property
    def unsafe(self) -> bool:
        return self.finding is not None


def with_fuel(kernel: k.Kernel) -> k.Kernel:
    """Each loop counts its trips over the whole thread and fails an assertion when there are too many."""
    fuel = k.Local("@fuel", INDEX)
    step: k.Block = (
        k.Assign("@fuel", k.Binary("add", fuel, k.Const(1, INDEX), INDEX, False)),
        k.Assert(k.Compare("lt", fuel, k.Const(FUEL, INDEX)), "out of fuel"),
    )

    def change(s: k.Statement) -> k.Statement:
        return replace(s, body=(*step, *s.body)) if isinstance(s, k.For | k.While) else s

    changed = map_kernel(kernel, on_statement=change)
    return replace(changed, body=(k.Assign("@fuel", k.Const(0, INDEX)), *changed.body))


def launches(kernel: k.Kernel, rng: random.Random, wanted: int) -> Iterator[BoundLaunch]:
    """Launches of few threads with random sizes, scalars and data that satisfy the preconditions."""
    found = 0
    for _ in range(20 * wanted):
        if found == wanted:
            return
        dims = {name: rng.choice(_SIZES) for name in kernel.dims}
        bound = bind(kernel, dims, _scalars(kernel, rng), rng)
        if bound is not None:
            found += 1
            yield bound


def _scalars(kernel: k.Kernel, rng: random.Random) -> dict[str, Any]:
    return {p.name: _scalar(p.type, rng) for p in kernel.parameters if isinstance(p, k.ScalarParameter)}


def _scalar(type: Scalar, rng: random.Random) -> Any:
    if type is Scalar.BOOL:
        return rng.random() < 0.5
    if type.is_float:
        return type.numpy.type(rng.choice((0.0, 1.0, -2.0, 0.5)))
    return rng.choice((0, 1, 2, 3, 4, 5, 6, 8)) - (rng.randrange(4) if type.is_signed and rng.random() < 0.2 else 0)


def bind(kernel: k.Kernel, dims: dict[str, int], scalars: dict[str, Any], rng: random.Random) -> BoundLaunch | None:
    """A launch with random data, or None where these sizes are no launch or one with too many threads."""
    try:
        extents = tuple(int(evaluate(e, scalars, dims)) for e in kernel.geometry.extents)
        if not all(evaluate(r.condition, scalars, dims) for r in kernel.requires):
            return None
        shapes = {
            p.name: tuple(int(evaluate(e, scalars, dims)) for e in p.shape)
            for p in kernel.parameters
            if isinstance(p, k.ArrayParameter)
        }
    except CannotEvaluate:
        return None
    if min(extents) < 1 or any(min(s) < 0 or np.prod(s) > _MOST_ELEMENTS for s in shapes.values()):
        return None
    data = np.random.default_rng(rng.getrandbits(32))
    arrays = {
        p.name: _data(p.element, shapes[p.name], data) for p in kernel.parameters if isinstance(p, k.ArrayParameter)
    }
    for fact in kernel.facts:
        _meet(fact, arrays[fact.array], data)
    try:
        if any(broken_fact(fact, arrays, scalars, dims) for fact in kernel.facts):
            return None
    except CannotEvaluate:
        return None
    bound = BoundLaunch(arrays, scalars, dims, extents)
    return bound if int(np.prod(bound.threads(kernel.geometry, kernel.grouped))) <= _MOST_THREADS else None


def _meet(fact: k.ArrayFact, array: Any, data: np.random.Generator) -> None:
    """Change the data so that the precondition is likely to hold."""
    flat = array.reshape(-1)
    match fact.kind:
        case "distinct":
            flat[...] = data.permutation(flat.size)
        case "is_sorted":
            flat[...] = np.sort(flat)
        case "all_finite":
            flat[...] = np.nan_to_num(flat)
        case _:
            pass


def _data(element: Scalar, shape: tuple[int, ...], data: np.random.Generator) -> Any:
    if element is Scalar.BOOL:
        return data.random(shape) < 0.5
    low, high = [(0, 9), (0, 2), (-3, 12), (0, 4)][int(data.integers(4))]
    values = data.integers(low, high, shape)
    if element.is_float:
        mixed = values.astype(element.numpy)
        mixed[data.random(shape) < 0.1] = np.nan
        return mixed
    return (np.abs(values) if element.minimum == 0 else values).astype(element.numpy)


def truth(kernel: k.Kernel, rng: random.Random, wanted: int, accepted: bool) -> Truth:
    """Run `wanted` launches as written with races detected; accepted kernels also as the passes leave them, with every
    claim of a proof verified."""
    programs = [compile_program(with_fuel(kernel), True)]
    if accepted:
        optimised = pipeline.optimise(kernel, frozenset(), LaunchFacts(), {})
        programs.append(compile_program(with_fuel(optimised), True))
    ran = trapped = 0
    for bound in launches(kernel, rng, wanted):
        before = {name: a.copy() for name, a in bound.arrays.items()}
        # In reference order a launch stops at its first trap; in others every thread runs.
        order = rng.choice((None, *(rng.getrandbits(16) for _ in range(3))))
        for program in programs:
            for name, a in bound.arrays.items():
                a[...] = before[name]
            try:
                outcome = run_program(program, bound, order=order)
            except CompilerBug as bug:
                return Truth(None, str(bug), ran, trapped)
            if outcome.findings:
                return Truth(outcome.findings[0], "", ran + 1, trapped)
            trapped += outcome.trap is not None
        ran += 1
    return Truth(None, "", ran, trapped)
