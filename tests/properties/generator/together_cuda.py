"""Compile many random kernels for a GPU in one module: the driver takes most of its time for setting one up.

Each kernel is emitted as always, its functions get names of their own, LLVM links the modules, translates them and the
driver links and loads the result once. Halves of kernels, and variants for launches of other kinds, are compiled alone.
"""

import functools
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from isogrid.backends.cuda import loader, runtime
from isogrid.backends.cuda.machine import Machine
from isogrid.backends.cuda.target import CudaTarget, compile_ptx

from .together import Deferred

_ENTRY = re.compile(r"@(run|settle)\b")


@dataclass(slots=True)
class TogetherOnGpu:
    """Kernels that are compiled in one go, by their text; `token` stands for the image of one of them. `alone` counts
    those that had to be compiled again, since their module was refused."""

    places: dict[str, int] = field(default_factory=dict[str, int])
    collects: bool = True
    target: CudaTarget | None = None
    machine: Machine | None = None
    module: int = 0
    alone: int = 0

    def image_of(self, text: str, shared: int, target: CudaTarget, machine: Machine, *, alone: Any) -> bytes:
        """In the first round, keep the text and stop the launch; in the second, say which kernel it is."""
        if self.collects and machine.driver.is_real:
            self.target, self.machine = target, machine
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
        if self.target is None or self.machine is None:
            return
        try:
            ptx = compile_ptx(linked(list(self.places)), self.target)
            self.module = self.machine.driver.load(self.machine.driver.link(ptx))
        except Exception:
            self.module = 0


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
    image_of, load = loader.image_of, loader.load
    loader.image_of = functools.partial(group.image_of, alone=image_of)
    runtime.load = functools.partial(group.load, alone=load)
    try:
        yield group
    finally:
        loader.image_of, runtime.load = image_of, load


def linked(texts: list[str]) -> str:
    """One module of many. Names of each that only it knows are internal, and made different by LLVM."""
    import llvmlite.binding as llvm

    whole = llvm.parse_assembly(_own_names(texts[0], 0))
    for at, text in enumerate(texts[1:], 1):
        whole.link_in(llvm.parse_assembly(_own_names(text, at)))
    return str(whole)


def _own_names(text: str, at: int) -> str:
    return _ENTRY.sub(lambda match: f"@{match[1]}_of_{at}", text)
