"""Functions with two results, `ig.sincos` and `math.frexp`: two calls on one argument, as a tuple."""

import ast

from isogrid.builtins.index import resolve
from isogrid.frontend import calls, expressions
from isogrid.frontend.coercion import number
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import TupleValue, Typed, Value
from isogrid.ir import kernel as k
from isogrid.support.errors import CompilerBug


def sincos(builder: Builder, spelling: str, node: ast.Call) -> Value:
    """`ig.sincos(x)`: a pair of calls on one argument."""
    return _pair_of_calls(builder, node, ("sin", "cos"))


def frexp(builder: Builder, spelling: str, node: ast.Call) -> Value:
    """`math.frexp(x)`: mantissa and exponent."""
    return _pair_of_calls(builder, node, ("frexp_mantissa", "frexp_exponent"))


def _pair_of_calls(builder: Builder, node: ast.Call, names: tuple[str, str]) -> Value:
    given = calls.arguments(builder, node, ("x",))
    x = number(builder, calls.evaluated(builder, given)["x"], given["x"], f"given to `{builder.text(node.func)}`")
    if not x.type.is_float:
        builder.refuse(
            "IG130", f"`{builder.text(node.func)}` takes a float, and {builder.quoted(given['x'])} is {x.type.value}",
            given["x"], f"this is {x.type.value}", remedies=("convert it: `f32(...)`",),
        )  # fmt: skip
    operand = expressions.atom(builder, x.expression)
    items: list[Value] = []
    for name in names:
        found = resolve(f"isogrid.{name}", (x.type,)) or resolve(f"math.{name}", (x.type,))
        if found is None:
            raise CompilerBug(f"no function {name} of {x.type}")
        row, signature = found
        items.append(Typed(k.Call(row.name, (operand,), signature.result, span=builder.span(node))))
    return TupleValue(tuple(items))
