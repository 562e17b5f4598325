"""Random loops under shuffled orders, every access logged: how many were judged, accepted and run, and by which rules.

python -m tests.offload.campaign --loops 20000 --seed 1 [--output FILE]

It ends at the first accepted loop whose iterations meet, with its text and exit status 1.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.offload import generator


def campaign(seeds: Iterable[int], tell: Callable[[str], None] = print) -> Counter[str]:
    """Judge and run loops; raises `AssertionError` with the text of the first that should not have been accepted.

    `refused and independent` counts loops that no run speaks against: the price of rules that look at forms.
    """
    counts: Counter[str] = Counter()
    for seed in seeds:
        loop = generator.judged(seed)
        counts["loops"] += 1
        if loop.analysis is None:
            counts["outside the language"] += 1
            continue
        if not loop.accepted:
            counts["refused"] += 1
            counts[f"refused by {loop.analysis.refusals[0].finding.rule}"] += 1
            counts["refused and independent"] += not generator.meets(seed, loop)
            continue
        counts["accepted"] += 1
        counts["accepted and run to the end"] += any(generator.run(loop.text, seed, 0, s) for s in generator.SCALARS)
        accepted = loop.analysis.verdict.loops[0].accepted
        assert accepted is not None
        kinds = {w.kind for w in accepted.written.values()} | ({"reduction"} if accepted.reductions else set())
        counts.update(f"accepted with {kind}" for kind in kinds)
        problem = generator.fault(seed, loop)
        assert problem is None, f"seed {seed}: {problem}\n{loop.text}"
    tell(", ".join(f"{count} {name}" for name, count in counts.items()))
    return counts


def main() -> int:
    """0 if no accepted loop conflicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loops", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--commit", default=None, help="what is judged, where this is no checkout")
    given = parser.parse_args()
    started = time.time()
    try:
        counts = campaign(range(given.seed, given.seed + given.loops))
    except AssertionError as problem:
        print(problem)
        return 1
    if given.output is not None:
        commit = given.commit or subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()
        kept: dict[str, Any] = {
            "command": f"python -m tests.offload.campaign --loops {given.loops} --seed {given.seed}",
            "date": time.strftime("%Y-%m-%d"),
            "commit": commit,
            "seconds": round(time.time() - started, 1),
            "orders": "that of the text and 2 shuffled ones, for each of 3 sets of scalars",
            "accepted and in conflict": 0,
            **dict(sorted(counts.items())),
        }
        given.output.write_text(json.dumps(kept, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
