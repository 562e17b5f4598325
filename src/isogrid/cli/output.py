"""What the commands share in what they print: exit codes, colour, plain tables, JSON."""

import json
import os
import sys
from collections.abc import Sequence
from typing import IO, Any, Final, NoReturn

FINE: Final = 0
#: The author's code has findings: errors, a refusal, a trap, a bar that does not hold.
FINDINGS: Final = 1
#: The command could not do its work: no such file, no such kernel, the file does not import.
FAILED: Final = 2


def color_of(stream: IO[str]) -> bool:
    """Whether to colour text for this stream: a terminal, and NO_COLOR is not set (to anything but nothing)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def say(text: str, *, error: bool = False) -> None:
    """Print text that may or may not end its line."""
    stream = sys.stderr if error else sys.stdout
    print(text, end="" if text.endswith("\n") else "\n", file=stream)


def say_json(data: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def stop(code: int) -> NoReturn:
    """End the command with this exit code."""
    sys.stdout.flush()
    raise SystemExit(code)


def fail(message: str) -> NoReturn:
    """The command cannot do its work."""
    say(f"isogrid: {message}", error=True)
    stop(FAILED)


def table(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Rows in columns, two spaces between."""
    widths = [max((len(row[c]) for row in rows if c < len(row)), default=0) for c in range(max(map(len, rows)))]
    lines = ("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=False)).rstrip() for row in rows)
    return "".join(f"{indent}{line}\n" for line in lines)
