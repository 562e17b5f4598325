"""`isogrid fuzz` finds a planted bit in any tier, says nothing without one, and writes a test that fails."""

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from isogrid.backends.cpu import emit_values
from isogrid.backends.cuda import emit_code, emit_short
from isogrid.backends.interp import expressions
from isogrid.ir.device import Machine
from isogrid.launch.backends import RUNTIMES
from isogrid.printers.llvm_text import type_text

from .generator import fuzz, reduce
from .generator.choices import Choices
from .generator.program import program
from .generator.testfile import text_of_test

ROOT = Path(__file__).resolve().parents[2]


def flipped(real: Callable[..., str], op: str, bits: int) -> Callable[..., str]:
    """An emitter of operations that turns the lowest bit of one operation's results over."""

    def operation(w: Any, name: str, arguments: Any, type: Machine, result: Machine, shape: Any) -> str:
        value = real(w, name, arguments, type, result, shape)
        if name != op or result.bits != bits:
            return value
        one = "true" if bits == 1 else "1"
        splat = f"splat (i{bits} {one})" if shape.width > 1 else one
        return w.emit(f"xor {type_text(result, shape.width)} {value}, {splat}")

    return operation


def plant_cpu(monkeypatch: pytest.MonkeyPatch, op: str, bits: int) -> None:
    monkeypatch.setattr(emit_values, "operation", flipped(emit_values.operation, op, bits))


def plant_cuda(monkeypatch: pytest.MonkeyPatch, op: str, bits: int) -> None:
    monkeypatch.setitem(RUNTIMES, "simulated", ("tests.cuda.executor", "SimulatedDevice"))
    for module in (emit_code, emit_short):
        monkeypatch.setattr(module, "operation", flipped(module.operation, op, bits))


def plant_interp(monkeypatch: pytest.MonkeyPatch, op: str, bits: int) -> None:
    real = expressions.fast_binary

    def fast_binary(node: Any, left: Any, right: Any) -> Any:
        run = real(node, left, right)
        if node.op != op or node.type.bits != bits or not node.type.is_integer or run is None:
            return run
        return lambda frame: run(frame) ^ 1

    monkeypatch.setattr(expressions, "fast_binary", fast_binary)


#: Tier, what is planted there, and the device that the run compares.
FAULTS = {
    "interp": (plant_interp, "xor", 32, "cpu"),
    "cpu": (plant_cpu, "ixor", 32, "cpu"),
    "cuda": (plant_cuda, "ixor", 32, "simulated"),
}


def fuzzed(folder: Path, *arguments: str) -> int:
    return fuzz.main(["--processes", "0", "--output", str(folder), *arguments])


def test_agreeing_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzzed(tmp_path, "--minutes", "0.001", "--seed", "5", "--devices", "cpu") == 0
    assert "25 kernels" in (shown := capsys.readouterr().out) and "0 differences; next seed 30" in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("tier", FAULTS)
def test_a_planted_bit_is_found_within_a_minute(
    tier: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant, op, bits, device = FAULTS[tier]
    monkeypatch.setattr(reduce, "BUDGET", 8)
    plant(monkeypatch, op, bits)
    # Time of the processor: others may be at work on this machine.
    started = time.process_time()
    assert fuzzed(tmp_path, "--minutes", "10", "--devices", device, "--seed", "101", "--first") == 1
    assert time.process_time() - started < 60
    shown = capsys.readouterr().out
    assert "@ig.kernel" in shown and "1 differences" in shown
    (path,) = tmp_path.iterdir()
    found = load(path)
    with pytest.raises(AssertionError):
        found.test_devices_agree()
    monkeypatch.undo()
    if tier == "cuda":
        monkeypatch.setitem(RUNTIMES, "simulated", ("tests.cuda.executor", "SimulatedDevice"))
    load(path).test_devices_agree()


def load(path: Path) -> Any:
    """The test that was written, as a module."""
    os.environ["ISOGRID_CACHE_DIR"] = ""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_test_of_a_difference_has_the_same_arguments(tmp_path: Path) -> None:
    for seed in range(40, 60):
        made = program(Choices(seed))
        path = tmp_path / f"test_{seed}.py"
        path.write_text(text_of_test(reduce.Finding(seed, "cpu", 'bytes: `x`"""'), made))
        for want, given in zip(made.launches, load(path).arguments(), strict=True):
            assert want.keys() == given.keys()
            for name, value in want.items():
                other = given[name]
                if not isinstance(value, np.ndarray):
                    assert repr(other) == repr(value)
                    continue
                assert (other.dtype, other.shape, other.tobytes()) == (value.dtype, value.shape, value.tobytes())


def _dies(record: list[int], device: str) -> str:
    os._exit(3 if record and record[0] > 5 else 0)


def test_what_ends_its_process_is_run_in_another() -> None:
    assert reduce.ends_process(_dies, [9], "cpu") and not reduce.ends_process(_dies, [1], "cpu")
    assert reduce.ends_process(_sleeps, [1], "cpu", limit=2.0)


def _sleeps(record: list[int], device: str) -> str:
    time.sleep(60)
    return ""


def test_command_needs_no_more_than_the_checkout() -> None:
    import typer

    from isogrid.cli.fuzz import fuzz as command

    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, ["--minutes", "0.001"])
    assert result.exit_code == 0


def test_workers_find_what_one_process_finds(tmp_path: Path) -> None:
    """The whole command with workers of its own, over a few kernels."""
    command = [sys.executable, "-m", "tests.properties.generator.fuzz", "--minutes", "0.02", "--processes", "1"]
    done = subprocess.run(
        [*command, "--seed", "900", "--output", str(tmp_path)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 differences; next seed" in done.stdout
