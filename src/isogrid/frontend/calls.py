"""Calls: what the called name means, the arguments in order, and the typing of the functions of the tables."""

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from isogrid.builtins.conversions import STORED_FLOATS, conversion, refusal
from isogrid.builtins.elementary import INSTEAD, NOT_YET
from isogrid.builtins.functions import OPERATOR_SPELLINGS
from isogrid.builtins.index import builtins_spelled
from isogrid.builtins.operators import OPERATORS
from isogrid.builtins.table import Builtin, Signature
from isogrid.diagnostics.report import Label
from isogrid.frontend import expressions, inlining, intrinsics, operators, refusals, refused_calls
from isogrid.frontend.coercion import (
    as_type,
    default_type,
    element_constant,
    scalar_operand,
    settle_type,
    takes,
    typed_as,
    unify,
)
from isogrid.frontend.language import Helper
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import (
    ArrayValue,
    DtypeValue,
    FunctionValue,
    Literal,
    Narrowed,
    ObjectValue,
    Poison,
    TupleValue,
    Typed,
    Untyped,
    Value,
    article,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar

#: Functions that keep Python's meaning on literals, where that is the same on every machine.
_FOLDED: Final[Mapping[str, Callable[..., Any]]] = {
    "math.sqrt": math.sqrt,
    "math.floor": math.floor,
    "math.ceil": math.ceil,
    "math.trunc": math.trunc,
    "math.fabs": math.fabs,
    "math.copysign": math.copysign,
    "math.isnan": math.isnan,
    "math.isinf": math.isinf,
    "math.isfinite": math.isfinite,
    "builtins.round": round,
    "builtins.abs": abs,
    "builtins.min": min,
    "builtins.max": max,
    "builtins.pow": pow,
}


def call_value(builder: Builder, node: ast.Call) -> Value:
    """The value of a call; statements that it stands for are emitted."""
    if isinstance(node.func, ast.Attribute):
        refused_calls.check_method(builder, node)
    called = expressions.evaluate(builder, node.func)
    match called:
        case Poison():
            expressions.evaluate_all(builder, _argument_nodes(node))
            builder.give_up()
        case DtypeValue(scalar=scalar):
            return _convert(builder, scalar, node)
        case FunctionValue(spelling=spelling):
            return _function(builder, spelling, node)
        case ObjectValue(object=Helper() as helper):
            builder.captures.note(builder.text(node.func), _origin(builder, helper))
            return inlining.inline(builder, helper, node)
        case ObjectValue(object=object_):
            refused_calls.refuse_call(builder, object_, node)
        case _:
            builder.refuse("IG148", f"{builder.quoted(node.func)} cannot be called", node.func, "this is no function")


def _origin(builder: Builder, helper: Helper) -> str:
    """Which helper this is, for the list of what was read."""
    code = helper.function.__code__
    if builder.kernel_source is not None and code.co_filename == builder.kernel_source.file:
        return f"the helper in line {code.co_firstlineno}"
    return f"the helper of {helper.function.__module__}"


def arguments(
    builder: Builder, node: ast.Call, parameters: Sequence[str], optional: int = 0, name: str = ""
) -> dict[str, ast.expr]:
    """The argument nodes of a call by parameter name, in the order written; refuses a wrong number or name."""
    given: dict[str, ast.expr] = {}
    name = name or builder.text(node.func)
    shown = f"{name}({', '.join(parameters)})"
    for position, argument in enumerate(node.args):
        if isinstance(argument, ast.Starred):
            refusals.refuse_expression(builder, argument)
        if position >= len(parameters):
            builder.refuse(
                "IG129",
                f"`{name}` takes {_count(parameters, optional)}, and {len(node.args)} are given",
                argument,
                "one too many",
                remedies=(f"write `{shown}`",),
            )
        given[parameters[position]] = argument
    for keyword in node.keywords:
        if keyword.arg is None:
            refused_calls.refuse_double_star(builder, keyword)
        if keyword.arg not in parameters or keyword.arg in given:
            problem = "is given twice" if keyword.arg in given else "is no parameter"
            builder.refuse(
                "IG129", f"`{keyword.arg}` {problem} of `{name}`", keyword, problem, remedies=(f"write `{shown}`",)
            )
        given[keyword.arg] = keyword.value
    missing = [p for p in parameters[: len(parameters) - optional] if p not in given]
    if missing:
        if parameters[:2] == ("array", "index"):
            shown = _with_index_apart(builder, name, node) or shown
        builder.refuse(
            "IG129",
            f"`{name}` is called without `{missing[0]}`",
            node,
            f"{len(given)} of {_count(parameters, optional)} given",
            remedies=(f"write `{shown}`",),
        )
    return given


def _with_index_apart(builder: Builder, name: str, node: ast.Call) -> str | None:
    """`atomic_add(bins[i], 1)` as it is meant: the element that CUDA takes by address is an array and an index here."""
    match node.args:
        case [ast.Subscript(value=array, slice=index), *values] if values:
            place = builder.text(index)
            place = f"({place})" if isinstance(index, ast.Tuple) and not place.startswith("(") else place
            return f"{name}({', '.join([builder.text(array), place, *map(builder.text, values)])})"
        case _:
            return None


def evaluated(builder: Builder, given: Mapping[str, ast.expr]) -> dict[str, Value]:
    """The values of arguments, evaluated in the order written; gives up where one was refused."""
    values = expressions.evaluate_all(builder, list(given.values()))
    if any(isinstance(v, Poison) for v in values):
        builder.give_up()
    return dict(zip(given, values, strict=True))


def _count(parameters: Sequence[str], optional: int) -> str:
    most = len(parameters)
    plural = "argument" if most == 1 else "arguments"
    return f"{most} {plural}" if not optional else f"{most - optional} to {most} arguments"


def _argument_nodes(node: ast.Call) -> list[ast.expr]:
    return [a for a in node.args if not isinstance(a, ast.Starred)] + [w.value for w in node.keywords]


# --- functions by name -----------------------------------------------------------------------------------------------


def _function(builder: Builder, spelling: str, node: ast.Call) -> Value:
    if spelling in OPERATOR_SPELLINGS:
        return _operator_call(builder, spelling, node)
    if spelling in intrinsics.INTRINSICS:
        return intrinsics.INTRINSICS[spelling](builder, spelling, node)
    match spelling:
        case "builtins.int":
            return _to_index(builder, node)
        case "builtins.len":
            return _length(builder, node)
        case "builtins.float":
            refused_calls.refuse_float(builder, node)
        case _:
            pass
    rows = builtins_spelled(spelling)
    if rows:
        return _table_call(builder, spelling, rows, node)
    if spelling in NOT_YET:
        _refuse_elementary(builder, spelling, node)
    refused_calls.refuse_function(builder, spelling, node)


def _operator_call(builder: Builder, spelling: str, node: ast.Call) -> Value:
    op, count = OPERATOR_SPELLINGS[spelling]
    if op in ("min", "max"):
        return _fold_left(builder, op, node)
    parameters = ("x",) if count == 1 else ("base", "exp")
    given = arguments(builder, node, parameters)
    values = evaluated(builder, given)
    nodes = list(given.values())
    if count == 1:
        literal = values["x"]
        if isinstance(literal, Literal) and spelling in _FOLDED:
            return operators.fold_call(builder, _FOLDED[spelling], (literal.value,), node)
        value = operators.unary(builder, op, values["x"], nodes[0], node)
        if spelling == "math.fabs" and isinstance(value, Typed) and not value.type.is_float:
            builder.refuse(
                "IG130", f"`math.fabs` takes a float, and {builder.quoted(nodes[0])} is {value.type.value}", nodes[0],
                f"this is {value.type.value}", remedies=("write `abs(...)`",),
            )  # fmt: skip
        return value
    return operators.binary(builder, op, values["base"], values["exp"], (given["base"], given["exp"]), node)


def _fold_left(builder: Builder, op: str, node: ast.Call) -> Value:
    """`min(a, b, c)` is min(min(a, b), c); literals take the type of the rest."""
    for keyword in node.keywords:
        builder.refuse("IG129", f"`{op}` takes no keywords in a kernel", keyword, "not supported")
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            refusals.refuse_expression(builder, argument)
    values = expressions.evaluate_all(builder, node.args)
    if any(isinstance(v, Poison) for v in values):
        builder.give_up()
    nodes: list[ast.expr] = list(node.args)
    if len(values) == 1 and isinstance(values[0], TupleValue):
        values = list(values[0].items)
        nodes = [node.args[0]] * len(values)
    if len(values) < 2:
        builder.refuse(
            "IG129",
            f"`{op}` needs two or more values",
            node,
            f"{len(values)} given",
            remedies=(f"for all elements of an array, loop with `m = {op}(m, x[i])` or use `ig.group_{op}`",),
        )
    scalars = [scalar_operand(builder, v, n, f"given to `{op}`") for v, n in zip(values, nodes, strict=True)]
    return _folded_scalars(builder, op, scalars, nodes, node)


def _folded_scalars(
    builder: Builder, op: str, scalars: Sequence[Typed | Untyped], nodes: Sequence[ast.expr], node: ast.Call
) -> Value:
    if all(isinstance(s, Literal) for s in scalars):
        numbers = tuple(s.value for s in scalars if isinstance(s, Literal))
        return operators.fold_call(builder, _FOLDED[f"builtins.{op}"], numbers, node)
    # The literals take the type of the others, so one that comes first waits for it.
    type, parts, pending = unify(builder, scalars, nodes, node, f"`{op}`")
    if type not in OPERATORS[op].types:
        builder.refuse(
            "IG109",
            f"`{op}` is not defined for {type.value}",
            node,
            f"the values are {type.value}",
            remedies=(OPERATORS[op].refusals[type],) if type in OPERATORS[op].refusals else (),
        )
    result = parts[0]
    for part in parts[1:]:
        result = k.Binary(op, result, part, type, checked=False, span=builder.span(node))
    return Typed(result, pending)


def _length(builder: Builder, node: ast.Call) -> Value:
    given = arguments(builder, node, ("x",))
    value = evaluated(builder, given)["x"]
    match value:
        case ArrayValue():
            return Typed(value.extents[0])
        case TupleValue():
            return Literal(len(value.items))
        case _:
            builder.refuse(
                "IG130",
                f"`len` takes an array or tuple, and {builder.quoted(given['x'])} is neither",
                given["x"],
                "this has no length",
            )


# --- conversions -----------------------------------------------------------------------------------------------------


def _to_index(builder: Builder, node: ast.Call) -> Value:
    """`int(x)`: an index; on literals Python's own."""
    given = arguments(builder, node, ("x",))
    value = evaluated(builder, given)["x"]
    if isinstance(value, Literal):
        return operators.fold_call(builder, int, (value.value,), node)
    return _converted(builder, INDEX, value, given["x"], node)


def _convert(builder: Builder, target: Scalar, node: ast.Call) -> Value:
    """`T(x)` by the conversion table."""
    given = arguments(builder, node, ("x",), name=target.value)
    value = evaluated(builder, given)["x"]
    if isinstance(value, Literal):
        return _converted_literal(builder, target, value, given["x"], node)
    return _converted(builder, target, value, given["x"], node)


def _converted_literal(builder: Builder, target: Scalar, value: Literal, node: ast.expr, call: ast.Call) -> Value:
    number = value.value
    if isinstance(number, bool) and target in STORED_FLOATS:
        return _converted(builder, target, value, node, call)
    if target is Scalar.BOOL:
        return Literal(bool(number))
    if target.is_integer and not isinstance(number, bool) and isinstance(number, float):
        if not math.isfinite(number):
            builder.refuse("IG111", f"`{number}` is out of range for {target.value}", node, "no integer")
        number = int(number)
    if isinstance(number, bool):
        number = int(number)
    if target.is_modular and isinstance(number, int) and -(1 << (target.bits - 1)) <= number < 0:
        number %= 1 << target.bits
    if target.is_computing:
        return Typed(typed_as(builder, Literal(number), target, call))
    if target in STORED_FLOATS:
        rounded = element_constant(builder, number, target, call)
        return Narrowed(k.Cast(rounded, target, checked=False, span=builder.span(call)))
    if not target.holds(int(number)):
        typed_as(builder, Literal(number), target, call)
    # An element value: its constant has the type that elements are computed in, and stays to be stored.
    constant = k.Const(int(number), target.computing, span=builder.span(call))
    return Narrowed(k.Cast(constant, target, checked=False, span=builder.span(call)))


def _converted(builder: Builder, target: Scalar, value: Value, node: ast.expr, call: ast.Call) -> Value:
    operand = scalar_operand(builder, value, node, f"converted to {target.value}")
    typed = operand if isinstance(operand, Typed) else settle_type(builder, operand, node)
    if typed.type is target:
        return typed
    row = conversion(typed.type, target)
    if row is None:
        builder.refuse(
            "IG114",
            f"`{target.value}({builder.text(node)})` converts {typed.type.value} to {target.value}",
            call,
            f"{builder.quoted(node)} is {typed.type.value}",
            why=refusal(typed.type, target),
        )
    result = k.Cast(typed.expression, target, row.can_trap, span=builder.span(call))
    return Typed(result) if target.is_computing else Narrowed(result)


# --- functions of the tables -----------------------------------------------------------------------------------------


def _table_call(builder: Builder, spelling: str, rows: tuple[Builtin, ...], node: ast.Call) -> Value:
    row = rows[0]
    parameters = ("dtype", *row.parameters) if row.type_argument else row.parameters
    given = arguments(builder, node, parameters)
    values = evaluated(builder, given)
    target: Scalar | None = None
    if row.type_argument:
        target = _dtype_argument(builder, values.pop("dtype"), given["dtype"], node)
        rows = tuple(r for r in rows if r.target is None or r.target is target)
    nodes = [given[p] for p in row.parameters]
    ordered = _in_order(builder, given, values, row.parameters)
    scalars = [
        scalar_operand(builder, v, n, f"given to `{builder.text(node.func)}`")
        for v, n in zip(ordered, nodes, strict=True)
    ]
    if spelling in _FOLDED and all(isinstance(s, Literal) for s in scalars):
        numbers = tuple(s.value for s in scalars if isinstance(s, Literal))
        return operators.fold_call(builder, _FOLDED[spelling], numbers, node)
    found = _matching(rows, scalars, target)
    if found is None:
        _refuse_arguments(builder, rows, scalars, nodes, target, node)
    chosen, signature = found
    parts = tuple(as_type(builder, s, t, n) for s, t, n in zip(scalars, signature.parameters, nodes, strict=True))
    pending = any(isinstance(s, Typed) and s.pending for s in scalars)
    fixed = any(isinstance(s, Typed) and not s.pending and s.type is not Scalar.BOOL for s in scalars)
    result = k.Call(chosen.name, parts, signature.result, span=builder.span(node))
    return Typed(result, pending and not fixed and target is None and signature.result is not Scalar.BOOL)


def _in_order(
    builder: Builder, given: Mapping[str, ast.expr], values: Mapping[str, Value], parameters: Sequence[str]
) -> list[Value]:
    """Arguments by position. Keywords that were written out of order are kept in temporaries, evaluated as written."""
    if [p for p in given if p in parameters] == list(parameters):
        return [values[p] for p in parameters]
    kept = {name: expressions.keep_here(builder, value) for name, value in values.items()}
    return [kept[p] for p in parameters]


def _matching(
    rows: Sequence[Builtin], scalars: Sequence[Typed | Untyped], target: Scalar | None
) -> tuple[Builtin, Signature] | None:
    """The signature that the arguments fit with the fewest conversions; literals prefer index, f32 and bool."""
    best: tuple[tuple[int, int], Builtin, Signature] | None = None
    for row in rows:
        for signature in row.signatures:
            if target is not None and row.target is None and signature.result is not target:
                continue
            if not all(takes(s, t) for s, t in zip(scalars, signature.parameters, strict=True)):
                continue
            widened = sum(
                isinstance(s, Typed) and not s.pending and s.type is not t
                for s, t in zip(scalars, signature.parameters, strict=True)
            )
            if widened and signature.parameters.count(INDEX) > 1 and not any(_is_index(s) for s in scalars):
                continue  # i32 and u32 widen beside an i64, and not beside each other
            guessed = sum(
                (s.type if isinstance(s, Typed) else default_type(s)) is not t
                for s, t in zip(scalars, signature.parameters, strict=True)
            )
            if best is None or (widened, guessed) < best[0]:
                best = ((widened, guessed), row, signature)
    return None if best is None else (best[1], best[2])


def _is_index(scalar: Typed | Untyped) -> bool:
    return isinstance(scalar, Typed) and scalar.type is INDEX


def _dtype_argument(builder: Builder, value: Value, node: ast.expr, call: ast.Call) -> Scalar:
    if isinstance(value, DtypeValue):
        return value.scalar
    builder.refuse(
        "IG130",
        f"`{builder.text(call.func)}` takes a dtype first, and {builder.quoted(node)} is none",
        node,
        "not a dtype",
        remedies=(f"write `{builder.text(call.func)}(f32, ...)`",),
    )


def _refuse_arguments(
    builder: Builder,
    rows: Sequence[Builtin],
    scalars: Sequence[Typed | Untyped],
    nodes: Sequence[ast.expr],
    target: Scalar | None,
    call: ast.Call,
) -> NoReturn:
    name = builder.text(call.func)
    types = [s.type.value if isinstance(s, Typed) else f"a literal {default_type(s).value}" for s in scalars]
    accepted = list(
        dict.fromkeys(
            _signature_text(s)
            for row in rows
            for s in row.signatures
            if target is None or row.target or s.result is target
        )
    )
    labels = tuple(Label(builder.span(n), f"this is {t}") for n, t in zip(nodes[1:], types[1:], strict=True))
    if not accepted:
        builder.refuse(
            "IG130", f"`{name}` has no result of type {target.value if target else ''}", call, "no such form"
        )
    shown = ", ".join(accepted[:6]) + (", ..." if len(accepted) > 6 else "")
    if target is not None:
        builder.refuse(
            "IG130",
            f"`{name}` does not make {article(target.value)} of {types[0]}",
            nodes[0],
            f"this is {types[0]}",
            why=f"{target.value} is made of {shown}",
            remedies=("convert the argument to one of these",),
        )
    builder.refuse(
        "IG130",
        f"`{name}` is not defined for {', '.join(types)}",
        nodes[0],
        f"this is {types[0]}",
        why=f"it takes {shown}",
        remedies=("convert the arguments to one of these",),
        secondary=labels,
    )


def _signature_text(signature: Signature) -> str:
    types = [t.value for t in signature.parameters]
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


def _refuse_elementary(builder: Builder, spelling: str, node: ast.Call) -> NoReturn:
    instead = INSTEAD.get(spelling)
    builder.refuse(
        "IG102",
        f"`{NOT_YET[spelling]}` is not supported yet",
        node.func,
        "an elementary function",
        why="elementary functions come when they give the same bits on every device; none is approximated",
        remedies=(f"write {instead}",) if instead else ("compute it on the host and pass the result",),
    )
