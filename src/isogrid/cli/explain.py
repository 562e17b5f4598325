"""`isogrid explain IG104`: the page of a code. `isogrid explain FILE::kernel`: every stage beside its source.

source                    | kernel IR
i = ig.gid()              | i:i64 = gid(0)
"""

import difflib
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogrid.cli.check import given_up, kernel_title, loop_lines, offload_title
from isogrid.cli.costs import cost_text
from isogrid.cli.failures import reported
from isogrid.cli.load import pick
from isogrid.cli.output import fail, say, table
from isogrid.cli.proofs import proofs_of
from isogrid.cli.stages import Stages, assembly, generated, specialisation_of, stages_of, stages_of_sections
from isogrid.diagnostics.codes import all_pages, page_of, render_page
from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.text import kernel_lines, print_kernel
from isogrid.ir.walk import visit
from isogrid.launch.backends import RUNTIMES, presence, runtime, runtime_attribute
from isogrid.launch.kernel_value import Kernel

if TYPE_CHECKING:
    from isogrid.backends.cpu.layout import EmittedModule
    from isogrid.offloading.function import Offloaded

_CODE = re.compile(r"IG\d+", re.IGNORECASE)
#: The comment by which the LLVM emitter marks the source line that the code below belongs to.
LINE_MARK = re.compile(r"^\s*; line (\d+)$")
#: Widest source column.
_SOURCE_WIDTH = 60
#: Longest line of generated code that is shown whole; `isogrid emit` shows all of it.
_CODE_WIDTH = 200


def explain(
    subject: Annotated[str, typer.Argument(help="A code such as IG104, or FILE::kernel, or FILE.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", help="T=f64 for a type variable, D=16 for a constant dimension or tunable."),
    ] = None,
    asm: Annotated[bool, typer.Option("--asm", help="Show the assembly too.")] = False,
    page: Annotated[
        Path | None, typer.Option("--html", help="Write a page instead: source, proof, cost and code side by side.")
    ] = None,
) -> None:
    """Explain an error code, or show what becomes of a kernel."""
    if page is not None:
        write_page(page, subject, settings or ())
        return
    if _CODE.fullmatch(subject):
        explain_code(subject.upper())
        return
    with reported():
        for _, one in pick(subject):
            if isinstance(one, Kernel):
                say(explanation(one, settings or (), asm=asm))
            else:
                say(offload_explanation(one, settings or (), asm=asm))


def write_page(path: Path, subject: str, settings: Sequence[str]) -> None:
    """The page of a kernel, or of all kernels of a file."""
    from isogrid.cli.page import page

    if _CODE.fullmatch(subject):
        fail("a code has its page in the documentation; --html takes FILE::kernel or FILE")
    with reported():
        text = page(subject, [one for _, one in pick(subject)], settings)
        path.write_text(text, encoding="utf-8")


def explain_code(code: str) -> None:
    """Print the page of a code, or fail with the nearest one."""
    page = page_of(code)
    if page is None:
        near = difflib.get_close_matches(code, all_pages(), 3)
        fail(f"there is no code {code}" + (f"; the nearest are {', '.join(near)}" if near else ""))
    say(render_page(code, page))


def explanation(kernel: Kernel, settings: Sequence[str] = (), *, asm: bool = False) -> str:
    """Everything about one kernel as text."""
    stages = stages_of(kernel, settings)
    module = generated(stages)
    sections = [
        ("kernel", "\n".join([kernel_title(kernel), *given_up(kernel), specialised(stages)])),
        ("checks", checks_text(kernel)),
        ("cost of one thread", cost_text(stages.device, module.halves)),
        ("kernel IR as written (! marks what may trap)", _beside(stages.built)),
        ("passes", passes_text(stages)),
        ("device IR after the passes", _beside(stages.device)),
        (f"LLVM IR for the cpu ({strategy(module)})", _llvm(module.text, files_of(stages.device))),
    ]
    sections += on_devices(stages)
    if asm:
        sections.append(("assembly", assembly(stages)))
    return "\n".join(f"== {title}\n\n{text.rstrip()}\n" for title, text in sections)


def offload_explanation(function: "Offloaded", settings: Sequence[str] = (), *, asm: bool = False) -> str:
    """Everything about one offloaded function: its loops with the rule for each write, then each kernel it becomes."""
    from isogrid.offloading.listing import listing_of

    specialisation = specialisation_of(function.definition, function.tunables, settings)
    parts = stages_of_sections(function, settings)
    shown = "every launch" if not parts else specialised(parts[0][1])
    listing = listing_of(function, specialisation)
    sections = [
        ("function", "\n".join([offload_title(function), shown])),
        ("loops", "\n".join(loop_lines(listing, reasons=True))),
    ]
    for part, stages in parts:
        module = generated(stages)
        sections += [
            (f"{part.title}: kernel IR (! marks what may trap)", _beside(stages.built)),
            ("    device IR after the passes", _beside(stages.device)),
            ("    cost of one thread", cost_text(stages.device, module.halves)),
            (f"    LLVM IR for the cpu ({strategy(module)})", _llvm(module.text, files_of(stages.device))),
        ]
        sections += [("    assembly", assembly(stages))] if asm else []
    return "\n".join(f"== {title}\n\n{text.rstrip()}\n" for title, text in sections)


def on_devices(stages: Stages) -> Iterator[tuple[str, str]]:
    """What the kernel takes of the devices of this machine that tell."""
    for name in RUNTIMES:
        if presence(name).names and runtime_attribute(name, "resources", None) is not None:
            device: Any = runtime(name)
            yield f"on {name}", table(device.resources(stages.built, stages.options))


def strategy(module: "EmittedModule") -> str:
    """How the CPU runs a kernel, in words."""
    return f"{module.pipeline}; {'; '.join(module.notes) or 'no notes'}"


def specialised(stages: Stages) -> str:
    """Which of the kernel's specialisations is shown, with the options in force."""
    chosen = stages.specialisation
    parts = [f"{name} is {scalar.value}" for name, scalar in chosen.types]
    parts += [f"{name} = {value}" for name, value in chosen.constants]
    parts += [f"{name} is absent" for name in sorted(chosen.absent)]
    parts += [f"block {'x'.join(map(str, chosen.block))}"] if chosen.block else []
    parts += [f"option {key}={value!r}" for key, value in stages.options.items()]
    return "shown for: " + (", ".join(parts) or "every launch")


def checks_text(kernel: Kernel) -> str:
    """Every check with its line, proved or kept."""
    checks = proofs_of(kernel).checks
    if not checks:
        return "nothing in it can trap"
    return table([(f"line {c.span.line}", "proved" if c.proved else "kept", c.what) for c in checks])


def passes_text(stages: Stages) -> str:
    """Every pass with the lines that it changed."""
    rows: list[str] = []
    for result in stages.passes:
        rows.append(f"{result.name}: {'changed' if result.changed else 'nothing to do'}")
        if result.changed:
            rows += [f"    {line}" for line in _difference(result.before, result.after)]
    return "\n".join(rows) or "no passes"


def _difference(before: k.Kernel, after: k.Kernel) -> Iterator[str]:
    old, new = print_kernel(before).splitlines(), print_kernel(after).splitlines()
    for line in difflib.unified_diff(old, new, lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield f"{line[0]} {line[1:].strip()}"


def _beside(kernel: k.Kernel | d.Kernel) -> str:
    """IR text with the author's line at the left of the first line that comes from it."""
    lines = kernel_lines(kernel)
    shown = _sources([line.span for line in lines])
    width = max(map(len, shown))
    return "".join(f"{source:<{width}} | {line.text}\n" for source, line in zip(shown, lines, strict=True))


def _sources(spans: Sequence[Span]) -> list[str]:
    shown: list[str] = []
    last: tuple[str, int] | None = None
    for span in spans:
        here = (span.file, span.line)
        text = _source_line(span.file, span.line) if span.line > 0 and here != last else ""
        shown.append(text)
        last = here if span.line > 0 else last
    return shown


def files_of(kernel: d.Kernel) -> dict[int, str]:
    """The file of each line that statements come from; an inlined helper may stand in another one than the kernel."""
    files: dict[int, str] = {}
    for node in visit(kernel.body):
        files.setdefault(node.span.line, node.span.file)
    return files


def _llvm(text: str, files: Mapping[int, str]) -> str:
    """LLVM IR with the source line in place of each line mark."""
    out: list[str] = []
    for line in text.splitlines():
        mark = LINE_MARK.match(line)
        shown = line if len(line) <= _CODE_WIDTH else f"{line[:_CODE_WIDTH]}..."
        number = int(mark.group(1)) if mark else 0
        out.append(f"  ; {_source_line(files.get(number, ''), number)}" if mark else shown)
    return "\n".join(out)


def _source_line(file: str, number: int) -> str:
    text = linecache.getline(file, number).strip()
    short = text if len(text) <= _SOURCE_WIDTH else text[: _SOURCE_WIDTH - 3] + "..."
    return f"{number}: {short}" if text else ""
