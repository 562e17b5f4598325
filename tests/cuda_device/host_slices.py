"""Large launches on host arrays, in slices and in one piece: the same bits as on the processor, at random sizes."""

import copy
import sys
from typing import Any

import numpy as np

from isogrid.backends.cuda import slices, transfer
from tests.arrays import kernels as k
from tests.cuda.test_runtime_slices import group_sums, neighbours, numbers, product, some, table

#: From this many bytes on launches are cut here, so that small ones are too.
LEAST = 1 << 18


def cases(generator: np.random.Generator) -> list[tuple[Any, tuple[Any, ...]]]:
    """Kernels with arguments of random sizes."""
    n, m = int(generator.integers(1 << 16, 1 << 22)), int(generator.integers(300, 900))
    a, b, c = (numbers((m, 64)), numbers((64, 700), 2), np.zeros((m, 700), np.float32))
    ints = generator.integers(-100, 100, n, dtype=np.int32)
    rows = int(generator.integers(n // 2, 2 * n))
    return [
        (k.saxpy, (2.0, numbers(n), numbers(n, 2))),
        (product, (a, b, c)),
        (some, (5, np.arange(rows, dtype=np.int32), ints.copy(), np.full(n, -7, np.int32))),
        (table, (ints, numbers(32), np.zeros(n, np.float32))),
        (neighbours, (numbers(n), np.zeros(n, np.float32))),
        (group_sums, (numbers(n), numbers(n, 2))),
    ]


def main() -> int:
    generator = np.random.default_rng(1)
    wrong = runs = 0
    for least in (LEAST, 1 << 60):
        for part in (1 << 18, transfer.PART):
            slices.LEAST, transfer.PART = least, part
            for _ in range(4):
                for kernel, arguments in cases(generator):
                    expected = copy.deepcopy(arguments)
                    kernel.on("cpu")(*expected)
                    kernel.on("cuda")(*arguments)
                    same = [np.array_equal(mine, theirs) for mine, theirs in zip(arguments, expected, strict=True)]
                    runs += 1
                    if not all(same):
                        wrong += 1
                        print(f"{kernel.definition.name}: {same}, cut from {least} bytes on, parts of {part}")
    print(f"{runs} launches on host arrays: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
