"""No random kernel of phases that is accepted races or diverges, and most that synchronise rightly are accepted."""

import linecache
import random
from collections.abc import Callable, Iterable
from typing import Any

from isogrid.analysis.symbolic.polynomial import TooLarge
from isogrid.analysis.symbolic.races import RaceProof
from isogrid.checks.barriers import check_barriers
from isogrid.checks.warps import check_warps
from isogrid.ir import kernel as k
from tests.mutation.bases import built
from tests.mutation.oracle import truth
from tests.races.random_phases import kernel_text

COUNT = 600


def made(text: str, seed: str) -> k.Kernel:
    """The kernel `made` of a module."""
    file = f"<random {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": "random_kernels"}
    exec(compile(text, file, "exec"), scope)
    return built(scope["made"])


def accepted(kernel: k.Kernel) -> bool:
    if check_warps(kernel) or check_barriers(kernel):
        return False
    try:
        return not RaceProof(kernel).races_anywhere()
    except TooLarge:
        return False


def judged(write: Callable[[str], str], seeds: Iterable[str]) -> tuple[int, int]:
    """How many kernels are accepted, and how many of the others race or diverge when they run."""
    proved = unsafe = 0
    for seed in seeds:
        text = write(seed)
        kernel = made(text, seed)
        safe = accepted(kernel)
        found = truth(kernel, random.Random(seed), 6, safe)
        assert not (safe and (found.unsafe or found.false_claim)), (text, found)
        proved += safe
        unsafe += found.unsafe
    return proved, unsafe


def test_no_accepted_kernel_races() -> None:
    proved, unsafe = judged(kernel_text, (f"phases/{number}" for number in range(COUNT)))
    assert unsafe > COUNT / 10 and proved > 0.8 * (COUNT - unsafe), (proved, unsafe)
