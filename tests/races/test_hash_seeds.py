"""Verdicts and texts do not depend on the order in which Python hashes: other seeds give the same bytes.

The suite itself runs under a seed of its own, and compares the same texts.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = (0, 1, 2)

SCRIPT = """
import sys
from tests.races.test_refused import CASES as RACES, reports_of as races_of
from tests.refusals.test_refusals import CASES as OTHERS, reports_of, without_marks
from isogrid.diagnostics.render_text import render_reports

part, parts = map(int, sys.argv[1:])
for case in RACES[part::parts]:
    found = [report for _, report in races_of(case)]
    text = without_marks(render_reports(found, root=case.parent)) + "\\n"
    assert text == case.with_suffix(".expected.txt").read_text(), case
for case in [case for case in OTHERS if case.parent.name != "language"]:
    text = without_marks(render_reports(reports_of(case), root=case.parent)) + "\\n"
    assert text == case.with_suffix(".expected.txt").read_text(), case
print("same", sys.flags.hash_randomization)
"""


def test_other_hash_seeds_give_the_same_texts() -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(part), str(len(SEEDS))],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for part, seed in enumerate(SEEDS)
    ]
    for process in running:
        out, errors = process.communicate(timeout=300)
        assert process.returncode == 0 and out.startswith("same"), errors
