"""The campaign can see: with a fault planted in the prover, some mutant is accepted that races or diverges."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from isogrid.analysis import uniformity
from isogrid.analysis.symbolic import decide, execute, loops, owners, races, scans, stairs, together
from isogrid.analysis.symbolic.context import GROUP, Context, Intervals

from . import campaign, mutations
from .barriers import without_each_barrier
from .bases import bases

Patch = pytest.MonkeyPatch
#: Mutants tried before the campaign counts as blind.
MOST = 1500


def no_back_edge(patch: Patch) -> None:
    """A trip's last interval does not reach the next trip's first."""
    original: Any = loops._set_version

    def forgetful(c: Context, loop: Any, entry: Any, levels: Any, state: Any, first: Any, version: int) -> None:
        if version and loop.synchronised:
            execute.new_interval(c)
        original(c, loop, entry, levels, state, first, version)

    patch.setattr(loops, "_set_version", forgetful)


def all_control_uniform(patch: Patch) -> None:
    """Every value counts as the same for the whole group."""
    original = Context.level
    patch.setattr(Context, "level", lambda self, value: min(original(self, value), GROUP))


def no_barrier_check(patch: Patch) -> None:
    """Every barrier counts as reached by every thread."""
    patch.setattr(campaign, "check_barriers", lambda kernel: [])


def no_question_across_groups(patch: Patch) -> None:
    original: Any = races.conflict
    patch.setattr(races, "conflict", lambda c, a, b, across: None if across else original(c, a, b, across))


def tags_always_exclusive(patch: Patch) -> None:
    def exclusive(a: Intervals, b: Intervals) -> bool:
        return bool(a & b)

    patch.setattr(races, "may_meet", exclusive)


def guards_always_contradict(patch: Patch) -> None:
    patch.setattr(decide, "_contradictory", lambda c, a, b, across: bool(a.access.guards and b.access.guards))


def guards_exclude_each_other(patch: Patch) -> None:
    """Guards of two threads count as impossible together."""
    patch.setattr(decide, "excluded_together", lambda *arguments: True)


def threads_come_in_order(patch: Patch) -> None:
    """Of two threads the first is always the lower one."""
    original: Any = together._orders
    patch.setattr(together, "_orders", lambda c, across: original(c, across)[:1])


def every_element_has_one_thread(patch: Patch) -> None:
    patch.setattr(owners, "_owned", lambda members: True)


def every_index_fixes_the_group(patch: Patch) -> None:
    patch.setattr(owners, "_groups_fixed", lambda *arguments: True)


def every_range_proved(patch: Patch) -> None:
    patch.setattr(decide, "prove", lambda *arguments: True)


def equal_vectors_are_one_number(patch: Patch) -> None:
    """The place of a thread counts as equal for two different threads."""

    def equal(a: Any, b: Any) -> bool:
        return bool(np.all(a == b))

    patch.setattr(decide, "one_number", equal)


def helpers_keep_their_threads(patch: Patch) -> None:
    """Threads that returned from a helper in one trip are expected at the barrier of the next."""
    walk: Any = vars(uniformity)["_Walk"]
    original: Any = vars(walk)["_escape"]

    def escape(self: Any, how: str) -> Any:
        return None if how == "return" else original(self, how)

    patch.setattr(walk, "_escape", escape)


def rows_end_anywhere(patch: Patch) -> None:
    """Every place counts as inside its packed row."""
    patch.setattr(stairs, "_below", lambda *arguments: True)


def all_threads_keep(patch: Patch) -> None:
    """A place from a scan counts as that of whoever reads it."""
    patch.setattr(scans, "prove", lambda *arguments: True)


FAULTS: list[Callable[[Patch], None]] = [
    no_back_edge,
    all_control_uniform,
    no_barrier_check,
    no_question_across_groups,
    tags_always_exclusive,
    guards_always_contradict,
    guards_exclude_each_other,
    threads_come_in_order,
    every_element_has_one_thread,
    every_index_fixes_the_group,
    every_range_proved,
    equal_vectors_are_one_number,
    helpers_keep_their_threads,
    rows_end_anywhere,
    all_threads_keep,
]


#: Rare faults are looked for among mutants of one kind and base: together with the others they come up too seldom.
FOCUS: dict[str, tuple[str, str]] = {
    "equal_vectors_are_one_number": ("add_place", "quotient_and_remainder"),
    "helpers_keep_their_threads": ("insert_exit", "helper_leaves_loop"),
}


@pytest.mark.parametrize("plant", FAULTS, ids=lambda f: f.__name__)
def test_a_planted_fault_is_caught(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    plant(monkeypatch)
    if plant.__name__ in FOCUS:
        kind, base = FOCUS[plant.__name__]
        chosen = tuple(kernel for kernel in bases() if kernel.name == base)
        monkeypatch.setattr(mutations, "NAMES", (kind,))
        monkeypatch.setattr(campaign, "bases", lambda: chosen)
    tally = campaign.Tally()
    for number in range(MOST):
        campaign.one(5, number, tally)
        if tally.escapes:
            return
    for name, kernel in without_each_barrier():
        if campaign.escape(kernel, name):
            return
    pytest.fail(f"{plant.__name__} was not noticed in {MOST} mutants")
