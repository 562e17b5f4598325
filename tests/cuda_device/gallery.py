"""Every gallery kernel on `cuda`: equal bits with the interpreter at its small sizes, with `cpu` at its large one."""

import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import gallery


def main() -> int:
    bad = 0
    for name in gallery.NAMES:
        example = gallery.load(name)
        started = time.perf_counter()
        troubles = []
        for size in (*example.sizes, example.large):
            inputs = example.make_inputs(size, seed=3)
            reference = "cpu" if size == example.large else "interp"
            try:
                want, got = example.run(inputs, reference), example.run(inputs, "cuda")
            except Exception as error:
                traceback.print_exc()
                troubles.append(f"size {size}: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
                break
            for output, expected in want.items():
                found = gallery.difference(got[output], expected)
                if found:
                    troubles.append(f"size {size}: {output}: {found}")
        bad += bool(troubles)
        print(f"{name:24} {time.perf_counter() - started:6.2f} s  {troubles or 'equal'}", flush=True)
    print(f"{len(gallery.NAMES)} kernels, {bad} differ")
    return bad


if __name__ == "__main__":
    sys.exit(main())
