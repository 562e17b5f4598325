"""Calls outside the language: methods, Python and NumPy functions, kernels, each with what to write instead."""

import ast
from collections.abc import Mapping
from types import FunctionType
from typing import Any, Final, NoReturn

import numpy as np

from isogrid.diagnostics.report import Edit, Remedy
from isogrid.diagnostics.span import Span
from isogrid.frontend import expressions
from isogrid.frontend.foreign import meant_by, special_float
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import (
    ArrayValue,
    Literal,
    LiteralChoice,
    StringValue,
    TupleValue,
    Typed,
    article,
    describe,
)
from isogrid.ir.types import Scalar

#: Python's own functions, and what to write instead.
_FUNCTIONS: Final[Mapping[str, str]] = {
    "input": "pass the value as a parameter",
    "open": "read the file on the host and pass an array",
    "sum": "add in a loop, or use `ig.group_sum`",
    "any": "test in a loop, or use `ig.group_any`",
    "all": "test in a loop, or use `ig.group_all`",
    "sorted": "sort on the host, or write the network in the kernel",
    "reversed": "count down: `range(n - 1, -1, -1)`",
    "divmod": "write `a // b` and `a % b`",
    "range": "a range stands in the head of a `for`",
    "enumerate": "it stands in the head of a `for`",
    "zip": "it stands in the head of a `for`",
    "map": "write a loop",
    "filter": "write a loop with an `if`",
    "isinstance": "types are known before the kernel runs: compare `x.dtype == f32`",
    "type": "write `x.dtype` of an array",
    "tuple": "write the components: `(a, b)`",
    "list": "use `ig.local(f32, n)` for a thread's array",
    "dict": "use locals, or a table indexed by a number",
    "set": "use a tuple, or an `ig.local` array of flags",
    "str": "kernels compute with numbers only",
    "complex": "keep real and imaginary part in two values",
}

_NUMPY_ARRAYS: Final = frozenset(
    {"zeros", "ones", "empty", "full", "array", "asarray", "arange", "linspace", "copy"}
    | {"zeros_like", "empty_like", "ones_like", "full_like"}
)
_NUMPY_FUNCTIONS: Final = frozenset({"sqrt", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "copysign", "exp",
                                     "log", "sin", "cos", "tan"})  # fmt: skip
_NUMPY_OTHERS: Final[Mapping[str, str]] = {
    "abs": "abs(x)", "absolute": "abs(x)", "fabs": "abs(x)", "minimum": "min(a, b)", "maximum": "max(a, b)",
    "clip": "ig.clamp(x, low, high)", "where": "a if condition else b", "round": "round(x)", "power": "a ** b",
    "bitwise_and": "a & b", "bitwise_or": "a | b", "bitwise_xor": "a ^ b", "mod": "a % b", "floor_divide": "a // b",
}  # fmt: skip
_DTYPES: Final[Mapping[str, str]] = {
    s.numpy.name: s.value for s in Scalar if s not in (Scalar.BF16, Scalar.W32, Scalar.W64)
}
_METHODS: Final[Mapping[str, str]] = {
    "append": "write to an element: `x[i] = value`",
    "sum": "add in a loop, or use `ig.group_sum`",
    "min": "compare in a loop, or use `ig.group_min`",
    "max": "compare in a loop, or use `ig.group_max`",
    "copy": "copy element by element into `ig.local(...)`",
    "fill": "store in a loop",
    "astype": "convert the element: `f32(x[i])`",
    "item": "read the element: `x[i]`",
    "reshape": "compute the index: `x[i * w + j]`",
    "mean": "add in a loop and divide",
    "dot": "multiply and add in a loop",
    "sqrt": "write `math.sqrt(x)`",
}


def check_method(builder: Builder, node: ast.Call) -> None:
    """A method of a value; functions of modules are no methods."""
    function = node.func
    if not isinstance(function, ast.Attribute) or not isinstance(
        function.value, ast.Name | ast.Subscript | ast.Constant
    ):
        return
    if isinstance(function.value, ast.Name):
        frame = builder.frame
        if function.value.id not in frame.locals and function.value.id not in frame.parameters:
            return
    if function.attr in ("dtype", "shape"):
        return
    with builder.nested():
        before = len(builder.reports)
        owner = expressions.evaluate(builder, function.value)
        del builder.reports[before:]
    if not isinstance(owner, ArrayValue | Typed | Literal | LiteralChoice | TupleValue | StringValue):
        return
    builder.refuse(
        "IG147",
        f"`{builder.text(function)}(...)` calls a method",
        node,
        f"a method of {article(describe(owner))}",
        why="values of a kernel have no methods",
        remedies=(_METHODS[function.attr],) if function.attr in _METHODS else ("call a function instead",),
    )


def refuse_function(builder: Builder, spelling: str, node: ast.Call) -> NoReturn:
    """A function of Python, math or `ig` that means nothing where it is called."""
    module, name = spelling.split(".", 1)
    if spelling == "builtins.print":
        builder.refuse(
            "IG102",
            "`print` is not supported yet",
            node.func,
            "a later version prints in reference order",
            remedies=("store the value in an array and print it on the host",),
        )
    shown = {"builtins": name, "math": f"math.{name}", "isogrid": f"ig.{name}"}[module]
    remedies: tuple[str, ...] = (_FUNCTIONS[name],) if module == "builtins" and name in _FUNCTIONS else ()
    if module == "math":
        remedies = ("write it out, or compute it on the host",)
    builder.refuse(
        "IG148",
        f"`{shown}` is no function of the language",
        node.func,
        "not available in a kernel",
        remedies=remedies,
    )


def refuse_float(builder: Builder, node: ast.Call) -> NoReturn:
    argument = builder.text(node.args[0]) if node.args else "x"
    special = special_float(node.args[0]) if node.args else None
    builder.refuse(
        "IG148",
        "`float` does not say which float",
        node.func,
        "f32 or f64?",
        why="a conversion names its type",
        remedies=(f"write `{special}`" if special else f"write `f32({argument})` or `f64({argument})`",),
    )


def refuse_call(builder: Builder, called: Any, node: ast.Call) -> NoReturn:
    """A Python object that is called and is no function of the language."""
    name = builder.text(node.func)
    if getattr(called, "__isogrid_kernel__", False):
        builder.refuse(
            "IG149",
            f"the kernel `{name}` is called from a kernel",
            node,
            "a launch inside a launch",
            why="kernels are launched from the host",
            remedies=("move the common part into a function decorated with `@ig.func`, and call it from both",),
        )
    meant = meant_by(name.split(".")[-1])
    if meant and _is_foreign(called):
        builder.refuse(
            "IG148",
            f"`{name}` belongs to another language",
            node.func,
            f"a Python {type(called).__name__}",
            remedies=(f"write `{meant}`",),
        )
    if isinstance(called, FunctionType):
        _refuse_plain_function(builder, called, name, node)
    if _is_numpy(called):
        _refuse_numpy(builder, called, name, node)
    builder.refuse(
        "IG148",
        f"`{name}` is no function of the language",
        node.func,
        f"a Python {type(called).__name__}",
        why="kernels call helpers decorated with `@ig.func` and the functions of `math` and `ig`",
        remedies=("compute it on the host and pass the result",),
    )


def _refuse_plain_function(builder: Builder, called: FunctionType, name: str, node: ast.Call) -> NoReturn:
    code = called.__code__
    # Generated functions have no line that an author could change; those typed at a prompt have one.
    inside = not code.co_filename.startswith(("<string>", "<frozen")) and "site-packages" not in code.co_filename
    line = code.co_firstlineno
    edits: tuple[Edit, ...] = ()
    if code.co_filename == builder.frame.captured.file:
        indent = builder.frame.captured.lines[line - 1]
        indent = indent[: len(indent) - len(indent.lstrip())]
        edits = (Edit(Span(code.co_filename, line, 1, line, 1), f"{indent}@ig.func\n"),)
    builder.refuse(
        "IG127",
        f"`{name}` is a plain Python function",
        node.func,
        f"defined in line {line}" if edits else "not a helper",
        why="a function that kernels call is marked, since it must stay within the language",
        remedies=(
            (Remedy(f"decorate `{called.__name__}` with `@ig.func`", edits),)
            if inside
            else ("compute it on the host and pass the result",)
        ),
    )


def _is_foreign(called: Any) -> bool:
    """Whether it belongs to another library for kernels."""
    module = getattr(called, "__module__", None) or type(called).__module__
    return str(module).split(".")[0] in ("numba", "cupy", "cupyx", "triton")


def _is_numpy(called: Any) -> bool:
    module = getattr(called, "__module__", None) or ""
    return isinstance(called, np.ufunc) or str(module).split(".")[0] == "numpy"


def _refuse_numpy(builder: Builder, called: Any, name: str, node: ast.Call) -> NoReturn:
    function = getattr(called, "__name__", name)
    if function in _NUMPY_ARRAYS:
        builder.refuse(
            "IG146",
            f"`{name}` makes an array in a kernel",
            node.func,
            "every thread would make its own",
            remedies=(
                "use `ig.local(f32, n)` for an array of the thread, `ig.shared(f32, n)` for one of the group",
                "or make it on the host and pass it",
            ),
        )
    if isinstance(called, type) and issubclass(called, np.generic):
        short = _DTYPES.get(function, "f32")
        remedy = f"convert with the dtype of the language: `{short}(...)`"
    elif function in _NUMPY_FUNCTIONS:
        remedy = f"write `math.{function}(...)` of one element"
    elif function in _NUMPY_OTHERS:
        remedy = f"write `{_NUMPY_OTHERS[function]}` of one element"
    else:
        remedy = "write a loop over elements"
    builder.refuse(
        "IG146",
        f"`{name}` is called in a kernel",
        node.func,
        "a NumPy function",
        why="NumPy works on whole arrays on the host; a kernel on one element in each thread",
        remedies=(remedy,),
    )


def refuse_double_star(builder: Builder, node: ast.keyword) -> NoReturn:
    builder.refuse("IG101", "`**` unpacks a dict in a call", node, "outside the language",
                   remedies=("name each argument",))  # fmt: skip
