"""How much the caches of this machine hold, as the operating system tells."""

from pathlib import Path
from typing import Final

from isogrid.support.records import dataclass

_FOLDER: Final = Path("/sys/devices/system/cpu/cpu0/cache")
#: Second-level cache of a processor where the system tells nothing.
_USUAL: Final = 2 << 20
#: How many times the second-level caches of all processors a launch must write to be past them for sure, as measured.
_TIMES: Final = 4
#: A last-level cache that is more times as large belongs to other processors too, which this machine does not have.
_OWN: Final = 16


@dataclass(frozen=True, slots=True)
class Cache:
    """One cache: its level, its bytes, and how many processors share it."""

    level: int
    size: int
    sharers: int


def most_cached(processors: int, caches: "tuple[Cache, ...] | None" = None) -> int:
    """Bytes from which on a launch on so many processors should write past the cache (decision 0069)."""
    known = read_caches() if caches is None else caches
    second = next((cache for cache in known if cache.level == 2), Cache(2, _USUAL, 1))
    last = max((cache.size for cache in known if cache.level > 2), default=0)
    seconds = max(second.size * processors // second.sharers, second.size)
    return max(seconds * _TIMES, last if last <= seconds * _OWN else 0)


def read_caches(folder: Path = _FOLDER) -> tuple[Cache, ...]:
    """The data caches of the first processor; none where the system does not tell."""
    found: list[Cache] = []
    for index in sorted(folder.glob("index*")):
        try:
            texts = [(index / name).read_text().strip() for name in ("level", "type", "size", "shared_cpu_list")]
            level, kind, size, shared = texts
            if kind != "Instruction":
                found.append(Cache(int(level), _bytes(size), _count(shared)))
        except (OSError, ValueError):
            continue
    return tuple(found)


def _bytes(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * units[text[-1]] if text[-1:] in units else int(text)


def _count(text: str) -> int:
    """Processors of a list such as `0-3,8`."""
    count = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        count += int(last or first) - int(first) + 1
    return max(count, 1)
