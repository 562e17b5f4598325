"""Make a kernel that differs on some device small: the choices that it came from are shrunk while it still differs."""

import multiprocessing
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .choices import Choices
from .execute import run
from .program import Program, program
from .shrink import shrink

#: Runs of a kernel while one difference is made smaller; each that ends its process needs a process of its own.
BUDGET, BUDGET_APART = 80, 25
#: Seconds for one run in its own process.
LIMIT = 20.0


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: which kernel, on which device, in words. `ends_process`: it cannot be run in this process."""

    seed: int
    device: str
    text: str
    ends_process: bool = False

    @property
    def kind(self) -> str:
        """What is alike in differences of one kind: `bytes`, `message`, `crash` or `lost`."""
        return self.text.partition(":")[0]


def reduced(finding: Finding, budget: int = 0) -> Program:
    """A small kernel that differs on the same device in the same way; the whole one if it does not differ again."""
    first = Choices(finding.seed)
    whole = program(first)
    fails = _ends if finding.ends_process else _differs
    budget = budget or (BUDGET_APART if finding.ends_process else BUDGET)
    if not fails(first.record, finding.device, finding.kind):
        return whole
    return program(Choices(replay=shrink(first.record, lambda r: fails(r, finding.device, finding.kind), budget)))


def reduced_apart(finding: Finding, limit: float = 300.0) -> Program:
    """The same in a process of its own, since a smaller kernel may end it, or never end: the whole one if it does."""
    near, far = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_send_reduced, args=(finding, far), daemon=False)
    process.start()
    far.close()
    try:
        return near.recv() if near.poll(limit) else program(Choices(finding.seed))
    except EOFError:
        return program(Choices(finding.seed))
    finally:
        process.kill()
        process.join()


def _send_reduced(finding: Finding, pipe: Any) -> None:
    os.environ["ISOGRID_CACHE_DIR"] = ""
    pipe.send(reduced(finding))


def trouble_of(record: list[int], device: str) -> str:
    """How the kernel of these choices differs on a device; empty if it does not."""
    return run(program(Choices(replay=record)), "random kernel", ("interp", device)).trouble


def _differs(record: list[int], device: str, kind: str) -> bool:
    return trouble_of(record, device).partition(":")[0] == kind


def _ends(record: list[int], device: str, kind: str) -> bool:
    return ends_process(trouble_of, record, device)


def ends_process(action: Callable[[list[int], str], str], record: list[int], device: str, limit: float = LIMIT) -> bool:
    """Whether the action ends a process of its own, or never comes back."""
    process = multiprocessing.get_context("spawn").Process(target=action, args=(record, device))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return True
    return process.exitcode != 0
