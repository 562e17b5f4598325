"""Compile kernel-IR expressions into closures `frame -> value`, once per kernel, with the meanings of the tables."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, TypeAlias, assert_never

from isogrid.backends.interp.arithmetic import fast_binary
from isogrid.backends.interp.failures import failure, operator_failures
from isogrid.backends.interp.layout import Layout
from isogrid.backends.interp.subscripts import Subscripts
from isogrid.builtins import conversions, floats
from isogrid.builtins.index import builtin_named
from isogrid.builtins.meaning import Trapped
from isogrid.builtins.operators import OPERATORS
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.types import Scalar
from isogrid.support.errors import CompilerBug

Frame: TypeAlias = list[Any]
Evaluator: TypeAlias = Callable[[Frame], Any]


class Expressions:
    """Compiles the expressions of one kernel. `races` asks for closures that tell the race detector about loads."""

    def __init__(self, layout: Layout, races: bool) -> None:
        self._layout = layout
        self.subscripts = Subscripts(layout, races, self.compile)

    def compile(self, node: k.Expr) -> Evaluator:
        """The closure that evaluates an expression in a thread's frame."""
        match node:
            case k.Const():
                value = constant(node)
                return lambda frame: value
            case k.Local():
                return itemgetter(self._layout.place("local", node.name))
            case k.ScalarValue():
                return itemgetter(self._layout.place("scalar", node.name))
            case k.DimValue():
                return itemgetter(self._layout.place("dim", node.name))
            case k.Query():
                return itemgetter(self._layout.query(node.kind, node.axis))
            case k.Unary():
                return self._unary(node)
            case k.Binary():
                return self._binary(node)
            case k.Compare():
                return _compare(node, self.compile(node.left), self.compile(node.right))
            case k.Logical():
                return _logical(node, self.compile(node.left), self.compile(node.right))
            case k.Choose():
                return _choose(self.compile(node.condition), self.compile(node.then), self.compile(node.otherwise))
            case k.Cast():
                return _cast(node, self.compile(node.value))
            case k.Call():
                return _call(node, tuple(self.compile(a) for a in node.arguments))
            case k.Load():
                return self.subscripts.load(node)
            case _:
                assert_never(node)

    def _unary(self, node: k.Unary) -> Evaluator:
        operand = self.compile(node.operand)
        meaning, type = OPERATORS[node.op].meaning, node.type
        if not OPERATORS[node.op].can_trap(type):
            return lambda frame: meaning(type, operand(frame))
        failures = operator_failures(node)

        def run(frame: Frame) -> Any:
            try:
                return meaning(type, operand(frame))
            except Trapped as trapped:
                error = trapped
            return failures[error.kind](*error.operands)

        return run

    def _binary(self, node: k.Binary) -> Evaluator:
        left, right = self.compile(node.left), self.compile(node.right)
        fast = fast_binary(node, left, right)
        if fast is not None:
            return fast
        meaning, type = OPERATORS[node.op].meaning, node.type
        if not OPERATORS[node.op].can_trap(type):
            return lambda frame: meaning(type, left(frame), right(frame))
        failures = operator_failures(node)

        def run(frame: Frame) -> Any:
            a = left(frame)
            b = right(frame)
            try:
                return meaning(type, a, b)
            except Trapped as trapped:
                error = trapped
            return failures[error.kind](*error.operands)

        return run


def constant(node: k.Const) -> Any:
    """The value of a literal."""
    if node.type.is_float:
        return floats.from_bits(node.type, node.value)
    return bool(node.value) if node.type is Scalar.BOOL else node.value


def _compare(node: k.Compare, left: Evaluator, right: Evaluator) -> Evaluator:
    if node.left.type.is_float:
        meaning, type = OPERATORS[node.op].meaning, node.left.type
        return lambda frame: meaning(type, left(frame), right(frame))
    table: dict[str, Evaluator] = {
        "eq": lambda frame: left(frame) == right(frame),
        "ne": lambda frame: left(frame) != right(frame),
        "lt": lambda frame: left(frame) < right(frame),
        "le": lambda frame: left(frame) <= right(frame),
        "gt": lambda frame: left(frame) > right(frame),
        "ge": lambda frame: left(frame) >= right(frame),
    }
    return table[node.op]


def _logical(node: k.Logical, left: Evaluator, right: Evaluator) -> Evaluator:
    match node.op:
        case "and":
            return lambda frame: left(frame) and right(frame)
        case "or":
            return lambda frame: left(frame) or right(frame)
        case op:
            raise CompilerBug(f"unknown logical operator {op!r}")


def _choose(condition: Evaluator, then: Evaluator, otherwise: Evaluator) -> Evaluator:
    return lambda frame: then(frame) if condition(frame) else otherwise(frame)


def _cast(node: k.Cast, value: Evaluator) -> Evaluator:
    row = conversions.conversion(node.value.type, node.type)
    if row is None:
        raise CompilerBug(f"no conversion from {node.value.type} to {node.type} at {node.span}")
    meaning, type = row.meaning, node.type
    if not row.can_trap:
        return lambda frame: meaning(type, value(frame))
    fail = failure(sites.cast_site(node), node.checked)

    def run(frame: Frame) -> Any:
        before = value(frame)
        try:
            return meaning(type, before)
        except Trapped:
            pass
        return fail(before)

    return run


def _call(node: k.Call, arguments: tuple[Evaluator, ...]) -> Evaluator:
    meaning, type = builtin_named(node.name).meaning, node.type
    match arguments:
        case (one,):
            return lambda frame: meaning(type, one(frame))
        case (one, two):
            return lambda frame: meaning(type, one(frame), two(frame))
        case (one, two, three):
            return lambda frame: meaning(type, one(frame), two(frame), three(frame))
        case _:
            return lambda frame: meaning(type, *[argument(frame) for argument in arguments])
