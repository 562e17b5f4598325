"""`isogrid explain IG104`: the page of a code. `isogrid explain FILE::kernel`: every stage beside its source.

source                    | kernel IR
i = ig.gid()              | i:i64 = gid(0)
"""

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogrid.cli.check import given_up, kernel_title, loop_lines, offload_title
from isogrid.cli.costs import cost_text
from isogrid.cli.failures import reported
from isogrid.cli.load import pick
from isogrid.cli.output import fail, say
from isogrid.cli.stage_texts import (
    beside,
    checks_text,
    files_of,
    llvm_text,
    on_devices,
    passes_text,
    specialised,
    strategy,
)
from isogrid.cli.stages import assembly, generated, specialisation_of, stages_of, stages_of_sections
from isogrid.diagnostics.codes import all_pages, page_of, render_page
from isogrid.launch.kernel_value import Kernel

if TYPE_CHECKING:
    from isogrid.offloading.function import Offloaded

_CODE = re.compile(r"IG\d+", re.IGNORECASE)


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
        ("kernel IR as written (! marks what may trap)", beside(stages.built)),
        ("passes", passes_text(stages)),
        ("device IR after the passes", beside(stages.device)),
        (f"LLVM IR for the cpu ({strategy(module)})", llvm_text(module.text, files_of(stages.device))),
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
            (f"{part.title}: kernel IR (! marks what may trap)", beside(stages.built)),
            ("    device IR after the passes", beside(stages.device)),
            ("    cost of one thread", cost_text(stages.device, module.halves)),
            (f"    LLVM IR for the cpu ({strategy(module)})", llvm_text(module.text, files_of(stages.device))),
        ]
        sections += [("    assembly", assembly(stages))] if asm else []
    return "\n".join(f"== {title}\n\n{text.rstrip()}\n" for title, text in sections)
