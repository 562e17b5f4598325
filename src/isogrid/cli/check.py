"""`isogrid check FILE...`: every kernel of the files: types, proofs, and per line what stays checked at run time."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogrid.cli.fix import apply_fixes
from isogrid.cli.load import CannotLoad, LoadedFile, load_file
from isogrid.cli.output import FAILED, FINDINGS, FINE, color_of, say, say_json, stop
from isogrid.cli.proofs import Check, Proofs, proofs_of
from isogrid.diagnostics.render_json import SCHEMA_VERSION, report_data
from isogrid.diagnostics.render_text import render_reports, summary
from isogrid.diagnostics.report import Report, Severity

if TYPE_CHECKING:
    from isogrid.launch.kernel_value import Kernel
    from isogrid.offloading.function import Offloaded
    from isogrid.offloading.listing import LoopListing


def check(
    files: Annotated[list[Path], typer.Argument(help="Python files with kernels.")],
    json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Apply every remedy that is certain, then check again.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List proved checks too, line by line.")] = False,
) -> None:
    """Check every kernel: types, proofs, and the checks that stay at run time."""
    found, failures = check_files(files)
    if fix:
        fixed = apply_fixes([report for file in found for report in file.reports])
        if fixed:
            say(f"applied {fixed} remedies", error=json)
            found, failures = check_files(files)
    if json:
        say_json(_data(found, failures))
    else:
        for file in found:
            _show(file, verbose)
        for failure in failures:
            say(f"isogrid: {failure}", error=True)
        if found:
            say(f"\n{_verdict(found)}")
    errors = any(report.severity is Severity.ERROR for file in found for report in file.reports)
    stop(FAILED if failures else FINDINGS if errors else FINE)


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """A kernel and what was found; `proofs` is None where it is refused."""

    name: str
    kernel: "Kernel"
    reports: tuple[Report, ...]
    proofs: Proofs | None


@dataclass(frozen=True, slots=True)
class CheckedOffload:
    """An offloaded function and what was found; `loops` is None where it is refused by an error."""

    name: str
    function: "Offloaded"
    reports: tuple[Report, ...]
    loops: "tuple[LoopListing, ...] | None"


@dataclass(frozen=True, slots=True)
class CheckedFile:
    loaded: LoadedFile
    kernels: tuple[CheckedKernel, ...]
    offloaded: tuple[CheckedOffload, ...] = ()

    @property
    def reports(self) -> list[Report]:
        """Of the whole file, each once: a fault in a shared helper is found through every kernel that calls it."""
        checked = (*self.kernels, *self.offloaded)
        found = [*self.loaded.refused, *(report for one in checked for report in one.reports)]
        unique = {(r.code, r.title, r.primary.span): r for r in found}
        return sorted(unique.values(), key=lambda r: (r.primary.span.file, r.primary.span.line, r.primary.span.column))


def check_files(files: Sequence[Path]) -> tuple[list[CheckedFile], list[str]]:
    """The results per file, and for files that cannot be read, why."""
    found: list[CheckedFile] = []
    failures: list[str] = []
    for path in files:
        try:
            loaded = load_file(path)
        except CannotLoad as problem:
            failures.append(str(problem))
            continue
        kernels = tuple(_checked(name, kernel) for name, kernel in loaded.kernels)
        found.append(CheckedFile(loaded, kernels, tuple(_offload(name, f) for name, f in loaded.offloaded)))
    return found, failures


def _checked(name: str, kernel: "Kernel") -> CheckedKernel:
    reports = kernel.check()
    refused = any(report.severity is Severity.ERROR for report in reports)
    return CheckedKernel(name, kernel, tuple(reports), None if refused else proofs_of(kernel))


def _offload(name: str, function: "Offloaded") -> CheckedOffload:
    from isogrid.offloading.listing import listing_of

    return CheckedOffload(name, function, tuple(function.check()), listing_of(function))


# --- text ------------------------------------------------------------------------------------------------------------


def _show(file: CheckedFile, verbose: bool) -> None:
    say(str(file.loaded.path))
    for kernel in file.kernels:
        say(f"  {kernel_title(kernel.kernel)}")
        for line in given_up(kernel.kernel):
            say(f"    {line}")
        if kernel.proofs is None:
            say("    refused, see below")
        else:
            say(_proofs_text(kernel.proofs, verbose))
    for one in file.offloaded:
        say(f"  {offload_title(one.function)}")
        for line in loop_lines(one.loops):
            say(f"    {line}")
    if file.loaded.refused:
        say("  the file stops at a kernel whose signature is refused; what follows it was not read")
    if not file.kernels and not file.offloaded and not file.loaded.refused:
        say("  no kernels")
    reports = file.reports
    if reports:
        say("")
        say(render_reports(reports, root=Path.cwd(), color=color_of(sys.stdout)))


def _proofs_text(proofs: Proofs, verbose: bool) -> str:
    kept, proved = len(proofs.kept), len(proofs.checks) - len(proofs.kept)
    if not proofs.checks:
        lines = ["    accepted; nothing in it can trap"]
    elif not kept:
        lines = [f"    accepted; {_count(proved, 'check')} proved, none kept"]
    else:
        lines = [f"    accepted; {_count(proved, 'check')} proved, {kept} kept at run time:"]
    shown = proofs.checks if verbose else proofs.kept
    by_line: dict[tuple[int, bool], list[Check]] = {}
    for one in shown:
        by_line.setdefault((one.span.line, one.proved), []).append(one)
    for (line, one_proved), checks in by_line.items():
        what = ", ".join(dict.fromkeys(one.what for one in checks))
        verdict = ("proved  " if one_proved else "kept    ") if verbose else ""
        lines.append(f"      line {line:<5}{verdict}{what}")
    if proofs.constants:
        lines.append("    constants read: " + ", ".join(f"{name} = {text}" for name, text in proofs.constants))
    return "\n".join(lines)


def loop_lines(loops: "Sequence[LoopListing] | None", *, reasons: bool = False) -> list[str]:
    """Every loop, with the rule that accepted each write; with `reasons`, why others run in sequence."""
    if loops is None:
        return ["refused, see below"]
    lines: list[str] = []
    for loop in loops:
        over = "while" if loop.counter in ("", "while") else f"loop over `{loop.counter}`"
        below = "" if loop.accepted or reasons else ", see below"
        lines.append(f"line {loop.line:<5}{over} {loop.runs}{below}")
        lines += [f"          `{name}`: {rule}" for name, rule in loop.writes]
        lines += [f"          {loop.reason}"] if reasons and loop.reason else []
    return lines or ["no loops"]


def offload_title(function: "Offloaded") -> str:
    """The function's signature on one line."""
    return repr(function).removeprefix("<isogrid offloaded function ").removesuffix(">") + ", offloaded"


def kernel_title(kernel: "Kernel") -> str:
    """The kernel's signature and geometry on one line."""
    return repr(kernel).removeprefix("<isogrid kernel ").removesuffix(">")


def given_up(kernel: "Kernel") -> list[str]:
    """What the author of a kernel gave up, and in return for what."""
    definition = kernel.definition
    lines: list[str] = []
    if not definition.deterministic:
        lines.append("deterministic=False: the result is one that some order of the threads gives")
    if definition.races == "check":
        lines.append('races="check": no proof; the interpreter runs it and follows every access')
    elif definition.races is not None:
        lines.append(f"races trusted, no proof: {definition.races.reason}")
    return lines


def _verdict(found: Sequence[CheckedFile]) -> str:
    kernels = sum(len(file.kernels) + len(file.offloaded) for file in found)
    counts = summary([report for file in found for report in file.reports])
    return f"{_count(kernels, 'kernel')}: {counts or 'nothing to complain about'}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- JSON ------------------------------------------------------------------------------------------------------------


def _data(found: Sequence[CheckedFile], failures: Sequence[str]) -> dict[str, Any]:
    reports = [report for file in found for report in file.reports]
    return {
        "version": SCHEMA_VERSION,
        "files": [_file_data(file) for file in found],
        "failures": list(failures),
        "errors": sum(report.severity is Severity.ERROR for report in reports),
        "warnings": sum(report.severity is Severity.WARNING for report in reports),
    }


def _file_data(file: CheckedFile) -> dict[str, Any]:
    return {
        "file": str(file.loaded.path),
        "kernels": [_kernel_data(kernel) for kernel in file.kernels],
        "offloaded": [_offload_data(one) for one in file.offloaded],
        "reports": [report_data(report, root=Path.cwd()) for report in file.reports],
    }


def _offload_data(checked: CheckedOffload) -> dict[str, Any]:
    return {
        "name": checked.name,
        "line": checked.function.definition.span.line,
        "accepted": checked.loops is not None,
        "loops": [
            {
                "line": loop.line,
                "counter": loop.counter,
                "accepted": loop.accepted,
                "runs": loop.runs,
                "writes": [{"name": name, "rule": rule} for name, rule in loop.writes],
            }
            for loop in checked.loops or ()
        ],
    }


def _kernel_data(checked: CheckedKernel) -> dict[str, Any]:
    proofs = checked.proofs
    return {
        "name": checked.name,
        "line": checked.kernel.definition.span.line,
        "signature": kernel_title(checked.kernel),
        "accepted": proofs is not None,
        "given_up": given_up(checked.kernel),
        "checks": [
            {"line": one.span.line, "column": one.span.column, "what": one.what, "proved": one.proved}
            for one in (proofs.checks if proofs else ())
        ],
        "constants": [{"name": name, "value": text} for name, text in (proofs.constants if proofs else ())],
    }
