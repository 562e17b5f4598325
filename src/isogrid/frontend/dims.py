"""Dimensions and tunables as Python objects: `N // 4`, `(H, W)`, `ig.cdiv(N, 256)` outside a kernel build expressions.

Arithmetic is recorded as plain data (`DimExpression`) and becomes kernel IR in `frontend/geometry.py`, so that
`import isogrid` stays light.
"""

import operator
from typing import Any, ClassVar, Final, NoReturn, TypeAlias, cast

from isogrid.frontend.host_meaning import HOST_MEANING
from isogrid.support.errors import OutsideKernelError
from isogrid.support.shown import shown

#: What may stand beside a dimension in arithmetic: a Dim class, an expression, a tunable or a Python int.
Operand: TypeAlias = "type[Dim] | DimExpression | TunableValue | int"


class _Arithmetic:
    """Records `+ - * // %` and negation; the value comes at a launch."""

    __slots__ = ()

    def __index__(self) -> int:
        return _value(self)

    def __int__(self) -> int:
        return _value(self)

    def __lt__(self, other: Any) -> bool:
        return _value(self) < other

    def __le__(self, other: Any) -> bool:
        return _value(self) <= other

    def __gt__(self, other: Any) -> bool:
        return _value(self) > other

    def __ge__(self, other: Any) -> bool:
        return _value(self) >= other

    def __and__(self, other: Any) -> int:
        return _value(self) & other

    def __lshift__(self, other: Any) -> int:
        return _value(self) << other

    def __rlshift__(self, other: Any) -> int:
        return other << _value(self)

    def __rshift__(self, other: Any) -> int:
        return _value(self) >> other

    def __rrshift__(self, other: Any) -> int:
        return other >> _value(self)

    def __pow__(self, other: Any) -> int:
        return _value(self) ** other

    def __add__(self, other: Any) -> "DimExpression":
        return _operation("add", self, other)

    def __radd__(self, other: Any) -> "DimExpression":
        return _operation("add", other, self)

    def __sub__(self, other: Any) -> "DimExpression":
        return _operation("sub", self, other)

    def __rsub__(self, other: Any) -> "DimExpression":
        return _operation("sub", other, self)

    def __mul__(self, other: Any) -> "DimExpression":
        return _operation("mul", self, other)

    def __rmul__(self, other: Any) -> "DimExpression":
        return _operation("mul", other, self)

    def __floordiv__(self, other: Any) -> "DimExpression":
        return _operation("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> "DimExpression":
        return _operation("floordiv", other, self)

    def __mod__(self, other: Any) -> "DimExpression":
        return _operation("mod", self, other)

    def __rmod__(self, other: Any) -> "DimExpression":
        return _operation("mod", other, self)

    def __neg__(self) -> "DimExpression":
        return _operation("neg", self)


class DimExpression(_Arithmetic):
    """An operation on dimensions. `op` is a `Binary.op` of the kernel IR, or "neg" or "cdiv"."""

    __slots__ = ("op", "operands")

    def __init__(self, op: str, *operands: Operand) -> None:
        self.op: Final = op
        self.operands: Final = operands

    def __repr__(self) -> str:
        return dimension_text(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimExpression) and (self.op, self.operands) == (other.op, other.operands)

    def __hash__(self) -> int:
        return hash((self.op, self.operands))

    def __bool__(self) -> bool:
        _no_value(self)


class DimMeta(_Arithmetic, type):
    """Gives dimension classes their arithmetic. Equality is identity, since a dimension is a name and not a number, but
    where `f.python(...)` gives it a size."""

    def __repr__(cls) -> str:
        return cls.__name__

    def __eq__(cls, other: object) -> bool:
        if isinstance(other, int) and HOST_MEANING.get() is not None:
            return _value(cls) == other
        return cls is other

    __hash__ = type.__hash__


class Dim(metaclass=DimMeta):
    """A dimension: the size of one axis, bound by the arrays of a launch.

    `class Rows(ig.Dim)` makes one; `const=True` makes it a compile-time constant, specialised per value; `equals=R + 1`
    declares that it always has that size.
    """

    is_constant: ClassVar[bool] = False
    equals: ClassVar[Any] = None

    def __init_subclass__(cls, *, const: bool = False, equals: Any = None) -> None:
        if cls.__mro__[1] is not Dim:
            raise TypeError(
                f"dimension `{cls.__name__}` derives from `{cls.__mro__[1].__name__}`: derive it from ig.Dim"
            )
        if not isinstance(cast(object, const), bool):
            raise TypeError(f"`const` of dimension `{cls.__name__}` is True or False, not {const!r}")
        if equals is not None and not is_dimension_like(equals):
            raise TypeError(
                f"`equals` of dimension `{cls.__name__}` is an expression over dimensions, `R + 1`, not {equals!r}"
            )
        if const and equals is not None:
            raise TypeError(f"dimension `{cls.__name__}` is either const or derived with `equals`, not both")
        cls.is_constant = const
        cls.equals = equals

    def __new__(cls) -> NoReturn:
        raise TypeError(f"a dimension is used as a class: write `{cls.__name__}`, without parentheses")


class TunableValue(_Arithmetic):
    """A named constant whose first value is the default. Two tunables are the same only if they are one object."""

    __slots__ = ("name", "values")

    def __init__(self, values: tuple[int, ...]) -> None:
        self.values: Final = values
        self.name: str | None = None

    @property
    def default(self) -> int:
        """The value that is used unless options choose another."""
        return self.values[0]

    def __repr__(self) -> str:
        return self.name or f"tunable({', '.join(map(str, self.values))})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int) and HOST_MEANING.get() is not None:
            return _value(self) == other
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> Any:
        return _restored_tunable, (self.values, self.name)

    def __bool__(self) -> bool:
        _no_value(self)


def tunable(*values: int) -> TunableValue:
    """A named constant that `k.options(NAME=...)` may set to one of `values`; the first is the default."""
    if not values:
        raise TypeError("ig.tunable needs at least one value; the first is the default")
    for value in values:
        if type(value) is not int:
            raise TypeError(f"ig.tunable takes integers, not {value!r}")
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"ig.tunable takes integers of 64 bits, not {shown(value)}")
    if len(set(values)) != len(values):
        raise ValueError(f"ig.tunable got a value twice: {values}")
    return TunableValue(values)


def cdiv(a: Any, b: Any) -> Any:
    """`a / b` rounded up, for positive `b`; on dimensions an expression, on Python ints the number."""
    if is_dimension_like(a) or is_dimension_like(b) or HOST_MEANING.get() is not None:
        return _operation("cdiv", a, b)
    if type(a) is not int or type(b) is not int:
        raise TypeError(f"ig.cdiv divides integers and dimensions, not {shown(a)} by {shown(b)}")
    return (a + (b - 1)) // b


def is_dimension_like(value: object) -> bool:
    """A Dim class, an expression over dimensions or a tunable."""
    return isinstance(value, DimExpression | TunableValue | DimMeta) and value is not Dim


def tunable_name(value: TunableValue) -> str | None:
    """The name under which a kernel first reached this tunable, None before that."""
    return value.name


def dimension_text(value: object) -> str:
    """The expression as its author would write it, for messages."""
    match value:
        case DimExpression(op="neg", operands=(only,)):
            return f"-{_nested_text(only)}"
        case DimExpression(op="cdiv", operands=(left, right)):
            return f"cdiv({dimension_text(left)}, {dimension_text(right)})"
        case DimExpression(op=op, operands=(left, right)):
            return f"{_nested_text(left)} {_SYMBOLS[op]} {_nested_text(right)}"
        case DimMeta():
            return value.__name__
        case _:
            return shown(value)


def computed(op: str, *operands: Any) -> Any:
    """The operation on numbers."""
    match op, operands:
        case "neg", (only,):
            return -only
        case "cdiv", (left, right):
            return (left + (right - 1)) // right
        case _:
            return _OPERATIONS[op](*operands)


_OPERATIONS: Final[dict[str, Any]] = {
    name: getattr(operator, name) for name in ("add", "sub", "mul", "floordiv", "mod")
}
_SYMBOLS: Final = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%"}


def _nested_text(value: object) -> str:
    text = dimension_text(value)
    return f"({text})" if isinstance(value, DimExpression) and value.op != "cdiv" else text


def _operation(op: str, *operands: Any) -> Any:
    if HOST_MEANING.get() is not None:
        return computed(op, *(_value(o) if is_dimension_like(o) else o for o in operands))
    for operand in operands:
        if type(operand) is not int and not is_dimension_like(operand):
            raise TypeError(f"a dimension computes with dimensions and integers, not {operand!r}")
    return DimExpression(op, *operands)


def _restored_tunable(values: tuple[int, ...], name: str | None) -> TunableValue:
    restored = TunableValue(values)
    restored.name = name
    return restored


def _value(what: object) -> int:
    """The size, where `f.python(...)` gives it one."""
    meaning = HOST_MEANING.get()
    return _no_value(what) if meaning is None else meaning.size(what)


def _no_value(what: object) -> NoReturn:
    raise OutsideKernelError(f"`{dimension_text(what)}` has a value only inside a kernel and at a launch")
