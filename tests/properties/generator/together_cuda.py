"""Compile many random kernels for a GPU in one module: the driver takes most of its time for setting one up.

Each kernel is emitted as always, its functions get names of their own, LLVM links the modules, translates them and the
driver links and loads the result once. Halves of kernels, and variants for launches of other kinds, are compiled alone.
Where kernels go through NVRTC, their texts of CUDA C are one, each in a namespace of its own.
"""

import functools
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from isogrid.backends.cuda import loader, nvrtc, runtime
from isogrid.backends.cuda.machine import Machine, machine
from isogrid.backends.cuda.target import CudaTarget, compile_ptx

from .together import Deferred

#: Names that other modules see: entries, and numbers that stand in memory.
_VISIBLE = re.compile(r"^(?:define ptx_kernel \S+ |)@([\w.$]+)(?:\(| = (?!internal |private ))", re.MULTILINE)
_NAME = re.compile(r"@([\w.$]+)")
_ENTRY_IN_C = re.compile(r"\b(run|settle)\(")
#: Itself, which hands out parts of a module while `together_on_gpu` lasts.
_COMPILE_ALONE = nvrtc.compile_nvrtc


@dataclass(slots=True)
class TogetherOnGpu:
    """Kernels that are compiled in one go, by their text; `token` stands for the image of one of them. `alone` counts
    those that had to be compiled again, since their module was refused."""

    places: dict[str, int] = field(default_factory=dict[str, int])
    collects: bool = True
    target: CudaTarget | None = None
    module: int = 0
    alone: int = 0
    #: How NVRTC is called, where the texts are CUDA C.
    in_c: tuple[str, tuple[str, ...]] | None = None

    def through_nvrtc(self, text: str, arch: str, flags: Sequence[str] = (), *, alone: Any) -> bytes:
        """The same as `image_of` for CUDA C."""
        if self.collects:
            self.in_c = arch, tuple(flags)
            self.places.setdefault(text, len(self.places))
            raise Deferred
        if self.module and text in self.places and self.in_c == (arch, tuple(flags)):
            return b"kernel %d" % self.places[text]
        self.alone += text in self.places
        return alone(text, arch, flags)

    def image_of(self, text: str, shared: int, target: CudaTarget, machine: Machine, *, alone: Any) -> bytes:
        """In the first round, keep the text and stop the launch; in the second, say which kernel it is."""
        if self.collects and machine.driver.is_real:
            self.target = target
            self.places.setdefault(text, len(self.places))
            raise Deferred
        if self.module and text in self.places:
            return b"kernel %d" % self.places[text]
        self.alone += text in self.places
        return alone(text, shared, target, machine)

    def load(self, driver: Any, variant: loader.Variant, *others: Any, alone: Any) -> loader.Loaded:
        number = variant.image.removeprefix(b"kernel ")
        if not number.isdigit():
            return alone(driver, variant, *others)
        loaded: loader.Loaded = alone(_Part(driver, self.module, int(number)), variant, *others)
        loaded.driver = driver
        return loaded

    def finish(self) -> None:
        """Compile what waits. A module that is refused is compiled kernel by kernel later, which says whose it is."""
        self.collects = False
        if not self.places:
            return
        driver = machine().driver
        try:
            self.module = driver.load(self._code(driver))
        except Exception:
            self.module = 0

    def _code(self, driver: Any) -> bytes:
        if self.in_c is not None:
            arch, flags = self.in_c
            return _COMPILE_ALONE(linked_in_c(list(self.places)), arch, flags)
        assert self.target is not None
        return driver.link(compile_ptx(linked(list(self.places)), self.target))


@dataclass(slots=True)
class _Part:
    """A driver that finds the functions of one kernel in the module of all."""

    driver: Any
    module: int
    number: int

    def load(self, image: bytes) -> int:
        return self.module

    def function(self, module: int, name: str) -> int:
        return int(self.driver.function(module, f"{name}_of_{self.number}"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)


@contextmanager
def together_on_gpu() -> Generator[TogetherOnGpu]:
    """Let the `cuda` device compile with others. `finish` ends the round in which launches stop with `Deferred`."""
    group = TogetherOnGpu()
    image_of, load, compile_nvrtc = loader.image_of, loader.load, nvrtc.compile_nvrtc
    nvrtc.compile_nvrtc = functools.partial(group.through_nvrtc, alone=compile_nvrtc)
    loader.image_of = functools.partial(group.image_of, alone=image_of)
    runtime.load = functools.partial(group.load, alone=load)
    try:
        yield group
    finally:
        loader.image_of, runtime.load, nvrtc.compile_nvrtc = image_of, load, compile_nvrtc


def linked(texts: list[str]) -> str:
    """One module of many. Names of each that only it knows are internal, and made different by LLVM."""
    import llvmlite.binding as llvm

    whole = llvm.parse_assembly(_own_names(texts[0], 0))
    for at, text in enumerate(texts[1:], 1):
        whole.link_in(llvm.parse_assembly(_own_names(text, at)))
    return str(whole)


def linked_in_c(texts: list[str]) -> str:
    """The same of texts of CUDA C."""
    own = [_ENTRY_IN_C.sub(rf"\g<1>_of_{at}(", text) for at, text in enumerate(texts)]
    return "".join(f"namespace n{at} {{\n{text}\n}}\n" for at, text in enumerate(own))


def _own_names(text: str, at: int) -> str:
    visible = set(_VISIBLE.findall(text))
    return _NAME.sub(lambda match: f"@{match[1]}_of_{at}" if match[1] in visible else match[0], text)
