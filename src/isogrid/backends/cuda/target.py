"""Which NVIDIA processor code is made for, and LLVM's NVPTX backend: LLVM IR text to PTX text."""

import functools
import importlib
import re
from typing import Any, Final

from isogrid.support.errors import CompilerBug
from isogrid.support.records import dataclass

#: The first PTX version that knows each architecture, by compute capability, for those that LLVM 22 knows.
_FIRST_PTX: Final = {
    70: 60,
    72: 61,
    75: 63,
    80: 70,
    86: 71,
    87: 74,
    89: 78,
    90: 80,
    100: 86,
    101: 86,
    103: 88,
    120: 87,
    121: 88,
}
#: The first compute capability whose kernels can wait for the one before them by themselves.
FIRST_PROGRAMMATIC: Final = 90
#: Processors with one f64 unit for two of f32; the others have one for 32 or 64.
_MANY_F64: Final = (70, 80, 90, 100)
#: The newest PTX version that LLVM 22 writes.
_NEWEST_PTX: Final = 90


@dataclass(frozen=True, slots=True)
class CudaTarget:
    """`capability` is 10 * major + minor of the code's architecture, `ptx` the version of the text times ten."""

    capability: int
    ptx: int

    @property
    def arch(self) -> str:
        return f"sm_{self.capability}"

    @property
    def build(self) -> str:
        """Which builds of elementary functions are the fastest."""
        return "gpu" if self.capability in _MANY_F64 else ""


def cuda_target(capability: tuple[int, int], driver_ptx: int = _NEWEST_PTX) -> CudaTarget:
    """Code for a device of this compute capability. A device newer than LLVM knows runs the newest code that the
    driver translates forward. Raises `CompilerBug` for one older than sm_70, which callers refuse."""
    wanted = 10 * capability[0] + capability[1]
    known = [c for c in sorted(_FIRST_PTX) if c <= wanted and _FIRST_PTX[c] <= driver_ptx]
    if not known:
        raise CompilerBug(f"no code for compute capability {capability[0]}.{capability[1]}")
    return CudaTarget(known[-1], _FIRST_PTX[known[-1]])


@functools.cache
def _binding() -> Any:
    """llvmlite's binding layer (it has no types) with the NVPTX target ready."""
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def llvm_version() -> tuple[int, ...]:
    """The version of LLVM that makes the code."""
    return tuple(_binding().llvm_version_info)


def _machine(target: CudaTarget) -> Any:
    llvm = _binding()
    found = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    return found.create_target_machine(cpu=target.arch, features=f"+ptx{target.ptx}", opt=3)


@functools.cache
def data_layout(target: CudaTarget) -> str:
    """The data layout that LLVM uses. It must stand in the text: set afterwards, 64-bit accesses are split."""
    return str(_machine(target).target_data)


def compile_ptx(text: str, target: CudaTarget, *, passes: bool = True) -> str:
    """PTX of an LLVM module. Raises `CompilerBug` when LLVM rejects the text."""
    module, machine = _optimised(text, target, passes)
    return str(machine.emit_assembly(module))


def optimised_text(text: str, target: CudaTarget) -> str:
    """The LLVM IR as the backend sees it, for people who read it."""
    return str(_optimised(text, target, True)[0])


def _optimised(text: str, target: CudaTarget, passes: bool) -> tuple[Any, Any]:
    llvm = _binding()
    machine = _machine(target)
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as problem:
        raise CompilerBug(f"LLVM rejects the module: {problem}") from problem
    if passes:
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        options.loop_vectorization = False
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        module = _without_narrow_extremes(module, llvm)
    return module, machine


#: A call of `min` or `max` of integers of 8 or 16 bits: result, operation, type, operands.
_NARROW_EXTREME: Final = re.compile(
    r"^  (%\S+) = (?:tail )?call (?:noundef |range\([^)]*\) )*i(?:8|16) @llvm\.([su])(min|max)\.(i8|i16)"
    r"\(i(?:8|16) (?:noundef )?([^,]+), i(?:8|16) (?:noundef )?([^)]+)\).*$",
    re.MULTILINE,
)


def _without_narrow_extremes(module: Any, llvm: Any) -> Any:
    """The module with `min` and `max` of narrow integers done in 32 bits, as LLVM found them before it narrowed them.

    ptxas 13.0 compares `max.s16 m, a, 0; setp.eq.b16 p, m, 0` in one VIMNMX.S16x2 whose two halves write one predicate.
    """
    names = [f"llvm.{sign}{way}.i{bits}" for sign in "su" for way in ("min", "max") for bits in (8, 16)]
    if not any(function.name in names for function in module.functions):
        return module
    text = _NARROW_EXTREME.sub(_in_32_bits, str(module))
    if left := re.search(r"^.* call .*@llvm\.[su](?:min|max)\.i(?:8|16)\(.*$", text, re.MULTILINE):
        raise CompilerBug(f"a narrow minimum or maximum stays: {left[0].strip()}")
    wanted = sorted(set(re.findall(r"@(llvm\.[su](?:min|max)\.i32)\(", text)))
    declared = set(re.findall(r"^declare .*@(llvm\.\w+\.i32)\(", text, re.MULTILINE))
    missing = [f"declare i32 @{name}(i32, i32)" for name in wanted if name not in declared]
    return llvm.parse_assembly("\n".join([text, *missing, ""]))


def _in_32_bits(match: "re.Match[str]") -> str:
    result, sign, way, type, left, right = match.groups()
    extend = "sext" if sign == "s" else "zext"
    # LLVM's own names of values have no such ending.
    bare = result[1:].strip('"')
    a, b, wide = (f'%"{bare}.{part}"' for part in ("wide.left", "wide.right", "wide"))
    return "\n".join(
        [
            f"  {a} = {extend} {type} {left} to i32",
            f"  {b} = {extend} {type} {right} to i32",
            f"  {wide} = call i32 @llvm.{sign}{way}.i32(i32 {a}, i32 {b})",
            f"  {result} = trunc i32 {wide} to {type}",
        ]
    )
