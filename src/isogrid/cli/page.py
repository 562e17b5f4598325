"""`isogrid explain FILE::kernel --html PAGE`: source, proof, cost and generated code side by side, in one file that
needs nothing else: no script, no network."""

import html
import importlib
import inspect
import linecache
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from isogrid.cli.check import given_up, kernel_title, loop_lines, offload_title
from isogrid.cli.costs import line_costs, restore_text
from isogrid.cli.proofs import Check, checks_in, proofs_of
from isogrid.cli.stage_texts import LINE_MARK, files_of, on_devices, passes_text, specialised, strategy
from isogrid.cli.stages import Stages, assembly, generated, specialisation_of, stages_of, stages_of_sections
from isogrid.cli.text_targets import cuda_text, ptx_text
from isogrid.ir.text import kernel_lines, print_kernel
from isogrid.launch.kernel_value import Kernel
from isogrid.support.errors import KernelRefused, KnownLimit

if TYPE_CHECKING:
    from isogrid.backends.cpu.layout import EmittedModule
    from isogrid.cli.costs import Place
    from isogrid.offloading.function import Offloaded

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --good: #1a7f37; --kept: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --kept: #d29922; } }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 110em; padding: 0 1.5em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
code, pre, td.code { font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
pre { background: var(--soft); padding: .6em .8em; overflow-x: auto; margin: .3em 0; border-radius: 4px; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--line); padding: .2em .7em; }
td { vertical-align: top; border-bottom: 1px solid var(--line); padding: .15em .7em; }
td.code { white-space: pre; } td.number { text-align: right; opacity: .6; }
td.cost { font-variant-numeric: tabular-nums; min-width: 11em; } td.proof { min-width: 16em; }
td.made { min-width: 26em; } td.made pre { max-width: 60em; }
.proved { color: var(--good); } .kept { color: var(--kept); font-weight: 600; }
ul { list-style: none; margin: 0; padding: 0; } summary { cursor: pointer; }
"""


@dataclass(slots=True)
class _Line:
    """What one source line has beside it."""

    proofs: list[tuple[bool, str]] = field(default_factory=list[tuple[bool, str]])
    cost: str = ""
    device: list[str] = field(default_factory=list[str])
    llvm: list[str] = field(default_factory=list[str])


def page(title: str, values: "Sequence[Kernel | Offloaded]", settings: Sequence[str] = ()) -> str:
    """The whole page for some kernels and offloaded functions of one file. Raises `KernelRefused`."""
    parts = [_kernel(one, settings) if isinstance(one, Kernel) else _offloaded(one, settings) for one in values]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n'
        f"<style>{_STYLE}{_colours()}</style>\n</head>\n<body>\n<h1>{html.escape(title)}</h1>\n"
        + "\n".join(parts)
        + "</body>\n</html>\n"
    )


def _kernel(kernel: Kernel, settings: Sequence[str]) -> str:
    stages = stages_of(kernel, settings)
    about = [kernel_title(kernel), *given_up(kernel), specialised(stages)]
    own = _own_lines(kernel.definition.function)
    return _part(kernel.definition.name, about, stages, proofs_of(kernel).checks, own)


def _offloaded(function: "Offloaded", settings: Sequence[str]) -> str:
    from isogrid.offloading.listing import listing_of

    chosen = specialisation_of(function.definition, function.tunables, settings)
    listing = loop_lines(listing_of(function, chosen), reasons=True)
    parts = [
        f"<h2>{html.escape(function.definition.name)}</h2>\n",
        _pre("\n".join([offload_title(function), *listing])),
    ]
    own = _own_lines(function.definition.function)
    for section, stages in stages_of_sections(function, settings):
        after = set(checks_in(stages.optimised))
        checks = [Check(span, what, (span, what) not in after) for span, what in checks_in(stages.built)]
        parts.append(_part(section.title, [specialised(stages)], stages, checks, own))
    return "".join(parts)


def _part(title: str, about: Sequence[str], stages: Stages, checks: Sequence[Check], own: "Sequence[Place]") -> str:
    module = generated(stages)
    restore = restore_text(stages.device, module.halves)
    facts = [("on the cpu", strategy(module)), ("restore", restore), ("passes", _passes_in_words(stages))]
    listed = "".join(f"<li><b>{name}</b>: {html.escape(value)}</li>" for name, value in facts)
    folded = [(name, text) for name, text in on_devices(stages)] + _whole(stages, module)
    return (
        f"<h2>{html.escape(title)}</h2>\n"
        + _pre("\n".join(about))
        + f"<ul>{listed}</ul>\n"
        + _table(_lines(stages, module, checks, own))
        + "".join(f"<details><summary>{html.escape(name)}</summary>{_pre(text)}</details>\n" for name, text in folded)
    )


def _passes_in_words(stages: Stages) -> str:
    return ", ".join(dict.fromkeys(result.name for result in stages.passes if result.changed)) or "none changed it"


def _whole(stages: Stages, module: "EmittedModule") -> list[tuple[str, str]]:
    """Every stage whole. What a target refuses stands there in words."""
    texts = [
        ("kernel IR", print_kernel(stages.built)),
        ("passes", passes_text(stages)),
        ("device IR", print_kernel(stages.device)),
        ("LLVM IR for the cpu", module.text),
        ("assembly of this processor", assembly(stages)),
    ]
    for name, make in (("PTX", ptx_text), ("CUDA C", cuda_text)):
        try:
            texts.append((name, make(stages)))
        except (KernelRefused, KnownLimit) as refused:
            texts.append((name, str(refused).strip()))
    return texts


# --- line by line ----------------------------------------------------------------------------------------------------


def _own_lines(function: object) -> "list[Place]":
    """The lines of a function, its decorator included."""
    wrapped = inspect.unwrap(function)  # pyright: ignore[reportArgumentType]
    lines, first = inspect.getsourcelines(wrapped)
    return [(wrapped.__code__.co_filename, first + number) for number in range(len(lines))]


def _lines(
    stages: Stages, module: "EmittedModule", checks: Sequence[Check], own: "Sequence[Place]"
) -> "dict[Place, _Line]":
    """Every line in order: those of the function, then those of helpers that something comes from."""
    found: dict[Place, _Line] = {place: _Line() for place in own}

    def line(place: "Place") -> _Line:
        return found.setdefault(place, _Line())

    for check in checks:
        line((check.span.file, check.span.line)).proofs.append((check.proved, check.what))
    for place, cost in line_costs(stages.device).items():
        line(place).cost = cost
    for text in kernel_lines(stages.device):
        if text.span.line and text.text.startswith("    "):
            line((text.span.file, text.span.line)).device.append(text.text[4:])
    for place, code in _marked(module.text, files_of(stages.device)).items():
        line(place).llvm = code
    first = len(own)
    helpers = sorted(list(found)[first:])
    return {place: found[place] for place in [*own, *helpers] if place[1] > 0}


def _marked(text: str, files: Mapping[int, str]) -> "dict[Place, list[str]]":
    """Lines of LLVM IR by the source line that their mark names; what stands before the first mark has none."""
    found: dict[Place, list[str]] = {}
    place: Place | None = None
    for line in text.splitlines():
        mark = LINE_MARK.match(line)
        if mark is not None:
            number = int(mark.group(1))
            place = (files.get(number, ""), number)
        elif not line.startswith(" "):
            place = place if line.endswith(":") else None
        elif place is not None:
            found.setdefault(place, []).append(line.strip())
    return found


def _table(lines: "Mapping[Place, _Line]") -> str:
    places = list(lines)
    sources = dict(zip(places, _coloured([_source(place) for place in places]), strict=True))
    rows: list[str] = []
    file = places[0][0] if places else ""
    for place, line in lines.items():
        if place[0] != file:
            file = place[0]
            rows.append(f'<tr><td></td><td colspan="4"><b>{html.escape(file)}</b></td></tr>')
        rows.append(_row(place[1], sources[place], line))
    head = "".join(
        f"<th>{name}</th>" for name in ("", "source", "proof", "cost of one thread", "device IR and LLVM IR")
    )
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n' + "\n".join(rows) + "\n</table></div>\n"


def _row(number: int, source: str, line: _Line) -> str:
    kinds = {True: "proved", False: "kept"}
    proofs = ""
    for proved, kind in kinds.items():
        what = ", ".join(dict.fromkeys(what for found, what in line.proofs if found is proved))
        proofs += f'<li class="{kind}">{kind}: {html.escape(what)}</li>' if what else ""
    made = _pre("\n".join(line.device)) if line.device else ""
    if line.llvm:
        count = f"{len(line.llvm)} instruction{'' if len(line.llvm) == 1 else 's'} of LLVM"
        made += f"<details><summary>{count}</summary>{_pre(chr(10).join(line.llvm))}</details>"
    return (
        f'<tr><td class="number">{number}</td><td class="code">{source}</td><td class="proof"><ul>{proofs}</ul></td>'
        f'<td class="cost">{html.escape(line.cost)}</td><td class="made">{made}</td></tr>'
    )


def _source(place: "Place") -> str:
    return linecache.getline(*place).rstrip("\n")


def _coloured(lines: Sequence[str]) -> list[str]:
    """Source lines as HTML, in colours where Pygments is there (the extra `cli` brings it)."""
    pygments = _pygments()
    if pygments is None:
        return [html.escape(line) for line in lines]
    lexer = importlib.import_module("pygments.lexers").PythonLexer(stripnl=False)
    made: list[str] = pygments.highlight("\n".join(lines), lexer, _formatter(nowrap=True)).split("\n")
    # Pygments ends each token with its line; were that ever otherwise, plain lines are still right.
    return made[: len(lines)] if len(made) == len(lines) + 1 else [html.escape(line) for line in lines]


def _colours() -> str:
    if _pygments() is None:
        return ""
    light, dark = (str(_formatter(style=name).get_style_defs("td.code")) for name in ("friendly", "github-dark"))
    without = re.compile(r"^(?:pre|td\.linenos|span\.linenos|td\.code\s*\{).*$", re.MULTILINE)
    return without.sub("", light) + "@media (prefers-color-scheme: dark) {\n" + without.sub("", dark) + "}\n"


def _pygments() -> Any:
    try:
        return importlib.import_module("pygments")
    except ModuleNotFoundError:
        return None


def _formatter(**options: Any) -> Any:
    return importlib.import_module("pygments.formatters").HtmlFormatter(**options)


def _pre(text: str) -> str:
    return f"<pre>{html.escape(text.rstrip())}</pre>\n"
