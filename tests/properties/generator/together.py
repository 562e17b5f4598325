"""Compile many random kernels in one LLVM module: setting one up costs as much as compiling a small kernel.

Every kernel goes through the whole pipeline, the emitter and LLVM's passes as it always does. Only the texts are joined
before LLVM sees them, with the names of each kernel made its own, and each variant gets its function out of the common
object code. Precise twins are compiled as they are needed, one by one.
"""

import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu import artifact, compile, loader
from isogrid.backends.cpu.artifact import LoadedVariant
from isogrid.backends.cpu.layout import EmittedModule
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.support.errors import CompilerBug

_OWN_NAMES = re.compile(r'@(run(?:\.body)?)\b|@"(table\.[^"]*)"')


class Deferred(Exception):
    """The compilation waits for the others of its module."""


@dataclass(slots=True)
class _Waiting:
    """A kernel whose text is written; the kernel is kept, since it is known by its identity."""

    kernel: k.Kernel
    device: d.Kernel
    module: EmittedModule
    address: int = 0


@dataclass(slots=True)
class Together:
    """Kernels that are compiled in one go."""

    waiting: dict[tuple[int, bool], _Waiting] = field(default_factory=dict[tuple[int, bool], _Waiting])
    collects: bool = True

    def compile_variant(
        self, kernel: k.Kernel, options: Mapping[str, Any], facts: LaunchFacts, alone: Callable[..., LoadedVariant]
    ) -> LoadedVariant:
        """In the first round, write the text and stop the launch; in the second, hand out the code."""
        one = self.waiting.get((id(kernel), facts.small))
        if self.collects:
            self.waiting[id(kernel), facts.small] = _Waiting(kernel, *compile.emitted(kernel, options, facts))
            raise Deferred
        if one is None or not one.address:
            return alone(kernel, options, facts)
        variant = artifact.make_variant(one.device, one.module, one.address.to_bytes(8, "little"))
        return artifact.load_variant(variant, lambda: compile.compile_precise(one.device, options))

    def finish(self) -> None:
        """Compile what waits. A module that LLVM refuses is compiled kernel by kernel later, which says whose it is."""
        self.collects = False
        for pipeline in ("plain", "vectorise"):
            members = [one for one in self.waiting.values() if one.module.pipeline == pipeline]
            if not members:
                continue
            try:
                code = loader.compile_object(joined([one.module.text for one in members]), pipeline)
            except CompilerBug:
                continue
            names = tuple(f"run.of.{at}" for at in range(len(members)))
            loaded = loader.load_object(code, names)
            for one, name in zip(members, names, strict=True):
                one.address = loaded[name]


@contextmanager
def together() -> Generator[Together]:
    """Let the `cpu` device compile with others. `finish` ends the round in which launches stop with `Deferred`."""
    group = Together()
    alone, load = compile.compile_variant, artifact.load_object
    compile.compile_variant = lambda kernel, options, facts: group.compile_variant(kernel, options, facts, alone)

    def load_object(code: bytes, names: tuple[str, ...]) -> loader.LoadedCode:
        # The code of a kernel in a common module is its address.
        return loader.LoadedCode({"run": int.from_bytes(code, "little")}) if len(code) == 8 else load(code, names)

    artifact.load_object = load_object
    try:
        yield group
    finally:
        compile.compile_variant, artifact.load_object = alone, load


def joined(texts: list[str]) -> str:
    """One module of many: names of each made its own, declarations and attributes once."""
    shared: dict[str, None] = {}
    bodies: list[str] = []
    for at, text in enumerate(texts):
        lines: list[str] = []
        for line in text.splitlines():
            if line.startswith(("declare ", "attributes ")):
                shared[line] = None
            else:
                lines.append(_OWN_NAMES.sub(lambda match, at=at: _renamed(match, at), line) if "@" in line else line)
        bodies.append("\n".join(lines))
    return "\n".join([*shared, *bodies]) + "\n"


def _renamed(match: "re.Match[str]", at: int) -> str:
    return f"@{match[1]}.of.{at}" if match[1] else f'@"{match[2]}.of.{at}"'
