"""Files of compiled code that survive the process: verified before use, written atomically, shared between processes.

A file is a magic word, the BLAKE2 hash of the payload, and the payload. LLVM ends the process when it is given damaged
object code, so a payload whose hash does not match is never returned: the entry is deleted and compiled anew.
"""

import functools
import os
import stat
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from isogrid.support.records import dataclass
from isogrid.support.warn import warn_author

try:
    from _blake2 import blake2b  # `hashlib` loads OpenSSL, which would be 3 ms of every start
except ImportError:  # not CPython
    from hashlib import blake2b

_MAGIC: Final = b"isogrid\x02"
_HASH_SIZE: Final = 32
_HEADER: Final = len(_MAGIC) + _HASH_SIZE
#: Names of what the compiler is made of.
_SOURCES: Final = (".py", ".ll")


@dataclass(frozen=True, slots=True)
class DiskCache:
    """A folder of entries, or nothing at all (`folder` None): then every look-up misses and nothing is written, as in a
    folder within that others can write."""

    folder: Path | None

    def load(self, key: str) -> bytes | None:
        """The payload stored under `key`, or None where there is none or it is damaged."""
        if self.folder is None:
            return None
        path = self._path(self.folder, key)
        try:
            if not _is_private(path.parent):
                return None
            content = path.read_bytes()
        except OSError:
            return None
        payload = content[_HEADER:]
        if content[:_HEADER] == _MAGIC + content_hash(payload):
            return payload
        _remove(path)
        return None

    def store(self, key: str, payload: bytes) -> None:
        """Keep `payload`. A full or read-only disk is not an error: the next process compiles again."""
        if self.folder is None:
            return
        path = self._path(self.folder, key)
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            if not _is_private(path.parent):
                return
            # The standard `tempfile` would cost a first launch more time to import than the rest of it.
            temporary = path.with_name(f"writing-{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}")
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + content_hash(payload) + payload)
            temporary.replace(path)
        except OSError:
            _remove(temporary)

    @staticmethod
    def _path(folder: Path, key: str) -> Path:
        return folder / key[:2] / key[2:]


def content_hash(content: bytes) -> bytes:
    """What tells contents apart, and finds damage."""
    return blake2b(content, digest_size=_HASH_SIZE).digest()


def digest(parts: Iterable[str | bytes]) -> str:
    """A key made of parts; their lengths count, so that no two different lists run together into one key."""
    state = blake2b(digest_size=_HASH_SIZE)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def default_cache() -> DiskCache:
    """This user's cache: `ISOGRID_CACHE_DIR` (empty: none), else `isogrid` in `XDG_CACHE_HOME` or `~/.cache`."""
    return _cache_at(_chosen_folder())


def _chosen_folder() -> str:
    chosen = os.environ.get("ISOGRID_CACHE_DIR")
    if chosen is not None:
        return os.path.expanduser(chosen)  # noqa: PTH111
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111,PTH117,PTH118
    return f"{home}/isogrid"


@functools.lru_cache(maxsize=8)
def _cache_at(place: str) -> DiskCache:
    if not place:
        return DiskCache(None)
    folder = Path(place)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            warn_author(f"isogrid does not use the cache folder {folder}: other users can write it", RuntimeWarning)
            return DiskCache(None)
    except OSError:
        return DiskCache(None)
    return DiskCache(folder)


def _is_private(folder: Path) -> bool:
    """Whether only this user can put files there: what is loaded from it is executed."""
    if not hasattr(os, "geteuid"):
        return True  # Windows: a user's profile is private by its access list
    facts = folder.stat()
    return facts.st_uid == os.geteuid() and not facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return


def compiler_stamp(since: int | None = None) -> str | None:
    """Identifies the compiler itself: path, size and time of each of its source files.

    An edited checkout therefore never meets code that its former self compiled. None where a file has changed after the
    moment `since`, in nanoseconds since 1970: then this process may have read what is no longer there.
    """
    lines: list[str] = []
    newest = 0
    pending = [str(Path(__file__).parent.parent)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(_SOURCES):
                    facts = entry.stat()
                    lines.append(f"{entry.path} {facts.st_size} {facts.st_mtime_ns}")
                    # Nobody can set the time of change, which moves also when an older file takes the place.
                    newest = max(newest, facts.st_mtime_ns if os.name == "nt" else facts.st_ctime_ns)
                elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    return None if since is not None and newest > since else digest(sorted(lines))
