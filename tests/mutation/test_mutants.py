"""No accepted mutant races, diverges or leaves its arrays: thousands of mutants against the interpreter's detectors."""

import multiprocessing
import os
import random

from .barriers import without_each_barrier
from .bases import bases
from .campaign import Tally, campaign, verdict
from .oracle import truth

MUTANTS = int(os.environ.get("ISOGRID_MUTANTS", "5000"))
SEED = 1


def test_every_base_is_accepted_and_safe() -> None:
    for kernel in bases():
        assert verdict(kernel) == "", kernel.name
        found = truth(kernel, random.Random(kernel.name), 6, accepted=True)
        assert not found.unsafe and not found.false_claim, (kernel.name, found)
        assert found.ran, f"{kernel.name} was never launched"


def test_no_accepted_mutant_is_unsafe() -> None:
    workers = 2
    ranges = [(SEED, range(part, MUTANTS, workers)) for part in range(workers)]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        tallies = pool.starmap(campaign, ranges)
    tally = merged(tallies)
    print(tally.text())
    assert not tally.escapes, tally.escapes[0]
    assert tally.mutants >= 0.95 * MUTANTS
    assert tally.unsafe >= tally.mutants / 5
    assert tally.safe_accepted >= 0.9 * tally.safe
    assert all(
        tally.unsafe_kinds[kind] for kind in ("drop_barrier", "shift_index", "alias", "drop_guard", "widen_loop")
    )


def merged(tallies: list[Tally]) -> Tally:
    total = Tally()
    for tally in tallies:
        total.add(tally)
    return total


def test_every_barrier_deleted_is_refused_or_was_unnecessary() -> None:
    verdicts: dict[str, int] = {"refused": 0, "unnecessary": 0}
    for name, kernel in without_each_barrier():
        if verdict(kernel):
            verdicts["refused"] += 1
            continue
        verdicts["unnecessary"] += 1
        found = truth(kernel, random.Random(name), 25, accepted=True)
        assert not found.unsafe and not found.false_claim, (name, found)
    print(verdicts)
    assert verdicts["refused"] > 4 * verdicts["unnecessary"]
