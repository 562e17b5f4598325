"""Random kernels on interpreter and `cuda`, spread over processes: `... [first seed] [how many]`."""

import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.properties.generator.choices import Choices
from tests.properties.generator.execute import run
from tests.properties.generator.program import program


def one(seed: int) -> tuple[int, str, int]:
    outcome = run(program(Choices(seed)), f"random kernel {seed}", ("interp", "cuda"))
    return seed, outcome.trouble, outcome.trapped


def main() -> int:
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 600
    started = time.perf_counter()
    troubles: list[tuple[int, str]] = []
    trapped = done = 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(15, os.cpu_count() or 1), mp_context=context) as pool:
        for seed, trouble, traps in pool.map(one, range(first, first + count), chunksize=10):
            done += 1
            trapped += traps
            if trouble:
                troubles.append((seed, trouble))
                print(f"seed {seed}: {trouble[:600]}", flush=True)
    print(
        f"{done} kernels, {trapped} trapping launches, {len(troubles)} troubles, {time.perf_counter() - started:.1f} s"
    )
    return len(troubles)


if __name__ == "__main__":
    sys.exit(main())
