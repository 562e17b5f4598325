"""Compare random kernels on several devices until the time is up; reduce what differs to a small kernel.

    python -m tests.properties.generator.fuzz --minutes 10 --devices cpu,cuda --seed 1

The interpreter runs each kernel too and decides. A run stops where it is and says the next seed, from which another may
go on. `isogrid fuzz` is this program.
"""

import argparse
import os
import sys
import time

from .choices import Choices
from .execute import Outcome, run
from .program import program
from .shrink import shrink

#: Runs of a kernel while one difference is made smaller.
BUDGET = 80


def outcome(choices: Choices, device: str) -> tuple[Outcome, str]:
    made = program(choices)
    return run(made, "random kernel", ("interp", device)), made.source


def reduced(seed: int, device: str, trouble: str) -> str:
    """The text of a small kernel that fails on the device in the same way."""
    first, kind = Choices(seed), trouble.partition(":")[0]
    program(first)

    def fails(record: list[int]) -> bool:
        return outcome(Choices(replay=record), device)[0].trouble.partition(":")[0] == kind

    return program(Choices(replay=shrink(first.record, fails, BUDGET))).source


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--devices", default="cpu", help="commas between")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["ISOGRID_CACHE_DIR"] = ""
    devices = options.devices.split(",")
    end = time.monotonic() + options.minutes * 60
    seed, launches, found = options.seed, 0, 0
    while time.monotonic() < end:
        for device in devices:
            result, _ = outcome(Choices(seed), device)
            launches += result.launches
            if result.trouble:
                found += 1
                print(
                    f"seed {seed} on {device}: {result.trouble}\n\n{reduced(seed, device, result.trouble)}", flush=True
                )
        seed += 1
    done = f"{seed - options.seed} kernels, {launches} launches on {', '.join(devices)}"
    print(f"{done}: {found} differences; next seed {seed}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
