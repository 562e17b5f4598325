"""Kernels that the language accepts and one target cannot express: `isogrid emit` refuses them with the line.

The first line of a case names the target. Marks and expected texts are as for other refusals.
"""

from collections import Counter
from pathlib import Path

import pytest
from tests.refusals.test_refusals import marks_in, without_marks

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.metal.text import LACKING, emit_metal_text
from isogrid.backends.opencl.spelling import OpenClFacts
from isogrid.backends.opencl.text import emit_opencl_text, opencl_lacking
from isogrid.cli.load import pick_kernels
from isogrid.cli.stages import Stages, stages_of
from isogrid.diagnostics.render_text import render_reports
from isogrid.diagnostics.report import Report
from isogrid.pipeline import lower
from isogrid.support.errors import KernelRefused

CASES = sorted((Path(__file__).parent / "targets").glob("*.py"))
#: OpenCL devices that lack something.
FACTS = {
    "opencl without f64": OpenClFacts(f64=False),
    "opencl without fma": OpenClFacts(fma=False),
    "opencl without 64-bit atomics": OpenClFacts(atomics_64=False),
}


def emit(stages: Stages, target: str) -> None:
    lacking = LACKING if target == "metal" else opencl_lacking(FACTS[target])
    device = lower(stages.optimised, LaunchFacts(), lacking=lacking)
    if target == "metal":
        emit_metal_text(device)
    else:
        emit_opencl_text(device, FACTS[target])


def reports_of(case: Path) -> list[Report]:
    target = case.read_text().splitlines()[0].removeprefix("# target: ")
    found: list[Report] = []
    for _, kernel in pick_kernels(str(case)):
        try:
            emit(stages_of(kernel), target)
        except KernelRefused as refusal:
            found += refusal.reports
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_refused(case: Path, update: bool) -> None:
    reports = reports_of(case)
    assert marks_in(case) == Counter((report.primary.span.line, report.code) for report in reports)
    text = without_marks(render_reports(reports, root=case.parent)) + "\n"
    expected = case.with_suffix(".expected.txt")
    if update:
        expected.write_text(text)
    assert expected.exists(), f"{expected.name} is missing: run pytest --update"
    assert text == expected.read_text()
