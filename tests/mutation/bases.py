"""Accepted kernels to break: every idiom under tests/accepted/races, as kernel IR."""

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from isogrid.frontend.build import build
from isogrid.frontend.definition import Specialisation
from isogrid.ir import kernel as k

FOLDER = Path(__file__).parent.parent / "accepted" / "races"


def kernels_in(file: Path) -> list[Any]:
    """The kernel values of one file, in the order of its text."""
    spec = importlib.util.spec_from_file_location(f"accepted_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [value for value in vars(module).values() if getattr(type(value), "__isogrid_kernel__", False)]


def built(kernel: Any, block: tuple[int, ...] = (4,)) -> k.Kernel:
    """Kernel IR with tunables at their defaults; open geometry is a grid of one axis."""
    definition = kernel.definition
    constants = tuple((tunable.name, tunable.values[0]) for tunable in definition.tunables)
    is_open = definition.extents is None
    return build(
        definition,
        Specialisation(
            constants=constants,
            kind="grid" if is_open else None,
            rank=1 if is_open else None,
            block=block if definition.block is None or is_open else None,
        ),
    )


@cache
def bases() -> tuple[k.Kernel, ...]:
    """All base kernels, sorted by file and place."""
    return tuple(built(kernel) for file in sorted(FOLDER.glob("*.py")) for kernel in kernels_in(file))
