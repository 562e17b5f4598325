"""`with ig.profile() as p:` times every launch, transfer and compilation of the block.

    print(p)                         a table by kernel
    p.write_trace("trace.json")      for Perfetto or chrome://tracing

Launches on a GPU are timed on the device; elsewhere the host's clock counts. Where the package `nvtx` is installed,
launches also are NVTX ranges by kernel name.
"""

import importlib
import importlib.util
import json
import os
import threading
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from pathlib import Path
from typing import Any

from isogrid.launch.backends import made_runtimes, runtime
from isogrid.launch.errors import LaunchValueError
from isogrid.launch.observe import WATCHING, watching
from isogrid.support.records import dataclass


@dataclass(slots=True)
class Entry:
    """One launch, transfer or compilation. Times are seconds since the profile began; `size` counts bytes.

    `device_start` and `device_seconds` are those of the device, None where it has no clock of its own.
    """

    kind: str
    name: str
    device: str
    start: float
    seconds: float = 0.0
    device_start: float | None = None
    device_seconds: float | None = None
    size: int = 0
    thread: int = field(default_factory=threading.get_ident)

    @property
    def duration(self) -> float:
        """Seconds on the device where it has a clock, else on the host."""
        return self.seconds if self.device_seconds is None else self.device_seconds


class Profile:
    """What happened in the block. It is complete when the block has ended."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.began = time.perf_counter()
        self._ranges = importlib.import_module("nvtx") if importlib.util.find_spec("nvtx") else None

    @contextmanager
    def span(self, kind: str, name: str, device: str, size: int = 0) -> Generator[Entry]:
        """Time what the host does in a block."""
        entry = Entry(kind, name, device, time.perf_counter() - self.began, size=size)
        with self._range(f"{kind} {name}"):
            try:
                yield entry
            finally:
                entry.seconds = time.perf_counter() - self.began - entry.start
                self.entries.append(entry)

    def _range(self, text: str) -> AbstractContextManager[Any]:
        return nullcontext() if self._ranges is None else self._ranges.annotate(text, domain="isogrid")

    def table(self) -> str:
        """Calls, total, mean and share by kind and name, the longest first."""
        groups: dict[tuple[str, str, str], list[Entry]] = {}
        for entry in self.entries:
            groups.setdefault((entry.kind, entry.name, entry.device), []).append(entry)
        whole = sum(entry.duration for entry in self.entries) or 1.0
        rows = [("what", "name", "device", "calls", "total ms", "mean us", "share", "GB/s")]
        for (kind, name, device), found in sorted(groups.items(), key=lambda g: -sum(e.duration for e in g[1])):
            seconds, size = sum(e.duration for e in found), sum(e.size for e in found)
            speed = f"{size / seconds / 1e9:.1f}" if size and seconds else ""
            mean = 1e6 * seconds / len(found)
            cells = (str(len(found)), f"{1e3 * seconds:.3f}", f"{mean:.1f}", f"{100 * seconds / whole:.1f} %", speed)
            rows.append((kind, name, device, *cells))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join(_aligned(row, widths) for row in rows)

    __str__ = table

    def __repr__(self) -> str:
        return f"<isogrid profile of {len(self.entries)} entries>"

    def write_trace(self, path: "str | os.PathLike[str]") -> None:
        """A trace in the Trace Event format: one row for each thread of the host, one for each device."""
        events: list[dict[str, Any]] = []
        for entry in self.entries:
            common = {"name": f"{entry.kind} {entry.name}", "cat": entry.kind, "ph": "X", "pid": "isogrid"}
            times = {"ts": 1e6 * entry.start, "dur": 1e6 * entry.seconds}
            events.append(common | times | {"tid": f"thread {entry.thread}", "args": {"bytes": entry.size}})
            if entry.device_start is not None and entry.device_seconds is not None:
                times = {"ts": 1e6 * entry.device_start, "dur": 1e6 * entry.device_seconds}
                events.append(common | times | {"tid": entry.device, "args": {"bytes": entry.size}})
        Path(path).write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}))


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [cell.ljust(width) if column < 3 else cell.rjust(width) for column, (cell, width) in _cells(row, widths)]
    return "  ".join(cells).rstrip()


def _cells(row: tuple[str, ...], widths: list[int]) -> "enumerate[tuple[str, int]]":
    return enumerate(zip(row, widths, strict=True))


@contextmanager
def profile() -> Generator[Profile]:
    """Time the launches, transfers and compilations of this block, in every thread."""
    if WATCHING.profile is not None:
        raise LaunchValueError("profiles do not nest")
    made = Profile()
    with watching():
        WATCHING.profile = made
        _tell(made)
        try:
            yield made
        finally:
            WATCHING.profile = None
            _tell(None)
            made.entries.sort(key=lambda entry: entry.start)


def _tell(made: Profile | None) -> None:
    """Devices with clocks of their own take part; they finish their entries when the profile ends."""
    for name in made_runtimes():
        device: Any = runtime(name)
        if hasattr(device, "profile"):
            device.profile(made)
