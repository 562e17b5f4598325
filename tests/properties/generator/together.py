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

#: What a module defines, a function or a table, and any use of a name.
_DEFINED = re.compile(r'^(?:define .*?)?@([\w.$]+|"[^"]*")(?:\(| = )', re.MULTILINE)
_NAME = re.compile(r'@([\w.$]+|"[^"]*")')
#: Bytes of one address.
_WORD = 8


class Deferred(Exception):
    """The compilation waits for the others of its module."""


#: The forms that kernels are compiled in by turns.
FORMS = ("shared", "alone", "streamed")


@dataclass(slots=True)
class _Waiting:
    """A kernel whose text is written; the kernel is kept, since it is known by its identity."""

    kernel: k.Kernel
    device: d.Kernel
    module: EmittedModule
    addresses: tuple[int, ...] = ()

    @property
    def functions(self) -> tuple[str, ...]:
        return ("run", "run_alone") if self.module.alone else ("run",)


@dataclass(slots=True)
class Together:
    """Kernels that are compiled in one go. `alone` counts those that were not, in the second round."""

    waiting: dict[tuple[int, bool], _Waiting] = field(default_factory=dict[tuple[int, bool], _Waiting])
    collects: bool = True
    alone: int = 0

    def compile_variant(
        self, kernel: k.Kernel, options: Mapping[str, Any], facts: LaunchFacts, alone: Callable[..., LoadedVariant]
    ) -> LoadedVariant:
        """In the first round, write the text and stop the launch; in the second, hand out the code."""
        one = self.waiting.get((id(kernel), facts.small))
        if self.collects:
            if one is None:
                # A launch runs the form for one thread alone, the one with locks, or the one past the cache: one is
                # compiled, whatever the launch would choose.
                form = FORMS[len(self.waiting) % len(FORMS)]
                made = compile.emitted(kernel, {**options, "cpu_form": form}, facts)
                self.waiting[id(kernel), facts.small] = _Waiting(kernel, *made)
            raise Deferred
        if one is None or not one.addresses:
            self.alone += facts.small
            return alone(kernel, options, facts)
        code = b"".join(address.to_bytes(_WORD, "little") for address in one.addresses)
        variant = artifact.make_variant(one.device, one.module, code)
        return artifact.load_variant(variant, lambda: compile.makers_of(one.device, options))

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
            names = [tuple(f"{name}.of.{at}" for name in one.functions) for at, one in enumerate(members)]
            loaded = loader.load_object(code, tuple(name for own in names for name in own))
            for one, own in zip(members, names, strict=True):
                one.addresses = tuple(loaded[name] for name in own)


@contextmanager
def together() -> Generator[Together]:
    """Let the `cpu` device compile with others. `finish` ends the round in which launches stop with `Deferred`."""
    group = Together()
    alone, load = compile.compile_variant, artifact.load_object
    compile.compile_variant = lambda kernel, options, facts: group.compile_variant(kernel, options, facts, alone)

    def load_object(code: bytes, names: tuple[str, ...]) -> loader.LoadedCode:
        # The code of a kernel in a common module is the addresses of its functions.
        if len(code) != _WORD * len(names):
            return load(code, names)
        words = [code[at : at + _WORD] for at in range(0, len(code), _WORD)]
        return loader.LoadedCode({name: int.from_bytes(w, "little") for name, w in zip(names, words, strict=True)})

    artifact.load_object = load_object
    try:
        yield group
    finally:
        compile.compile_variant, artifact.load_object = alone, load


def joined(texts: list[str]) -> str:
    """One module of many: what each defines gets a name of its own, declarations and attributes are there once."""
    shared: dict[str, None] = {}
    bodies: list[str] = []
    for at, text in enumerate(texts):
        defined = set(_DEFINED.findall(text))
        lines: list[str] = []
        for line in text.splitlines():
            if line.startswith(("declare ", "attributes ")):
                shared[line] = None
            else:
                lines.append(line)
        body = "\n".join(lines)
        bodies.append(_NAME.sub(lambda m, own=defined, at=at: _renamed(m[1], at) if m[1] in own else m[0], body))
    return "\n".join([*shared, *bodies]) + "\n"


def _renamed(name: str, at: int) -> str:
    return f'@"{name[1:-1]}.of.{at}"' if name.startswith('"') else f"@{name}.of.{at}"
