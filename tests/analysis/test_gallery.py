"""In the gallery no check is kept unless the value is data (spec 2.3). All that is kept is listed here, with reasons: a
kernel that is not named keeps nothing. None of them asks for a way out of a proof."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from isogrid.pipeline import check_kernel
from tests.analysis.built import built, kept

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Kernel -> the checks that depend on values of arrays.
DATA = {
    "histogram.histogram": ["add bins"],  # what the bins hold before
    "monte_carlo.throw": ["add hits"],  # what the counter holds before
    "photo.count_shades": ["add bins"],  # what the bins hold before
    "photo.spread": ["level", "scan", "sum"],  # counts that the caller gives
    "scan.scan_blocks": ["scan"],  # sums of the caller's numbers
    "scan.add_preceding": ["add"],
    "spmv.spmv": ["values", "x"],  # row bounds and columns are data
}


@pytest.fixture(scope="module", autouse=True)
def examples_on_the_path() -> Iterator[None]:
    sys.path.insert(0, str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))


def kernels_of(module: Any) -> list[Any]:
    return [value for value in vars(module).values() if getattr(type(value), "__isogrid_kernel__", False)]


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_only_data_is_checked(name: str) -> None:
    if name in ("gallery", "demo", "conftest"):
        return
    module = importlib.import_module(name)
    for kernel in kernels_of(module):
        wanted = DATA.get(f"{name}.{kernel.definition.name}", [])
        assert sorted(kept(kernel)) == wanted, kernel
        program = built(kernel)
        assert check_kernel(program) == []
        assert (program.races, program.deterministic, program.facts) == ("prove", True, ())
