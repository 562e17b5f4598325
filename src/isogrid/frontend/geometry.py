"""Grid, groups and block as kernel IR: dimension expressions, tuples of them, or a callable read as an expression."""

import ast
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Final, cast

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.frontend.capture import capture_lambda, span_of
from isogrid.frontend.constants import lookup
from isogrid.frontend.definition import ArrayDeclaration, Declaration, ElementType, Generic, ScalarDeclaration
from isogrid.frontend.dims import Dim, DimExpression, DimMeta, TunableValue, cdiv, dimension_text, is_dimension_like
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar
from isogrid.support.errors import CompilerBug
from isogrid.support.records import dataclass
from isogrid.support.shown import shown


@dataclass(frozen=True, slots=True)
class GeometryFault(Exception):
    """Why something is no extent, and what to write; `span` is a place inside a callable, NOWHERE for a value."""

    text: str
    span: Span = NOWHERE
    remedy: str = ""


def dimension_expr(value: object, span: Span = NOWHERE) -> k.Expr | None:
    """Kernel IR of a Dim class, an expression over dimensions, a tunable or an int; None for anything else."""
    match value:
        case TunableValue():
            if value.name is None:
                raise GeometryFault("the tunable has no name: bind it to a module or local variable first", span)
            return k.DimValue(value.name, span=span)
        case DimMeta():
            return k.DimValue(value.__name__, span=span) if value is not Dim else None
        case DimExpression():
            operands = [dimension_expr(o, span) for o in value.operands]
            present = [o for o in operands if o is not None]
            return _operation(value.op, present, span) if len(present) == len(operands) else None
        case int() if type(value) is int:
            return _number(value, span)
        case _:
            return None


def _number(value: int, span: Span) -> k.Expr:
    if not INDEX.holds(value):
        raise GeometryFault(f"{shown(value)} is no size: sizes are below 2^63", span)
    return k.Const(value, INDEX, span=span)


def counted(number: int, noun: str) -> str:
    """`1 extent`, `2 extents`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def parts_of(value: object) -> tuple[object, ...]:
    """The entries of a tuple or list, else the value alone."""
    return tuple(cast(Sequence[object], value)) if isinstance(value, tuple | list) else (value,)


def dimensions_in(value: object) -> list[type[Dim] | TunableValue]:
    """Every Dim class and tunable that an extent mentions, those behind `equals=` included, each once, in order."""
    found: dict[int, type[Dim] | TunableValue] = {}

    def visit(part: object) -> None:
        match part:
            case DimExpression():
                for operand in part.operands:
                    visit(operand)
            case TunableValue():
                found.setdefault(id(part), part)
            case DimMeta() if issubclass(part, Dim) and part is not Dim:
                if id(part) not in found:
                    found[id(part)] = part
                    visit(part.equals)
            case _:
                pass

    visit(value)
    return list(found.values())


def extents_of(
    given: object, function: FunctionType, parameters: Sequence[Declaration]
) -> tuple[tuple[k.Expr, ...], tuple[type[Dim] | TunableValue, ...]]:
    """Extents of `grid=` or `groups=`, with the dimensions they mention; raises `GeometryFault`."""
    if isinstance(given, FunctionType):
        return _read_callable(given, parameters)
    extents: list[k.Expr] = []
    mentioned: dict[int, type[Dim] | TunableValue] = {}
    for part in parts_of(given):
        expression = dimension_expr(part)
        if expression is None:
            raise GeometryFault(f"`{shown(part)}` is no extent: write an integer or an expression over dimensions")
        if isinstance(expression, k.Const) and expression.value < 0:
            raise GeometryFault(f"an extent is not negative, and this one is {expression.value}")
        extents.append(expression)
        mentioned |= {id(d): d for d in dimensions_in(part)}
    return tuple(extents), tuple(mentioned.values())


_BINARY: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
}


def _operation(op: str, operands: Sequence[k.Expr], span: Span) -> k.Expr:
    match op:
        case "neg":
            return k.Unary("neg", operands[0], INDEX, span=span)
        case "cdiv":
            return ceiling_division(operands[0], operands[1], span)
        case _:
            return k.Binary(op, operands[0], operands[1], INDEX, span=span)


def ceiling_division(a: k.Expr, b: k.Expr, span: Span = NOWHERE) -> k.Expr:
    """`ig.cdiv(a, b)` as kernel IR: (a + (b - 1)) // b."""
    less_one = k.Binary("sub", b, k.Const(1, INDEX, span=span), INDEX, span=span)
    return k.Binary("floordiv", k.Binary("add", a, less_one, INDEX, span=span), b, INDEX, span=span)


def _read_callable(
    function: FunctionType, parameters: Sequence[Declaration]
) -> tuple[tuple[k.Expr, ...], tuple[type[Dim] | TunableValue, ...]]:
    captured = capture_lambda(function)
    if captured is None:
        raise GeometryFault("the source of the callable cannot be read; write an expression over dimensions instead")
    node, file, lines = captured
    reader = _Reader(function, {p.name: p for p in parameters}, file, lines)
    body = _returned(node)
    if body is None:
        raise reader.fault(node, "a geometry callable is one returned expression")
    known = {p.name for p in parameters}
    for argument in node.args.args:
        if argument.arg not in known:
            raise GeometryFault(
                f"`{argument.arg}` is no parameter of the kernel",
                reader.span(argument),
                "name scalar parameters of the kernel; write dimensions without a callable, such as `grid=N`",
            )
    parts = body.elts if isinstance(body, ast.Tuple) else [body]
    extents = tuple(reader.read(part) for part in parts)
    return extents, tuple(reader.mentioned.values())


def _returned(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Lambda(body=body):
            return body
        case ast.FunctionDef(body=[ast.Return(value=value)]):
            return value
        case ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())), ast.Return(value=value)]):
            return value
        case _:
            return None


class _Reader:
    """Reads one geometry expression. Names are the kernel's parameters first, then what the callable sees."""

    def __init__(
        self, function: FunctionType, parameters: Mapping[str, Declaration], file: str, lines: tuple[str, ...]
    ) -> None:
        self.function: Final = function
        self.file: Final = file
        self.lines: Final = lines
        self.arguments: Final = set(function.__code__.co_varnames[: function.__code__.co_argcount])
        self.parameters: Final = {name: p for name, p in parameters.items() if name in self.arguments}
        self.mentioned: Final[dict[int, type[Dim] | TunableValue]] = {}

    def span(self, node: ast.AST) -> Span:
        return span_of(self.file, self.lines, node)

    def fault(self, node: ast.AST, text: str) -> GeometryFault:
        return GeometryFault(text, self.span(node))

    def read(self, node: ast.expr) -> k.Expr:
        span = self.span(node)
        match node:
            case ast.Constant(value=int() as value) if type(value) is int:
                return _number(value, span)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return k.Binary(_BINARY[type(op)], self.read(left), self.read(right), INDEX, span=span)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return k.Unary("neg", self.read(operand), INDEX, span=span)
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=axis) if (
                name in self.parameters
            ):
                return self._extent(node, name, axis)
            case ast.Attribute(value=ast.Name(id=name), attr="size") if name in self.parameters:
                return self._size(node, name)
            case ast.Call(func=called, args=arguments, keywords=[]):
                return self._call(node, called, arguments)
            case ast.Name(id=name) if name in self.parameters:
                return self._scalar(node, self.parameters[name])
            case ast.Name() | ast.Attribute():
                return self._outside(node)
            case _:
                raise self.fault(node, f"`{ast.unparse(node)}` cannot be read as an extent")

    def _array(self, node: ast.AST, name: str) -> ArrayDeclaration:
        parameter = self.parameters[name]
        if not isinstance(parameter, ArrayDeclaration):
            raise self.fault(node, f"`{name}` is a scalar and has no shape")
        return parameter

    def _extent(self, node: ast.AST, name: str, axis: ast.expr) -> k.Expr:
        array = self._array(node, name)
        number = ast.literal_eval(axis) if isinstance(axis, ast.Constant | ast.UnaryOp) else None
        if type(number) is not int or not -len(array.shape) <= number < len(array.shape):
            raise self.fault(axis, f"`{name}` has the axes 0 to {len(array.shape) - 1}")
        return array.shape[number]

    def _size(self, node: ast.AST, name: str) -> k.Expr:
        shape = self._array(node, name).shape
        size = shape[0]
        for extent in shape[1:]:
            size = k.Binary("mul", size, extent, INDEX, span=self.span(node))
        return size

    def _scalar(self, node: ast.AST, parameter: Declaration) -> k.Expr:
        match parameter:
            case ArrayDeclaration():
                raise self.fault(node, f"`{parameter.name}` is an array: use its shape, size or len")
            case ScalarDeclaration(type=Generic()):
                raise self.fault(node, f"`{parameter.name}` is generic: an extent is an integer of a fixed type")
            case ScalarDeclaration(type=Scalar.I64):
                return k.ScalarValue(parameter.name, Scalar.I64, span=self.span(node))
            case ScalarDeclaration(type=(Scalar.I32 | Scalar.U32) as kind):
                value = k.ScalarValue(parameter.name, kind, span=self.span(node))
                return k.Cast(value, INDEX, checked=False, span=self.span(node))
            case ScalarDeclaration(type=kind):
                raise self.fault(node, f"`{parameter.name}` is {_type_text(kind)}: an extent is i64, i32 or u32")

    def _call(self, node: ast.AST, called: ast.expr, arguments: list[ast.expr]) -> k.Expr:
        function = None if _root(called) in self.parameters else self._value(called)
        match arguments:
            case [ast.Name(id=name)] if function is len and name in self.parameters:
                return self._array(node, name).shape[0]
            case [only] if function is int:
                return self.read(only)
            case [first, *rest] if rest and (function is min or function is max):
                folded = self.read(first)
                for part in rest:
                    name = "min" if function is min else "max"
                    folded = k.Binary(name, folded, self.read(part), INDEX, span=self.span(node))
                return folded
            case [a, b] if function is cdiv:
                return ceiling_division(self.read(a), self.read(b), self.span(node))
            case _:
                raise self.fault(
                    node, f"`{ast.unparse(node)}` cannot be read: use + - * // %, min, max, len and ig.cdiv"
                )

    def _outside(self, node: ast.expr) -> k.Expr:
        value = self._value(node)
        expression = dimension_expr(value, self.span(node))
        if expression is None:
            raise self.fault(node, f"`{ast.unparse(node)}` is no extent: it is {shown(value)}")
        self.mentioned.update({id(d): d for d in dimensions_in(value)})
        return expression

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Name(id=name):
                try:
                    return lookup(self.function, name)
                except LookupError:
                    raise self.fault(node, f"`{name}` is not defined") from None
            case ast.Attribute(value=inner, attr=name):
                owner = self._value(inner)
                if not hasattr(owner, name):
                    raise self.fault(node, f"`{ast.unparse(node)}` is not defined")
                return getattr(owner, name)
            case _:
                raise self.fault(node, f"`{ast.unparse(node)}` cannot be read as an extent")


def _root(node: ast.expr) -> str:
    """The name that an attribute chain begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _type_text(kind: ElementType) -> str:
    return kind.value if isinstance(kind, Scalar) else kind.name


def text_of(value: object) -> str:
    """A geometry value as its author would write it."""
    if isinstance(value, tuple | list):
        return "(" + ", ".join(text_of(part) for part in parts_of(cast(object, value))) + ")"
    return dimension_text(value) if is_dimension_like(value) else shown(value)


def constant_value(expression: k.Expr, values: Mapping[str, int]) -> int | None:
    """The value of an extent over constants, tunables and constant dimensions; None if a name has no value yet.

    Raises `ArithmeticError` for a division by zero.
    """
    match expression:
        case k.Const(value=value):
            return value
        case k.DimValue(name=name):
            return values.get(name)
        case k.Unary(op="neg", operand=operand):
            only = constant_value(operand, values)
            return None if only is None else -only
        case k.Binary(op=op, left=left, right=right) if op in _MEANINGS:
            a, b = constant_value(left, values), constant_value(right, values)
            if a is None or b is None:
                return None
            if b == 0 and op in ("floordiv", "mod"):
                raise ArithmeticError(f"{a} divided by zero")
            return _MEANINGS[op](a, b)
        case _:
            return None


_MEANINGS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": lambda a, b: min(a, b),
    "max": lambda a, b: max(a, b),
}


def expression_text(expression: k.Expr) -> str:
    """An extent as its author would write it: `(N + 1) // 2`."""
    match expression:
        case k.Const(value=value):
            return str(value)
        case k.DimValue(name=name) | k.ScalarValue(name=name):
            return name
        case k.Unary(op="neg", operand=operand):
            return f"-{_operand_text(operand)}"
        case k.Cast(value=value):
            return expression_text(value)
        case k.Binary(
            op="floordiv",
            left=k.Binary(op="add", left=a, right=k.Binary(op="sub", left=b, right=k.Const(value=1))),
            right=c,
        ) if b == c:
            return f"ig.cdiv({expression_text(a)}, {expression_text(b)})"
        case k.Binary(op=("min" | "max") as op, left=left, right=right):
            return f"{op}({expression_text(left)}, {expression_text(right)})"
        case k.Binary(op=op, left=left, right=right) if op in _SYMBOLS:
            return f"{_operand_text(left)} {_SYMBOLS[op]} {_operand_text(right)}"
        case _:
            raise CompilerBug(f"{type(expression).__name__} in an extent")


_SYMBOLS: Final[Mapping[str, str]] = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%"}


def _operand_text(expression: k.Expr) -> str:
    text = expression_text(expression)
    return f"({text})" if isinstance(expression, k.Binary) and " " in text and not text.startswith("ig.") else text
