"""The operators of the language by type: spec 1.4 as a table, with the reference meaning of every cell."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from isogrid.builtins import floats, integers
from isogrid.builtins.table import Operator, Signature
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar

SIGNED: Final = (Scalar.I32, Scalar.I64)
UNSIGNED: Final = (Scalar.U32, Scalar.U64)
MODULAR: Final = (Scalar.W32, Scalar.W64)
CHECKED: Final = SIGNED + UNSIGNED
INTEGERS: Final = CHECKED + MODULAR
FLOATS: Final = (Scalar.F32, Scalar.F64)
NUMBERS: Final = INTEGERS + FLOATS
BOOL: Final = (Scalar.BOOL,)

_OVERFLOW: Final = (TrapKind.OVERFLOW,)
_ZERO: Final = (TrapKind.ZERO_DIVISION,)
_VALUE: Final = (TrapKind.VALUE,)

_NO_BOOL: Final = {Scalar.BOOL: "a bool is no number; convert it, `int(b)`, or choose, `x if b else y`"}
_NO_DIVISION: Final = {
    type: f"integers have no `/`; write `//` for the floor, or convert both sides, `f32(a) / f32(b)`, for a {kind}"
    for type in INTEGERS
    for kind in ("fraction",)
}
_NO_FLOAT_BITS: Final = {
    Scalar.F32: "a float has no bits to combine; `ig.bitcast(w32, x)` gives them",
    Scalar.F64: "a float has no bits to combine; `ig.bitcast(w64, x)` gives them",
}


def _by_kind(integer: Callable[..., Any], float_: Callable[..., Any]) -> Callable[..., Any]:
    """One meaning out of the two for integers and floats."""

    def meaning(type: Scalar, *values: Any) -> Any:
        return float_(type, *values) if type.is_float else integer(type, *values)

    meaning.__name__ = integer.__name__
    return meaning


def _same(count: int, *groups: tuple[Scalar, ...]) -> tuple[Signature, ...]:
    """Signatures whose operands and result have one type."""
    return tuple(Signature((type,) * count, type) for group in groups for type in group)


def _any_integer_right(*lefts: Scalar) -> tuple[Signature, ...]:
    """Signatures of shifts and integer powers: the right operand may be any integer."""
    return tuple(Signature((left, right), left) for left in lefts for right in INTEGERS)


def _traps(*groups: tuple[tuple[Scalar, ...], tuple[TrapKind, ...]]) -> Mapping[Scalar, tuple[TrapKind, ...]]:
    return {type: kinds for types, kinds in groups for type in types}


def _compare(test: Callable[[Any, Any], Any]) -> Callable[..., bool]:
    def meaning(type: Scalar, a: Any, b: Any) -> bool:
        return bool(test(a, b))

    return meaning


def _comparison(name: str, symbol: str, test: Callable[[Any, Any], Any], types: tuple[Scalar, ...]) -> Operator:
    signatures = tuple(Signature((type, type), Scalar.BOOL) for type in types)
    refusals = {} if Scalar.BOOL in types else {Scalar.BOOL: "bools have no order; compare them with `==` or `!=`"}
    doc = "By value; a NaN is unordered and unequal to everything, -0 equals +0."
    return Operator(name, symbol, "compare", signatures, _compare(test), doc, refusals=refusals)


def _add(type: Scalar, a: Any, b: Any) -> Any:
    return a + b


def _sub(type: Scalar, a: Any, b: Any) -> Any:
    return a - b


def _mul(type: Scalar, a: Any, b: Any) -> Any:
    return a * b


def _div(type: Scalar, a: Any, b: Any) -> Any:
    return a / b


def _and(type: Scalar, a: Any, b: Any) -> Any:
    return a & b


def _or(type: Scalar, a: Any, b: Any) -> Any:
    return a | b


def _xor(type: Scalar, a: Any, b: Any) -> Any:
    return a ^ b


def _min(type: Scalar, a: Any, b: Any) -> Any:
    return min(a, b)


def _max(type: Scalar, a: Any, b: Any) -> Any:
    return max(a, b)


def _not(type: Scalar, a: Any) -> Any:
    return not a


_ARITHMETIC_DOC: Final = "Integers exact, a trap where the result does not fit; w-types modulo 2^n; floats IEEE."

_ROWS: Final = (
    Operator(
        "add", "+", "binary", _same(2, NUMBERS), _by_kind(integers.add, _add), _ARITHMETIC_DOC,
        _traps((CHECKED, _OVERFLOW)), _NO_BOOL,
    ),
    Operator(
        "sub", "-", "binary", _same(2, NUMBERS), _by_kind(integers.sub, _sub), _ARITHMETIC_DOC,
        _traps((CHECKED, _OVERFLOW)), _NO_BOOL,
    ),
    Operator(
        "mul", "*", "binary", _same(2, NUMBERS), _by_kind(integers.mul, _mul), _ARITHMETIC_DOC,
        _traps((CHECKED, _OVERFLOW)), _NO_BOOL,
    ),
    Operator(
        "div", "/", "binary", _same(2, FLOATS), _div, "IEEE division of floats; integers are refused.",
        refusals=_NO_DIVISION | _NO_BOOL,
    ),
    Operator(
        "floordiv", "//", "binary", _same(2, NUMBERS), _by_kind(integers.floordiv, floats.floordiv),
        "Rounded down. Integers trap at a divisor of 0 and at MIN // -1; floats as CPython, a / b for b = 0.",
        _traps((SIGNED, _ZERO + _OVERFLOW), (UNSIGNED + MODULAR, _ZERO)), _NO_BOOL,
    ),
    Operator(
        "mod", "%", "binary", _same(2, NUMBERS), _by_kind(integers.mod, floats.mod),
        "The remainder with the divisor's sign; integers trap at a divisor of 0, floats give NaN.",
        _traps((INTEGERS, _ZERO)), _NO_BOOL,
    ),
    Operator(
        "pow", "**", "binary", _any_integer_right(*INTEGERS) + _same(2, FLOATS),
        _by_kind(integers.power, floats.power),
        "Integers exact, a trap for a negative exponent; floats multiply from left to right for a literal exponent of "
        "0 to 4, and take `math.pow` for any other.",
        _traps((CHECKED, _VALUE + _OVERFLOW), (MODULAR, _VALUE)), _NO_BOOL,
    ),
    Operator(
        "shl", "<<", "binary", _any_integer_right(*INTEGERS), integers.shl,
        "x * 2^k, a trap where it does not fit (w-types drop bits) and for k outside 0..bits-1.",
        _traps((CHECKED, _VALUE + _OVERFLOW), (MODULAR, _VALUE)), _NO_BOOL | _NO_FLOAT_BITS,
    ),
    Operator(
        "shr", ">>", "binary", _any_integer_right(*INTEGERS), integers.shr,
        "The floor of x / 2^k; a trap for k outside 0..bits-1.",
        _traps((INTEGERS, _VALUE)), _NO_BOOL | _NO_FLOAT_BITS,
    ),
    Operator(
        "and", "&", "binary", _same(2, INTEGERS, BOOL), _and, "Two's complement bits; logical on bools.",
        refusals=_NO_FLOAT_BITS,
    ),
    Operator(
        "or", "|", "binary", _same(2, INTEGERS, BOOL), _or, "Two's complement bits; logical on bools.",
        refusals=_NO_FLOAT_BITS,
    ),
    Operator(
        "xor", "^", "binary", _same(2, INTEGERS, BOOL), _xor, "Two's complement bits; logical on bools.",
        refusals=_NO_FLOAT_BITS,
    ),
    Operator(
        "min", "min", "binary", _same(2, NUMBERS), _by_kind(_min, floats.minimum),
        "The smaller; a NaN propagates, -0 is below +0.", refusals=_NO_BOOL,
    ),
    Operator(
        "max", "max", "binary", _same(2, NUMBERS), _by_kind(_max, floats.maximum),
        "The larger; a NaN propagates, -0 is below +0.", refusals=_NO_BOOL,
    ),
    Operator(
        "neg", "-x", "unary", _same(1, NUMBERS), _by_kind(integers.neg, floats.negate),
        "Integers trap where it does not fit (MIN; unsigned unless 0); floats flip the sign.",
        _traps((CHECKED, _OVERFLOW)), _NO_BOOL,
    ),
    Operator(
        "abs", "abs", "unary", _same(1, NUMBERS), _by_kind(integers.absolute, floats.absolute),
        "Signed integers trap at MIN; w-types and unsigned give x; floats clear the sign.",
        _traps((SIGNED, _OVERFLOW)), _NO_BOOL,
    ),
    Operator(
        "invert", "~", "unary", _same(1, INTEGERS), integers.invert, "The complement of the bits.",
        refusals={Scalar.BOOL: "`~` of a bool is refused; write `not b`"} | _NO_FLOAT_BITS,
    ),
    Operator("not", "not", "unary", _same(1, BOOL), _not, "Logical complement of a bool."),
    _comparison("eq", "==", lambda a, b: a == b, NUMBERS + BOOL),
    _comparison("ne", "!=", lambda a, b: a != b, NUMBERS + BOOL),
    _comparison("lt", "<", lambda a, b: a < b, NUMBERS),
    _comparison("le", "<=", lambda a, b: a <= b, NUMBERS),
    _comparison("gt", ">", lambda a, b: a > b, NUMBERS),
    _comparison("ge", ">=", lambda a, b: a >= b, NUMBERS),
)  # fmt: skip

#: Every operator by its kernel-IR name.
OPERATORS: Final[Mapping[str, Operator]] = {row.name: row for row in _ROWS}


def can_trap(op: str, type: Scalar) -> bool:
    """Whether the operator of this IR name may trap on a first operand of this type: the `checked` flag to set."""
    return OPERATORS[op].can_trap(type)
