"""The texts themselves, kept byte for byte: `pytest tests/text_targets --update` writes them, git diff is the review.

A kernel that a target cannot express has the words of its refusal in place of a text.
"""

from pathlib import Path
from typing import Any

import pytest

from isogrid.cli.load import pick_kernels
from isogrid.cli.stages import Stages, stages_of
from isogrid.cli.text_targets import cuda_text, metal_text, opencl_text
from isogrid.support.errors import KernelRefused

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
TARGETS = {"cuda": (cuda_text, "cu"), "opencl": (opencl_text, "cl"), "metal": (metal_text, "metal")}
GALLERY = (
    "saxpy", "transpose", "matmul_tiled", "reduce_sum", "reduce_max", "scan", "histogram", "stencil", "convolution",
    "life", "nbody", "mandelbrot", "spmv", "monte_carlo",
)  # fmt: skip


def kernels() -> dict[str, Any]:
    """Kernels by the names of their files."""
    found = {kernel.definition.name: kernel for _, kernel in pick_kernels(str(HERE / "constructs.py"))}
    for name in GALLERY:
        for _, kernel in pick_kernels(str(EXAMPLES / f"{name}.py")):
            own = kernel.definition.name
            found[own if own not in found else f"{name}_{own}"] = kernel
    return found


KERNELS = kernels()


def text_of(stages: Stages, target: str) -> str:
    try:
        return TARGETS[target][0](stages)
    except KernelRefused as refusal:
        return "".join(f"refused: {report.code}: {report.title}\n" for report in refusal.reports)


@pytest.mark.parametrize("name", KERNELS)
def test_text(name: str, update: bool) -> None:
    stages = stages_of(KERNELS[name])
    for target, (_, suffix) in TARGETS.items():
        path = HERE / "snapshots" / target / f"{name}.{suffix}"
        text = text_of(stages, target)
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"{path.name} is missing: run pytest --update"
        assert text == path.read_text()
        # Nothing of one run, process or machine is in a text.
        assert text == text_of(stages_of(KERNELS[name]), target)


def test_every_text_has_a_kernel() -> None:
    kept = {path.stem for path in (HERE / "snapshots").rglob("*.*") if path.is_file()}
    assert kept == set(KERNELS)


def test_there_are_enough() -> None:
    assert len(KERNELS) >= 25
