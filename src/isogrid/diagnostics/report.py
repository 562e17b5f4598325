"""Findings as data: what is wrong, where, why, and how to mend it. Rendering is elsewhere and pure."""

from dataclasses import field
from enum import Enum
from typing import Final

from isogrid.diagnostics.span import Span
from isogrid.support.records import dataclass


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """A marked range of the author's text and the few words that stand under its caret."""

    span: Span
    text: str = ""


#: Names of rows of facts that head the table below them.
HEADINGS: Final = ("counterexample", "possible meeting")


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`; an empty span inserts. `isogrid check --fix` applies certain edits."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """What the author can do. `edits` is not empty only when applying them is certain to be right."""

    text: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """One finding. The title stands alone in a log; `primary` is the place it is about."""

    code: str
    title: str
    primary: Label
    secondary: tuple[Label, ...] = ()
    why: str = ""
    facts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    remedies: tuple[Remedy, ...] = ()
    severity: Severity = Severity.ERROR
    kernel: str = ""
    witness: object | None = field(default=None, compare=False)
