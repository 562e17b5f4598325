"""How each elementary function is computed, in a line, and the bound on the error of its pair build: for the page."""

from typing import Final

#: Function -> method, and the binary exponent of the relative error of its pair of f64 before the last rounding.
METHODS: Final[dict[str, tuple[str, int]]] = {
    **dict.fromkeys(("exp", "exp2", "exp10", "expm1"), ("k ln 2 + r, series of r", -78)),
    **dict.fromkeys(("sinh", "cosh", "tanh"), ("from e^x - 1, one quotient", -76)),
    **dict.fromkeys(("log", "log2", "log10", "log1p"), ("k ln 2 + log m, series of (m - 1)/(m + 1)", -78)),
    **dict.fromkeys(("asinh", "acosh", "atanh"), ("log1p of a pair", -76)),
    **dict.fromkeys(("sin", "cos", "tan"), ("exact reduction (Payne and Hanek from 2^20 on), series", -73)),
    **dict.fromkeys(("sinpi", "cospi"), ("exact fraction, series", -76)),
    **dict.fromkeys(("asin", "acos", "atan", "atan2"), ("angle of a point, table of atan(j/8), series", -78)),
    **dict.fromkeys(("cbrt", "rsqrt", "hypot"), ("approximation and exact residual", -98)),
    **dict.fromkeys(("erf", "erfc"), ("series below 0.85, e^(-x^2) times a polynomial above", -70)),
    "tgamma": ("Stirling at x + n >= 16, product, reflection", -66),
    "lgamma": ("Stirling, series at 1 and 2, reflection", -66),
    "pow": ("e^(y log x)", -68),
}

#: Function -> method of its tail build, where there is one.
TAILS: Final[dict[str, str]] = {
    **dict.fromkeys(("exp", "exp2", "exp10", "expm1"), "2^(j/16) e^r"),
    **dict.fromkeys(("sinh", "cosh"), "the angle n ln 2 / 16, and r more"),
    **dict.fromkeys(("log", "log2", "log10"), "1/m from 32 entries"),
    **dict.fromkeys(("sin", "cos"), "n pi/32, and r more"),
    "tan": "n pi/64, and r more, one quotient",
    **dict.fromkeys(("log1p", "atanh"), "1 + x as a sum, 1/m from 32 entries"),
    "acosh": "log of a sum of two",
    **dict.fromkeys(("tanh", "atan", "asinh", "erf"), "polynomials around 32 centres"),
    **dict.fromkeys(("asin", "acos"), "asin up to 1/2 around 32 centres, a root above"),
    "cbrt": "two steps, exact residual",
}

#: Function -> method of its build in sums of two and three f32, for devices without f64 or a fused multiply-add, and
#: the binary exponent of the relative error before the last rounding.
PAIRS: Final[dict[str, tuple[str, int]]] = {
    **dict.fromkeys(("exp", "exp2"), ("2^(j/64) e^r", -58)),
    "tanh": ("from e^2x - 1, one quotient", -51),
    **dict.fromkeys(("log", "log2"), ("1/m from 128 entries", -57)),
    **dict.fromkeys(("sin", "cos"), ("n pi/64, reduced in integers, and r more", -56)),
    "rsqrt": ("1 / sqrt(x) and exact residual", -68),
}
