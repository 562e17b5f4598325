"""Broken rules of an IR, collected as they are found."""

from dataclasses import dataclass, field

from isogrid.diagnostics.span import NOWHERE, Span


@dataclass(slots=True)
class Faults:
    """Broken rules found so far, each with the node's text and place."""

    found: list[str] = field(default_factory=list[str])

    def add(self, message: str, span: Span = NOWHERE) -> None:
        self.found.append(message if span == NOWHERE else f"{message} ({span})")

    def require(self, holds: bool, message: str, span: Span = NOWHERE) -> None:
        if not holds:
            self.add(message, span)
