"""Random loops under shuffled orders, every access logged: none is accepted whose iterations meet.

`ISOGRID_RANDOM_LOOPS=2000` makes it a campaign; the default is a first look. Campaigns that were run are kept in
`benchmarks/results/random_loops_*.json`.
"""

import os
from typing import Any

import pytest

import isogrid as ig
from isogrid.analysis.linear import ONE
from isogrid.offloading import proof
from tests.offload import generator
from tests.offload.campaign import campaign
from tests.offload.written import called, same

LOOPS = int(os.environ.get("ISOGRID_RANDOM_LOOPS", "150"))


def test_no_accepted_loop_conflicts(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        counts = campaign(range(LOOPS), lambda text: print(f"\n{text}"))
    assert counts["accepted"] >= LOOPS // 4
    assert counts["refused"] >= LOOPS // 4
    assert counts["accepted and run to the end"] >= counts["accepted"] // 2


@pytest.mark.parametrize("seed", range(3000, 3012))
def test_tiers_agree_on_random_loops(seed: int) -> None:
    f = ig.offload(generator.typed(generator.loop_text(seed), seed))
    arguments = generator.arguments(seed)
    expected = called(f.reference, arguments)
    assert same(called(f.on("cpu"), arguments), expected)
    assert same(called(f.on("cuda"), arguments), expected)


#: Loops that lean on one rule alone.
TOLD = {"find_read": [0, 5, 40, 54, 75], "judge_array": [0, 1, 5, 6, 9], "is_own": [70, 110, 164, 191, 198]}


@pytest.mark.parametrize("rule", TOLD)
def test_a_missing_rule_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one of the rules some loop is accepted whose iterations meet."""
    blind: dict[str, Any] = {
        "find_read": lambda *_: None,
        "judge_array": lambda one, array: proof.Written(array, "affine", 0, ONE, ()),
        "is_own": lambda *_: True,
    }
    monkeypatch.setattr(proof, rule, blind[rule])
    if rule == "judge_array":
        monkeypatch.setattr(proof, "find_read", lambda *_: None)
    faults = sum(
        loop.accepted and generator.fault(seed, loop) is not None
        for seed in TOLD[rule]
        for loop in [generator.judged(seed)]
    )
    assert faults > 3
