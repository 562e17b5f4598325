"""Why the interpreter's results are exact: Python's integers and NumPy's scalars, one operation at a time."""

from typing import assert_never

import numpy as np

from isogrid.builtins.exactness import Basis, Kind, Operation, Reason


def reason(operation: Operation) -> Reason:
    """The reason of one operation."""
    match operation.kind:
        case Kind.INTEGER:
            return Reason(Basis.SEQUENCE, "Python's integers, compared with the range of the type")
        case Kind.SUM | Kind.QUOTIENT | Kind.ROOT:
            return Reason(Basis.PROMISED, "one IEEE 754 operation of a NumPy scalar, which C's Annex F promises")
        case Kind.SELECTION | Kind.INTEGRAL:
            return Reason(Basis.PROMISED, "comparisons and integral values by C's Annex F, signs and bits as integers")
        case Kind.FUSED:
            return Reason(Basis.SEQUENCE, "fractions of Python's integers, rounded once")
        case Kind.REMAINDER:
            return Reason(Basis.SEQUENCE, "C's fmod, which Annex F calls exact, and one sum where signs differ")
        case Kind.CONVERSION | Kind.STORED:
            return Reason(Basis.SEQUENCE, "exact integers, rounded once")
        case Kind.FUNCTION | Kind.EXACT:
            return Reason(Basis.SEQUENCE, "the compiled function step by step, each step exact")
        case Kind.COMBINED:
            return Reason(Basis.SEQUENCE, "sums in the fixed order of slots")
        case _:
            assert_never(operation.kind)


def made_with() -> str:
    """What the reasons are about."""
    return f"NumPy {np.__version__}"
