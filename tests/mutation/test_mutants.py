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


#: Barriers that order nothing which the rest does not order too, and why; outer blocks are counted before inner ones.
UNNECESSARY = {
    "blelloch without barrier 1": "the last step of the down-sweep leaves each thread the cells that it stores",
    "while_on_shared_flag without barrier 1": "it follows the barrier that ends the loop",
    "helper_leaves_loop without barrier 1": "the helper ends behind a barrier of its own",
    "helper_leaves_loop without barrier 2": "each thread writes its own cell until the helper ends",
    "helper_leaves_loop without barrier 3": "the same",
    "flagged without barrier 1": "makes the kernel a grouped one; nothing is shared",
    "segments_by_groups without barrier 1": "the same",
    "quotient_and_remainder without barrier 1": "the same",
    "other_half without barrier 1": "the same",
    "group_vote without barrier 1": "the vote is a barrier too",
    "group_vote without barrier 3": "the same",
}


def test_every_barrier_deleted_is_refused_or_was_unnecessary() -> None:
    accepted = [(name, kernel) for name, kernel in without_each_barrier() if not verdict(kernel)]
    assert {name for name, _ in accepted} == set(UNNECESSARY)
    for name, kernel in accepted:
        found = truth(kernel, random.Random(name), 25, accepted=True)
        assert not found.unsafe and not found.false_claim, (name, found)
    assert len(list(without_each_barrier())) > 8 * len(UNNECESSARY)
