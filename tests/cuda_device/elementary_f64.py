"""f64 functions on a GPU: the bits of the CPU for 2^22 random inputs and edges, of the interpreter for some of them.

python -m tests.cuda_device.elementary_f64 [FUNCTION...]
"""

import sys

import numpy as np
from tools.mathlib.accuracy import DOMAINS, PAIRS, arguments, pairs

from isogrid.ir.types import Scalar
from tests.conformance.support import corners
from tests.numerics.support import ROWS, applied, bits_of

COUNT, SHARED = 1 << 22, 1000


def main() -> None:
    wrong, special = 0, np.array(corners(Scalar.F64), np.float64)
    for name in sys.argv[1:] or [*DOMAINS, *PAIRS]:
        rng = np.random.default_rng(11)
        drawn = pairs(COUNT, rng) if name in PAIRS else (arguments(name, COUNT, rng),)
        grid = np.meshgrid(*[special] * len(drawn))
        columns = [np.concatenate([edge.ravel(), column]) for edge, column in zip(grid, drawn, strict=True)]
        run = applied(ROWS[name], *[Scalar.F64] * len(columns))
        found = {device: np.empty(columns[0].size) for device in ("cuda", "cpu")}
        for device, values in found.items():
            run.on(device)(*columns, values)
        few = [column[: grid[0].size + SHARED].copy() for column in columns]
        meant = np.empty(few[0].size)
        run.on("interp")(*few, meant)
        cuda = bits_of(found["cuda"])
        different = int((cuda != bits_of(found["cpu"])).sum()) + int((cuda[: meant.size] != bits_of(meant)).sum())
        wrong += different
        print(f"{name}: {different} of {cuda.size} f64 results differ ({meant.size} by the interpreter)", flush=True)
    if wrong:
        raise SystemExit(f"{wrong} results differ")


if __name__ == "__main__":
    main()
