"""Mistakes on the command line: each is one sentence and exit code 2, never a traceback, nor silence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isogrid.cli import conformance, fuzz
from isogrid.ir.parse import parse_kernel

KERNEL = """
import isogrid as ig
from isogrid import In, Out, f32
from isogrid.dims import N

@ig.kernel(grid=N)
def k(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "file.py"
    path.write_text(KERNEL)
    return str(path)


@pytest.mark.parametrize("code", ["0", "3", "'stopped'"])
def test_a_file_that_exits_while_it_is_imported_was_not_checked(
    isogrid: Callable[..., Any], tmp_path: Path, file: str, code: str
) -> None:
    path = tmp_path / "exits.py"
    path.write_text(KERNEL + f"import sys\nsys.exit({code})\n")
    for command in (["check"], ["emit"], ["explain"]):
        ran = isogrid(*command, str(path))
        assert ran.code == 2
        assert f"{path} ends the program while it is imported" in ran.err
    both = isogrid("check", str(path), file, "--json")
    found = json.loads(both.out)
    assert both.code == 2 and len(found["files"]) == len(found["failures"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["numerics", "exp", "--every", "0"], "--every takes 1 to 1024, not 0"),
        (["numerics", "exp", "--every", "-1"], "--every takes 1 to 1024, not -1"),
        (["numerics", "exp", "--device", "nosuch"], "there is no device 'nosuch'"),
        (["numerics", "nosuch"], "no digests are kept for nosuch"),
        (["fuzz", "--devices", "cpu,nosuch"], "there is no device 'nosuch'"),
        (["fuzz", "--minutes", "-1"], "--minutes is how long to go on, not -1"),
        (["fuzz", "--minutes", "nan"], "--minutes is how long to go on, not nan"),
        (["fuzz", "--processes", "-2"], "--processes is 0 or more, not -2"),
        (["conformance", "--device", "nosuch"], "there is no device 'nosuch'"),
        (["bench", "--device", "nosuch"], "--device is cpu or cuda, not nosuch"),
        (["run", "nowhere.py"], "there is no file nowhere.py"),
    ],
)
def test_a_wrong_value(isogrid: Callable[..., Any], arguments: list[str], said: str) -> None:
    ran = isogrid(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("junk", "--set takes NAME=VALUE, not junk"),
        ("N=3", "k has no type variable, constant dimension or tunable N; it has none"),
        ("Real=f32", "k has no type variable, constant dimension or tunable Real; it has none"),
    ],
)
def test_a_setting_of_nothing(isogrid: Callable[..., Any], file: str, setting: str, said: str) -> None:
    for command in ("emit", "explain"):
        ran = isogrid(command, f"{file}::k", "--set", setting)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err


def test_settings_that_there_are_are_named(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("emit", "generic.py::scale", "--set", "BLOK=128")
    assert ran.code == 2 and "did you mean BLOCK?" in ran.err
    assert "it has " in isogrid("emit", "generic.py::scale", "--set", "Z=1").err


@pytest.mark.parametrize("variable", ["ISOGRID_DEVICE", "ISOGRID_DISABLE"])
def test_variables_that_name_nothing(
    isogrid: Callable[..., Any], file: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "nosuch")
    commands = {"ISOGRID_DEVICE": ["devices"], "ISOGRID_DISABLE": ["emit", file]}
    ran = isogrid(*commands[variable])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"isogrid: {variable}=nosuch: there is no ")
    found = {one["name"]: one for one in json.loads(isogrid("doctor", "--json").out)}
    assert isogrid("doctor").code == 1
    assert not found[variable]["fine"] and "there is no" in found[variable]["value"]


def test_the_version(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("--version")
    assert (ran.code, ran.out) == (0, "isogrid 0.1.0\n")


def test_conformance_runs_the_suite_on_a_device(isogrid: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[list[str], str]] = []

    def call(command: list[str], *, cwd: Path, env: dict[str, str]) -> int:
        called.append((command[1:], env["ISOGRID_CONFORMANCE_DEVICES"]))
        assert (cwd / "tests" / "conformance").is_dir()
        return 1

    monkeypatch.setattr(conformance.subprocess, "call", call)
    assert isogrid("conformance", "--device", "cpu", "-k", "operators").code == 1
    assert called == [(["-m", "pytest", "tests/conformance", "-k", "operators"], "cpu")]
    monkeypatch.setattr(conformance, "checkout", lambda: None)
    assert isogrid("conformance").code == 2
    monkeypatch.setattr(fuzz, "checkout", lambda: None)
    assert isogrid("fuzz").code == 2


def test_what_a_file_prints_while_it_is_imported_is_no_output_of_the_command(
    isogrid: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "talks.py"
    path.write_text(KERNEL + 'print("hello")\n')
    checked = isogrid("check", str(path), "--json")
    assert json.loads(checked.out)["files"] and checked.err == "hello\n"
    assert parse_kernel(isogrid("emit", f"{path}::k", "--target", "kernel-ir").out).name == "k"
    assert isogrid("run", str(path)).out == "hello\n"
