"""Why results of the `cpu` device are exact: LLVM's IEEE operations, and sequences in place of the divider."""

from typing import Final, assert_never

from isogrid.backends.cpu.objectcache import llvmlite_version
from isogrid.backends.cpu.target import HostTarget, llvm_binding
from isogrid.builtins.exactness import Basis, Kind, Operation, Reason
from isogrid.ir.types import Scalar
from isogrid.lowering.elementary import divides

#: Where the sequences in place of the divider were compared with it: significands of all quotients, all roots.
_COMPARED_ON: Final = ("emeraldrapids",)


def reason(operation: Operation, target: HostTarget) -> Reason:
    """The reason of one operation on this processor."""
    match operation.kind:
        case Kind.INTEGER:
            return Reason(Basis.PROMISED, "LLVM's integers of two's complement, and their flags of overflow")
        case Kind.SUM:
            return Reason(Basis.PROMISED, "LLVM's IEEE 754 operation without fast-math flags; never contracted")
        case Kind.QUOTIENT | Kind.ROOT:
            return _divided(operation, target)
        case Kind.FUSED:
            how = "the processor's instruction" if target.has_fma else "the C library's, by Annex F"
            return Reason(Basis.PROMISED, f"llvm.fma: {how}")
        case Kind.SELECTION:
            return Reason(Basis.SEQUENCE, "IEEE 754 comparisons, and integers for signs and NaN")
        case Kind.REMAINDER:
            if operation.name == "//" and _is_quick(operation.type, target):
                return _standing_on_quotients("frem and a quotient")
            return Reason(Basis.SEQUENCE, "LLVM's frem, the C library's fmod, which Annex F calls exact; then one sum")
        case Kind.INTEGRAL:
            return Reason(Basis.PROMISED, "LLVM's floor, ceil, trunc and roundeven")
        case Kind.CONVERSION:
            return Reason(Basis.PROMISED, "LLVM's conversions, each rounded once, after a test of the range")
        case Kind.STORED:
            how = "F16C's instructions for f16" if target.converts_halves else "no instruction"
            return Reason(Basis.SEQUENCE, f"rounded in integers; {how}")
        case Kind.EXACT:
            return Reason(Basis.SEQUENCE, "exact operations on the parts of floats")
        case Kind.FUNCTION:
            if _is_quick(operation.type, target) and divides(operation.function):
                return _standing_on_quotients("polynomials and a test of rounding, with quotients or roots")
            return Reason(Basis.SEQUENCE, "polynomials and a test of rounding in exact operations")
        case Kind.COMBINED:
            return Reason(Basis.SEQUENCE, "sums in the fixed order of slots")
        case _:
            assert_never(operation.kind)


def _divided(operation: Operation, target: HostTarget) -> Reason:
    name = "fdiv" if operation.kind is Kind.QUOTIENT else "llvm.sqrt"
    if not _is_quick(operation.type, target):
        return Reason(Basis.PROMISED, f"LLVM's {name}, correctly rounded by IEEE 754")
    start = "rcp14" if operation.kind is Kind.QUOTIENT else "rsqrt14"
    here = "this processor's" if target.cpu in _COMPARED_ON else "of another processor with the same tables"
    return Reason(
        Basis.MEASURED,
        f"in some loops {start} and a correction (decision 0055); {name} with disable='fast_division'",
        f"on {here} table of {start}, all significands (tests/cpu/test_exact.py)",
    )


def _is_quick(type: Scalar, target: HostTarget) -> bool:
    """Whether quotients and roots may be made without the divider."""
    return type is Scalar.F32 and target.divides_slowly


def _standing_on_quotients(how: str) -> Reason:
    return Reason(Basis.MEASURED, f"{how}, which may be made as those of `/` and sqrt are", "as `/` and sqrt")


def made_with(target: HostTarget) -> str:
    """What the reasons are about."""
    version = ".".join(map(str, llvm_binding().llvm_version_info))
    return f"{target.cpu}, {target.vector_bits}-bit vectors, LLVM {version} ({llvmlite_version()})"
