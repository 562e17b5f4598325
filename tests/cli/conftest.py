"""Run commands in this process and look at what they print."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from isogrid.cli.main import main

FILES = Path(__file__).parent / "files"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def isogrid(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """`isogrid("check", "mixed.py")` in the folder of the test files."""
    monkeypatch.chdir(FILES)
    for variable in ("ISOGRID_DEVICE", "ISOGRID_TRACE", "ISOGRID_DISABLE"):
        monkeypatch.setenv(variable, "")  # so that what a command sets is taken back

    def run(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        code = caught.value.code
        return Ran(code if isinstance(code, int) else 0, captured.out, captured.err)

    return run
