"""The three ways a compilation can fail, never mixed: the author's code, a known limit, a fault of the compiler."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isogrid.diagnostics.report import Report


class IsogridError(Exception):
    """Root of all errors that are not traps."""


class KernelRefused(IsogridError):
    """The kernel is outside the language or not provably safe. `reports` holds every finding, sorted by place.

    The text is rendered when it is first asked for, so that raising stays cheap.
    """

    def __init__(self, reports: "Sequence[Report]") -> None:
        self.reports = tuple(reports)
        super().__init__(self.reports)

    def __str__(self) -> str:
        from isogrid.diagnostics.render_text import render_reports

        return "\n" + render_reports(self.reports)


class KnownLimit(IsogridError):
    """A size or count that this version does not handle; the text names the limit and the place."""


class CompilerBug(IsogridError):
    """The compiler contradicted itself. Please report it with the text; it never means that the kernel is wrong."""


class OutsideKernelError(IsogridError, TypeError):
    """A function, type or dimension of the kernel language was used on the host, where it has no meaning."""
