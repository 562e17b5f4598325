"""Compiled elementary functions as Python: one function per name, generated from the device IR on first use.

Floats of both types are Python floats; an f32 operation is the f64 one rounded to f32, which is the correctly rounded
result for + - * / and sqrt (53 >= 2 * 24 + 2). Integers are non-negative bits.
"""

import functools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, assert_never

import numpy as np

from isogrid.builtins import floats
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.mathlib.functions import Function, load
from isogrid.support.errors import CompilerBug


def evaluate(name: str, type: Scalar, values: Sequence[Any]) -> Any:
    """The function's value as a NumPy scalar (or int), for NumPy scalars or ints."""
    operands = [v & (1 << 64) - 1 if isinstance(v, int) else float(v) for v in values]
    result = python_function(name)(*operands)
    return floats.number(type, result) if type.is_float else result


@functools.cache
def python_function(name: str) -> Callable[..., Any]:
    """The function on Python floats and integer bits."""
    return _translated(load(name))


def _translated(function: Function) -> Callable[..., Any]:
    writer = _Writer()
    parameters = ", ".join(writer.name(name) for name, _ in function.parameters)
    for buffer in function.tables:
        writer.space[writer.name(buffer.name)] = _elements(buffer)
    lines = list(writer.block(function.body, 1))
    text = "\n".join([f"def function({parameters}):", *lines, f"    return {writer.expression(function.result)}"])
    exec(compile(text, f"<{function.name}>", "exec"), writer.space)
    return writer.space["function"]


def _elements(buffer: d.Buffer) -> list[Any]:
    return np.frombuffer(buffer.data, buffer.element.numpy.newbyteorder("<")).tolist()


class _Writer:
    """Writes device IR as Python; `space` holds what the text refers to."""

    def __init__(self) -> None:
        self.space: dict[str, Any] = dict(_HELPERS)
        self.names: dict[str, str] = {}

    def name(self, name: str) -> str:
        return self.names.setdefault(name, f"v{len(self.names)}")

    def block(self, block: d.Block, depth: int) -> Iterator[str]:
        pad = "    " * depth
        for statement in block:
            match statement:
                case d.Let(name=name, value=value) | d.Set(name=name, value=value):
                    yield f"{pad}{self.name(name)} = {self.expression(value)}"
                case d.If(condition=condition, then=then, otherwise=otherwise):
                    yield f"{pad}if {self.expression(condition)}:"
                    yield from self.block(then, depth + 1)
                    if otherwise:
                        yield f"{pad}else:"
                        yield from self.block(otherwise, depth + 1)
                case _:
                    raise CompilerBug(f"{type(statement).__name__} in an elementary function")

    def expression(self, node: d.Expr) -> str:
        match node:
            case d.Literal():
                return self._literal(node)
            case d.Value():
                return self.name(node.name)
            case d.Load():
                return f"{self.name(node.buffer)}[{self.expression(node.index)}]"
            case d.Op():
                return self._operation(node, [self.expression(a) for a in node.arguments])
            case d.Argument() | d.Special():
                raise CompilerBug("a launch value in an elementary function")
            case _:
                assert_never(node)

    def _literal(self, node: d.Literal) -> str:
        if not node.type.is_float:
            return str(node.bits)
        value = float(floats.from_bits(Scalar.F32 if node.type is Machine.F32 else Scalar.F64, node.bits))
        if math.isfinite(value):
            return f"({value!r})"
        return "nan" if value != value else "inf" if value > 0 else "(-inf)"

    def _operation(self, node: d.Op, arguments: list[str]) -> str:
        text = _OPERATIONS.get(node.op)
        if text is None:
            raise CompilerBug(f"{node.op} in an elementary function")
        operand = node.arguments[0].type
        bits = node.type.bits if node.op not in ("slt", "sle", "clz") else operand.bits
        made = text.format(*arguments, bits=bits, mask=(1 << bits) - 1, half=1 << (bits - 1), operand=operand.value)
        rounded = node.type is Machine.F32 and node.op in _ROUNDED
        return f"f32({made})" if rounded else f"({made})"


_ROUNDED: Final = frozenset({"fadd", "fsub", "fmul", "fdiv", "fsqrt", "fptrunc"})

_OPERATIONS: Final[dict[str, str]] = {
    "fadd": "{0} + {1}", "fsub": "{0} - {1}", "fmul": "{0} * {1}", "fdiv": "divide({0}, {1})", "fneg": "-{0}",
    "fabs": "abs({0})", "fsqrt": "root({0})", "fma": "fma_{operand}({0}, {1}, {2})", "ffloor": "floor({0})",
    "fceil": "ceil({0})", "ftrunc": "trunc({0})", "froundeven": "rint({0})", "fmin": "least({0}, {1})",
    "fmax": "greatest({0}, {1})", "fcopysign": "copysign({0}, {1})", "feq": "{0} == {1}", "fne": "{0} != {1}",
    "flt": "{0} < {1}", "fle": "{0} <= {1}", "fisnan": "{0} != {0}", "select": "{1} if {0} else {2}",
    "fpext": "{0}", "fptrunc": "{0}", "bits": "bits_{operand}({0})", "ffmod": "remainder({0}, {1})",
    "iadd": "({0} + {1}) & {mask}", "isub": "({0} - {1}) & {mask}", "imul": "({0} * {1}) & {mask}",
    "ineg": "-{0} & {mask}", "iand": "{0} & {1}", "ior": "{0} | {1}", "ixor": "{0} ^ {1}", "inot": "{0} ^ {mask}",
    "shl": "({0} << {1}) & {mask}", "lshr": "{0} >> {1}", "ashr": "(({0} ^ {half}) - {half} >> {1}) & {mask}",
    "umulhi": "{0} * {1} >> {bits}", "udiv": "{0} // {1}", "urem": "{0} % {1}", "ieq": "{0} == {1}",
    "ine": "{0} != {1}",
    "smin": "min({0}, {1}, key=sext_{operand})", "smax": "max({0}, {1}, key=sext_{operand})",
    "ult": "{0} < {1}", "ule": "{0} <= {1}",
    "umin": "min({0}, {1})", "umax": "max({0}, {1})",
    "slt": "({0} ^ {half}) < ({1} ^ {half})", "sle": "({0} ^ {half}) <= ({1} ^ {half})",
    "clz": "{bits} - int({0}).bit_length()", "trunc": "{0} & {mask}", "zext": "int({0})",
    "sext": "sext_{operand}({0}) & {mask}", "uitofp": "float({0})", "sitofp": "float(sext_{operand}({0}))",
}  # fmt: skip


def _divide(a: float, b: float) -> float:
    return float(np.float64(a) / np.float64(b)) if b == 0.0 else a / b


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def _f32(x: float) -> float:
    return float(np.float32(x))


def _signed(bits: int) -> Callable[[int], int]:
    return lambda value: (int(value) ^ (1 << (bits - 1))) - (1 << (bits - 1))


def _f64_of_bits(bits: int) -> float:
    return struct.unpack("<d", bits.to_bytes(8, "little"))[0]


def _f32_of_bits(bits: int) -> float:
    return struct.unpack("<f", bits.to_bytes(4, "little"))[0]


def _bits_of_f64(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def _bits_of_f32(x: float) -> int:
    return struct.unpack("<I", struct.pack("<f", x))[0]


def _fma_f32(a: float, b: float, c: float) -> float:
    return float(floats.fma(Scalar.F32, a, b, c))


def _f64_method(method: Callable[..., Any]) -> Callable[..., float]:
    return lambda *operands: float(method(Scalar.F64, *operands))


_HELPERS: Final[dict[str, Any]] = {
    "inf": math.inf, "nan": math.nan, "divide": _divide, "root": _root, "f32": _f32, "copysign": math.copysign,
    "fma_f64": _f64_method(floats.fma), "fma_f32": _fma_f32,
    "floor": _f64_method(floats.floor), "ceil": _f64_method(floats.ceil), "trunc": _f64_method(floats.trunc),
    "rint": _f64_method(floats.round_even), "least": _f64_method(floats.minimum),
    "greatest": _f64_method(floats.maximum),
    "remainder": _f64_method(floats.fmod),
    "bits_f64": _bits_of_f64,
    "bits_f32": _bits_of_f32,
    "bits_i64": _f64_of_bits, "bits_i32": _f32_of_bits,
    "sext_i1": _signed(1), "sext_i8": _signed(8), "sext_i16": _signed(16), "sext_i32": _signed(32),
    "sext_i64": _signed(64),
}  # fmt: skip
