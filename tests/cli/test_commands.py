"""The other commands: what they print, and the exit codes that scripts rely on."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isogrid.cli import bench
from isogrid.cli.bench import checkout
from isogrid.diagnostics.codes import all_pages
from isogrid.ir.parse import parse_device, parse_kernel
from isogrid.launch import devices as launch_devices

COMMAND = [sys.executable, "-m", "isogrid"]
FILES = Path(__file__).parent / "files"


def test_run_hands_the_arguments_to_the_script(isogrid: Callable[..., Any]) -> None:
    assert isogrid("run", "script.py", "1", "2", "30").out == "2 4 60\n"
    assert isogrid("run", "--device", "interp", "script.py", "5").out == "10\n"


def test_run_shows_a_trap_with_the_frames_of_the_script_alone(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("run", "script.py", "1", "2000000000")
    assert ran.code == 1
    assert "KernelOverflowError: 2000000000 * 2 does not fit i32" in ran.err
    assert "double(x)" in ran.err
    assert "dispatch.py" not in ran.err


def test_run_fails_for_a_device_or_file_that_is_not_there(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("run", "--device", "gpu9", "script.py")
    assert (ran.code, "gpu9" in ran.err) == (2, True)
    assert isogrid("run", "nowhere.py").code == 2


def test_run_shows_an_error_of_the_script_as_python_would(tmp_path: Any) -> None:
    """No frame of the runner, causes and syntax errors included."""
    for number, text in enumerate(("try:\n    1 / 0\nfinally:\n    {}['a']\n", "x = = 1\n")):
        script = tmp_path / f"script{number}.py"
        script.write_text(text)
        plain = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
        ran = subprocess.run([*COMMAND, "run", script], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (1, "")
        assert ran.stderr == plain.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("command", [["check", FILES / "mixed.py"], ["--help"]])
def test_output_that_nobody_takes(command: list[Any]) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run([*COMMAND, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "isogrid: it cannot write: No space left on device\n")
    closed = subprocess.run(
        [*COMMAND, *command], stderr=subprocess.PIPE, text=True, check=False, preexec_fn=lambda: os.close(1)
    )
    assert closed.returncode in (0, 1)
    assert closed.stderr == ""


def test_a_folder_is_no_file(isogrid: Callable[..., Any], tmp_path: Any) -> None:
    for command in ("check", "run"):
        assert f"{tmp_path} is a folder; name the files in it" in isogrid(command, str(tmp_path)).err


def test_run_renders_a_refusal(isogrid: Callable[..., Any], tmp_path: Any) -> None:
    file = tmp_path / "refused.py"
    text = "import numpy as np\nfrom mixed import mixed\n\nmixed(1, np.zeros(4, np.float32))\n"
    file.write_text("import sys\nsys.path.insert(0, '.')\n" + text)
    ran = isogrid("run", str(file))
    assert ran.code == 1
    assert ran.err.startswith("error[IG")
    assert "mixed.py:23:16" in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("target", ["kernel-ir", "optimised-ir"])
def test_emitted_kernel_ir_can_be_read_back(isogrid: Callable[..., Any], target: str) -> None:
    kernel = parse_kernel(isogrid("emit", "mixed.py::saxpy", "--target", target).out)
    assert kernel.name == "saxpy"


def test_emitted_device_ir_and_code(isogrid: Callable[..., Any]) -> None:
    assert parse_device(isogrid("emit", "mixed.py::saxpy", "-t", "device-ir").out).sites == ()
    assert "define i64 @run(ptr" in isogrid("emit", "mixed.py::saxpy").out
    assert "run:" in isogrid("emit", "mixed.py::saxpy", "-t", "asm").out


def test_emit_names_what_is_missing(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("emit", "mixed.py::nothing")
    assert (ran.code, ran.err) == (2, "isogrid: mixed.py has no kernel 'nothing'; it has saxpy, gather, mixed\n")
    assert isogrid("emit", "mixed.py::mixed").code == 1
    assert isogrid("emit", "mixed.py::saxpy", "--target", "vhdl").code == 2


def test_explain_a_kernel_shows_every_stage_with_its_source(isogrid: Callable[..., Any]) -> None:
    text = isogrid("explain", "mixed.py::gather").out
    titles = [line for line in text.splitlines() if line.startswith("== ")]
    found = [title.split(" ")[1] for title in titles]
    assert found == ["kernel", "checks", "cost", "kernel", "passes", "device", "LLVM"]
    assert "17: y[i] = x[p[i]]" in text
    assert "| " in text
    assert "line 17  kept    index of `x`" in text
    assert "define i64 @run" in text


def test_explain_a_code(isogrid: Callable[..., Any]) -> None:
    code, page = next(iter(all_pages().items()))
    ran = isogrid("explain", code.lower())
    assert (ran.code, ran.out.startswith(f"{code}: {page.title}\n")) == (0, True)
    missing = isogrid("explain", "IG9")
    assert (missing.code, "there is no code IG9" in missing.err) == (2, True)


def test_devices_and_doctor(isogrid: Callable[..., Any]) -> None:
    listed = json.loads(isogrid("devices", "--json").out)
    assert {device["name"] for device in listed} >= {"cpu", "interp"}
    assert sum(device["default"] for device in listed) == 1
    assert "interp" in isogrid("devices").out
    found = json.loads(isogrid("doctor", "--json").out)
    trials = {f["name"]: f for f in found if f["name"].startswith("device ")}
    assert all(f["fine"] for f in trials.values()), trials
    assert set(trials) == {f"device {device['name']}" for device in listed}


def test_devices_say_why_they_are_exact(isogrid: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    text = isogrid("devices", "--exactness").out
    assert "the self-test passes" in text
    for line in ("guaranteed", "    f32 f64: + - *", "    integers and bools"):
        assert line in text
    listed = {device["name"]: device for device in json.loads(isogrid("devices", "--exactness", "--json").out)}
    for name in ("cpu", "interp"):
        found = listed[name]["exactness"]
        assert found["self_test"] == {"passed": True, "trouble": ""}
        assert all(one["guaranteed"] is (one["basis"] != "c") for one in found["operations"])
        assert {"operation": "+", "type": "f64"}.items() <= next(
            one for one in found["operations"] if (one["operation"], one["type"]) == ("+", "f64")
        ).items()
    assert "exactness" not in json.loads(isogrid("devices", "--json").out)[0]
    monkeypatch.setattr(launch_devices.TESTED, "trouble", {"cpu": "it computes 1 and not 2"})
    failed = isogrid("devices", "--exactness")
    assert failed.code == 1
    assert "the self-test fails: it computes 1 and not 2" in failed.out


def test_python_m_isogrid_starts_and_unknown_commands_exit_with_2() -> None:
    ran = subprocess.run([sys.executable, "-m", "isogrid", "chekc"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "chekc" in ran.stderr


def test_without_the_extra_the_remedy_is_named() -> None:
    code = "import sys; sys.modules['typer'] = None\nfrom isogrid.cli.main import main\nmain(['devices'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (2, "the command line needs typer and rich: pip install 'isogrid[cli]'\n")


def test_settings_choose_the_specialisation(isogrid: Callable[..., Any]) -> None:
    text = isogrid(
        "emit", "generic.py::scale", "-t", "kernel-ir", "--set", "Real=f64", "-s", "D=3", "-s", "BLOCK=128"
    ).out
    kernel = parse_kernel(text)
    assert "InOut x: f64[3, #N]" in text
    assert kernel.geometry.block == (128,)
    assert "shown for: Real is f32" in isogrid("explain", "generic.py").out
    for wrong in ("Real=i32", "Real=float", "D=many"):
        assert isogrid("emit", "generic.py", "--set", wrong).code == 2


def test_wide_code_may_keep_checks_that_the_usual_code_has_not(isogrid: Callable[..., Any]) -> None:
    small = isogrid("emit", "mixed.py::saxpy", "-t", "device-ir").out
    wide = isogrid("emit", "mixed.py::saxpy", "-t", "device-ir", "--wide").out
    assert parse_device(small).name == parse_device(wide).name == "saxpy"


def test_bench_finds_the_checkout() -> None:
    folder = checkout()
    assert folder is not None
    assert (folder / "benchmarks" / "run.py").is_file()


def test_bench_says_what_is_missing(isogrid: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "absent", lambda name: f"no driver for {name}")
    for arguments, said in (
        (["--device", "tpu"], "--device is cpu or cuda, not tpu"),
        (["-d", "cuda:0"], "there is no device cuda to measure: no driver for cuda"),
    ):
        done = isogrid("bench", *arguments)
        assert done.code == 2
        assert said in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["saxpy", "--quick"], ["benchmarks.run", "saxpy", "--quick"]),
        (["-d", "cuda:1", "streams"], ["benchmarks.cuda.run", "--device", "cuda:1", "streams"]),
    ],
)
def test_bench_calls_the_program_of_the_device(
    isogrid: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, arguments: list[str], program: list[str]
) -> None:
    called: list[list[str]] = []

    def call(command: list[str], **_: Any) -> int:
        called.append(command[2:])
        return 1

    monkeypatch.setattr(bench, "absent", lambda _: None)
    monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: name)  # Numba need not be here
    monkeypatch.setattr(bench.subprocess, "call", call)
    assert isogrid("bench", *arguments).code == 1
    assert called == [program]


def test_whatever_make_sets_up_has_the_command_line() -> None:
    """The README sends people from `make demo` to `.venv/bin/isogrid`."""
    root = Path(__file__).parent.parent.parent
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    def needs(extra: str) -> set[str]:
        found = {extra}
        for line in extras[extra]:
            if (inner := re.match(r"isogrid\[(.*)\]", line)) is not None:
                found |= {name for other in inner[1].split(",") for name in needs(other)}
        return found

    targets = set(re.findall(r"\.has-(\w+)", (root / "Makefile").read_text()))
    assert targets >= {"demo", "dev", "bench"}
    assert all("cli" in needs(target) for target in targets), targets
