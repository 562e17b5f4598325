"""`python -m benchmarks.cuda.run [streams|gallery|tuned|latency] [NAMES...]`: a card's figures, as a table and as JSON.

Every program runs as isogrid's kernel, as scalar CUDA C of the same algorithm (NVRTC, default flags), and, where they
have it, as vectorised CUDA C and in PyTorch, CuPy, Triton and Numba, those that are installed. Results are compared
before anything is timed. Launch and compile times follow.
"""

import argparse
import gc
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

import isogrid as ig
from benchmarks.cuda import cold, latency, libraries, timing
from benchmarks.cuda.kept import keep
from benchmarks.cuda.peers import Peers
from benchmarks.cuda.work import Work, on_device
from isogrid.backends.cuda.machine import machine

ROOT: Final = Path(__file__).resolve().parents[2]


def main() -> None:
    options = _options()
    peers = _peers(options.device)
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    for work in _programs(options.suite, options.names):
        try:
            row = _measure(work, options.device, peers)
        except Exception as failure:  # one program that fails must not cost the figures of the others
            failed.append(work.name)
            print(f"{work.name:16} FAILED: {type(failure).__name__}: {str(failure)[:300]}", flush=True)
            continue
        rows.append(row)
        print(_line(row), flush=True)
        gc.collect()
    _finish(rows, options)
    if failed or any(not row["agrees"] for row in rows):
        sys.exit(1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", nargs="?", default="all", choices=["all", "streams", "gallery", "tuned", "latency"])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", default=str(ROOT / "benchmarks" / "results"))
    return parser.parse_args()


def _peers(device: str) -> Peers:
    found = machine()
    number = int(device.partition(":")[2] or 0)
    ig.zeros(1, ig.f32, device=device)
    found.driver.current_context(found.driver.primary_context(number))
    return Peers(found.driver, found.capabilities[number])


def _programs(suite: str, names: list[str]) -> Iterator[Work]:
    if suite in ("all", "streams"):
        from benchmarks.cuda.stream_work import stream_work

        yield from (work for work in stream_work() if not names or work.name.split()[0] in names)
    if suite in ("all", "tuned"):
        from benchmarks.cuda.tuned_work import tuned_work

        yield from (work for work in tuned_work() if not names or work.name.split()[0] in names)
    if suite in ("all", "gallery"):
        from benchmarks.cuda.gallery_work import MAKERS

        for name, make in MAKERS.items():
            if not names or name in names:
                yield make()


def _measure(work: Work, device: str, peers: Peers) -> dict[str, Any]:
    """Compare, then time."""
    mine, yours = on_device(work.contents, device), on_device(work.contents, device)
    ours = _ours(work, mine, device)
    sides: dict[str, Callable[[], None]] = {"isogrid": ours}
    if work.theirs:
        sides["cuda c"] = peers.prepare(work.theirs, yours)
    if work.vectorised:
        sides["vectorised"] = peers.prepare(work.vectorised, yours)
    sides |= libraries.sides(work, yours)
    wait = _wait(peers)
    ours()
    first = next((side for side in sides if side != "isogrid"), None)
    row: dict[str, Any] = {"name": work.name, "unit": work.unit, "amount": work.amount, "bar": work.bar}
    row["difference"], row["agrees"] = None, True
    if first is not None:
        sides[first]()
        wait()
        row["difference"] = max(_difference(mine[name], yours[name]) for name in work.results)
        row["agrees"] = row["difference"] <= work.allowed
    for side in libraries.failing(work.name, sides):
        del sides[side]
    samples = timing.compare(sides, wait)
    row["seconds"] = {side: timing.median(times) for side, times in samples.items()}
    row["spread"] = {side: (min(times), max(times)) for side, times in samples.items()}
    row["against"] = work.against
    if work.against in sides:
        row["ratio"] = row["seconds"][work.against] / row["seconds"]["isogrid"]
    if work.fastest is not None:
        row |= _against_fastest(row["seconds"], work.fastest)
    return row


def _against_fastest(seconds: Mapping[str, float], bar: float) -> dict[str, Any]:
    """The quickest side but ours and scalar CUDA C, and how many times as quick as it we are."""
    others = {side: t for side, t in seconds.items() if side not in ("isogrid", "cuda c")}
    fastest = min(others, key=lambda side: others[side])
    return {"fastest": fastest, "fastest_ratio": others[fastest] / seconds["isogrid"], "fastest_bar": bar}


def _wait(peers: Peers) -> Callable[[], None]:
    def wait() -> None:
        ig.synchronize()
        peers.driver.synchronise()

    return wait


def _ours(work: Work, arrays: Mapping[str, Any], device: str) -> Callable[[], None]:
    calls = []
    for call in work.ours:
        kernel = call.kernel.on(device)
        calls.append((kernel, tuple(arrays[a] if isinstance(a, str) else a for a in call.arguments)))

    def run() -> None:
        for kernel, arguments in calls:
            kernel(*arguments)

    if not work.recorded:
        return run
    run()  # a recording takes what is compiled
    with ig.record() as graph:
        run()
    return graph


def _difference(mine: Any, yours: Any) -> float:
    """Largest difference of two device arrays over the largest value; 0 where they are equal in every bit."""
    a, b = mine.numpy(), yours.numpy()
    if np.array_equal(a, b):
        return 0.0
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-300))


def _line(row: Mapping[str, Any]) -> str:
    rates = "  ".join(f"{side} {row['amount'] / t / 1e9:9.1f}" for side, t in row["seconds"].items())
    peer = "" if row["against"] == "cuda c" else f" of {row['against']}"
    bar = f"{peer} bar {row['bar']}" if row["bar"] else ""
    if "fastest" in row:
        bar += f", {row['fastest_ratio']:.3f} of {row['fastest']} bar {row['fastest_bar']}"
    agree = "equal" if row["difference"] == 0 else f"differs by {row['difference'] or 0:.1e}"
    verdict = agree if row["agrees"] else f"WRONG, {agree}"
    ratio = f"{row['ratio']:6.2f}x" if "ratio" in row else "  none "
    return f"{row['name']:16} {ratio}{bar}  G{row['unit']}/s: {rates}  ({verdict})"


def _finish(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    gallery = [row["ratio"] for row in rows if " " not in row["name"]]
    mean = math.exp(sum(map(math.log, gallery)) / len(gallery)) if gallery else None
    if mean is not None:
        print(
            f"geometric mean of {len(gallery)} gallery ratios: {mean:.3f} (bar 1.25), least {min(gallery):.2f} (0.95)"
        )
    command = " ".join(["python -m benchmarks.cuda.run", options.suite, *options.names])
    latencies = [*latency.measure(), cold.largest()] if options.suite in ("all", "latency") else []
    for found in latencies:
        print(latency.line(found))
    keep("cuda", command, Path(options.out), mean=mean, rows=rows, latencies=[asdict(found) for found in latencies])


if __name__ == "__main__":
    main()
