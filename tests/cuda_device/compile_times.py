"""What the first launch of the gallery's kernels costs without any cache: source, proofs, LLVM, driver and load."""

import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("CUDA_CACHE_DISABLE", "1")

import isogrid as ig

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))


def main() -> int:
    import gallery
    import isogrid.backends.cuda.loader as loader
    import isogrid.launch.stored as stored
    from isogrid.cli.load import pick_kernels
    from isogrid.support import diskcache

    off: Any = diskcache.DiskCache(None)
    loader.default_cache = stored.default_cache = lambda: off
    ig.zeros(1, ig.f32, device="cuda")
    warm = gallery.load("saxpy")
    warm.run(warm.make_inputs(100, seed=1), "cuda")  # loads the compiler
    rows: list[tuple[float, int, str]] = []
    for name in gallery.NAMES:
        example = gallery.load(name)
        inputs = example.make_inputs(example.sizes[-1], seed=1)
        kernels = len(pick_kernels(str(EXAMPLES / f"{name}.py")))
        seconds: list[float] = []
        for _ in range(2):
            started = time.perf_counter()
            example.run(inputs, "cuda")
            seconds.append(time.perf_counter() - started)
        rows.append((1e3 * (seconds[0] - seconds[1]) / kernels, kernels, name))
    for milliseconds, kernels, name in sorted(rows, reverse=True):
        print(f"{milliseconds:8.1f} ms a kernel  {name}, {kernels} of them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
