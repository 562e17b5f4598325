"""Why a loop, or a whole function, runs in sequence: one finding as data, its two sentences, and the warning."""

from isogrid.diagnostics.report import Label, Remedy, Report, Severity
from isogrid.diagnostics.span import Span
from isogrid.support.records import dataclass

#: The code of every warning about a loop that runs in sequence.
CODE = "IG8070"


class OffloadWarning(UserWarning):
    """A loop of an offloaded function runs in sequence; the text says which line stops it, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The first reason against one loop.

    `why` continues "line 5 ..." in the author's own words; `remedy` is a whole sentence without its stop. `rule` is
    shape or R1 to R6.
    """

    rule: str
    span: Span
    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A finding and what it stops: the loop over `counter` at `loop`, with no counter the whole function; the counter
    of a `while` loop is called "while"."""

    function: str
    finding: Finding
    loop: Span
    counter: str

    @property
    def text(self) -> str:
        """The two sentences."""
        return f"{self.title}. {self.finding.remedy}."

    @property
    def title(self) -> str:
        """The first sentence, without its stop."""
        return f"{CODE}: line {self.finding.span.line} {self.finding.why}, so {self._consequence}"

    @property
    def _consequence(self) -> str:
        if self.counter == "while":
            return f"a `while` loop of `{self.function}` runs in sequence"
        if self.counter:
            return f"the loop over `{self.counter}` in `{self.function}` runs in sequence"
        return f"all of `{self.function}` runs in sequence on the CPU"

    @property
    def _impossible(self) -> str:
        if self.counter == "while":
            return f"a `while` loop of `{self.function}` cannot run as a kernel"
        what = f"the loop over `{self.counter}` in `{self.function}`" if self.counter else f"`{self.function}`"
        return f"{what} cannot run as a kernel"

    def report(self, severity: Severity = Severity.WARNING) -> Report:
        """The same for `check` and for errors."""
        finding = self.finding
        return Report(
            CODE,
            self._consequence if severity is not Severity.ERROR else self._impossible,
            Label(finding.span, f"rule {finding.rule}" if finding.rule != "shape" else "not the shape of a kernel"),
            why=f"line {finding.span.line} {finding.why}",
            remedies=(Remedy(finding.remedy),),
            severity=severity,
            kernel=self.function,
        )
