"""Values of the language as Python numbers, for plain Python code: `i64` is `int`, `f32` is `numpy.float32`, and the
other integer types are `int` with a type that arithmetic keeps.

    w32(0xFFFFFFFF) + 2    ->    w32(1)
"""

from collections.abc import Callable
from typing import Any, ClassVar, Final, cast

import numpy as np

from isogrid.builtins import floats, integers
from isogrid.ir.types import Scalar


class TypedInt(int):
    """An integer of a type other than `i64`. Results that a checked type does not hold are plain, exact integers."""

    scalar: ClassVar[Scalar] = Scalar.I64

    def __repr__(self) -> str:
        return int.__repr__(self)

    def __invert__(self) -> Any:
        if self.scalar.is_signed:
            return settled(self.scalar, ~int(self))
        return settled(self.scalar, int(self) ^ self.scalar.maximum)

    def __neg__(self) -> Any:
        return settled(self.scalar, -int(self))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return settled(self.scalar, abs(int(self)))

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if self.scalar.is_modular and modulus is None and isinstance(other, int) and other >= 0:
            return settled(self.scalar, pow(int(self), int(other), 1 << self.scalar.bits))
        return settled(self.scalar, int.__pow__(self, other, modulus))


def settled(type: Scalar, value: Any) -> Any:
    """The result of an operation on numbers of the type: wrapped, or exact."""
    if not isinstance(value, int):
        return value  # NotImplemented, and quotients
    if type.is_modular:
        return CLASSES[type](integers.wrap(type, value))
    return CLASSES[type](value) if type.holds(value) else int(value)


def _kept(name: str) -> Callable[[TypedInt, Any], Any]:
    compute = getattr(int, name)

    def method(self: TypedInt, other: Any) -> Any:
        return settled(self.scalar, compute(self, other))

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(TypedInt, _method, _kept(_method))

#: The class of each such type.
CLASSES: Final[dict[Scalar, type[TypedInt]]] = {
    scalar: type(scalar.value, (TypedInt,), {"scalar": scalar})
    for scalar in (Scalar.I32, Scalar.U32, Scalar.U64, Scalar.W32, Scalar.W64)
}


def host_number(type: Scalar, value: Any) -> Any:
    """A value of a type, or an element as stored, as plain code computes with it."""
    computing = type.computing
    if computing is Scalar.BOOL:
        return bool(value)
    if computing.is_float:
        return floats.number(computing, value)
    return int(value) if computing is Scalar.I64 else CLASSES[computing](value)


def type_of(value: Any) -> Scalar | None:
    """The type that a number carries; None for plain ints and floats, which take part as literals do."""
    if isinstance(value, bool | np.bool_):
        return Scalar.BOOL
    if isinstance(value, TypedInt):
        return value.scalar
    if isinstance(value, np.floating):
        return Scalar.F32 if value.itemsize == 4 else Scalar.F64
    return None


def python_number(value: Any) -> Any:
    """A result as calls give it: Python's own numbers, f32 as the float that equals it."""
    if isinstance(value, tuple):
        return tuple(map(python_number, cast(tuple[Any, ...], value)))
    if isinstance(value, np.generic):
        return cast(Any, value).item()
    return int(value) if isinstance(value, TypedInt) else value
