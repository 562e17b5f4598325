"""Functions of `math` and `ig` that the language does not compute yet: refused by name, never approximated."""

from typing import Final

_UNARY: Final = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "gamma",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "radians",
    "sin",
    "sinh",
    "tan",
    "tanh",
]
_BINARY: Final = ["atan2", "fmod", "hypot", "pow", "remainder", "ldexp", "dist", "nextafter", "ulp"]
_ISOGRID: Final = ["rsqrt", "exp10", "sinpi", "cospi"]

#: Qualified spelling -> the name as authors write it.
NOT_YET: Final[dict[str, str]] = {
    **{f"math.{name}": f"math.{name}" for name in (*_UNARY, *_BINARY)},
    **{f"isogrid.{name}": f"ig.{name}" for name in _ISOGRID},
}

#: What an author can write instead today, where there is something exact.
INSTEAD: Final[dict[str, str]] = {
    "math.pow": "an integer power is `x ** n`; a float takes a literal exponent from 0 to 4",
    "math.fmod": "`a % b` is exact too, with the sign of b",
    "math.hypot": "`math.sqrt(x * x + y * y)`, which may overflow where hypot would not",
    "isogrid.rsqrt": "`1.0 / math.sqrt(x)`, which rounds twice",
    "math.degrees": "multiply by the constant, `x * (180.0 / math.pi)`",
    "math.radians": "multiply by the constant, `x * (math.pi / 180.0)`",
}
