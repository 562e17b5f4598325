"""Elementary functions: the statements of the compiled function are put in place of the call, under fresh names.

y[i] = exp(x[i])   ->   let exp.k.1 = froundeven(fmul(x.1, 1.4426950408889634))
                        ...
                        y[i] = fmul(exp.value.1, ...)
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from isogrid.builtins.elementary import CORRECTING
from isogrid.ir import device as d
from isogrid.ir.types import Space
from isogrid.ir.walk import map_expr, visit
from isogrid.lowering.builder import Array, Builder
from isogrid.lowering.machine import literal
from isogrid.mathlib.functions import Function, has_build, load

_ONES: Final = (d.Literal(0x3F800000, d.Machine.F32), d.Literal(0x3FF0000000000000, d.Machine.F64))


def lower_elementary(builder: Builder, name: str, arguments: tuple[d.Expr, ...]) -> d.Expr:
    """The value of the compiled function `name` for arguments that have been evaluated."""
    function = load(name, builder.build)
    values: dict[str, d.Expr] = {}
    for (parameter, _), argument in zip(function.parameters, arguments, strict=True):
        values[parameter] = builder.atom(argument, name)
    for variable, machine in function.variables:
        values[variable] = builder.variable(_stem(function, variable), machine)
    tables = {table.name: _declared(builder, function, table) for table in function.tables}
    corrected = builder.build in CORRECTING and has_build(name, builder.build)
    _put(builder, function, function.body, values, tables, corrected=corrected)
    builder.exact = True
    return _renamed(function.result, values, tables)


def divides(name: str) -> bool:
    """Whether the usual build of a function has a quotient or root of f32."""
    return any(
        isinstance(node, d.Op) and node.op in ("fdiv", "fsqrt") and node.type is d.Machine.F32
        for node in visit(load(name).body)
    )


def started_inverses(name: str, build: str) -> frozenset[d.Machine]:
    """The types of the inverses that a build of a function begins with and corrects; none where it does not."""
    if build not in CORRECTING or not has_build(name, build):
        return frozenset()
    found: set[d.Machine] = set()
    for statement in load(name, build).body:
        if isinstance(statement, d.Let):
            found |= {node.type for node in visit(statement.value) if isinstance(node, d.Op) and _is_inverse(node)}
    return frozenset(found)


def _put(
    builder: Builder,
    function: Function,
    block: d.Block,
    values: dict[str, d.Expr],
    tables: Mapping[str, str],
    *,
    corrected: bool,
) -> None:
    """The statements of a block; `corrected`: it corrects the inverses that it begins with."""
    for statement in block:
        match statement:
            case d.Let():
                value = _renamed(statement.value, values, tables)
                stem = _stem(function, statement.name)
                if corrected:
                    value = map_expr(value, lambda part, stem=stem: _started(builder, part, stem))
                values[statement.name] = builder.let(value, stem)
            case d.Set():
                name = values[statement.name]
                assert isinstance(name, d.Value)
                builder.set(name, _renamed(statement.value, values, tables))
            case d.If():
                condition = _renamed(statement.condition, values, tables)
                sides: list[d.Block] = []
                for side in (statement.then, statement.otherwise):
                    with builder.block() as inside:
                        _put(builder, function, side, values, tables, corrected=False)
                    sides.append(tuple(inside))
                # The slow paths: what the quick build cannot decide, arguments that are large.
                builder.emit(d.If(condition, sides[0], sides[1], span=builder.span, rare=True))
            case _:
                raise AssertionError(f"{function.name} was loaded with a {type(statement).__name__}")


def _started(builder: Builder, node: d.Expr, stem: str) -> d.Expr:
    """An inverse 1 / x under a name of its own, as a value that what follows corrects."""
    return builder.let(node, stem, start=True) if _is_inverse(node) else node


def _is_inverse(node: d.Node) -> bool:
    match node:
        case d.Op(op="fdiv", arguments=(d.Literal() as one, _)):
            return one in _ONES
        case _:
            return False


def _stem(function: Function, name: str) -> str:
    return f"{function.name}.{name.rsplit('.', 1)[-1] if name[-1].isalpha() else 't'}"


def _renamed(node: d.Expr, values: Mapping[str, d.Expr], tables: Mapping[str, str]) -> d.Expr:
    def place(part: d.Expr) -> d.Expr:
        match part:
            case d.Value():
                return values[part.name]
            case d.Load():
                return replace(part, buffer=tables[part.buffer])
            case _:
                return part

    return map_expr(node, place)


def _declared(builder: Builder, function: Function, table: d.Buffer) -> str:
    """The name of the table in this kernel; every call of the function shares it."""
    key = f"{function.name}.{table.name}"
    name = builder.function_tables.get(key)
    if name is None:
        name = builder.function_tables[key] = builder.fresh(key)
        count = table.count or 0
        builder.arrays[name] = Array(name, table.element, Space.TABLE, (literal(count, d.Machine.I64),))
        builder.buffers.append(replace(table, name=name))
    return name
