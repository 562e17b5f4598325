"""Compiled kernels on disk: a launch in a new process finds its artifact before any front-end work.

A device takes part when its runtime has `cache_facts()` (what its code depends on: machine, compiler versions),
`to_bytes(artifact)` and `from_bytes(payload)`; a recalled artifact has `head`, its kernel IR without the body.
"""

import functools
from dataclasses import field
from typing import Any, Final

from isogrid.frontend.captures import Captures
from isogrid.frontend.definition import Definition, Specialisation
from isogrid.launch.options import Options
from isogrid.launch.sourcekey import (
    NotStorable,
    canonical,
    captured_values_hold,
    definition_text,
    source_fingerprint,
    specialisation_text,
)
from isogrid.support import BEGAN
from isogrid.support.diskcache import compiler_stamp, default_cache, digest
from isogrid.support.records import dataclass

#: Changes when the meaning of an entry changes.
_FORMAT: Final = "artifact 1"

#: Nanoseconds before `BEGAN` in which the first modules were read; clocks of file systems go in steps of some
#: milliseconds.
_MARGIN: Final = 50_000_000


@functools.cache
def _stamp() -> str | None:
    """The compiler as this process has loaded it, or is about to; None where it has changed since the process began,
    which then neither finds nor keeps anything. A look at every source file is 3 ms, which no import should take."""
    return compiler_stamp(BEGAN - _MARGIN)


@dataclass(slots=True)
class SourceMemory:
    """The source fingerprint of one kernel at its first use: constants keep the values that they had then.

    None stands for a kernel that cannot be stored. `part` tells the kernels apart that are made of one function.
    """

    known: bool = False
    fingerprint: str | None = field(default=None)
    part: str = ""

    def for_part(self, part: str, definition: Definition, captures: Captures) -> "SourceMemory":
        """The memory of one of several kernels that are made of the function."""
        return SourceMemory(True, self.read(definition, captures), part)

    def read(self, definition: Definition, captures: Captures) -> str | None:
        if not self.known:
            self.fingerprint = _fingerprint(definition, captures)
            self.known = True
        return self.fingerprint

    def still_holds(self, definition: Definition, captures: Captures) -> bool:
        """Whether the kernel would still be read as at its first use, and its build read what a new one would."""
        known = self.read(definition, captures)
        return known is not None and known == _fingerprint(definition) and captured_values_hold(captures)


def recall(
    definition: Definition,
    memory: SourceMemory,
    specialisation: Specialisation,
    runtime: Any,
    options: Options,
    captures: Captures,
) -> Any:
    """The stored artifact, or None."""
    key = _key(definition, memory, specialisation, runtime, options, captures)
    payload = None if key is None else default_cache().load(key)
    return None if payload is None else runtime.from_bytes(payload)


def remember(
    definition: Definition,
    memory: SourceMemory,
    specialisation: Specialisation,
    runtime: Any,
    options: Options,
    artifact: Any,
    captures: Captures,
) -> None:
    """Store an artifact that this process has compiled, unless a constant, or the compiler's own source, changed since
    the key was made."""
    key = _key(definition, memory, specialisation, runtime, options, captures)
    if key is not None and memory.still_holds(definition, captures) and compiler_stamp() == _stamp():
        default_cache().store(key, runtime.to_bytes(artifact))


def _key(
    definition: Definition,
    memory: SourceMemory,
    specialisation: Specialisation,
    runtime: Any,
    options: Options,
    captures: Captures,
) -> str | None:
    facts = getattr(runtime, "cache_facts", None)
    if facts is None or default_cache().folder is None:
        return None
    fingerprint = memory.read(definition, captures)
    stamp = _stamp()
    if fingerprint is None or stamp is None:
        return None
    return digest(
        (
            _FORMAT,
            stamp,
            runtime.name,
            *facts(),
            fingerprint,
            memory.part,
            definition_text(definition),
            specialisation_text(specialisation),
            canonical(options.values()),
        )
    )


def _fingerprint(definition: Definition, captures: Captures | None = None) -> str | None:
    function: Any = definition.function
    try:
        return source_fingerprint(function, captures)
    except NotStorable:
        return None
