"""The functions of the language: `math`'s and Python's names with isogrid's meaning, and what `ig` adds to them."""

import math
from collections.abc import Callable
from typing import Any, Final

from isogrid.builtins import floats, integers
from isogrid.builtins.operators import FLOATS, INTEGERS, NUMBERS, OPERATORS
from isogrid.builtins.table import Builtin, Signature
from isogrid.ir.types import Scalar


def _isnan(type: Scalar, x: Any) -> bool:
    return bool(x != x)


def _isinf(type: Scalar, x: Any) -> bool:
    return math.isinf(x)


def _isfinite(type: Scalar, x: Any) -> bool:
    return math.isfinite(x)


def _signbit(type: Scalar, x: Any) -> bool:
    return floats.is_negative(x)


def _select(type: Scalar, condition: bool, then: Any, otherwise: Any) -> Any:
    return then if condition else otherwise


def _clamp(type: Scalar, x: Any, low: Any, high: Any) -> Any:
    """min(max(x, low), high): `high` wins where the bounds cross."""
    return OPERATORS["min"].meaning(type, OPERATORS["max"].meaning(type, x, low), high)


def _bitcast(type: Scalar, x: Any) -> Any:
    """The bits of x, a NaN's being canonical, as another type of the same width."""
    if isinstance(x, int):
        bits = integers.unsigned(type, x)
    else:
        bits = floats.to_bits(Scalar.F32 if type.bits == 32 else Scalar.F64, x)
    return floats.from_bits(type, bits) if type.is_float else integers.wrap(type, bits)


def _saturate(target: Scalar) -> Callable[..., int]:
    """Clamp to `target`, then truncate; NaN gives 0."""

    def meaning(type: Scalar, x: Any) -> int:
        if x != x:
            return 0
        x = x if isinstance(x, int) else float(x)  # Python compares a float with an int exactly
        if x >= target.maximum:
            return target.maximum
        if x <= target.minimum:
            return target.minimum
        return int(x)

    return meaning


def _popcount_like(function: Callable[[Scalar, int], int], width: int) -> Callable[..., int]:
    """Counts give an i32 whatever the width of the operand, so the row fixes the width."""
    operand = Scalar.U32 if width == 32 else Scalar.U64

    def meaning(type: Scalar, x: int) -> int:
        return function(operand, x)

    return meaning


def _same(count: int, types: tuple[Scalar, ...]) -> tuple[Signature, ...]:
    return tuple(Signature((type,) * count, type) for type in types)


def _tests(types: tuple[Scalar, ...]) -> tuple[Signature, ...]:
    return tuple(Signature((type,), Scalar.BOOL) for type in types)


def _counts(name: str, function: Callable[[Scalar, int], int], doc: str) -> tuple[Builtin, ...]:
    return tuple(
        Builtin(
            f"{name}{width}",
            (f"isogrid.{name}",),
            ("x",),
            tuple(Signature((type,), Scalar.I32) for type in INTEGERS if type.bits == width),
            _popcount_like(function, width),
            doc,
        )
        for width in (32, 64)
    )


_BITCASTS: Final = tuple(
    Signature((source,), target) for source in NUMBERS for target in NUMBERS if source.bits == target.bits
)
#: The dtypes that `ig.saturate` accepts.
SATURATE_TARGETS: Final = (
    Scalar.I8, Scalar.I16, Scalar.I32, Scalar.I64, Scalar.U8, Scalar.U16, Scalar.U32, Scalar.U64,
)  # fmt: skip
_ROTATES: Final = tuple(Signature((type, amount), type) for type in INTEGERS for amount in INTEGERS)
_SELECTS: Final = tuple(Signature((Scalar.BOOL, type, type), type) for type in (*NUMBERS, Scalar.BOOL))

FUNCTIONS: Final[tuple[Builtin, ...]] = (
    Builtin("sqrt", ("math.sqrt",), ("x",), _same(1, FLOATS), floats.sqrt,
            "Square root, correctly rounded; NaN below zero, -0 stays."),
    Builtin("fma", ("isogrid.fma", "math.fma"), ("a", "b", "c"), _same(3, FLOATS), floats.fma,
            "a * b + c, rounded once."),
    Builtin("fmod", ("math.fmod",), ("x", "y"), _same(2, FLOATS), floats.fmod,
            "x - n * y with n = x / y truncated, exact, with the sign of x; NaN for y = 0."),
    Builtin("floor", ("math.floor",), ("x",), _same(1, FLOATS), floats.floor,
            "Largest integral value not above x, in x's type."),
    Builtin("ceil", ("math.ceil",), ("x",), _same(1, FLOATS), floats.ceil,
            "Smallest integral value not below x, in x's type."),
    Builtin("trunc", ("math.trunc",), ("x",), _same(1, FLOATS), floats.trunc,
            "x without its fraction, in x's type."),
    Builtin("round", ("builtins.round",), ("x",), _same(1, FLOATS), floats.round_even,
            "Nearest integral value in x's type, halves to even."),
    Builtin("copysign", ("math.copysign",), ("x", "y"), _same(2, FLOATS), floats.copysign,
            "The magnitude of x with the sign of y; a NaN's sign is plus."),
    Builtin("signbit", ("isogrid.signbit",), ("x",), _tests(FLOATS), _signbit,
            "Whether the sign bit is set; False for NaN."),
    Builtin("isnan", ("math.isnan",), ("x",), _tests(FLOATS), _isnan, "Whether x is a NaN."),
    Builtin("isinf", ("math.isinf",), ("x",), _tests(FLOATS), _isinf, "Whether x is an infinity."),
    Builtin("isfinite", ("math.isfinite",), ("x",), _tests(FLOATS), _isfinite,
            "Whether x is neither an infinity nor a NaN."),
    Builtin("select", ("isogrid.select",), ("condition", "then", "otherwise"), _SELECTS, _select,
            "`then` where the condition holds, else `otherwise`; both are evaluated."),
    Builtin("clamp", ("isogrid.clamp",), ("x", "low", "high"), _same(3, NUMBERS), _clamp,
            "min(max(x, low), high)."),
    Builtin("bitcast", ("isogrid.bitcast",), ("x",), _BITCASTS, _bitcast,
            "The bits of x as another type of the same width; a NaN's bits are the canonical quiet NaN's.",
            type_argument=True),
    *(
        Builtin(f"saturate_{target.value}", ("isogrid.saturate",), ("x",),
                tuple(Signature((source,), target.computing) for source in NUMBERS), _saturate(target),
                f"x clamped to {target.value}, then truncated; NaN gives 0.", type_argument=True, target=target)
        for target in SATURATE_TARGETS
    ),
    *_counts("popcount", integers.popcount, "Number of one bits (of the two's complement), as i32."),
    *_counts("clz", integers.clz, "Number of leading zero bits, as i32; the width for 0."),
    *_counts("ctz", integers.ctz, "Number of trailing zero bits, as i32; the width for 0."),
    Builtin("mulhi", ("isogrid.mulhi",), ("a", "b"), _same(2, INTEGERS), integers.mulhi,
            "Upper half of the exact double-width product."),
    Builtin("rotate", ("isogrid.rotate",), ("x", "amount"), _ROTATES, integers.rotate,
            "Bits rotated left by the amount modulo the width; a negative amount rotates right."),
)  # fmt: skip

#: Spellings that mean an operator, and how many operands they take ("min" and "max" fold from left to right).
OPERATOR_SPELLINGS: Final[dict[str, tuple[str, int]]] = {
    "builtins.abs": ("abs", 1),
    "math.fabs": ("abs", 1),
    "builtins.min": ("min", 2),
    "builtins.max": ("max", 2),
    "builtins.pow": ("pow", 2),
}
