"""From kernel IR to functions that the driver can launch: emit, translate, link, cache the machine code, load.

Machine code is kept on disk by the PTX that it came from, the architecture and the driver's version.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda.layout import CudaModule
from isogrid.backends.cuda.machine import Machine
from isogrid.ir import kernel as k
from isogrid.runtimes.cuda_driver import Driver
from isogrid.runtimes.memory import Block
from isogrid.support.diskcache import default_cache, digest
from isogrid.support.errors import KnownLimit
from isogrid.support.records import dataclass

#: Bytes of copies from which on it pays to compile the halves of a kernel for one launch.
_LEAST_SAVED: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Variant:
    """A module with its machine code, for launches of one kind. `module` has no text any more. `checked` names the
    arrays that the checking half of the kernel reads, None where it has no halves."""

    module: CudaModule
    image: bytes
    milliseconds: float
    checked: tuple[str, ...] | None = None


@dataclass(slots=True)
class Loaded:
    """A variant in the context of a device. `places` are the numbers of the slots that the runtime itself fills,
    `counts` the watches with a count per element, by the sizes of the arrays and the stream."""

    variant: Variant
    driver: Driver
    run: int
    settle: int
    places: Mapping[str, int] = field(default_factory=dict[str, int])
    #: Blocks that the device runs at once: as many as a launch has whose blocks take boxes in turn.
    most_blocks: int = 0
    #: Makes the halves of a kernel that has them; those that were made.
    halve: "Callable[[], tuple[Loaded, Loaded]] | None" = None
    halves: "tuple[Loaded, ...]" = ()
    #: Makes the same code for launches of some of the blocks; what was made.
    start_anywhere: "Callable[[], Loaded] | None" = None
    startable: "Loaded | None" = None
    counts: dict[tuple[tuple[int, ...], int], Block] = field(default_factory=dict[tuple[tuple[int, ...], int], Block])

    @property
    def can_trap(self) -> bool:
        return "record" in self.places

    def blocks(self, extents: Sequence[int]) -> int:
        """Blocks of a launch over these extents."""
        module = self.variant.module
        boxes = math.prod(-(-extent // t) for extent, t in zip(extents, module.tile, strict=True))
        return min(boxes, self.most_blocks) if module.in_turn else boxes

    def from_any_block(self) -> "Loaded | None":
        """This code for launches of some of the blocks, None where it cannot be had."""
        if "first_block" in self.places:
            return self
        if self.startable is None and self.start_anywhere is not None:
            self.startable = self.start_anywhere()
        return self.startable

    def parts(self, saved: int, sizes: Callable[[str], int]) -> "tuple[Loaded, ...]":
        """What to launch, one behind the other: the kernel, for which `saved` bytes must be copied first, or its
        halves, which read again what they check; a copy reads and writes. `sizes` gives the bytes of an array."""
        checked = self.variant.checked
        if checked is None or self.halve is None or not saved:
            return (self,)
        if 2 * saved < sum(map(sizes, checked)) or not (self.halves or saved >= _LEAST_SAVED):
            return (self,)
        if not self.halves:
            self.halves = self.halve()
        return self.halves


def compile_variant(
    kernel: k.Kernel,
    options: Mapping[str, Any],
    machine: Machine,
    number: int,
    *,
    small: bool,
    aligned: bool,
    starts: bool = False,
) -> Variant:
    """The whole way down. The compiler is imported here, so that a launch from the disk cache loads none. `starts`: a
    launch may start at a later block than the first."""
    import dataclasses

    from isogrid.lowering.split import split

    started = time.perf_counter()
    device = _device_ir(kernel, options, small, target_of(machine, number, options).build)
    own: Mapping[str, Any] = options.get("cuda", {})
    if own.get("codegen", "llvm") == "nvrtc":
        halves = None
        module, image = _through_nvrtc(device, options, machine, number, small)
    else:
        halves = split(device)
        module, image = _through_llvm(device, options, machine, number, small, aligned, starts=starts)
    checked = halves.read if halves is not None else None
    bare = dataclasses.replace(module, text="")
    return Variant(bare, image, (time.perf_counter() - started) * 1e3, checked)


def compile_halves(
    kernel: k.Kernel, options: Mapping[str, Any], machine: Machine, number: int, *, small: bool, aligned: bool
) -> tuple[Variant, Variant]:
    """The two halves of a kernel whose usual variant says that it has them."""
    import dataclasses

    device = _device_ir(kernel, options, small, target_of(machine, number, options).build)

    def half(part: Literal["check", "write"]) -> Variant:
        started = time.perf_counter()
        module, image = _through_llvm(device, options, machine, number, small, aligned, part)
        return Variant(dataclasses.replace(module, text=""), image, (time.perf_counter() - started) * 1e3)

    return half("check"), half("write")


def _device_ir(kernel: k.Kernel, options: Mapping[str, Any], small: bool, build: str) -> Any:
    from isogrid.pipeline import lower, optimise

    disabled: frozenset[str] = options.get("disable", frozenset())
    facts = LaunchFacts(small=small)
    return lower(optimise(kernel, disabled, facts, options), facts, build)


def target_of(machine: Machine, number: int, options: Mapping[str, Any]) -> Any:
    """What code is made for: the device, or the older architecture that an option names."""
    from isogrid.backends.cuda.target import cuda_target

    capability = machine.capabilities[number]
    arch = options.get("cuda", {}).get("arch")
    if arch is not None:
        wanted = _capability(arch)
        if wanted > capability:
            own = f"sm_{capability[0]}{capability[1]}"
            raise KnownLimit(f"cuda: arch={arch!r} is newer than the device, which is {own}")
        capability = wanted
    return cuda_target(capability, newest_ptx(machine.version))


def newest_ptx(version: int) -> int:
    """The PTX version (times ten) that a driver of this CUDA version reads."""
    major, minor = version // 1000, version % 1000 // 10
    if major == 12:
        return 80 + minor - (minor >= 6)  # 12.5 and 12.6 read the same
    return 10 * (major - 4) + minor


def _capability(arch: str) -> tuple[int, int]:
    digits = arch.removeprefix("sm_")
    if arch == digits or not digits.isdigit() or len(digits) < 2:
        raise KnownLimit(f"cuda: arch={arch!r} is no architecture; write it as 'sm_80'")
    return int(digits[:-1]), int(digits[-1])


def _through_llvm(
    device: Any,
    options: Mapping[str, Any],
    machine: Machine,
    number: int,
    small: bool,
    aligned: bool,
    part: Literal["whole", "check", "write"] = "whole",
    starts: bool = False,
) -> tuple[CudaModule, bytes]:
    from isogrid.backends.cuda.emit import emit_cuda

    target = target_of(machine, number, options)
    module = emit_cuda(device, target, options, small=small, aligned=aligned, part=part, starts=starts)
    return module, image_of(module.text, module.dynamic_shared, target, machine)


def image_of(text: str, dynamic_shared: int, target: Any, machine: Machine) -> bytes:
    """Machine code of one LLVM module, from the disk where it was linked before."""
    from isogrid.backends.cuda.target import compile_ptx

    driver = machine.driver
    if not driver.is_real:
        return driver.link(f"; dynamic {dynamic_shared}\n{text}")
    ptx = compile_ptx(text, target)
    key = digest(("cubin 1", ptx, target.arch, str(machine.version)))
    store = default_cache()
    found = store.load(key)
    if found is None:
        found = driver.link(ptx)
        store.store(key, found)
    return found


def _through_nvrtc(
    device: Any, options: Mapping[str, Any], machine: Machine, number: int, small: bool
) -> tuple[CudaModule, bytes]:
    from isogrid.backends.cuda.nvrtc import NvrtcError, compile_nvrtc, nvrtc_version
    from isogrid.backends.cuda.options import nvrtc_flags
    from isogrid.backends.cuda.text import emit_cuda_text

    if not machine.driver.is_real:
        raise KnownLimit('cuda: codegen="nvrtc" needs a device; the simulated driver runs LLVM code alone')
    target = target_of(machine, number, options)
    module = emit_cuda_text(device, options, small=small)
    flags = nvrtc_flags(options, exact=device.exact)
    key = digest(("nvrtc 1", module.text, target.arch, *flags, str(nvrtc_version())))
    store = default_cache()
    found = store.load(key)
    if found is None:
        try:
            found = compile_nvrtc(module.text, target.arch, flags)
        except NvrtcError as error:
            raise KnownLimit(f"cuda: {error}") from None
        store.store(key, found)
    return module, found


def load(driver: Driver, variant: Variant, number: int) -> Loaded:
    """Load the code into the context of this thread, which is one of device `number`."""
    module = driver.load(variant.image)
    run = driver.function(module, "run")
    if variant.module.dynamic_shared:
        driver.allow_shared(run, variant.module.dynamic_shared)
    settle = driver.function(module, "settle") if "settle" in variant.module.entries else 0
    own = ("record", "watch", "guard", "first_block")
    places = {slot.kind: number for number, slot in enumerate(variant.module.layout.slots) if slot.kind in own}
    most = 0
    if variant.module.in_turn:
        each = driver.resident_blocks(run, variant.module.block, variant.module.dynamic_shared)
        most = max(each, 1) * driver.device_attribute("processors", number)
    return Loaded(variant, driver, run, settle, places, most)
