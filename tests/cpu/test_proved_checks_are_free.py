"""A kernel whose checks are all proved is, byte for byte, the code of a compiler that was told to check nothing."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.built import built, kept
from tests.analysis.test_gallery import DATA, kernels_of

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.loader import compile_object
from isogrid.backends.cpu.target import host_target
from isogrid.ir import kernel as k
from isogrid.passes.drop_checks import drop_checks
from isogrid.pipeline import lower, optimise

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem not in ("gallery", "demo", "conftest"))
SMALL = LaunchFacts(small=True)


@pytest.fixture(scope="module", autouse=True)
def examples_on_the_path() -> Iterator[None]:
    sys.path.insert(0, str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))


def module_of(kernel: k.Kernel) -> Any:
    return emit_module(lower(optimise(kernel, frozenset(), SMALL, {}), SMALL), host_target(), {})


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_the_same(name: str) -> None:
    for kernel in kernels_of(importlib.import_module(name)):
        as_written = built(kernel)
        same = module_of(as_written).text == module_of(drop_checks(as_written)).text
        assert same is (not kept(kernel)), kernel
        assert same is (f"{name}.{kernel.definition.name}" not in DATA)


@pytest.mark.parametrize(
    ("name", "kernel"), [("saxpy", "saxpy"), ("matmul_tiled", "matmul"), ("reduce_sum", "partial_sums")]
)
def test_the_machine_code_is_the_same(name: str, kernel: str) -> None:
    as_written = built(getattr(importlib.import_module(name), kernel))
    modules = [module_of(as_written), module_of(drop_checks(as_written))]
    first, second = (compile_object(module.text, module.pipeline) for module in modules)
    assert first == second
    assert module_of(drop_checks(as_written)).text != emitted_with_every_check(as_written)


def emitted_with_every_check(kernel: k.Kernel) -> str:
    return emit_module(lower(optimise(kernel, frozenset({"prove"}), SMALL, {}), SMALL), host_target(), {}).text
