"""Compare a batch of seeds on some devices, and count what the kernels held and how they ended."""

import gc
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

from . import execute
from .choices import Choices
from .execute import Ready
from .program import program
from .together import together
from .together_cuda import together_on_gpu


@dataclass(slots=True)
class Tally:
    """What a number of kernels held and how they ended. `troubles` are seed, device and text; `alone` counts
    the kernels that were not compiled in the module of their batch, as they should have been."""

    kernels: int = 0
    launches: int = 0
    trapped: int = 0
    odd_sizes: int = 0
    alone: int = 0
    compared: Counter[str] = field(default_factory=Counter[str])
    constructs: Counter[str] = field(default_factory=Counter[str])
    traps: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    troubles: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])

    def note(self, seed: int, ready: Ready, devices: Sequence[str]) -> None:
        """Compare one kernel with the interpreter's answers and count it."""
        made = ready.program
        self.kernels += 1
        self.constructs.update(made.used)
        self.odd_sizes += made.odd_size
        for at, device in enumerate(devices):
            outcome = execute.compared(ready, device)
            if outcome.trouble:
                self.troubles.append((seed, device, outcome.trouble))
            elif not outcome.refused:
                self.compared[device] += 1
            if at:
                continue
            self.launches += outcome.launches
            self.trapped += outcome.trapped
            self.traps.update(trap_kind(text) for text in outcome.traps)
            if outcome.refused:
                code = _code(outcome.refused)
                self.refused[code] += 1
                if not code.startswith("IG4"):
                    self.troubles.append((seed, "interp", f"refused: {outcome.refused}"))

    def add(self, other: "Tally") -> None:
        self.kernels += other.kernels
        self.launches += other.launches
        self.trapped += other.trapped
        self.odd_sizes += other.odd_sizes
        self.alone += other.alone
        for mine, more in (
            (self.compared, other.compared), (self.constructs, other.constructs), (self.traps, other.traps),
            (self.refused, other.refused),
        ):  # fmt: skip
            mine.update(more)
        self.troubles += other.troubles

    def as_data(self) -> dict[str, Any]:
        """For a report in JSON."""
        return {
            "kernels": self.kernels, "launches": self.launches, "trapping_launches": self.trapped,
            "odd_sizes": self.odd_sizes, "alone": self.alone,
            "compared": dict(self.compared), "refused": dict(self.refused),
            "traps": dict(self.traps.most_common()), "constructs": dict(sorted(self.constructs.items())),
            "differences": [{"seed": s, "device": d, "text": t} for s, d, t in self.troubles],
        }  # fmt: skip


def from_data(data: dict[str, Any]) -> Tally:
    """The tally of a report."""
    return Tally(
        data["kernels"], data["launches"], data["trapping_launches"], data["odd_sizes"], data["alone"],
        Counter(data["compared"]), Counter(data["constructs"]), Counter(data["traps"]), Counter(data["refused"]),
        [(entry["seed"], entry["device"], entry["text"]) for entry in data["differences"]],
    )  # fmt: skip


def trap_kind(text: str) -> str:
    """What a trap's message is about, for the table."""
    kind, _, message = text.partition(": ")
    line = message.splitlines()[0]
    marks = {
        "shift amount": "shift amount", "range step": "step", "exponent": "exponent", "outside the range": "conversion",
        "stored value": "narrowing store", "the total of `group_": "group total", "the total of": "array total",
        "abs(": "abs", "-(": "-x", " ** ": "**", " << ": "<<", " * ": "*", " + ": "+", " - ": "-",
        " // ": "//", " % ": "%",
    }  # fmt: skip
    found = next((name for mark, name in marks.items() if mark in line), "")
    return f"{kind} {found}".strip()


def _code(text: str) -> str:
    at = text.find("error[")
    return text[at + 6 : at + 11] if at >= 0 else text[:40]


#: Objects made since the last search for cycles from which on another one pays.
_MANY: Final = 1_000_000


def settle_memory() -> None:
    """Search for cycles between batches only, after some of them, and not in what was there before the first one."""
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()
        gc.disable()
    elif gc.get_count()[0] > _MANY:
        gc.collect()


def run_batch(
    seeds: Sequence[int],
    devices: Sequence[str] = ("cpu",),
    *,
    packed: bool = True,
    note: Callable[[int, str], None] = lambda seed, stage: None,
) -> Tally:
    """Compare the kernels of some seeds in this process. `packed`: the kernels of a device are compiled in one module.

    `note` hears of every seed and stage before it begins, so that the one which ends the process is known.
    """
    tally = Tally()
    with ExitStack() as stack:
        groups = [(d, stack.enter_context(_GROUPS[d]())) for d in devices if packed and d in _GROUPS]
        ready: list[Ready] = []
        for seed in seeds:
            note(seed, "interp")
            one = execute.prepare(program(Choices(seed)), f"random kernel {seed}")
            execute.answer(one)
            ready.append(one)
        for device, group in groups:
            for seed, one in zip(seeds, ready, strict=True):
                note(seed, f"compiling for {device}")
                execute.compile_later(one, device)
            group.finish()
        for seed, one in zip(seeds, ready, strict=True):
            note(seed, ", ".join(devices))
            tally.note(seed, one, devices)
            execute.forget(one)
        tally.alone = sum(group.alone for _, group in groups)
    return tally


#: Devices whose kernels can be compiled in one module.
_GROUPS: dict[str, Callable[[], Any]] = {"cpu": together, "cuda": together_on_gpu}


def table(tally: Tally) -> str:
    """Constructs, trap kinds and outcomes as text."""
    percent = 100 / max(tally.kernels, 1)
    compared = ", ".join(f"{count} compared on {device}" for device, count in tally.compared.items())
    lines = [f"{tally.kernels} kernels, {compared}, {tally.launches} launches, {tally.trapped} trapping"]
    lines += [f"refused as certain to trap: {sum(tally.refused.values())} {dict(tally.refused)}"]
    lines += [f"a size that is no multiple of 16: {tally.odd_sizes * percent:.1f} % of kernels", "", "traps"]
    lines += [f"  {count:6d}  {name}" for name, count in tally.traps.most_common()]
    lines += ["", "constructs, % of kernels"]
    cells = [f"{count * percent:6.1f} {name}" for name, count in sorted(tally.constructs.items())]
    rows = -(-len(cells) // 3)
    lines += ["".join(f"{cells[at]:42}" for at in range(row, len(cells), rows)).rstrip() for row in range(rows)]
    return "\n".join(lines)
