"""Python outside the language: each construct by its name, with the way to say it instead."""

import ast
from collections.abc import Mapping
from typing import Final, NoReturn

from isogrid.diagnostics.report import Label
from isogrid.diagnostics.span import Span
from isogrid.frontend import binding, source
from isogrid.frontend.scope import AtomicUse, Builder
from isogrid.frontend.values import (
    Literal,
    LiteralChoice,
    NothingValue,
    TupleValue,
    Typed,
    Value,
    article,
    describe,
)
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


def report_loop_else(builder: Builder, node: ast.For | ast.While, word: str) -> None:
    """The loop itself is built all the same, so that its other faults are found."""
    builder.report(
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
            why="a deterministic kernel gives one result, whatever order its threads run in",
            remedies=(
                "call it as a statement, and read the array in a later launch",
                "or give the promise up: `@ig.kernel(..., deterministic=False)`",
            ),
        )
    builder.refuse(
        "IG150",
        f"`{value.of}` gives no value",
        node,
        "nothing to use",
        remedies=("call it as a statement of its own",),
    )


def report_mixed_atomics(builder: Builder, name: str, use: AtomicUse, span: Span) -> None:
    builder.report(
        "IG140",
        f"`{name}` is accessed in another way than by `{use.text}`",
        span,
        "another access",
        why="the result would depend on the order of the accesses",
        remedies=(
            f"let every access to `{name}` in this kernel be the same `{use.text}` call",
            "or give the promise of one result up: `@ig.kernel(..., deterministic=False)`",
        ),
        secondary=(Label(use.span, f"`{use.text}` here"),),
    )
