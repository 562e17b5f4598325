"""Every kernel of the gallery at every stage: well formed after each pass, and its text read back to the same IR."""

from pathlib import Path

import pytest

from isogrid.cli.load import load_file
from isogrid.cli.stages import stages_of
from isogrid.ir.parse import parse_device, parse_kernel
from isogrid.ir.text import print_kernel
from isogrid.ir.verify import verify

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
CONSTRUCTS = Path(__file__).resolve().parents[1] / "text_targets" / "constructs.py"
FILES = [*(path for path in EXAMPLES if "@ig.kernel" in path.read_text()), CONSTRUCTS]


def test_the_gallery_is_there() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("wide", [False, True], ids=["small", "wide"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_stage_keeps_the_rules_and_is_read_back(file: Path, wide: bool) -> None:
    for _, kernel in load_file(file).kernels:
        stages = stages_of(kernel, wide=wide)
        verify(stages.built, "the front end")
        for result in stages.passes:
            verify(result.after, result.name)
        verify(stages.device, "lowering")
        for program in (stages.built, stages.optimised):
            assert parse_kernel(print_kernel(program)) == program
        assert parse_device(print_kernel(stages.device)) == stages.device
