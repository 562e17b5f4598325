"""`isogrid fuzz` finds a planted fault at once, says nothing without one, and its kernel is small."""

import pytest
from typer.testing import CliRunner

from isogrid.printers import llvm_ops

from .generator import fuzz


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["fuzz", *arguments])
    return fuzz.main()


def test_agreeing_devices(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--minutes", "0.02", "--seed", "5") == 0
    assert "0 differences; next seed" in capsys.readouterr().out


def test_a_planted_fault_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The emitter takes one operation on bits for another: the first kernels show it."""
    monkeypatch.setattr(fuzz, "BUDGET", 15)
    monkeypatch.setitem(llvm_ops._BINARY, "iand", "or")
    assert run(monkeypatch, "--minutes", "0.04", "--seed", "1") == 1
    shown = capsys.readouterr().out
    assert "seed " in shown and "@ig.kernel" in shown


def test_command_needs_no_more_than_the_checkout() -> None:
    import typer

    from isogrid.cli.fuzz import fuzz as command

    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, ["--minutes", "0"])
    assert result.exit_code == 0
