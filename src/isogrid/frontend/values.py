"""What an expression of a kernel body is while it is built: typed IR, or something known at compile time."""

from dataclasses import replace
from typing import Any, Final, TypeAlias

from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.types import Access, Scalar, Space
from isogrid.support.records import dataclass

#: A Python number before it has a type: it takes the type of what it meets.
Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True)
class Typed:
    """A run-time value. `pending` marks one whose type is still a guess (see `inference.py`)."""

    expression: k.Expr
    pending: bool = False

    @property
    def type(self) -> Scalar:
        return self.expression.type


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or bool that Python computed. `settled` conditions (tests on None and dtypes) choose code."""

    value: Number
    settled: bool = False


@dataclass(frozen=True, slots=True)
class LiteralChoice:
    """`1 if c else 0`: a run-time choice between literals, which takes a type like a literal."""

    condition: k.Expr
    then: "Untyped"
    otherwise: "Untyped"


Untyped: TypeAlias = Literal | LiteralChoice


@dataclass(frozen=True, slots=True)
class Narrowed:
    """`u8(x)`: a conversion to a type that only elements have; it may stand only where it is stored."""

    expression: k.Cast


@dataclass(frozen=True, slots=True)
class TupleValue:
    items: tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """An array of the kernel, or a row of one where `leading` fixes its first indices. `shape` is the whole array's."""

    name: str
    element: Scalar
    shape: tuple[k.Expr, ...]
    space: Space
    access: Access
    leading: tuple[k.Expr, ...] = ()

    @property
    def rank(self) -> int:
        """Number of indices still missing."""
        return len(self.shape) - len(self.leading)

    @property
    def extents(self) -> tuple[k.Expr, ...]:
        """Extents of the axes still to be indexed."""
        return self.shape[len(self.leading) :]


@dataclass(frozen=True, slots=True)
class Place:
    """One element of an array, its indices evaluated."""

    array: ArrayValue
    indices: tuple[k.Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class DtypeValue:
    """A dtype as a value: `f32`, `x.dtype`, a type variable."""

    scalar: Scalar


@dataclass(frozen=True, slots=True)
class LimitsValue:
    """`ig.limits(i32)`."""

    scalar: Scalar


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function of the language, of `math` or of Python, by qualified name."""

    spelling: str


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """Any other Python object that a name reached: a module, a helper, or something without a meaning here."""

    object: Any


@dataclass(frozen=True, slots=True)
class StringValue:
    text: str


@dataclass(frozen=True, slots=True)
class NothingValue:
    """None: an absent parameter, or the result of a call that returns nothing (`of` then names the call)."""

    of: str = ""


@dataclass(frozen=True, slots=True)
class Poison:
    """Stands for what was refused already, so that no second report follows from it."""


Value: TypeAlias = (
    Typed
    | Literal
    | LiteralChoice
    | Narrowed
    | TupleValue
    | ArrayValue
    | DtypeValue
    | LimitsValue
    | FunctionValue
    | ObjectValue
    | StringValue
    | NothingValue
    | Poison
)

POISON = Poison()


def is_atom(expression: k.Expr) -> bool:
    """Whether evaluating it later, or twice, changes nothing: no load, no trap, no work."""
    return isinstance(expression, k.Const | k.Local | k.ScalarValue | k.DimValue | k.Query)


def is_fixed(expression: k.Expr) -> bool:
    """An atom that no assignment of the author can change."""
    return isinstance(expression, k.Const | k.ScalarValue | k.DimValue | k.Query)


#: Nodes of an expression that is cheaper to write twice than to name.
SMALL: Final = 9


def is_repeatable(expression: k.Expr) -> bool:
    """Whether the expression may be written twice: small, and made of values that no other thread can change."""
    return 0 < _size(expression) <= SMALL


def proved(expression: k.Expr) -> k.Expr:
    """The expression where it was evaluated before, and so cannot trap."""
    match expression:
        case k.Unary():
            return replace(expression, operand=proved(expression.operand), checked=False)
        case k.Binary():
            return replace(expression, left=proved(expression.left), right=proved(expression.right), checked=False)
        case k.Cast():
            return replace(expression, value=proved(expression.value), checked=False)
        case _:
            return expression


def _size(expression: k.Expr) -> int:
    """Number of nodes; far too many where a part may not be repeated."""
    match expression:
        case k.Const() | k.Local() | k.ScalarValue() | k.DimValue() | k.Query():
            return 1
        case k.Unary(operand=inner) | k.Cast(value=inner):
            return 1 + _size(inner)
        case k.Binary(left=left, right=right):
            return 1 + _size(left) + _size(right)
        case _:
            return SMALL + 1


def article(words: str) -> str:
    """The words with `a` or `an`, as they are spoken: an i32, an f32, a u8, an array."""
    bare = words.lstrip("`")
    if bare == "None":
        return words
    vowel = bare[0] in "aeio" or (bare[0] == "f" and bare[1:2].isdigit())
    return f"{'an' if vowel else 'a'} {words}"


def describe(value: Value) -> str:
    """What a value is, in the words of a report."""
    match value:
        case Typed():
            return f"`{value.type.value}` value"
        case Literal():
            return f"literal `{value.value}`"
        case LiteralChoice():
            return "choice of literals"
        case Narrowed():
            return f"`{value.expression.type.value}` element value"
        case TupleValue():
            return "tuple"
        case ArrayValue():
            return "row of an array" if value.leading else "array"
        case DtypeValue():
            return "dtype"
        case LimitsValue():
            return "pair of limits"
        case FunctionValue():
            return f"function `{value.spelling.removeprefix('builtins.')}`"
        case ObjectValue():
            return f"Python {type(value.object).__name__}"
        case StringValue():
            return "string"
        case NothingValue():
            return "None"
        case Poison():
            return "refused value"
