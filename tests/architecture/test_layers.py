"""Imports point down, and `import isogrid` stays light."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.source import ROOT


def test_import_contracts_hold() -> None:
    program = Path(sys.executable).parent / "lint-imports"
    ran = subprocess.run([str(program), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_importing_the_package_loads_no_compiler_and_no_extra() -> None:
    heavy = ("typer", "rich", "isogrid.pipeline", "isogrid.frontend.build", "isogrid.backends.cpu.emit", "scipy")
    code = f"import sys, isogrid; print(*[name for name in {heavy!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
