"""Random kernels of the property suites on a text target."""

from collections.abc import Iterable

import numpy as np

import isogrid as ig
from tests.properties.generator.choices import Choices
from tests.properties.generator.execute import load
from tests.properties.generator.program import program

from .executor import Collector


def note_random(collector: Collector, seeds: Iterable[int]) -> int:
    """Launch the kernels of these seeds; how many were accepted."""
    return sum(_note(collector, seed) for seed in seeds)


def _note(collector: Collector, seed: int) -> bool:
    made = program(Choices(seed))
    collector.title = f"seed {seed}"
    kernel = load(made, f"<{collector.name} {seed}>").on(collector.name)
    for arguments in made.launches:
        copies = {n: value.copy() if isinstance(value, np.ndarray) else value for n, value in arguments.items()}
        try:
            kernel(**copies)
        except ig.Trap:
            continue
        except ig.KernelRefused:
            return False
    return True
