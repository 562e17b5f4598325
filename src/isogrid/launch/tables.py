"""Expressions over scalars and sizes by the builtin tables: every operator, conversion and pure function."""

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from isogrid.builtins.conversions import conversion
from isogrid.builtins.functions import FUNCTIONS
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.operators import OPERATORS
from isogrid.ir import kernel as k
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar
from isogrid.launch.evaluate import DIVIDED, OVERFLOWED, CannotEvaluate, size_of
from isogrid.support.errors import CompilerBug


def evaluate_by_tables(expression: k.Expr, scalars: Mapping[str, Any], dims: Mapping[str, int]) -> Any:
    """As `evaluate`, for any expression; raises `CannotEvaluate`."""
    try:
        with quiet():
            return _Evaluator(scalars, dims).value(expression)
    except Trapped as trap:
        raise CannotEvaluate(_trap_text(trap)) from None


class _Evaluator:
    def __init__(self, scalars: Mapping[str, Any], dims: Mapping[str, int]) -> None:
        self.scalars = scalars
        self.dims = dims

    def value(self, node: k.Expr) -> Any:
        match node:
            case k.Const():
                return _constant(node)
            case k.ScalarValue(name=name):
                return self.scalars[name]
            case k.DimValue(name=name):
                return size_of(name, self.dims)
            case k.Unary(op=op, operand=operand):
                return OPERATORS[op].meaning(operand.type, self.value(operand))
            case k.Binary(op=op, left=left, right=right, type=type):
                a = self.value(left)
                return OPERATORS[op].meaning(type, a, self.value(right))
            case k.Compare(op=op, left=left, right=right):
                a = self.value(left)
                return OPERATORS[op].meaning(left.type, a, self.value(right))
            case k.Logical(op="and", left=left, right=right):
                return self.value(left) and self.value(right)
            case k.Logical(left=left, right=right):
                return self.value(left) or self.value(right)
            case k.Choose(condition=condition, then=then, otherwise=otherwise):
                return self.value(then) if self.value(condition) else self.value(otherwise)
            case k.Cast():
                return self._cast(node)
            case k.Call():
                return self._call(node)
            case k.Local() | k.Query() | k.Load():
                return _not_constant(node)

    def _cast(self, node: k.Cast) -> Any:
        row = conversion(node.value.type, node.type)
        if row is None:
            _not_constant(node)
        return row.meaning(node.type, self.value(node.value))

    def _call(self, node: k.Call) -> Any:
        row = _ROWS.get(node.name)
        if row is None:
            _not_constant(node)
        return row.meaning(node.type, *[self.value(argument) for argument in node.arguments])


_ROWS = {row.name: row for row in FUNCTIONS}


def _constant(node: k.Const) -> Any:
    match node.type:
        case Scalar.BOOL:
            return bool(node.value)
        case Scalar.F32:
            return np.uint32(node.value).view(np.float32)
        case Scalar.F64:
            return np.uint64(node.value).view(np.float64)
        case _:
            return node.value


def _trap_text(trap: Trapped) -> str:
    match trap.kind:
        case TrapKind.ZERO_DIVISION:
            return DIVIDED
        case TrapKind.OVERFLOW | TrapKind.TOTAL:
            return OVERFLOWED
        case TrapKind.VALUE:
            return "a conversion, shift or exponent in it is outside its range"
        case TrapKind.INDEX | TrapKind.ASSERTION | TrapKind.RACE:
            raise CompilerBug(f"{trap.kind} in an expression over scalars and sizes") from trap


def _not_constant(node: k.Expr) -> NoReturn:
    raise CompilerBug(f"{type(node).__name__} in an expression over scalars and sizes")
