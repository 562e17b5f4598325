"""What checks cost on a GPU: each gallery kernel as it is, with its checks compiled out unproved, and with all kept.

python -m benchmarks.cuda.checks [NAMES...] [--device cuda] [--out FOLDER]

Where every check is proved, the first two are the same code and their times differ by noise only; the third shows what
the proofs save. The CPU's table is that of `python -m benchmarks.checks`.
"""

import argparse
import gc
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import isogrid as ig
from benchmarks.cuda import timing
from benchmarks.cuda.kept import keep
from benchmarks.cuda.work import Work, on_device
from isogrid.backends.cuda import loader
from isogrid.backends.cuda.machine import machine
from isogrid.launch.dispatch import Compiled
from isogrid.launch.kernel_value import Kernel
from isogrid.passes.drop_checks import drop_checks

#: The sides of the comparison, as those of the CPU's.
SIDES: Final = ("as it is", "compiled out", "all kept")
RESULTS: Final = Path(__file__).resolve().parents[1] / "results"


def kernel_of(side: str, kernel: Any, device: str) -> Any:
    """The kernel as one side compiles it, apart from what other sides have compiled."""
    own = Kernel(kernel.definition, Compiled(), kernel.explicit_options, kernel.tunables).on(device)
    return own.options(disable={"prove"}) if side == "all kept" else own


@contextmanager
def compiling(side: str) -> Generator[None]:
    """Let kernels that are compiled meanwhile have no checks, on the side that leaves them out."""
    original: Any = loader._device_ir  # pyright: ignore[reportPrivateUsage]
    if side == "compiled out":
        loader._device_ir = lambda kernel, *more: original(drop_checks(kernel), *more)  # pyright: ignore
    try:
        yield
    finally:
        loader._device_ir = original  # pyright: ignore[reportPrivateUsage]


def ready(side: str, work: Work, device: str) -> Callable[[], None]:
    """The launches of one side on arrays of its own, compiled."""
    arrays = on_device(work.contents, device)
    calls = [
        (kernel_of(side, call.kernel, device), tuple(arrays[a] if isinstance(a, str) else a for a in call.arguments))
        for call in work.ours
    ]

    def run() -> None:
        for kernel, arguments in calls:
            kernel(*arguments)

    with compiling(side):
        for _ in range(3):
            run()
        ig.synchronize(device)
    return run


def measure(work: Work, device: str) -> dict[str, Any]:
    """Seconds of one run on each side: medians of samples taken in turn."""

    def wait() -> None:
        ig.synchronize()
        machine().driver.synchronise()

    samples = timing.compare({side: ready(side, work, device) for side in SIDES}, wait)
    seconds = {side: timing.median(found) for side, found in samples.items()}
    return {"name": work.name, "seconds": seconds, "spread": {s: (min(f), max(f)) for s, f in samples.items()}}


def line(row: Mapping[str, Any]) -> str:
    own, without, every = (row["seconds"][side] for side in SIDES)
    times = "  ".join(f"{side} {1e6 * row['seconds'][side]:9.1f}" for side in SIDES)
    return f"{row['name']:16} us: {times}  out / is {without / own:.3f}  all / is {every / own:.2f}"


def main() -> None:
    from benchmarks.cuda.gallery_work import MAKERS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    os.environ["ISOGRID_CACHE_DIR"] = ""  # the sides have one source and three codes
    rows: list[dict[str, Any]] = []
    for name in options.names or list(MAKERS):
        rows.append(measure(MAKERS[name](), options.device))
        print(line(rows[-1]), flush=True)
        gc.collect()
    keep("cuda_checks", " ".join(["python -m benchmarks.cuda.checks", *options.names]), options.out, rows=rows)


if __name__ == "__main__":
    main()
