"""Why results of NVIDIA devices are exact: PTX's IEEE operations, and sequences that begin with an approximation."""

from typing import assert_never

from isogrid.backends.cuda.emit_quotients import MEASURED
from isogrid.backends.cuda.machine import Machine
from isogrid.backends.cuda.target import CudaTarget, llvm_version
from isogrid.builtins.exactness import Basis, Kind, Operation, Reason
from isogrid.ir.device import Machine as MachineType
from isogrid.ir.types import Scalar
from isogrid.lowering.elementary import started_inverses

#: With what the approximations of the hardware were tried: the CUDA version of the driver, and LLVM's.
_DRIVER, _LLVM = 13000, (22, 1)


def reason(operation: Operation, target: CudaTarget, *, as_measured: bool) -> Reason:
    """The reason of one operation in code for a target, made `as_measured` with the compiler and driver or not."""
    match operation.kind:
        case Kind.INTEGER:
            return Reason(Basis.PROMISED, "PTX's integers of two's complement; overflow asked for by comparisons")
        case Kind.SUM:
            return Reason(Basis.PROMISED, "PTX's add, sub, mul with .rn and without .ftz, which nothing contracts")
        case Kind.FUSED:
            return Reason(Basis.PROMISED, "PTX's fma.rn without .ftz")
        case Kind.QUOTIENT | Kind.ROOT:
            return _divided(operation, target, as_measured)
        case Kind.SELECTION:
            return Reason(Basis.SEQUENCE, "IEEE 754 comparisons, and integers for signs and NaN")
        case Kind.REMAINDER:
            if operation.name == "//" and _is_quick(operation.type, target):
                what = "long division of the significands, and a quotient, which may be made as those of `/` are"
                return Reason(Basis.MEASURED, what, "as `/`")
            return Reason(Basis.SEQUENCE, "long division of the significands in integers, then one sum")
        case Kind.INTEGRAL:
            return Reason(Basis.PROMISED, "PTX's cvt to integral values: .rmi .rpi .rzi .rni")
        case Kind.CONVERSION:
            return Reason(Basis.PROMISED, "PTX's cvt with .rn, after a test of the range")
        case Kind.STORED:
            return Reason(Basis.SEQUENCE, "rounded in integers, or by cvt.rn.f16.f32")
        case Kind.EXACT:
            return Reason(Basis.SEQUENCE, "exact operations on the parts of floats")
        case Kind.FUNCTION:
            return _function(operation, target, as_measured)
        case Kind.COMBINED:
            return Reason(Basis.SEQUENCE, "sums in the fixed order of slots")
        case _:
            assert_never(operation.kind)


def _divided(operation: Operation, target: CudaTarget, as_measured: bool) -> Reason:
    name, start = ("div", "rcp") if operation.kind is Kind.QUOTIENT else ("sqrt", "rsqrt")
    if not _is_quick(operation.type, target):
        return Reason(Basis.PROMISED, f"PTX's {name}.rn without .ftz")
    return Reason(
        Basis.MEASURED,
        f"in some loops {start}.approx and a correction (decision 0184); {name}.rn with disable='fast_division'",
        _measured(as_measured, f"all values of {start}.approx (tests/cuda_device/quotients.py)"),
    )


def _is_quick(type: Scalar, target: CudaTarget) -> bool:
    """Whether quotients and roots in loops may begin with an approximation."""
    return type is Scalar.F32 and target.capability in MEASURED


def _function(operation: Operation, target: CudaTarget, as_measured: bool) -> Reason:
    starts = started_inverses(operation.function, target.build)
    if MachineType.F64 in starts:
        return Reason(
            Basis.MEASURED,
            "begins with an approximation in f64 whose error PTX does not bound; any within 2^-18 does (decision 0172)",
            _measured(as_measured, "all 2^32 inputs (isogrid numerics -d cuda)"),
        )
    if starts:
        return Reason(Basis.SEQUENCE, "begins with an approximation in f32 whose error PTX bounds, and corrects it")
    return Reason(Basis.SEQUENCE, "polynomials and a test of rounding in exact operations")


def _measured(as_measured: bool, what: str) -> str:
    driver, llvm = f"{_DRIVER // 1000}.{_DRIVER % 1000 // 10}", _text(_LLVM)
    here = "" if as_measured else "; not with those of here, where the self-test alone speaks for it"
    return f"on an H200, {what}, driver of CUDA {driver} and LLVM {llvm}{here}"


def is_as_measured(machine: Machine) -> bool:
    """Whether the driver and LLVM are those that the approximations were tried with."""
    return machine.version == _DRIVER and llvm_version()[:2] == _LLVM


def made_with(machine: Machine, number: int) -> str:
    """What the reasons are about."""
    major, minor = machine.capabilities[number]
    driver = f"driver of CUDA {machine.version // 1000}.{machine.version % 1000 // 10}"
    return f"{machine.names[number]}, compute capability {major}.{minor}, {driver}, LLVM {_text(llvm_version())}"


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
