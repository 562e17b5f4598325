"""A kernel's stages as texts for people: IR beside its source, what each pass changed, LLVM IR with the lines of the
source in it."""

import difflib
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isogrid.cli.output import table
from isogrid.cli.proofs import proofs_of
from isogrid.cli.stages import Stages
from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.text import kernel_lines, print_kernel
from isogrid.ir.walk import visit
from isogrid.launch.backends import RUNTIMES, presence, runtime, runtime_attribute
from isogrid.launch.kernel_value import Kernel

if TYPE_CHECKING:
    from isogrid.backends.cpu.layout import EmittedModule

#: The comment by which the LLVM emitter marks the source line that the code below belongs to.
LINE_MARK = re.compile(r"^\s*; line (\d+)$")
#: Widest source column.
_SOURCE_WIDTH = 60
#: Longest line of generated code that is shown whole; `isogrid emit` shows all of it.
_CODE_WIDTH = 200


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


def beside(kernel: k.Kernel | d.Kernel) -> str:
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


def llvm_text(text: str, files: Mapping[int, str]) -> str:
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
