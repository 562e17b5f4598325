"""Elementary functions: their spellings, types and meaning. `isogrid.mathlib` holds how each is computed.

The meaning is the compiled function itself, run in Python: `builtins/evaluated.py`. An f32 result is the correctly
rounded one, so any other method gives the same bits; an f64 result is what that one algorithm gives, within 1 ulp.
"""

from collections.abc import Callable
from typing import Any, Final

from isogrid.builtins import integers
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
    ("erf", True, ("x",), "Error function."),
    ("erfc", True, ("x",), "1 minus the error function, also where that is tiny."),
    ("lgamma", True, ("x",), "Logarithm of the magnitude of the gamma function; infinite at its poles."),
    ("tgamma", True, ("x",), "Gamma function, `math.gamma`; infinite at 0, NaN at negative integers."),
    ("pow", True, ("x", "y"), "x to the power y, with the special values of C."),
    ("atan2", True, ("y", "x"), "Angle of the point (x, y) in radians, from -pi to pi."),
    ("hypot", True, ("x", "y"), "sqrt(x * x + y * y) without overflow on the way."),
    ("remainder", True, ("x", "y"), "x - n * y with n the integer nearest to x / y, exact; NaN for y = 0."),
    ("nextafter", True, ("x", "y"), "The float next to x in the direction of y."),
    ("round_away", False, ("x",), "Nearest integral value in x's type, halves away from zero."),
)


#: Names that `math` has under another one.
_OF_MATH: Final = {"tgamma": "gamma"}


def compiled_of(row: str, operand: Scalar) -> str:
    """The compiled function that a row stands for, by the type of the first operand."""
    return compiled_name(row.removesuffix(f"_{operand.value}"), operand)


def _meaning(name: str) -> Callable[..., Any]:
    def meaning(type: Scalar, *values: Any) -> Any:
        return evaluate(compiled_name(name, type), type, values)

    return meaning


def _exponent_meaning(operand: Scalar) -> Callable[..., Any]:
    """The result is an i32 for both operand types, so the row fixes the operand."""

    def meaning(type: Scalar, x: Any) -> int:
        return integers.wrap(type, evaluate(compiled_name("frexp_exponent", operand), type, (x,)))

    return meaning


_SAME: Final[tuple[Builtin, ...]] = tuple(
    Builtin(
        name,
        (f"math.{_OF_MATH.get(name, name)}" if of_math else f"isogrid.{name}",),
        parameters,
        tuple(Signature((type,) * len(parameters), type) for type in _FLOATS),
        _meaning(name),
        doc,
    )
    for name, of_math, parameters, doc in _ROWS
)

#: Functions with an integer operand or result.
_MIXED: Final = (
    Builtin(
        "ldexp", ("math.ldexp",), ("x", "i"),
        tuple(Signature((type, index), type) for type in _FLOATS for index in (Scalar.I64, Scalar.I32)),
        _meaning("ldexp"), "x times 2 to the power i, rounded once.",
    ),
    Builtin(
        "frexp_mantissa", ("isogrid.frexp_mantissa",), ("x",), tuple(Signature((type,), type) for type in _FLOATS),
        _meaning("frexp_mantissa"), "m of x = m * 2**e with 1/2 <= abs(m) < 1; x itself for 0, infinities, NaN.",
    ),
    *(
        Builtin(
            f"frexp_exponent_{type.value}", ("isogrid.frexp_exponent",), ("x",), (Signature((type,), Scalar.I32),),
            _exponent_meaning(type), "e of x = m * 2**e with 1/2 <= abs(m) < 1; 0 for 0, infinities, NaN.",
        )
        for type in _FLOATS
    ),
)  # fmt: skip

#: The functions of the language that `isogrid.mathlib` computes.
ELEMENTARY: Final[tuple[Builtin, ...]] = (*_SAME, *_MIXED)

#: Every compiled function, by name: types of its parameters, type of its result.
COMPILED: Final[dict[str, tuple[tuple[Scalar, ...], Scalar]]] = {
    compiled_of(row.name, signature.parameters[0]): (signature.parameters, signature.result)
    for row in ELEMENTARY
    for signature in row.signatures
    if Scalar.I32 not in signature.parameters
}


def _of_f32(names: str) -> tuple[str, ...]:
    return tuple(compiled_name(name, Scalar.F32) for name in names.split())


#: Builds of functions beside the usual one, by the name that a target asks for; each gives the same bits. "gpu" is for
#: processors with many f64 units and no permutations of registers, "eight" for those whose registers have eight f32,
#: "pairs" for those without f64 or without a fused multiply-add: it uses neither.
BUILDS: Final[dict[str, tuple[str, ...]]] = {
    "gpu": _of_f32(
        "exp exp2 exp10 expm1 sinh cosh tanh log log2 log10 log1p sin cos tan sinpi cospi asin acos atan asinh acosh "
        "atanh cbrt rsqrt erf erfc"
    ),
    "eight": _of_f32("sin cos"),
    "pairs": _of_f32("exp exp2 log log2 sin cos tanh rsqrt"),
}

#: The builds that correct every inverse 1 / x outside their slow paths.
CORRECTING: Final = frozenset({"gpu"})

_LATER: Final = ("degrees", "radians", "dist", "ulp")

#: Functions that the language does not compute: refused by name, never approximated. Spelling -> name as written.
NOT_YET: Final[dict[str, str]] = {f"math.{name}": f"math.{name}" for name in _LATER}

#: What an author can write instead today, where there is something exact.
INSTEAD: Final[dict[str, str]] = {
    "math.degrees": "multiply by the constant, `x * (180.0 / math.pi)`",
    "math.radians": "multiply by the constant, `x * (math.pi / 180.0)`",
}
