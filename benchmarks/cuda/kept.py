"""Figures of a card as a JSON file that says where they come from: card, driver, date, command."""

import ctypes
import datetime
import json
import platform
from pathlib import Path
from typing import Any

from isogrid.backends.cuda.machine import machine


def keep(name: str, command: str, folder: Path, **figures: Any) -> None:
    """Writes `folder/<name>_<date>.json`. Times in `figures` are seconds."""
    found = machine()
    now = datetime.datetime.now(datetime.UTC)
    report = {
        "date": now.isoformat(timespec="seconds"),
        "command": command,
        "card": found.names[0],
        "driver": driver_release(),
        "cuda": found.version,
        "python": platform.python_version(),
        **figures,
    }
    path = folder / f"{name}_{now:%Y-%m-%d_%H%M%S}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"kept in {path.name}")


def driver_release() -> str:
    """The release of the driver, as `580.65.06`; the driver's own interface only gives the version of CUDA."""
    try:
        management = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as failure:
        return f"unknown: {failure}"
    text = ctypes.create_string_buffer(96)
    if management.nvmlInit_v2():
        return "unknown: nvmlInit failed"
    code = management.nvmlSystemGetDriverVersion(text, len(text))
    management.nvmlShutdown()
    return f"unknown: nvmlSystemGetDriverVersion gave {code}" if code else text.value.decode()
