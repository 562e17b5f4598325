"""Launches on the CPU against the interpreter: results, the first trap word for word, totals, variants, Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64, u8, w32
from isogrid.backends.cpu import artifact as cpu_artifact
from isogrid.backends.cpu import pool
from isogrid.backends.cpu import runtime as cpu_runtime
from isogrid.backends.cpu.runtime import place, scalar_bits, scalar_value
from isogrid.dims import H, M, N, W
from isogrid.ir.types import Scalar
from isogrid.traps import Trap

ROOT = Path(__file__).parents[2]


@ig.kernel(grid=N)
def gather(index: In[i32, N], q: In[i32, M], y: InOut[i32, N]) -> None:
    i = ig.gid()
    y[i] = y[i] + q[index[i]] * 3


@ig.kernel(grid=(H, W))
def plane(index: In[i32, H, W], y: InOut[i32, H, W]) -> None:
    r, c = ig.gids()
    y[r, c] = 1000 // index[r, c]


@ig.kernel(grid=N, block=64)
def grouped(index: In[i32, N], y: InOut[i32, N]) -> None:
    cell = ig.shared(i32, 64)
    i = ig.gid()
    t = ig.lid()
    if i < N:
        cell[t] = index[i] * 1000
    ig.barrier()
    if i < N:
        y[i] = cell[63 - t] + cell[index[i] % 65]


@ig.kernel(grid=N)
def count(bins: In[i32, N], weights: In[i32, N], first: InOut[i32, M], second: InOut[i32, M]) -> None:
    i = ig.gid()
    ig.atomic_add(first, bins[i], weights[i])
    ig.atomic_add(second, bins[i], -weights[i])


@ig.kernel(grid=N)
def narrow(x: In[i32, N], y: Out[u8, N]) -> None:
    i = ig.gid()
    y[i] = x[i]


def outcome(kernel: Any, device: str, arguments: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """What a launch says and leaves: the trap's class and text, or "done"; and copies of all arrays after it."""
    own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        kernel.on(device)(*own)
    except Trap as trap:
        return f"{type(trap).__name__}: {trap}", own
    return "done", own


def assert_same(kernel: Any, *arguments: Any) -> str:
    expected, wanted = outcome(kernel.options(interp={"detect_races": False}), "interp", arguments)
    for _ in range(2):  # the second launch takes the native stub
        said, found = outcome(kernel, "cpu", arguments)
        assert said == expected
        for after, before, reference in zip(found, arguments, wanted, strict=True):
            if isinstance(after, np.ndarray):
                assert after.tobytes() == reference.tobytes()
                assert said == "done" or after.tobytes() == before.tobytes()
    return said


@pytest.mark.parametrize("seed", range(20))
def test_first_of_random_traps(seed: int) -> None:
    """Ten launches each; bounds and overflows mixed, mostly early so that the interpreter gets there soon."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1000, 60_000))
    q = random.integers(-1000, 1000, 500).astype(np.int32)
    said = set()
    for _ in range(10):
        index = random.integers(0, 490, size).astype(np.int32)
        y = random.integers(-1000, 1000, size).astype(np.int32)
        for _ in range(5):
            at = int(size ** random.random()) - 1
            match random.integers(3):
                case 0:
                    index[at] = random.choice([-1, 500, 2**31 - 1, -(2**31)])
                case 1:
                    y[at] = 2**31 - 1 - int(random.integers(100))
                case _:
                    q[495] = 2**30
                    index[at] = 495
        said.add(assert_same(gather, index, q, y).split(":")[0])
    assert said <= {"KernelIndexError", "KernelOverflowError", "done"} and len(said) > 0


def test_traps_of_a_grid_of_two_dimensions() -> None:
    random = np.random.default_rng(1)
    for shape in [(1, 1), (7, 33), (200, 300)]:
        index = random.integers(1, 9, shape).astype(np.int32)
        y = np.zeros(shape, np.int32)
        assert assert_same(plane, index, y) == "done"
        index[-1, -1] = 0
        assert "division by zero" in assert_same(plane, index, y)
        index[shape[0] // 2, shape[1] // 3] = 0
        assert f"thread ({shape[0] // 2}, {shape[1] // 3})" in assert_same(plane, index, y)


def test_traps_of_groups() -> None:
    random = np.random.default_rng(2)
    for size in [1, 64, 65, 1000]:
        index = random.integers(0, 64, size).astype(np.int32)
        y = np.zeros(size, np.int32)
        assert_same(grouped, index, y)
        for _ in range(10):
            bad = index.copy()
            bad[random.integers(size)] = 64
            bad[random.integers(size)] = 2**30
            assert assert_same(grouped, bad, y) != "done"


def test_narrowing_store() -> None:
    x = np.arange(256, dtype=np.int32)
    assert assert_same(narrow, x, np.zeros(256, np.uint8)) == "done"
    x[[100, 200]] = 256, -1
    assert "thread 100" in assert_same(narrow, x, np.zeros(256, np.uint8))


# --- totals ----------------------------------------------------------------------------------------------------------


def test_totals_that_fit_whatever_their_parts_do() -> None:
    bins = np.zeros(4, np.int32)
    weights = np.array([2**31 - 1, 2**31 - 1, -(2**31) + 1, -(2**31) + 1], np.int32)
    zeros = np.zeros(3, np.int32)
    assert assert_same(count, bins, weights, zeros, zeros.copy()) == "done"


@pytest.mark.parametrize("elements", [[2], [5, 2], [0, 1, 2]])
def test_totals_that_leave_their_type(elements: list[int]) -> None:
    bins = np.repeat(np.array(elements, np.int32), 3)
    weights = np.full(bins.size, 2**30, np.int32)
    said = assert_same(count, bins, weights, np.zeros(8, np.int32), np.zeros(8, np.int32))
    assert f"element {min(elements)} of `first`" in said


def test_totals_rank_after_traps_of_threads() -> None:
    bins = np.array([0, 0, 0, 9], np.int32)
    weights = np.full(4, 2**30, np.int32)
    said = assert_same(count, bins, weights, np.zeros(8, np.int32), np.zeros(8, np.int32))
    assert said.startswith("KernelIndexError")


def test_totals_are_in_the_order_of_parameters() -> None:
    bins = np.array([3, 3], np.int32)
    weights = np.full(2, 1, np.int32)
    first = np.zeros(8, np.int32)
    second = np.full(8, -(2**31) + 1, np.int32)
    assert "element 3 of `second`" in assert_same(count, bins, weights, first, second)
    first[3] = 2**31 - 1
    assert "element 3 of `first`" in assert_same(count, bins, weights, first, second)


# --- variants and values ---------------------------------------------------------------------------------------------


@ig.kernel(grid=N)
def shifted(by: i64, x: In[i64, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + by


def test_large_scalars_take_the_wide_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = []
    compiled = cpu_runtime._compile

    def note(kernel: Any, options: Any, launch_facts: Any) -> cpu_artifact.LoadedVariant:
        facts.append(launch_facts.small)
        return compiled(kernel, options, launch_facts)

    monkeypatch.setattr(cpu_runtime, "_compile", note)
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    x, y = np.arange(100, dtype=np.int64), np.zeros(100, np.int64)
    kernel = shifted.on("cpu").options(unroll=False)
    kernel(5, x, y)
    assert facts == [True]
    for by in (2**31 - 1, 2**31, -(2**40), 2**62):
        kernel(by, x, y)
        assert (y == x + by).all()
    assert facts == [True, False]
    with pytest.raises(ig.KernelOverflowError):
        kernel(2**63 - 50, x, y)


@ig.kernel(grid=N)
def everything(b: bool, i: i32, u: ig.u64, w: w32, f: f32, d: ig.f64, y: Out[ig.f64, N]) -> None:
    t = ig.gid()
    y[t] = (ig.f64(i) + ig.f64(u) + ig.f64(w) + ig.f64(f) + d) if b else 0.5


def test_scalars_of_every_type() -> None:
    for b in (True, False):
        y = np.zeros(10)
        everything.on("cpu")(b, -7, 2**63, 2**32 - 1, 0.1, 1e300, y)
        y2 = np.zeros(10)
        everything.on("interp")(b, -7, 2**63, 2**32 - 1, 0.1, 1e300, y2)
        assert y.tobytes() == y2.tobytes()


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (-1, Scalar.I32),
        (2**63, Scalar.U64),
        (2**64 - 1, Scalar.W64),
        (-(2**63), Scalar.I64),
        (np.float32(0.1), Scalar.F32),
        (np.float64(-0.0), Scalar.F64),
        (True, Scalar.BOOL),
        (-128, Scalar.I8),
    ],
)
def test_bits_of_scalars_come_back(value: Any, type: Scalar) -> None:
    word = scalar_bits(value, type) & ((1 << 64) - 1)
    back = scalar_value(word, type)
    assert back == value and np.signbit(back) == np.signbit(value)


def test_places_in_a_box() -> None:
    assert [place(n, (2, 3)) for n in range(6)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_zero_extents() -> None:
    empty = np.zeros(0, np.int32)
    assert assert_same(gather, empty, np.zeros(3, np.int32), empty.copy()) == "done"
    assert assert_same(plane, np.zeros((3, 0), np.int32), np.zeros((3, 0), np.int32)) == "done"


def test_artifacts_come_back_from_bytes() -> None:
    from isogrid.launch.dispatch import program_of
    from isogrid.launch.specialise import check_specialisations
    from isogrid.runtimes.protocol import BoundLaunch

    specialisation = next(check_specialisations(gather.definition, {}))
    program = program_of(gather, specialisation)
    runtime = cpu_runtime.CpuRuntime()
    made = runtime.compile(program, {})
    again = runtime.from_bytes(runtime.to_bytes(made))
    assert again.kernel() == program
    assert again.small.facts == made.small.facts
    arrays = {"index": np.array([1], np.int32), "q": np.array([5, 7], np.int32), "y": np.array([1], np.int32)}
    runtime.launch(again, BoundLaunch(arrays, {}, {"N": 1, "M": 2}, (1,)))
    assert arrays["y"][0] == 22
    arrays["index"][0] = 2
    with pytest.raises(ig.KernelIndexError, match="index 2 is out of range"):
        runtime.launch(again, BoundLaunch(arrays, {}, {"N": 1, "M": 2}, (1,)))


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------

LONG = """
import time
import numpy as np
import isogrid as ig
from isogrid import Out, f32, i64, In
from isogrid.dims import N

@ig.kernel(grid=N)
def endless(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    while v > 0.0:
        v = v * 1.0
    y[i] = v

@ig.kernel(grid=N)
def long(steps: i64, x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    for s in range(steps):
        v = v / 1.0000001
    y[i] = v

x, y = np.ones(1 << 16, np.float32), np.zeros(1 << 16, np.float32)
long.on("cpu")(1, x, y)
endless.on("cpu")(x * 0, y)
print("ready", flush=True)
try:
    RUN
except KeyboardInterrupt:
    print("interrupted", time.monotonic())
long.on("cpu")(1, x, y)
print((y != 0).all())
"""


@pytest.mark.parametrize("run", ['endless.on("cpu")(x, y)', 'long.on("cpu")(400_000, x, y)'])
def test_interrupt(tmp_path: Path, run: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(LONG).replace("RUN", run))
    # Another process may have the processors at the wrong moment.
    assert any(seconds_to_interrupt(file) < 0.1 for _ in range(3))


def seconds_to_interrupt(file: Path) -> float:
    settings = {"PYTHONPATH": str(ROOT / "src"), "ISOGRID_CACHE_DIR": ""}
    process = subprocess.Popen(
        [sys.executable, str(file)],
        env=dict(os.environ) | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell starts what it runs in the background with Ctrl-C ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        text, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, text
    word, when, after = text.split()
    assert word == "interrupted" and after == "True"
    return float(when) - sent


# --- options ---------------------------------------------------------------------------------------------------------


def test_vectorise_can_be_switched_off() -> None:
    index = np.arange(1000, dtype=np.int32) % 7
    arguments = (index, np.arange(7, dtype=np.int32), np.ones(1000, np.int32))
    assert assert_same(gather.options(disable={"vectorise"}), *arguments) == "done"


# --- threads, and machines without the native pool -------------------------------------------------------------------


def test_four_threads_launch_and_trap_at_once() -> None:
    failures: list[str] = []
    q = np.arange(100, dtype=np.int32)

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for turn in range(40):
            size = int(random.integers(1, 150_000))
            index = random.integers(0, 100, size).astype(np.int32)
            y = random.integers(0, 1000, size).astype(np.int32)
            before, expected = y.copy(), y + q[index] * 3
            bad = int(random.integers(size)) if turn % 2 else -1
            if bad >= 0:
                index[bad] = 100
            try:
                gather.on("cpu")(index, q, y)
            except ig.KernelIndexError as trap:
                if f"thread {bad}\n" not in str(trap) or (y != before).any():
                    failures.append(f"trap at {bad}: {trap}")
                continue
            if bad >= 0 or (y != expected).any():
                failures.append(f"{size} elements, bad at {bad}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[:3]


def test_without_the_native_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "is_supported", lambda: False)
    index = np.arange(20_000, dtype=np.int32) % 7
    q, y = np.arange(7, dtype=np.int32), np.ones(20_000, np.int32)
    assert assert_same(gather.options(unroll=True), index, q, y) == "done"
    index[[9000, 15_000]] = 7
    assert "thread 9000" in assert_same(gather.options(unroll=True), index, q, y)
