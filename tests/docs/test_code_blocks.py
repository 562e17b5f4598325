"""The code of the documentation runs, and its console sessions print what they show.

`python` blocks of a page run one after the other as one file. A block `python file=name.py` becomes a file beside it;
files named `test_*.py` are run by pytest. A `console` block holds `$ isogrid ...` and exactly what it prints;
`pytest tests/docs --update` rewrites that.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "explanation").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    kind: str
    file: str
    text: str


def blocks_in(page: Path) -> list[Block]:
    return [Block(kind, file, text) for kind, file, text in BLOCK.findall(page.read_text())]


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_blocks(page: Path, tmp_path: Path, update: bool) -> None:
    blocks = blocks_in(page)
    for block in blocks:
        if block.file:
            (tmp_path / block.file).write_text(block.text)
    script = "\n".join(block.text for block in blocks if block.kind == "python" and not block.file)
    if script:
        (tmp_path / "page.py").write_text(script)
        ran = run("page.py", folder=tmp_path)
        assert ran.returncode == 0, ran.stderr
    if any(block.file.startswith("test_") for block in blocks):
        ran = run("-m", "pytest", "-q", "-p", "no:cacheprovider", ".", folder=tmp_path)
        assert ran.returncode == 0, ran.stdout
    for block in blocks:
        if block.kind == "console":
            _check_console(page, block, tmp_path, update)


def _check_console(page: Path, block: Block, folder: Path, update: bool) -> None:
    first, _, expected = block.text.partition("\n")
    words = first.removeprefix("$ ").split()
    assert words[0] == "isogrid", first
    ran = run("-m", *words, folder=folder)
    printed = ran.stdout + ran.stderr
    if update:
        text = page.read_text()
        page.write_text(text.replace(f"```console\n{block.text}```", f"```console\n{first}\n{printed}```"))
    else:
        assert printed == expected
