"""Break accepted kernels and compare the verdict of the proofs with what running shows.

python -m tests.mutation.campaign --mutants 200000 --seed 1 --state campaign.json      resumable
"""

import argparse
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from isogrid.analysis.symbolic.polynomial import TooLarge
from isogrid.analysis.symbolic.races import RaceProof
from isogrid.checks.barriers import check_barriers
from isogrid.ir import kernel as k
from isogrid.ir.text import print_kernel

from .bases import bases
from .mutations import mutate
from .oracle import Truth, truth

#: Launches per mutant: accepted ones, and refused ones before they count as safe.
ACCEPTED_LAUNCHES = 5
REFUSED_LAUNCHES = 12


@dataclass(slots=True)
class Tally:
    """Counts of a campaign. `kinds` holds, per mutation, how many mutants there were and how many were unsafe."""

    mutants: int = 0
    none: int = 0
    unsafe: int = 0
    accepted: int = 0
    safe: int = 0
    safe_accepted: int = 0
    slowest: float = 0.0
    slowest_name: str = ""
    kinds: Counter[str] = field(default_factory=Counter[str])
    unsafe_kinds: Counter[str] = field(default_factory=Counter[str])
    causes: Counter[str] = field(default_factory=Counter[str])
    escapes: list[str] = field(default_factory=list[str])

    def add(self, other: "Tally") -> None:
        """Take the counts of another part of the campaign in."""
        for name in ("mutants", "none", "unsafe", "accepted", "safe", "safe_accepted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest, self.slowest_name = max((self.slowest, self.slowest_name), (other.slowest, other.slowest_name))
        for name in ("kinds", "unsafe_kinds", "causes"):
            getattr(self, name).update(getattr(other, name))
        self.escapes += other.escapes

    def text(self) -> str:
        """A table for people."""
        lines = [
            f"{self.mutants} mutants ({self.none} draws gave none): {self.unsafe} unsafe, {self.accepted} accepted",
            f"of {self.safe} that no launch showed unsafe, {self.safe_accepted} accepted",
            f"slowest proof {self.slowest * 1e3:.0f} ms: {self.slowest_name}",
        ]
        lines += [
            f"  {kind:18} {n:6} mutants {self.unsafe_kinds[kind]:6} unsafe" for kind, n in sorted(self.kinds.items())
        ]
        lines += [f"  refused though safe, {n:5}: {cause}" for cause, n in self.causes.most_common(40)]
        return "\n".join(lines + self.escapes)


def verdict(kernel: k.Kernel) -> str:
    """Empty for an accepted kernel, else why it is refused."""
    divergent = check_barriers(kernel)
    if divergent:
        return f"divergence: {divergent[0].code}"
    try:
        pairs = RaceProof(kernel).pairs()
    except TooLarge as limit:
        return f"too large: {limit}"
    if not pairs:
        return ""
    across = "across groups" if pairs[0].across else "within a group"
    return f"race {across}: {pairs[0].first.kind} and {pairs[0].second.kind} of {pairs[0].first.array}"


def escape(kernel: k.Kernel, name: str) -> bool:
    """Whether the kernel is accepted and some launch shows it unsafe."""
    if verdict(kernel):
        return False
    found = truth(kernel, random.Random(name), 25, accepted=True)
    return found.unsafe or bool(found.false_claim)


def mutant(seed: int, number: int) -> tuple[k.Kernel, k.Kernel, list[str], random.Random] | None:
    """Mutant `number` of the campaign `seed`, its base and its mutations: the same on every machine. None where the
    draw gives no kernel."""
    rng = random.Random(f"{seed}/{number}")
    base = bases()[rng.randrange(len(bases()))]
    kernel, kinds = base, list[str]()
    for _ in range(1 if rng.random() < 0.7 else 2):
        made = next((found for _ in range(10) if (found := mutate(kernel, rng)) is not None), None)
        if made is None:
            return None
        kinds.append(made[0])
        kernel = made[1]
    return kernel, base, kinds, rng


def one(seed: int, number: int, tally: Tally) -> None:
    """Judge one mutant by proof and by running it."""
    made = mutant(seed, number)
    if made is None:
        tally.none += 1
        return
    kernel, base, kinds, rng = made
    start = time.process_time()
    why = verdict(kernel)
    taken = time.process_time() - start
    if taken > tally.slowest:
        tally.slowest, tally.slowest_name = taken, f"{seed}/{number} of {base.name}"
    found = truth(kernel, rng, REFUSED_LAUNCHES if why else ACCEPTED_LAUNCHES, accepted=why == "")
    count(tally, base, kernel, kinds, why, found, f"{seed}/{number}")


def count(tally: Tally, base: k.Kernel, kernel: k.Kernel, kinds: list[str], why: str, found: Truth, name: str) -> None:
    if not found.ran and not found.unsafe and not found.false_claim:
        tally.none += 1
        return
    tally.mutants += 1
    tally.kinds.update(kinds)
    tally.accepted += why == ""
    if found.unsafe:
        tally.unsafe += 1
        tally.unsafe_kinds.update(kinds)
    else:
        tally.safe += 1
        tally.safe_accepted += why == ""
        if why:
            tally.causes[f"{base.name}, {'+'.join(kinds)}: {why}"] += 1
    if why == "" and (found.unsafe or found.false_claim):
        tally.escapes.append(
            f"ESCAPE {name} {kinds} of {base.name}: {found.finding or found.false_claim}\n{print_kernel(kernel)}"
        )


def campaign(seed: int, numbers: range) -> Tally:
    """All mutants of a range of numbers."""
    tally = Tally()
    for number in numbers:
        one(seed, number, tally)
    return tally


def saved(path: Path) -> tuple[int, Tally]:
    """The next number and the counts so far; from the beginning where there is no file."""
    if not path.exists():
        return 0, Tally()
    state = json.loads(path.read_text())
    tally = Tally(**{name: state[name] for name in ("mutants", "none", "unsafe", "accepted", "safe", "safe_accepted")})
    tally.slowest, tally.slowest_name = state["slowest"], state["slowest_name"]
    for name in ("kinds", "unsafe_kinds", "causes"):
        getattr(tally, name).update(state[name])
    tally.escapes = state["escapes"]
    return state["next"], tally


def _save(path: Path, number: int, tally: Tally) -> None:
    fields = {name: getattr(tally, name) for name in Tally.__slots__}  # type: ignore[attr-defined]
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"next": number, **fields}))
    partial.replace(path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file that keeps the counts, to go on from there")
    options = parser.parse_args()
    number, tally = (0, Tally()) if options.state is None else saved(options.state)
    while number < options.mutants:
        one(options.seed, number, tally)
        number += 1
        if options.state is not None and number % 100 == 0:
            _save(options.state, number, tally)
    if options.state is not None:
        _save(options.state, number, tally)
    print(tally.text())
    return 1 if tally.escapes else 0


if __name__ == "__main__":
    raise SystemExit(main())
