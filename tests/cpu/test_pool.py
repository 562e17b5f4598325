"""The worker pool: every unit once, traps by the lowest chunk, threads, forks, exits, signals, rounding modes."""

import ctypes
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
from tests.cpu.kernels import COUNT, SLOW, SUBNORMAL, block, context

from isogrid.backends.cpu import pool as cpu_pool
from isogrid.backends.cpu.pool import NativePool, native_pool

pytestmark = pytest.mark.skipif(not cpu_pool.is_supported(), reason="the native pool is for Linux on x86-64")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pool() -> NativePool:
    return native_pool()


def launch(pool: NativePool, kernel: Any, args: Any, units: int) -> int:
    return pool.launch(ctypes.addressof(kernel), ctypes.addressof(args), units)


@pytest.mark.parametrize("alignment", [1, 64])
@pytest.mark.parametrize("units", [0, 1, 63, 64, 65, 1000, 4096, 100_003, 3_000_017])
def test_every_unit_runs_once(pool: NativePool, units: int, alignment: int) -> None:
    kernel = context(COUNT, alignment=alignment)
    counts = np.zeros(units + 8, np.int32)
    for launches in range(1, 9):
        assert launch(pool, kernel, block(counts, -1), units) == -1
        assert (counts[:units] == launches).all()
    assert not counts[units:].any()


def test_workers_take_part(pool: NativePool) -> None:
    if cpu_pool.usable_processors() == 1:
        pytest.fail("this machine has one processor: nothing here tests the workers")
    kernel, out = context(SLOW), np.zeros(100_000)
    before = pool.statistic("joined")
    for _ in range(5):
        launch(pool, kernel, block(50, out), out.size)
    assert 1 <= pool.statistic("workers") < cpu_pool.usable_processors()
    assert pool.statistic("joined") > before


def test_lowest_trapped_chunk_starts_at_or_below_the_trap(pool: NativePool) -> None:
    kernel = context(COUNT)
    units = 400_000
    for bad in [0, 1, 63, 64, 5000, 199_999, 200_000, 399_999]:
        for _ in range(3):
            counts = np.zeros(units, np.int32)
            low = launch(pool, kernel, block(counts, bad), units)
            assert 0 <= low <= bad
            assert (counts[: bad + 1] == 1).all(), "a chunk below the trapped one did not run"


def test_costs_of_a_unit_are_learnt_anew(pool: NativePool) -> None:
    """A kernel that was cheap and becomes dear is still spread over the workers."""
    kernel, out = context(SLOW), np.zeros(20_000)
    for _ in range(10):
        launch(pool, kernel, block(1, out), 200)
    before = pool.statistic("joined")
    for _ in range(3):
        launch(pool, kernel, block(2000, out), out.size)
    if cpu_pool.usable_processors() > 1:
        assert pool.statistic("joined") > before


def test_four_threads_launch_at_once(pool: NativePool) -> None:
    kernel = context(COUNT)
    failures: list[str] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(150):
            units = int(random.integers(1, 300_000))
            counts = np.zeros(units, np.int32)
            if launch(pool, kernel, block(counts, -1), units) != -1 or not (counts == 1).all():
                failures.append(f"{units} units")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_gil_is_released_in_long_launches(pool: NativePool) -> None:
    kernel, out = context(SLOW), np.zeros(4096)
    launch(pool, kernel, block(20, out), out.size)
    ticks = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    started = time.perf_counter()
    while time.perf_counter() - started < 0.2:
        launch(pool, kernel, block(20_000, out), out.size)
    stop.set()
    thread.join()
    assert ticks >= 20


def test_subnormals_survive_whatever_the_caller_set(pool: NativePool) -> None:
    """Flush-to-zero, set in the calling thread, reaches neither the launch nor the workers, and is set again after."""
    from isogrid.backends.cpu.loader import compile_object, load_object

    text = """
    declare void @llvm.x86.sse.ldmxcsr(ptr)
    declare void @llvm.x86.sse.stmxcsr(ptr)
    define void @set(i32 %value) {
      %place = alloca i32
      store i32 %value, ptr %place
      call void @llvm.x86.sse.ldmxcsr(ptr %place)
      ret void
    }
    define i32 @get() {
      %place = alloca i32
      call void @llvm.x86.sse.stmxcsr(ptr %place)
      %value = load i32, ptr %place
      ret i32 %value
    }"""
    code = load_object(compile_object(text, "plain"), ("set", "get"))
    set_mode = ctypes.PYFUNCTYPE(None, ctypes.c_int32)(code["set"])
    get_mode = ctypes.PYFUNCTYPE(ctypes.c_int32)(code["get"])
    kernel, tiny = context(SUBNORMAL), np.finfo(np.float64).smallest_subnormal
    for units in (10, 2_000_000):
        out = np.full(units, 4 * tiny)
        args = block(out)
        set_mode(0x9FC0)
        try:
            launch(pool, kernel, args, units)
            after = get_mode()
        finally:
            set_mode(0x1F80)
        assert after & ~0x3F == 0x9FC0 & ~0x3F
        assert (out.view(np.int64) == 2).all()


# --- the life of a process -------------------------------------------------------------------------------------------

PRELUDE = """
import ctypes, os, signal, sys, threading, time
import numpy as np
from tests.cpu.kernels import COUNT, ENDLESS, SLOW, block, context
from isogrid.backends.cpu.pool import native_pool, usable_processors
pool = native_pool()
def launch(kernel, args, units):
    return pool.launch(ctypes.addressof(kernel), ctypes.addressof(args), units)
out = np.zeros(1 << 20)
slow = context(SLOW)
launch(slow, block(20, out), out.size)
"""


def restore_interrupt() -> None:
    """A shell starts what it runs in the background with Ctrl-C ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def child(body: str, **environment: str) -> "subprocess.Popen[str]":
    code = textwrap.dedent(PRELUDE) + textwrap.dedent(body)
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=dict(os.environ) | {"PYTHONPATH": paths} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=restore_interrupt,
    )


def finish(process: "subprocess.Popen[str]") -> str:
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 0, text
    return text


def test_exit_while_workers_sleep_and_spin() -> None:
    sleeping = child("time.sleep(0.05)")
    spinning = child("launch(slow, block(20, out), out.size)")
    finish(sleeping)
    finish(spinning)


def test_exit_while_a_daemon_thread_is_inside_a_launch() -> None:
    finish(
        child(
            """
            work = lambda: launch(slow, block(10_000_000, out), out.size)
            threading.Thread(target=work, daemon=True).start()
            time.sleep(0.2)
            """
        )
    )


def test_child_of_a_fork_starts_its_own_workers() -> None:
    text = finish(
        child(
            """
            import warnings
            warnings.simplefilter("ignore")
            assert pool.statistic("workers") == 1
            number = os.fork()
            if number == 0:
                assert pool.statistic("workers") == 0
                counts = np.zeros(3_000_000, np.int32)
                kernel = context(COUNT)
                before = pool.statistic("joined")
                for _ in range(20):
                    launch(kernel, block(counts, -1), counts.size)
                    launch(slow, block(20, out), out.size)
                good = (counts == 20).all() and pool.statistic("workers") == 1 and pool.statistic("joined") > before
                os._exit(0 if good else 3)
            _, status = os.waitpid(number, 0)
            print("child", os.waitstatus_to_exitcode(status))
            """,
            ISOGRID_THREADS="2",
        )
    )
    assert "child 0" in text


def test_fork_while_another_thread_owns_the_pool() -> None:
    text = finish(
        child(
            """
            import warnings
            warnings.simplefilter("ignore")
            thread = threading.Thread(target=lambda: launch(slow, block(3000, out), out.size))
            thread.start()
            time.sleep(0.1)
            number = os.fork()
            if number == 0:
                mine = np.zeros(1000)
                launch(context(SLOW), block(2000, mine), mine.size)
                os._exit(0 if (mine != 0).all() else 3)
            _, status = os.waitpid(number, 0)
            print("child", os.waitstatus_to_exitcode(status))
            os._exit(0)
            """
        )
    )
    assert "child 0" in text


def test_workers_block_signals() -> None:
    finish(
        child(
            """
            masks = []
            for task in os.listdir("/proc/self/task"):
                lines = open(f"/proc/self/task/{task}/status").read().splitlines()
                name = [l.split()[1] for l in lines if l.startswith("Name")][0]
                if name == "isogrid":
                    masks.append([l.split()[1] for l in lines if l.startswith("SigBlk")][0])
            assert len(masks) == 1, masks
            assert int(masks[0], 16) >> (signal.SIGINT - 1) & 1, masks
            """,
            ISOGRID_THREADS="2",
        )
    )


def test_one_processor_needs_no_worker() -> None:
    finish(
        child(
            """
            launch(slow, block(20, out), out.size)
            assert pool.statistic("workers") == 0
            assert (out != 0).all()
            """,
            ISOGRID_THREADS="1",
        )
    )


def test_more_threads_than_processors() -> None:
    finish(
        child(
            """
            kernel = context(COUNT)
            for units in (1000, 100_000, 2_000_000):
                counts = np.zeros(units, np.int32)
                for _ in range(20):
                    launch(kernel, block(counts, -1), units)
                assert (counts == 20).all()
            assert 1 <= pool.statistic("workers") <= 6
            """,
            ISOGRID_THREADS="7",
        )
    )


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------

INTERRUPTED = """
class Late(Exception): pass
def interrupted(run):
    print("ready", flush=True)
    try:
        run()
    except KeyboardInterrupt:
        print("interrupted", time.monotonic(), flush=True)
        return
    print("finished", flush=True)
"""


def seconds_to_interrupt(body: str) -> float:
    """The least of up to three attempts: another process may have the processors at the wrong moment."""
    took = 1.0
    for _ in range(3):
        took = min(took, one_interrupt(body))
        if took < 0.1:
            break
    return took


def one_interrupt(body: str) -> float:
    process = child(INTERRUPTED + textwrap.dedent(body))
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    text = finish(process)
    assert "interrupted" in text, text
    return float(text.split()[1]) - sent


def test_interrupt_between_chunks() -> None:
    took = seconds_to_interrupt(
        """
        interrupted(lambda: launch(slow, block(30_000, out), out.size))
        launch(slow, block(20, out), out.size)
        """
    )
    assert took < 0.1


def test_interrupt_inside_a_unit_that_never_ends() -> None:
    took = seconds_to_interrupt(
        """
        endless = context(ENDLESS, polls=True)
        interrupted(lambda: launch(endless, block(), 1000))
        launch(slow, block(20, out), out.size)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        """
    )
    assert took < 0.1


def test_a_handler_set_after_a_launch_replaces_the_launchers() -> None:
    """The launcher's handler stays after its launch; whatever the program sets comes in its place, and goes again."""
    process = child(
        INTERRUPTED
        + textwrap.dedent(
            """
            polled, endless = context(SLOW, polls=True), context(ENDLESS, polls=True)
            launch(polled, block(20, out), 1 << 17)
            seen = []
            signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
            interrupted(lambda: launch(polled, block(750 * usable_processors(), out), 1 << 17))
            print(seen)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            interrupted(lambda: launch(endless, block(), 1000))
            """
        )
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert [process.stdout.readline() for _ in range(3)] == ["finished\n", "[2]\n", "ready\n"]
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert finish(process).startswith("interrupted")


def test_ctrl_c_between_launches_is_pythons() -> None:
    process = child(
        INTERRUPTED
        + textwrap.dedent(
            """
            launch(context(SLOW, polls=True), block(20, out), 1 << 17)
            interrupted(lambda: time.sleep(20))
            launch(slow, block(20, out), out.size)
            """
        )
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert finish(process).startswith("interrupted")


def test_another_handler_is_called_and_may_go_on() -> None:
    process = child(
        INTERRUPTED
        + textwrap.dedent(
            """
            seen = []
            signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
            polled = context(SLOW, polls=True)
            interrupted(lambda: launch(polled, block(750 * usable_processors(), out), 1 << 17))
            print(seen)
            """
        )
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    text = finish(process)
    assert text.split() == ["finished", "[2]"]


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("ISOGRID_THREADS", "0", "ISOGRID_THREADS=0 is no number from 1 on; all processors are used"),
        ("ISOGRID_THREADS", "many", "ISOGRID_THREADS=many is no number from 1 on; all processors are used"),
        ("ISOGRID_PLACEMENT", "no", "ISOGRID_PLACEMENT=no is neither 0 nor 1; workers are placed"),
    ],
)
def test_a_variable_that_means_nothing_is_named(
    variable: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.warns(RuntimeWarning, match=said):
        cpu_pool.usable_processors() if variable == "ISOGRID_THREADS" else cpu_pool._places_workers()
