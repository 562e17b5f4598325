"""What programs that make constants do with their text: write it, or with `--check` compare it with what is there."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "src" / "isogrid" / "mathlib" / "source"


def head(title: str, program: str, *tables: str) -> str:
    """The beginning of a module of constants; `tables` are the functions of `source/tables.py` that it calls."""
    return f'''"""{title}. Written by `python -m tools.mathlib.{program}`; do not edit."""

from isogrid.mathlib.source.tables import {", ".join(sorted(tables))}

# fmt: off
'''


def write_or_check(made: Mapping[Path, str]) -> None:
    """Writes every file, or stops at the first that is out of date."""
    check = "--check" in sys.argv[1:]
    for path, text in made.items():
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            raise SystemExit(f"{path.relative_to(ROOT)} is out of date")
