"""Random kernels of the property suites on a text target, compared with the interpreter."""

from collections.abc import Iterable
from typing import Any

import numpy as np

import isogrid as ig
from isogrid.support.errors import KnownLimit
from tests.properties.generator.choices import Choices
from tests.properties.generator.execute import load
from tests.properties.generator.program import program

from .collect import Expected, Session
from .executor import Pending


def note_random(session: Session, seeds: Iterable[int]) -> int:
    """Note every launch of the kernels of these seeds; how many kernels were accepted."""
    return sum(_note(session, seed) for seed in seeds)


def _note(session: Session, seed: int) -> bool:
    made = program(Choices(seed))
    file = f"<text target {seed}>"
    kernel = load(made, file)
    for arguments in made.launches:
        text, arrays = _interpreted(kernel, arguments)
        if text == "refused":
            return False
        # The file's lines stay known, for messages that are made later.
        _noted(session, kernel, arguments, Expected(f"seed {seed}", text, arrays))
    return True


def _copies(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()}


def _interpreted(kernel: Any, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    copies = _copies(arguments)
    text = ""
    try:
        kernel.on("interp")(**copies)
    except ig.Trap as trap:
        text = f"{type(trap).__name__}: {trap}"
    except ig.KernelRefused:
        return "refused", {}
    return text, {name: value for name, value in copies.items() if isinstance(value, np.ndarray)}


def _noted(session: Session, kernel: Any, arguments: dict[str, Any], expected: Expected) -> None:
    try:
        kernel.on(session.device)(**_copies(arguments))
    except Pending:
        session.collector.launches[-1].want = expected
    except KnownLimit as limit:
        session.refused[expected.title] = str(limit)
