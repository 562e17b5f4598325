"""The processor that this process runs on: plain facts for the emitter, an LLVM target machine for the loader."""

import functools
import importlib
from typing import Any

from isogrid.support.records import dataclass

#: LLVM's names of Intel's cores with AVX-512 and Intel's bits of `rcp14` and `rsqrt14`: the exhaustive tests stand on
#: them. A vector of f32 quotients takes their divider 10 cycles, roots 12. AMD's Zen 4 and 5 do not need it.
_SLOW_DIVIDERS = frozenset(
    {
        "skylake-avx512",
        "cascadelake",
        "cooperlake",
        "icelake-client",
        "icelake-server",
        "tigerlake",
        "rocketlake",
        "sapphirerapids",
        "emeraldrapids",
        "graniterapids",
        "graniterapids-d",
    }
)


@dataclass(frozen=True, slots=True)
class HostTarget:
    """What generated code may rely on. `features` is LLVM's comma-separated list; the widths follow from it."""

    triple: str
    cpu: str
    features: str
    data_layout: str

    @property
    def vector_bits(self) -> int:
        """Width of the widest vector register that code should use."""
        enabled = self.enabled
        if "avx512f" in enabled:
            return 512
        return 256 if "avx2" in enabled else 128

    @property
    def f32_lanes(self) -> int:
        """Elements of f32 in one vector register: the natural width of a vector of lanes."""
        return self.vector_bits // 32

    @property
    def vector_registers(self) -> int:
        """Architectural vector registers: bounds how far a wider vector of lanes may be split."""
        return 32 if self.vector_bits == 512 or self.triple.startswith(("aarch64", "arm64")) else 16

    @property
    def has_fma(self) -> bool:
        """Whether a fused multiply-add is one instruction (else LLVM calls the C library's)."""
        return "fma" in self.enabled or self.triple.startswith(("aarch64", "arm64"))

    @property
    def permutes(self) -> bool:
        """Whether one instruction picks 32-bit elements of two registers by lanes of a third."""
        return "avx512f" in self.enabled

    @property
    def table_lanes(self) -> int:
        """Elements of 32 bits of a register of which one instruction picks by lanes of another; 0 where none does."""
        if self.permutes:
            return 16
        return 8 if "avx2" in self.enabled else 0

    @property
    def build(self) -> str:
        """The builds of elementary functions that suit it: `isogrid.builtins.elementary.BUILDS`."""
        return "eight" if self.table_lanes == 8 and self.has_fma else ""

    @property
    def has_masks(self) -> bool:
        """Whether masks of lanes have registers of their own, and loads and stores under them cost little."""
        return "avx512f" in self.enabled

    @property
    def converts_halves(self) -> bool:
        """Whether conversions between f32 and f16 are instructions (else LLVM calls a library that is not there)."""
        return "f16c" in self.enabled or self.triple.startswith(("aarch64", "arm64"))

    @property
    def divides_slowly(self) -> bool:
        """Whether vectors of f32 are better divided by approximation and correction: `emit_exact`."""
        return self.cpu in _SLOW_DIVIDERS and {"avx512f", "fma"} <= self.enabled

    @property
    def streams_lines(self) -> bool:
        """Whether stores past the cache pay: those of at least half a cache line do, smaller ones gain nothing."""
        return self.triple.startswith("x86_64") and self.vector_bits >= 256

    @property
    def enabled(self) -> frozenset[str]:
        """Names of the features that are present."""
        return _enabled(self.features)

    @property
    def is_native_pool(self) -> bool:
        """Whether the worker pool exists for this platform: it speaks Linux futexes and x86-64's MXCSR."""
        return self.triple.startswith("x86_64") and "linux" in self.triple


@functools.cache
def _enabled(features: str) -> frozenset[str]:
    return frozenset(name[1:] for name in features.split(",") if name.startswith("+"))


@functools.cache
def host_target() -> HostTarget:
    """The facts of this machine, read once per process."""
    llvm = llvm_binding()
    machine = _machine(llvm, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    return HostTarget(
        triple=str(machine.triple),
        cpu=str(llvm.get_host_cpu_name()),
        features=str(llvm.get_host_cpu_features().flatten()),
        data_layout=str(machine.target_data),
    )


def target_machine(target: HostTarget) -> Any:
    """A fresh LLVM target machine. LLVM keeps state in it while it emits, so each module gets its own (0.5 ms)."""
    return _machine(llvm_binding(), target.cpu, target.features)


@functools.cache
def llvm_binding() -> Any:
    """llvmlite's binding layer (it has no types) with the native target ready; `import isogrid` does not pay for it."""
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _machine(llvm: Any, cpu: str, features: str) -> Any:
    # Code model "small" aborts the process when an object lands more than 2 GiB away from Python's own symbols.
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, codemodel="jitdefault", jit=True
    )
