"""Compile the elementary functions with the ordinary compiler: kernel language to device IR text.

python -m tools.mathlib.compile            write src/isogrid/mathlib/compiled/*.ir
python -m tools.mathlib.compile --check    compare them with what would be written
"""

import importlib
import linecache
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import isogrid as ig
from isogrid.analysis.facts import LaunchFacts
from isogrid.frontend.build import build
from isogrid.frontend.definition import Definition
from isogrid.frontend.language import Helper
from isogrid.ir import device as d
from isogrid.ir.text import print_kernel
from isogrid.ir.verify import verify
from isogrid.launch.specialise import check_specialisations
from isogrid.mathlib import source as sources
from isogrid.mathlib.functions import function_of, path_of
from isogrid.pipeline import lower, optimise
from isogrid.support.records import dataclass
from tools.mathlib.plain_bits import plain_bits
from tools.mathlib.single_assignment import single_assignment

_KERNEL = """
import isogrid as ig
from isogrid.analysis.facts import LaunchFacts
from isogrid.frontend.build import build
from isogrid.frontend.definition import Definition
from isogrid.dims import N

@ig.kernel(grid=N)
def {name}({parameters}, result: ig.Out[ig.{result}, N]) -> None:
    i = ig.gid()
    result[i] = function({arguments})
"""


def helpers() -> dict[str, Helper]:
    """Every function that is compiled, by name: those whose names end in a type and who are documented as public."""
    found: dict[str, Helper] = {}
    for module in pkgutil.iter_modules(sources.__path__):
        names = vars(importlib.import_module(f"{sources.__name__}.{module.name}"))
        for name, value in names.items():
            if isinstance(value, Helper) and value.function.__module__.endswith(f".{module.name}"):
                found[name] = value
    return found


@dataclass(frozen=True, slots=True)
class Source:
    """What a compiled function is made of: its name, build, helper, types of parameters, type of the result."""

    name: str
    build: str
    helper: Helper
    parameters: tuple[str, ...]
    result: str

    @property
    def path(self) -> Path:
        return path_of(self.name, self.build)

    def text(self) -> str:
        name = f"{self.name}_{self.build}" if self.build else self.name
        return compiled(name, self.helper, self.parameters, self.result)


def public() -> Iterator[Source]:
    """Each function that is compiled, in each of its builds."""
    from isogrid.builtins.elementary import BUILDS, COMPILED

    found = helpers()
    for name, (parameters, result) in COMPILED.items():
        types = tuple(type.value for type in parameters)
        yield Source(name, "", found[name], types, result.value)
        for kind, names in BUILDS.items():
            if name in names:
                yield Source(name, kind, found[f"{name}_{kind}"], types, result.value)


def compiled(name: str, helper: Helper, parameters: tuple[str, ...], result: str) -> str:
    """The text of one compiled function."""
    letters = "xyz"[: len(parameters)]
    text = _KERNEL.format(
        name=name,
        parameters=", ".join(f"{a}: ig.In[ig.{t}, N]" for a, t in zip(letters, parameters, strict=True)),
        arguments=", ".join(f"{a}[i]" for a in letters),
        result=result,
    )
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"function": helper, "ig": ig, "__name__": "tools.mathlib"}
    exec(compile(text, file, "exec"), space)
    device = plain_bits(single_assignment(_device(space[name].definition)))
    verify(device, after="single assignment")
    function_of(device)
    return print_kernel(device)


def _device(definition: Definition) -> d.Kernel:
    """Device IR for launches of any size."""
    facts = LaunchFacts()
    built = build(definition, next(iter(check_specialisations(definition, {}))))
    return lower(optimise(built, frozenset(), facts, {}), facts)


def main() -> None:
    check = "--check" in sys.argv[1:]
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    stale: list[str] = []
    for source in public():
        if wanted and source.name not in wanted:
            continue
        text = source.text()
        if check and (not source.path.exists() or source.path.read_text() != text):
            stale.append(source.path.stem)
        elif not check:
            source.path.write_text(text)
    if stale:
        raise SystemExit(f"out of date: {', '.join(stale)}; run python -m tools.mathlib.compile")


if __name__ == "__main__":
    main()
