"""From kernel IR to functions that the driver can launch: emit, translate, link, cache the machine code, load.

Machine code is kept on disk by the PTX that it came from, the architecture and the driver's version.
"""

import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda.layout import CudaModule
from isogrid.backends.cuda.machine import Machine
from isogrid.ir import kernel as k
from isogrid.runtimes.cuda_driver import Driver
from isogrid.runtimes.memory import Block
from isogrid.support.diskcache import default_cache, digest
from isogrid.support.errors import KnownLimit
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Variant:
    """A module with its machine code, for launches of one kind. `module` has no text any more."""

    module: CudaModule
    image: bytes
    milliseconds: float


@dataclass(slots=True)
class Loaded:
    """A variant in the context of a device. `places` are the numbers of the slots that the runtime itself fills,
    `counts` the watches with a count per element, by the sizes of the arrays and the stream."""

    variant: Variant
    driver: Driver
    run: int
    settle: int
    places: Mapping[str, int] = field(default_factory=dict[str, int])
    counts: dict[tuple[tuple[int, ...], int], Block] = field(default_factory=dict[tuple[tuple[int, ...], int], Block])

    @property
    def can_trap(self) -> bool:
        return "record" in self.places


def compile_variant(
    kernel: k.Kernel, options: Mapping[str, Any], machine: Machine, number: int, *, small: bool, aligned: bool
) -> Variant:
    """The whole way down. The compiler is imported here, so that a launch from the disk cache loads none."""
    import dataclasses

    from isogrid.pipeline import lower, optimise

    started = time.perf_counter()
    disabled: frozenset[str] = options.get("disable", frozenset())
    facts = LaunchFacts(small=small)
    device = lower(optimise(kernel, disabled, facts, options), facts)
    own: Mapping[str, Any] = options.get("cuda", {})
    if own.get("codegen", "llvm") == "nvrtc":
        module, image = _through_nvrtc(device, options, machine, number, small)
    else:
        module, image = _through_llvm(device, options, machine, number, small, aligned)
    bare = dataclasses.replace(module, text="")
    return Variant(bare, image, (time.perf_counter() - started) * 1e3)


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
    device: Any, options: Mapping[str, Any], machine: Machine, number: int, small: bool, aligned: bool
) -> tuple[CudaModule, bytes]:
    from isogrid.backends.cuda.emit import emit_cuda

    target = target_of(machine, number, options)
    module = emit_cuda(device, target, options, small=small, aligned=aligned)
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


def load(driver: Driver, variant: Variant) -> Loaded:
    """Load the code into the context of this thread."""
    module = driver.load(variant.image)
    run = driver.function(module, "run")
    if variant.module.dynamic_shared:
        driver.allow_shared(run, variant.module.dynamic_shared)
    settle = driver.function(module, "settle") if "settle" in variant.module.entries else 0
    own = ("record", "watch", "guard", "first_block")
    places = {slot.kind: number for number, slot in enumerate(variant.module.layout.slots) if slot.kind in own}
    return Loaded(variant, driver, run, settle, places)
