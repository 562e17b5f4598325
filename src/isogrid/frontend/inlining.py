"""Calls of helpers: the body of the helper is built in place of the call, typed by its arguments.

y[i] = clamp3(x[i])          clamp3.x = x[i]
                      ->     scope clamp3.end
                               if lt(clamp3.x, 0.0)
                                 clamp3.return = 0.0
                                 leave clamp3.end
                               ...
                             y[i] = clamp3.return
"""

import ast
import inspect
import typing
from collections.abc import Mapping
from types import FunctionType, NoneType
from typing import Any, Final, NoReturn

from isogrid.diagnostics.report import Label
from isogrid.frontend import binding, calls, expressions, statements
from isogrid.frontend.capture import Captured
from isogrid.frontend.coercion import expect
from isogrid.frontend.dims import Dim, DimMeta
from isogrid.frontend.functions import FunctionText
from isogrid.frontend.language import ArrayAnnotation, Helper, scalar_of
from isogrid.frontend.names import binding_value
from isogrid.frontend.outside import constant_value
from isogrid.frontend.scope import Builder, Frame, Returns
from isogrid.frontend.values import (
    ArrayValue,
    Literal,
    LiteralChoice,
    Narrowed,
    NothingValue,
    Poison,
    TupleValue,
    Typed,
    Value,
    article,
    describe,
    is_atom,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar
from isogrid.support.errors import KernelRefused

#: Calls within calls before a chain of helpers counts as runaway.
DEEPEST: Final = 64


def inline(builder: Builder, helper: Helper, node: ast.Call) -> Value:
    """Build the helper's body here and give what it returns."""
    function = helper.function
    text = _text(builder, function)
    captured = text.captured
    _check_recursion(builder, function, node)
    given = _bound(builder, function, captured, node)
    values = calls.evaluated(builder, {name: n for name, n in given.items() if isinstance(n, ast.expr)})
    frame = _frame(builder, function, text, node)
    with builder.inside(frame):
        _bind_parameters(builder, frame, text, given, values, node)
        return _body(builder, frame, text, node)


def self_call(builder: Builder, node: ast.expr) -> ast.Call | None:
    """The call, if the expression is a call of the helper that is being built."""
    if not isinstance(node, ast.Call) or builder.frame.is_kernel:
        return None
    return node if _called_function(builder, node) is builder.frame.function else None


def repeat(builder: Builder, node: ast.Call) -> None:
    """A helper that calls itself last runs again with new parameters."""
    frame = builder.frame
    returns = frame.returns
    if returns is None or returns.repeat_label is None:
        builder.give_up()
    given = _bound(builder, frame.function, frame.captured, node)
    values = calls.evaluated(builder, {name: n for name, n in given.items() if isinstance(n, ast.expr)})
    kept = {
        name: expressions.keep_here(builder, values[name], for_good=True) if name in values else None for name in given
    }
    for name, argument in given.items():
        value = kept[name]
        if value is None:
            value = _default_value(builder, frame.function, name, node)
        place = argument if isinstance(argument, ast.expr) else node
        if name in frame.bindings:
            binding.assign_name(builder, name, value, place, builder.span(place))
        elif frame.parameters.get(name) not in (value, values.get(name)):
            builder.refuse(
                "IG128",
                f"`{frame.function.__name__}` calls itself with another {describe(value)} for `{name}`",
                place,
                "not the same as in the call before",
                why="the call becomes a loop, and arrays, rows and dtypes stay the same in all its trips",
                remedies=("pass the whole array and an index",),
            )
    builder.emit(k.Leave(returns.repeat_label, span=builder.span(node)))
    frame.flow = None


# --- the call --------------------------------------------------------------------------------------------------------


def _text(builder: Builder, function: FunctionType) -> FunctionText:
    try:
        return builder.captures.text(function)
    except KernelRefused as refused:
        builder.reports.extend(refused.reports)
        builder.give_up()


def _check_recursion(builder: Builder, function: FunctionType, node: ast.Call) -> None:
    frame: Frame | None = builder.frame
    depth = 0
    while frame is not None:
        if frame.function is function and not frame.is_kernel:
            _refuse_recursion(builder, function, node, direct=frame is builder.frame)
        frame, depth = frame.caller, depth + 1
    if depth > DEEPEST:
        builder.refuse(
            "IG158",
            f"`{function.__name__}` is called {depth} helpers deep",
            node,
            f"at most {DEEPEST} helpers are inlined into one another",
            remedies=("call fewer helpers from helpers",),
        )


def _refuse_recursion(builder: Builder, function: FunctionType, node: ast.Call, *, direct: bool) -> NoReturn:
    name = function.__name__
    if direct:
        builder.refuse(
            "IG128",
            f"`{name}` calls itself, and more work follows the call",
            node,
            "not the last thing that the helper does",
            why="helpers are inlined; a call that is returned as it is becomes a loop, any other has no end",
            remedies=(
                f"return the call itself, `return {name}(...)`, and carry the partial result as a parameter",
                "or write a loop",
            ),
        )
    builder.refuse(
        "IG128",
        f"`{name}` is called while it is being inlined",
        node,
        "this closes a circle of calls",
        why="helpers are inlined, and a circle of them has no end",
        remedies=("write one helper with a loop",),
    )


def _bound(builder: Builder, function: FunctionType, captured: Captured, node: ast.Call) -> dict[str, ast.expr | None]:
    """Argument nodes by parameter, in the order written; None where the default is used."""
    arguments = captured.tree.args
    if arguments.vararg is not None or arguments.kwarg is not None:
        star = arguments.vararg or arguments.kwarg
        builder.refuse(
            "IG129",
            f"helper `{function.__name__}` takes any number of arguments",
            node,
            f"`*{star.arg if star else ''}` in its signature",
            remedies=("name each parameter",),
        )
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    defaults = [n for n in names if inspect.signature(function).parameters[n].default is not inspect.Parameter.empty]
    required = [n for n in names if n not in defaults]
    given = calls.arguments(builder, node, names, len(defaults))
    for name in required:
        if name not in given:
            builder.refuse("IG129", f"`{function.__name__}` is called without `{name}`", node, "an argument is missing")
    return {**given, **{name: None for name in names if name not in given}}


def _frame(builder: Builder, function: FunctionType, text: FunctionText, node: ast.Call) -> Frame:
    caller = builder.frame
    key = (*caller.key, (node.lineno, node.col_offset), *_trips(caller))
    return Frame(
        function=function,
        captured=text.captured,
        key=key,
        prefix=f"{function.__name__}.",
        locals=text.assigned,
        assigned_once=text.assigned_once,
        caller=caller,
        call=node,
    )


def _trips(frame: Frame) -> tuple[int, ...]:
    """Which copy of an unrolled loop a call is in: each copy is typed on its own."""
    return (frame.site,) if frame.site else ()


def _called_function(builder: Builder, node: ast.Call) -> FunctionType | None:
    """The function that a call by plain name reaches, without evaluating anything."""
    if not isinstance(node.func, ast.Name) or node.func.id in builder.frame.locals:
        return None
    try:
        value = builder.captures.read(builder.frame.function, node.func.id)
    except LookupError:
        return None
    return value.function if isinstance(value, Helper) else None


# --- parameters ------------------------------------------------------------------------------------------------------


def _bind_parameters(
    builder: Builder,
    frame: Frame,
    text: FunctionText,
    given: Mapping[str, ast.expr | None],
    values: Mapping[str, Value],
    node: ast.Call,
) -> None:
    function, captured = frame.function, text.captured
    annotations = _annotations(builder, function, captured)
    repeats = _repeats(builder, text)
    for name, argument in given.items():
        value = values[name] if argument is not None else _default_value(builder, function, name, node)
        place: ast.expr = argument if argument is not None else node
        caller = frame.caller or frame
        if name in annotations:
            with builder.inside(caller):
                value = _annotated(builder, frame, name, annotations[name], value, place)
        if name in annotations and isinstance(value, Typed) and (repeats or name in frame.locals):
            builder.inference.declare(builder.variable(name).key, value.type, captured.signature_span())
        _bind(builder, frame, name, value, place, repeats)


def _bind(builder: Builder, frame: Frame, name: str, value: Value, place: ast.expr, repeats: bool) -> None:
    """A parameter that is never assigned stands for its argument; any other is a local of the helper."""
    changes = name in frame.locals or (repeats and isinstance(value, Typed | Literal | LiteralChoice | TupleValue))
    if changes:
        frame.locals |= {name}
        frame.assigned_once -= {name}
        binding.assign_name(builder, name, value, frame.captured.tree, _caller_span(frame, place))
        return
    frame.locals -= {name}
    match value:
        case Typed(expression=expression) if not is_atom(expression):
            frame.locals |= {name}
            binding.assign_name(builder, name, value, frame.captured.tree, _caller_span(frame, place))
        case Narrowed(expression=cast):
            builder.refuse(
                "IG114",
                f"{cast.type.value} is for elements only, and a helper gets such a value",
                _caller_span(frame, place),
                f"a conversion to {cast.type.value} may only be stored",
            )
        case _:
            frame.parameters[name] = expressions.keep_here(builder, value)


def _caller_span(frame: Frame, place: ast.expr) -> Any:
    return (frame.caller or frame).captured.span(place)


def _repeats(builder: Builder, text: FunctionText) -> bool:
    """Whether the helper that is being built calls itself."""
    return any(_called_function(builder, call) is builder.frame.function for call in text.calls)


def _default_value(builder: Builder, function: FunctionType, name: str, node: ast.expr) -> Value:
    default = inspect.signature(function).parameters[name].default
    return constant_value(builder, default, node, f"{function.__name__}.{name}")


def _annotations(builder: Builder, function: FunctionType, captured: Captured) -> dict[str, Any]:
    """Annotations as objects; those written as strings are looked up where the helper was defined."""
    found: dict[str, Any] = {}
    for name, annotation in function.__annotations__.items():
        if isinstance(annotation, str):
            annotation = _evaluated_annotation(builder, function, captured, name, annotation)
        found[name] = annotation
    found.pop("return", None)
    return found


def _evaluated_annotation(builder: Builder, function: FunctionType, captured: Captured, name: str, text: str) -> Any:
    closure = inspect.getclosurevars(function)
    try:
        return eval(text, {**function.__globals__, **closure.nonlocals})
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        builder.refuse(
            "IG151",
            f"the annotation `{text}` of `{name}` cannot be read",
            captured.signature_span(),
            str(error),
            remedies=("name a dtype, or an array such as `In[f32, N]`",),
        )


def _annotated(builder: Builder, frame: Frame, name: str, annotation: Any, value: Value, place: ast.expr) -> Value:
    """The argument, judged by the annotation of its parameter."""
    what = f"`{name}` of `{frame.function.__name__}`"
    scalar = _scalar_annotation(builder, frame, annotation, value)
    if scalar is not None:
        if not scalar.is_computing:
            _refuse_storage_type(builder, frame, what, scalar)
        return Typed(expect(builder, value, scalar, place, what))
    if isinstance(annotation, ArrayAnnotation):
        _check_array(builder, frame, what, annotation, value, place)
        return value
    members = [a for a in typing.get_args(annotation) if a is not NoneType]
    if len(members) == 1 and isinstance(members[0], ArrayAnnotation):
        if not isinstance(value, NothingValue):
            _check_array(builder, frame, what, members[0], value, place)
        return value
    if annotation is Any or typing.get_origin(annotation) in (tuple, type) or annotation in (tuple, object):
        return value
    builder.refuse(
        "IG151",
        f"{what} is annotated with `{getattr(annotation, '__name__', annotation)}`, which is no type of the language",
        frame.captured.signature_span(),
        "in this signature",
        remedies=("write a dtype such as f32, an array such as `In[f32, N]`, or no annotation",),
    )


def _refuse_storage_type(builder: Builder, frame: Frame, what: str, scalar: Scalar) -> NoReturn:
    builder.refuse(
        "IG151",
        f"{what} is declared {scalar.value}, which is for elements only",
        frame.captured.signature_span(),
        "in this signature",
        why=f"a loaded {scalar.value} is {article(scalar.computing.value)}",
        remedies=(f"write `{scalar.computing.value}`",),
    )


def _scalar_annotation(builder: Builder, frame: Frame, annotation: Any, value: Value) -> Scalar | None:
    if annotation is int:
        return INDEX
    if isinstance(annotation, typing.TypeVar):
        known = frame.types.get(annotation.__name__)
        if known is None and isinstance(value, Typed) and not value.pending:
            frame.types[annotation.__name__] = known = value.type
        return known
    return scalar_of(annotation)


def _check_array(
    builder: Builder, frame: Frame, what: str, annotation: ArrayAnnotation, value: Value, place: ast.expr
) -> None:
    element, *extents = annotation.arguments
    if not isinstance(value, ArrayValue):
        builder.refuse(
            "IG130",
            f"{what} is an array, and {builder.quoted(place)} is {article(describe(value))}",
            place,
            "not an array",
        )
    wanted = scalar_of(element)
    if isinstance(element, typing.TypeVar):
        wanted = frame.types.setdefault(element.__name__, value.element)
    if wanted is not None and wanted is not value.element:
        builder.refuse(
            "IG130",
            f"{what} has {wanted.value} elements, and {builder.quoted(place)} has {value.element.value}",
            place,
            f"{value.element.value} elements",
            remedies=("leave the parameter unannotated: helpers are typed by their arguments",),
        )
    if len(extents) != value.rank:
        builder.refuse(
            "IG119",
            f"{what} has rank {len(extents)}, and {builder.quoted(place)} has rank {value.rank}",
            place,
            f"rank {value.rank}",
            remedies=("pass a row, `x[i]`, or annotate one extent per axis",),
        )
    _check_access(builder, what, annotation, value, place)
    for extent, actual in zip(extents, value.extents, strict=True):
        _bind_extent(builder, frame, what, extent, actual, place)


def _check_access(builder: Builder, what: str, annotation: ArrayAnnotation, value: ArrayValue, place: ast.expr) -> None:
    access = annotation.access
    if (access.reads and not value.access.reads) or (access.writes and not value.access.writes):
        builder.refuse(
            "IG118" if access is Access.INOUT else ("IG117" if access is Access.IN else "IG116"),
            f"{what} is {access.value}, and `{value.name}` is {value.access.value}",
            place,
            f"`{value.name}` is {value.access.value}",
            remedies=(f"declare `{value.name}` as InOut in the kernel",),
        )


def _bind_extent(builder: Builder, frame: Frame, what: str, extent: Any, actual: k.Expr, place: ast.expr) -> None:
    """A dimension in a helper is the extent of the argument that it annotates."""
    if isinstance(extent, DimMeta) and extent is not Dim:
        known = frame.dims.setdefault(extent, actual)
        if known != actual:
            builder.refuse(
                "IG155",
                f"cannot show that the extents `{extent.__name__}` of `{frame.function.__name__}` are equal",
                place,
                f"{what} has another extent here",
                why="the same dimension twice in a helper is an equality of the arguments' extents",
                remedies=("give the arrays of the kernel the same dimension", "or use two dimensions in the helper"),
            )
        return
    fixed = next(iter(typing.get_args(extent)), None) if typing.get_origin(extent) is typing.Literal else None
    if isinstance(fixed, int) and not (isinstance(actual, k.Const) and actual.value == fixed):
        builder.refuse(
            "IG130",
            f"{what} has the fixed extent {fixed}, and {builder.quoted(place)} is not known to have it",
            place,
            "another extent",
            remedies=(f"declare the array with `Literal[{fixed}]`",),
        )


# --- the body --------------------------------------------------------------------------------------------------------


def _body(builder: Builder, frame: Frame, text: FunctionText, node: ast.Call) -> Value:
    captured = text.captured
    frame.flow = set(frame.bindings)
    repeats = _repeats(builder, text)
    if text.has_one_end and not repeats:
        frame.returns = Returns(label=None)
        statements.build_body(builder, captured.tree)
        return _single_result(frame, node)
    label = builder.fresh(f"{frame.prefix}end")
    frame.returns = Returns(label=label, repeat_label=builder.fresh(f"{frame.prefix}again") if repeats else None)
    span = builder.span(captured.tree)
    with builder.nested() as body:
        statements.build_body(builder, captured.tree)
        _end_of_body(builder, frame, captured)
    if frame.returns.repeat_label is not None:
        again = k.Scope(frame.returns.repeat_label, tuple(body), span=span)
        true = k.Const(1, Scalar.BOOL, span=span)
        body = [k.While((), true, (again,), span=span)]
    builder.emit(k.Scope(label, tuple(body), span=span))
    return _joined_result(builder, frame, captured, node)


def _end_of_body(builder: Builder, frame: Frame, captured: Captured) -> None:
    """What happens where the text ends without a return."""
    returns = frame.returns
    if returns is None or frame.flow is None:
        return
    if any(not isinstance(v, NothingValue) for v, _ in returns.values):
        builder.report(
            "IG131",
            f"`{frame.function.__name__}` may end without a value",
            captured.signature_span(),
            "some path reaches the end",
            why="another path returns a value",
            remedies=("return a value on every path",),
            secondary=(Label(builder.span(returns.values[0][1]), "a value is returned here"),),
        )
    if returns.repeat_label is not None and returns.label is not None:
        builder.emit(k.Leave(returns.label, span=builder.span(captured.tree)))


def _single_result(frame: Frame, node: ast.Call) -> Value:
    returns = frame.returns
    if returns is None or not returns.values:
        return NothingValue(f"{frame.function.__name__}(...)")
    value = returns.values[0][0]
    if isinstance(value, NothingValue) and not value.of:
        return NothingValue(f"{frame.function.__name__}(...)")
    return value


def _joined_result(builder: Builder, frame: Frame, captured: Captured, node: ast.Call) -> Value:
    returns = frame.returns
    if returns is None or returns.binding is None:
        if returns is not None and any(isinstance(v, Poison) for v, _ in returns.values):
            builder.give_up()
        if returns is not None and returns.result is not None:
            return returns.result
        return NothingValue(f"{frame.function.__name__}(...)")
    return binding_value(builder, returns.binding, captured.tree)
