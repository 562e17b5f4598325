"""Python outside the language: each construct by its name, with the way to say it instead."""

import ast
from collections.abc import Mapping
from types import FunctionType
from typing import Any, Final, NoReturn

import numpy as np

from isogrid.diagnostics.report import Edit, Label, Remedy
from isogrid.diagnostics.span import Span
from isogrid.frontend import binding, expressions, source
from isogrid.frontend.scope import AtomicUse, Builder
from isogrid.frontend.values import (
    ArrayValue,
    Literal,
    LiteralChoice,
    NothingValue,
    StringValue,
    TupleValue,
    Typed,
    Value,
    article,
    describe,
)
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Construct:
    """A piece of Python that kernels do not have. `word` opens the statement, for the caret."""

    code: str
    name: str
    remedy: str
    word: str = ""
    why: str = ""


_OUTSIDE: Final = "IG100"
_EXPRESSION: Final = "IG101"
_NOT_YET: Final = "IG102"

STATEMENTS: Final[Mapping[type[ast.AST], Construct]] = {
    ast.With: Construct(_OUTSIDE, "a `with` statement", "no resources are opened in a kernel: drop it", "with"),
    ast.AsyncWith: Construct(_OUTSIDE, "an `async with` statement", "drop it", "async"),
    ast.AsyncFor: Construct(_OUTSIDE, "an `async for` loop", "write a plain `for`", "async"),
    ast.Try: Construct(
        _OUTSIDE, "a `try` statement", "test the value before: `if d != 0:`", "try",
        "a trap ends the launch and cannot be caught inside it",
    ),
    ast.TryStar: Construct(_OUTSIDE, "a `try` statement", "test the value before: `if d != 0:`", "try"),
    ast.Raise: Construct(
        _OUTSIDE, "a `raise` statement", 'write `assert condition, "message"`', "raise",
        "an assertion is checked on every device and becomes an exception of the launch",
    ),
    ast.Delete: Construct(_OUTSIDE, "a `del` statement", "locals need no deletion: drop it", "del"),
    ast.Global: Construct(
        _OUTSIDE, "a `global` statement", "pass an array of one element and write into it", "global",
        "threads cannot change Python variables",
    ),
    ast.Nonlocal: Construct(
        _OUTSIDE, "a `nonlocal` statement", "pass an array of one element and write into it", "nonlocal",
        "threads cannot change Python variables",
    ),
    ast.ClassDef: Construct(_OUTSIDE, "a class", "define it outside; keep its numbers in locals", "class"),
    ast.FunctionDef: Construct(
        _OUTSIDE, "a nested function", "define it outside with `@ig.func`, and pass what it needs", "def"
    ),
    ast.AsyncFunctionDef: Construct(_OUTSIDE, "an async function", "define it outside with `@ig.func`", "async"),
    ast.Import: Construct(_OUTSIDE, "an `import`", "import at the top of the file", "import"),
    ast.ImportFrom: Construct(_OUTSIDE, "an `import`", "import at the top of the file", "from"),
    ast.Match: Construct(
        _NOT_YET, "`match`", "write `if` and `elif`", "match", "it comes with records, in a later version"
    ),
}  # fmt: skip

EXPRESSIONS: Final[Mapping[type[ast.AST], Construct]] = {
    ast.Lambda: Construct(_EXPRESSION, "a lambda", "define a function outside with `@ig.func`"),
    ast.ListComp: Construct(_EXPRESSION, "a list comprehension", "write a loop that fills an `ig.local` array"),
    ast.SetComp: Construct(_EXPRESSION, "a set comprehension", "write a loop that fills an `ig.local` array"),
    ast.DictComp: Construct(_EXPRESSION, "a dict comprehension", "write a loop that fills an `ig.local` array"),
    ast.GeneratorExp: Construct(_EXPRESSION, "a generator expression", "write a loop that adds up, compares or tests"),
    ast.List: Construct(
        _EXPRESSION, "a list", "use a tuple for fixed values, or `ig.local(f32, n)` for a thread's array"
    ),
    ast.Dict: Construct(_EXPRESSION, "a dict", "use locals, or a table indexed by a number"),
    ast.Set: Construct(_EXPRESSION, "a set", "use a tuple, or an `ig.local` array of flags"),
    ast.JoinedStr: Construct(
        _EXPRESSION, "an f-string", "kernels compute with numbers only; `assert` takes a plain string as message"
    ),
    ast.NamedExpr: Construct(_EXPRESSION, "an assignment expression `:=`", "assign on a line of its own before"),
    ast.Await: Construct(_EXPRESSION, "`await`", "drop it: a kernel runs to its end"),
    ast.Yield: Construct(_EXPRESSION, "`yield`", "write into an Out array"),
    ast.YieldFrom: Construct(_EXPRESSION, "`yield from`", "write into an Out array"),
    ast.Starred: Construct(_EXPRESSION, "a starred expression", "name each value"),
    ast.Slice: Construct(_EXPRESSION, "a slice", "loop over the range, or pass a whole row `x[i]` to a helper"),
}

_CONSTANTS: Final[Mapping[type, Construct]] = {
    complex: Construct(_EXPRESSION, "a complex number", "keep real and imaginary part in two values"),
    bytes: Construct(_EXPRESSION, "a bytes literal", "use a read-only NumPy array of uint8"),
    type(...): Construct(_EXPRESSION, "an ellipsis", "write every index"),
}

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


def refuse_statement(builder: Builder, node: ast.stmt) -> NoReturn:
    """A statement that kernels do not have."""
    construct = STATEMENTS.get(type(node))
    if construct is None:
        construct = Construct(
            _OUTSIDE, f"a `{type(node).__name__}` statement", "write it with the statements of a kernel"
        )
    place: ast.AST | Span = node
    if construct.word:
        place = source.head_of(builder.frame.captured, node, construct.word)
    _refuse_construct(builder, construct, place)


def refuse_expression(builder: Builder, node: ast.expr) -> NoReturn:
    """An expression that kernels do not have."""
    if isinstance(node, ast.NamedExpr):
        binding.poison(builder, node.target.id, node)
    construct = EXPRESSIONS.get(type(node))
    if construct is None:
        construct = Construct(_EXPRESSION, f"a `{type(node).__name__}` expression", "write it with numbers and arrays")
    _refuse_construct(builder, construct, node)


def refuse_constant(builder: Builder, node: ast.Constant) -> NoReturn:
    construct = _CONSTANTS.get(type(node.value), Construct(_EXPRESSION, f"the constant `{node.value}`", "use a number"))
    _refuse_construct(builder, construct, node)


def _refuse_construct(builder: Builder, construct: Construct, place: ast.AST | Span) -> NoReturn:
    where = "helper" if not builder.frame.is_kernel else "kernel"
    tense = "is not supported yet" if construct.code == _NOT_YET else f"stands in a {where}"
    builder.refuse(
        construct.code,
        f"{construct.name} {tense}",
        place,
        "not supported yet" if construct.code == _NOT_YET else "outside the language",
        why=construct.why,
        remedies=(construct.remedy,),
    )


# --- statements ------------------------------------------------------------------------------------------------------


def refuse_loop_else(builder: Builder, node: ast.For | ast.While, word: str) -> NoReturn:
    builder.refuse(
        "IG103",
        f"a `{word}` loop has an `else`",
        source.head_of(builder.frame.captured, node, word),
        f"its `else` begins in line {node.orelse[0].lineno - 1}",
        remedies=("set a flag before the `break`, and test it after the loop",),
    )


def refuse_return_value(builder: Builder, node: ast.Return) -> NoReturn:
    builder.refuse(
        "IG132",
        f"the kernel returns {builder.quoted(node.value) if node.value else 'a value'}",
        node,
        "a kernel returns nothing",
        why="every thread would return its own value",
        remedies=("store the result: `out[i] = ...`", "a function that kernels call is decorated with `@ig.func`"),
    )


def refuse_returns(builder: Builder, first: tuple[Value, ast.Return], second: tuple[Value, ast.Return]) -> NoReturn:
    builder.refuse(
        "IG131",
        f"`{builder.frame.function.__name__}` returns a {_shown(first[0])} here and a {_shown(second[0])} there",
        second[1],
        f"a {_shown(second[0])}",
        why="every return of a helper gives the same kind of value",
        remedies=("return as many values on every path",),
        secondary=(Label(builder.span(first[1]), f"a {_shown(first[0])}"),),
    )


def _shown(value: Value) -> str:
    match value:
        case Typed() | Literal() | LiteralChoice():
            return "number"
        case TupleValue(items=items):
            return f"tuple of {len(items)}"
        case NothingValue():
            return "None"
        case _:
            return describe(value)


def refuse_returned_kind(builder: Builder, value: Value, node: ast.Return) -> NoReturn:
    builder.refuse(
        "IG131",
        f"`{builder.frame.function.__name__}` returns {article(describe(value))} from one of several places",
        node,
        article(describe(value)),
        why="which array a call gives must be known at compile time",
        remedies=("return it at the end of the helper only, or return an index",),
    )


def refuse_message(builder: Builder, node: ast.expr) -> NoReturn:
    what = "an f-string" if isinstance(node, ast.JoinedStr) else builder.quoted(node)
    builder.refuse(
        "IG152",
        f"the message of an `assert` is {what}",
        node,
        "not a plain string",
        why="the message is fixed when the kernel is compiled; the exception names the thread",
        remedies=("write a plain string",),
    )


def refuse_parameter_assignment(builder: Builder, name: str, span: Span) -> NoReturn:
    builder.refuse(
        "IG124",
        f"the parameter `{name}` is assigned",
        span,
        "arrays are not replaced",
        why="an array parameter is the array of the launch; a new name for it would change nothing outside",
        remedies=(f"store its elements: `{name}[i] = ...`", "or use another name"),
    )


# --- expressions -----------------------------------------------------------------------------------------------------


def refuse_matrix_product(builder: Builder, node: ast.AST) -> NoReturn:
    builder.refuse(
        _EXPRESSION,
        "`@` multiplies matrices, which kernels do element by element",
        node,
        "outside the language",
        remedies=("write the loop: `acc += a[i, k] * b[k, j]`",),
    )


def refuse_membership(builder: Builder, node: ast.Compare, negated: bool, nodes: tuple[ast.expr, ast.expr]) -> NoReturn:
    word = "not in" if negated else "in"
    item = builder.text(nodes[0])
    remedy = f"compare one by one: `{item} == a or {item} == b`"
    if isinstance(nodes[1], ast.Tuple) and nodes[1].elts:
        joined = " and " if negated else " or "
        sign = "!=" if negated else "=="
        remedy = f"compare one by one: `{joined.join(f'{item} {sign} {builder.text(e)}' for e in nodes[1].elts)}`"
    builder.refuse(_EXPRESSION, f"`{word}` searches in a kernel", node, "outside the language", remedies=(remedy,))


def refuse_slice(builder: Builder, index: ast.expr, node: ast.Subscript) -> NoReturn:
    if isinstance(index, ast.Starred):
        refuse_expression(builder, index)
    whole = isinstance(index, ast.Slice) and index.lower is None and index.upper is None and index.step is None
    base = builder.text(node.value)
    remedies = ["loop over the range and use one element at a time"]
    if whole and isinstance(node.slice, ast.Tuple):
        leading = [builder.text(e) for e in node.slice.elts if not isinstance(e, ast.Slice)]
        remedies.append(f"a row is `{base}[{', '.join(leading) or 'i'}]`, which a helper may take")
    elif whole:
        remedies = [f"the whole array is `{base}`"]
    builder.refuse(
        _EXPRESSION, f"{builder.quoted(node)} takes a slice", index, "outside the language", remedies=remedies
    )


def refuse_no_value(builder: Builder, value: NothingValue, node: ast.AST) -> NoReturn:
    """A call without a result where one is wanted."""
    if "atomic_" in value.of:
        builder.refuse(
            "IG160",
            f"the old value of `{value.of}` is used",
            node,
            "which value this is depends on the order of threads",
            why="an atomic update is a statement; its old value needs `deterministic=False`, which comes later",
            remedies=("call it as a statement, and read the array in a later launch",),
        )
    builder.refuse(
        "IG150",
        f"`{value.of}` gives no value",
        node,
        "nothing to use",
        remedies=("call it as a statement of its own",),
    )


# --- calls -----------------------------------------------------------------------------------------------------------


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
            _NOT_YET,
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
    builder.refuse(
        "IG148",
        "`float` does not say which float",
        node.func,
        "f32 or f64?",
        why="a conversion names its type",
        remedies=(f"write `f32({argument})` or `f64({argument})`",),
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
    inside = not code.co_filename.startswith("<") and "site-packages" not in code.co_filename
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
    builder.refuse(_EXPRESSION, "`**` unpacks a dict in a call", node, "outside the language",
                   remedies=("name each argument",))  # fmt: skip


def report_mixed_atomics(builder: Builder, name: str, use: AtomicUse, span: Span) -> None:
    builder.report(
        "IG140",
        f"`{name}` is accessed in another way than by `{use.text}`",
        span,
        "another access",
        why="the result would depend on the order of the accesses",
        remedies=(f"let every access to `{name}` in this kernel be the same `{use.text}` call",),
        secondary=(Label(use.span, f"`{use.text}` here"),),
    )
