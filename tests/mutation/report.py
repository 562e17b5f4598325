"""The figures of campaigns as the page `docs/explanation/mutation-campaign.md`, and a closer look at what was refused.

python -m tests.mutation.report STATE... [--look 300 --seed 9] > docs/explanation/mutation-campaign.md
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from isogrid.ir import kernel as k

from . import campaign
from .oracle import truth

#: Launches of a closer look.
LAUNCHES = 60


@dataclass(frozen=True, slots=True)
class Campaign:
    """What one campaign found. `of` says which proofs judged it."""

    of: str
    mutants: int
    unsafe: int
    accepted: int
    escapes: int


#: All campaigns since the proofs are what they are in outline, the oldest first.
CAMPAIGNS = (
    Campaign("before the last five holes that reading found were mended", 197_146, 58_764, 129_828, 0),
    Campaign("at e73beb5, after they were mended and the proof made quicker", 77_409, 23_049, 50_030, 0),
    Campaign("at 7b481d5, with inequalities of both threads and one look at all accesses", 10_006, 3_059, 6_430, 0),
    Campaign("at d538cb0, with warp tails and loops kept rolled when over the budget", 227_740, 67_876, 148_377, 0),
)

#: What the third campaign, which was short, took over from the one before.
RECHECKED = (
    "Of the first 42,000 draws of the second campaign the proof of the third accepts 234 mutants that the second's",
    "refused. Each was run in 40 launches, as written and as the passes leave it: none is unsafe.",
)


def total(states: Iterable[Path]) -> campaign.Tally:
    """The counts of several parts of one campaign."""
    whole = campaign.Tally()
    for state in states:
        whole.add(campaign.saved(state)[1])
    return whole


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def page(tally: campaign.Tally, looked: Counter[str]) -> str:
    """Markdown."""
    lines = [
        "# What mutants say about the race proof",
        "",
        "Accepted kernels are broken in one or two places. The proofs say whether the mutant is accepted, and the",
        "interpreter's detectors look for races, divergence and accesses out of range on launches with random sizes,",
        "data and orders. This page is written by `python -m tests.mutation.report`; do not edit it.",
        "",
        "| campaign | mutants | unsafe | accepted | accepted and unsafe |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(f"| {c.of} | {c.mutants:,} | {c.unsafe:,} | {c.accepted:,} | **{c.escapes}** |" for c in CAMPAIGNS),
        "",
        *RECHECKED,
        "",
        "The figures from here on are those of the last.",
        "",
        "| | |",
        "| --- | ---: |",
        f"| mutants | {tally.mutants:,} |",
        f"| unsafe in some launch | {tally.unsafe:,} ({share(tally.unsafe, tally.mutants)}) |",
        f"| accepted | {tally.accepted:,} |",
        f"| **accepted, and unsafe in some launch** | **{len(tally.escapes)}** |",
        f"| safe in all launches tried | {tally.safe:,} |",
        f"| of these accepted | {tally.safe_accepted:,} ({share(tally.safe_accepted, tally.safe)}) |",
        "",
        "## By mutation",
        "",
        "| mutation | mutants | unsafe |",
        "| --- | ---: | ---: |",
    ]
    lines += [
        f"| {kind.replace('_', ' ')} | {n:,} | {share(tally.unsafe_kinds[kind], n)} |"
        for kind, n in sorted(tally.kinds.items(), key=lambda item: -item[1])
    ]
    lines += [
        "",
        "## Refused though no launch showed a fault",
        "",
        "| verdict | mutants | share |",
        "| --- | ---: | ---: |",
    ]
    verdicts = by_verdict(tally.causes)
    refused = sum(verdicts.values())
    lines += [f"| {verdict} | {n:,} | {share(n, refused)} |" for verdict, n in verdicts.most_common()]
    lines += ["", "| base kernel | refused | mutations |", "| --- | ---: | --- |"]
    lines += [f"| {base} | {n:,} | {kinds} |" for base, n, kinds in by_base(tally.causes)[:25]]
    if looked:
        lines += closer(looked)
    return "\n".join(lines)


def closer(looked: Counter[str]) -> list[str]:
    return [
        "",
        "## A closer look",
        "",
        f"Refused mutants of another seed, each with {LAUNCHES} more launches:",
        "",
        "| what these launches did | mutants | share |",
        "| --- | ---: | ---: |",
        *(f"| {what} | {n:,} | {share(n, sum(looked.values()))} |" for what, n in looked.most_common()),
    ]


def by_verdict(causes: Counter[str]) -> Counter[str]:
    """Refusals by what the proof said, arrays left out."""
    found: Counter[str] = Counter()
    for cause, n in causes.items():
        why = cause.split(": ", 1)[1]
        found[why.rsplit(" of ", 1)[0] if why.startswith("race") else why] += n
    return found


def by_base(causes: Counter[str]) -> list[tuple[str, int, str]]:
    """Base kernel, refusals, and the mutations that most of them come from."""
    kinds: dict[str, Counter[str]] = {}
    for cause, n in causes.items():
        base, rest = cause.split(", ", 1)
        kinds.setdefault(base, Counter())[rest.split(": ", 1)[0].replace("_", " ")] += n
    rows = [
        (base, counts.total(), ", ".join(kind for kind, _ in counts.most_common(3))) for base, counts in kinds.items()
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def look(wanted: int, seed: int) -> Counter[str]:
    """What happens in many launches of mutants that are refused though a dozen launches showed nothing."""
    found: Counter[str] = Counter()
    number = 0
    while found.total() < wanted:
        mutant = campaign.mutant(seed, number)
        number += 1
        if mutant is None or not campaign.verdict(mutant[0]):
            continue
        rng = random.Random(f"look {seed}/{number}")
        first = truth(mutant[0], rng, campaign.REFUSED_LAUNCHES, accepted=False)
        if first.unsafe or not first.ran:
            continue
        found[outcome(mutant[0], rng)] += 1
    return found


def outcome(kernel: k.Kernel, rng: random.Random) -> str:
    more = truth(kernel, rng, LAUNCHES, accepted=False)
    if more.unsafe:
        return "one is unsafe after all"
    if more.trapped >= more.ran:
        return "all trap"
    if 2 * more.trapped > more.ran:
        return "most trap"
    return "some trap" if more.trapped else "none traps"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("states", nargs="+", type=Path, help="what `--state` of the campaign wrote")
    parser.add_argument("--look", type=int, default=0, help="how many refused mutants to look at again")
    parser.add_argument("--seed", type=int, default=9, help="the seed of those")
    options = parser.parse_args()
    looked = look(options.look, options.seed) if options.look else Counter[str]()
    print(page(total(options.states), looked))


if __name__ == "__main__":
    main()
