"""Elementary functions: their spellings, types and meaning. `isogrid.mathlib` holds how each is computed.

The meaning is the compiled function itself, run in Python: `builtins/evaluated.py`. An f32 result is the correctly
rounded one, so any other method gives the same bits; an f64 result is what that one algorithm gives, within 1 ulp.
"""

from collections.abc import Callable
from typing import Any, Final

from isogrid.builtins.evaluated import evaluate
from isogrid.builtins.table import Builtin, Signature
from isogrid.ir.types import Scalar
from isogrid.mathlib.functions import compiled_name

_FLOATS: Final = (Scalar.F32, Scalar.F64)

#: Name, whether `math` has it (else `ig`), parameters, one line of documentation.
_ROWS: Final[tuple[tuple[str, bool, tuple[str, ...], str], ...]] = (
    ("exp", True, ("x",), "e to the power x."),
    ("exp2", True, ("x",), "2 to the power x."),
    ("exp10", False, ("x",), "10 to the power x."),
    ("expm1", True, ("x",), "e to the power x, minus 1, also where that is tiny."),
    ("log", True, ("x",), "Natural logarithm; -inf for 0, NaN below it."),
    ("log2", True, ("x",), "Logarithm to base 2; -inf for 0, NaN below it."),
    ("log10", True, ("x",), "Logarithm to base 10; -inf for 0, NaN below it."),
    ("log1p", True, ("x",), "Natural logarithm of 1 + x, also where x is tiny; -inf for -1, NaN below it."),
    ("sin", True, ("x",), "Sine of x in radians, the argument reduced exactly; NaN for infinities."),
    ("cos", True, ("x",), "Cosine of x in radians, the argument reduced exactly; NaN for infinities."),
    ("tan", True, ("x",), "Tangent of x in radians, the argument reduced exactly; NaN for infinities."),
    ("sinpi", False, ("x",), "Sine of pi times x; a zero with the sign of x for integers."),
    ("cospi", False, ("x",), "Cosine of pi times x; +0 halfway between integers."),
    ("asin", True, ("x",), "Arc sine in radians; NaN outside -1..1."),
    ("acos", True, ("x",), "Arc cosine in radians; NaN outside -1..1."),
    ("atan", True, ("x",), "Arc tangent in radians."),
    ("sinh", True, ("x",), "Hyperbolic sine."),
    ("cosh", True, ("x",), "Hyperbolic cosine."),
    ("tanh", True, ("x",), "Hyperbolic tangent."),
    ("asinh", True, ("x",), "Inverse hyperbolic sine."),
    ("acosh", True, ("x",), "Inverse hyperbolic cosine; NaN below 1."),
    ("atanh", True, ("x",), "Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside."),
    ("cbrt", True, ("x",), "Cube root."),
    ("rsqrt", False, ("x",), "1 / sqrt(x), rounded once; infinite at 0, NaN below it."),
)


def _meaning(name: str) -> Callable[..., Any]:
    def meaning(type: Scalar, *values: Any) -> Any:
        return evaluate(compiled_name(name, type), type, values)

    return meaning


#: The functions of the language that `isogrid.mathlib` computes.
ELEMENTARY: Final[tuple[Builtin, ...]] = tuple(
    Builtin(
        name,
        (f"math.{name}" if of_math else f"isogrid.{name}",),
        parameters,
        tuple(Signature((type,) * len(parameters), type) for type in _FLOATS),
        _meaning(name),
        doc,
    )
    for name, of_math, parameters, doc in _ROWS
)

#: Every compiled function, by name: types of its parameters, type of its result.
COMPILED: Final[dict[str, tuple[tuple[Scalar, ...], Scalar]]] = {
    compiled_name(row.name, signature.result): (signature.parameters, signature.result)
    for row in ELEMENTARY
    for signature in row.signatures
}

_LATER: Final = (
    "degrees", "erf", "erfc", "gamma", "lgamma", "radians",
    "atan2", "fmod", "hypot", "pow", "remainder", "ldexp", "dist", "nextafter", "ulp",
)  # fmt: skip

#: Functions that the language does not compute: refused by name, never approximated. Spelling -> name as written.
NOT_YET: Final[dict[str, str]] = {f"math.{name}": f"math.{name}" for name in _LATER}

#: What an author can write instead today, where there is something exact.
INSTEAD: Final[dict[str, str]] = {
    "math.pow": "an integer power is `x ** n`; a float takes a literal exponent from 0 to 4",
    "math.fmod": "`a % b` is exact too, with the sign of b",
    "math.hypot": "`math.sqrt(x * x + y * y)`, which may overflow where hypot would not",
    "math.degrees": "multiply by the constant, `x * (180.0 / math.pi)`",
    "math.radians": "multiply by the constant, `x * (math.pi / 180.0)`",
}
