"""What the interpreter finds while it runs a kernel: data races and barrier divergence, as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from isogrid.diagnostics.span import Span
from isogrid.support.errors import IsogridError


@dataclass(frozen=True, slots=True)
class Touch:
    """One access: the thread's linear number in the launch, "read", "write" or "atomic_add"..., and the place."""

    thread: int
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class Race:
    """Two threads touched `array[element]` (C order), one writing, with no barrier of their group between."""

    array: str
    element: int
    first: Touch
    second: Touch

    def __str__(self) -> str:
        one, two = self.first, self.second
        return (
            f"data race on `{self.array}` at element {self.element}: thread {one.thread} ({one.kind} at {one.span}) "
            f"and thread {two.thread} ({two.kind} at {two.span}) with no barrier between them"
        )


@dataclass(frozen=True, slots=True)
class Divergence:
    """Threads of one group, or of one warp (`unit`), did not meet at one barrier.

    `waiting` pairs each barrier's place with one thread that waits there; the same place twice means different trips
    of a loop around it. `ended` is a thread that ended instead, if there is one.
    """

    group: int
    waiting: tuple[tuple[int, Span], ...]
    ended: int | None
    unit: str = "group"

    def __str__(self) -> str:
        parts = [f"thread {thread} waits at {span}" for thread, span in self.waiting]
        if self.ended is not None:
            parts.append(f"thread {self.ended} has ended")
        where = f"group {self.group}" if self.unit == "group" else f"a warp of group {self.group}"
        return f"barrier divergence in {where}: " + ", ".join(parts)


Finding: TypeAlias = Race | Divergence


class DynamicFault(IsogridError):
    """A launch on the interpreter raced or diverged: its result would be undefined, and no array was changed."""

    def __init__(self, kernel: str, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__(f"kernel `{kernel}`: " + "\n".join(str(f) for f in self.findings))
