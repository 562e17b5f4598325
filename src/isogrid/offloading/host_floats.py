"""Arithmetic of a few scalars in plain Python numbers, with the bits of the builtin tables.

An f32 result is the f64 result of its f32 operands rounded once more: for `+ - * /` of two f32 that is the correctly
rounded f32, because f64 has more than twice the bits. `compile_scalar` gives None for anything else.
"""

import ctypes
import operator
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar

#: A value from the scalars known by name, as plain Python numbers. May raise ZeroDivisionError or OverflowError, where
#: the tables have to say what happens.
Host: TypeAlias = Callable[[Mapping[str, Any]], Any]

_LARGEST: Final = 1 << 53


def compile_scalar(node: k.Expr) -> Host | None:
    """The expression as a function of named scalars."""
    match node:
        case k.Const(value=value, type=Scalar.F32):
            number: Any = struct.unpack("<f", struct.pack("<I", value))[0]
            return lambda values: number
        case k.Const(value=value, type=Scalar.F64):
            number = struct.unpack("<d", struct.pack("<Q", value))[0]
            return lambda values: number
        case k.ScalarValue(name=name) | k.DimValue(name=name):
            return lambda values: values[name]
        case k.Binary(op=op, left=left, right=right, type=type) if type.is_float:
            first, second = compile_scalar(left), compile_scalar(right)
            return None if first is None or second is None else _operation(op, first, second, type)
        case k.Unary(op="neg", operand=operand, type=type) if type.is_float:
            inner = compile_scalar(operand)
            return None if inner is None else lambda values: -inner(values)
        case k.Cast(value=value, type=type) if type.is_float and value.type.is_checked:
            inner = compile_scalar(value)
            return None if inner is None else lambda values: rounded(type, _exact(inner(values)))
        case _:
            return None


def rounded(type: Scalar, value: float) -> float:
    """The nearest value of the type."""
    return ctypes.c_float(value).value if type is Scalar.F32 else value


def _exact(value: int) -> float:
    if abs(value) > _LARGEST:
        raise OverflowError
    return float(value)


def _operation(op: str, first: Host, second: Host, type: Scalar) -> Host | None:
    single = type is Scalar.F32
    match op:
        case "add":
            if single:
                return lambda values: ctypes.c_float(first(values) + second(values)).value
            return lambda values: first(values) + second(values)
        case "sub":
            return lambda values: rounded(type, first(values) - second(values))
        case "mul":
            if single:
                return lambda values: ctypes.c_float(first(values) * second(values)).value
            return lambda values: first(values) * second(values)
        case "div":
            return lambda values: rounded(type, first(values) / second(values))
        case _:
            return None


_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_WHOLE: Final = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "and": "&", "or": "|", "xor": "^"}


def scalar_source(node: k.Expr, names: Mapping[str, str]) -> str | None:
    """The expression as Python source in which a scalar is called as `names` says: quicker than `compile_scalar` where
    it is evaluated at every call, and it knows integers too. It needs `GLOBALS`."""
    match node:
        case k.Const(value=value, type=Scalar.F32):
            return f"({struct.unpack('<f', struct.pack('<I', value))[0]!r})" if _is_finite(value, 23, 8) else None
        case k.Const(value=value, type=Scalar.F64):
            return f"({struct.unpack('<d', struct.pack('<Q', value))[0]!r})" if _is_finite(value, 52, 11) else None
        case k.Const(value=value, type=type) if type.is_integer:
            return f"({value})"
        case k.ScalarValue(name=name) | k.DimValue(name=name):
            return names.get(name)
        case k.Binary(op=op, left=left, right=right, type=type) if type.is_float and op in _SIGNS:
            first, second = scalar_source(left, names), scalar_source(right, names)
            return None if first is None or second is None else _rounded_source(f"{first} {_SIGNS[op]} {second}", type)
        case k.Binary(op=op, left=left, right=right, type=type) if type.is_integer and op in _WHOLE:
            first, second = scalar_source(left, names), scalar_source(right, names)
            return None if first is None or second is None else _fitted(f"{first} {_WHOLE[op]} {second}", type)
        case k.Unary(op="neg", operand=operand, type=type) if type.is_float or type.is_integer:
            inner = scalar_source(operand, names)
            return None if inner is None else f"(-{inner})" if type.is_float else _fitted(f"-{inner}", type)
        case k.Cast(value=value, type=type):
            inner = scalar_source(value, names)
            return None if inner is None else _converted(inner, value.type, type)
        case _:
            return None


def _converted(source: str, given: Scalar, type: Scalar) -> str | None:
    """A conversion; one from a float to an integer is left to the tables."""
    if type.is_float and given.is_float:
        return _rounded_source(source, type)
    if type.is_float and given.is_integer:
        return _rounded_source(f"exact({source})", type)
    return _fitted(source, type) if type.is_integer and given.is_integer else None


def _fitted(source: str, type: Scalar) -> str:
    """An exact integer in its type: wrapped, or judged."""
    return f"({source} & {type.maximum})" if type.is_modular else f"fit({source}, {type.minimum}, {type.maximum})"


def _fit(value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise OverflowError
    return value


def single_argument(value: Any) -> float:
    """An argument as the f32 that its parameter makes of it."""
    if type(value) is int:
        value = _exact(value)
    elif type(value) is not float and type(value) is not np.float32:
        raise TypeError(value)
    return ctypes.c_float(float(value)).value


#: What sources of `scalar_source` refer to.
GLOBALS: Final[Mapping[str, Any]] = {
    "single": ctypes.c_float,
    "exact": _exact,
    "fit": _fit,
    "argument": single_argument,
    "index": operator.index,
}


def _rounded_source(source: str, type: Scalar) -> str:
    return f"single({source}).value" if type is Scalar.F32 else f"({source})"


def _is_finite(bits: int, mantissa: int, exponent: int) -> bool:
    most = (1 << exponent) - 1
    return bits >> mantissa & most != most
