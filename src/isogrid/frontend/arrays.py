"""Subscripts: elements and rows of arrays, components of tuples, and what may not stand between the brackets."""

import ast
import re
from typing import Any, NoReturn

from isogrid.diagnostics.report import Edit, Label, Remedy
from isogrid.diagnostics.span import Span
from isogrid.frontend import expressions, refusals
from isogrid.frontend.coercion import default_type, scalar_operand, typed_as
from isogrid.frontend.definition import ArrayDeclaration
from isogrid.frontend.scope import Builder
from isogrid.frontend.values import (
    ArrayValue,
    DtypeValue,
    FunctionValue,
    Literal,
    NothingValue,
    ObjectValue,
    Place,
    Poison,
    TupleValue,
    Typed,
    Value,
    describe,
)
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space


def subscript_value(builder: Builder, node: ast.Subscript) -> Value:
    """`x[i]`, `x[i, j]`, `x[i][j]` or `t[0]` where it is read."""
    base, indices, nodes = _base_and_indices(builder, node)
    match base:
        case ArrayValue():
            found = tuple(_index(builder, v, n) for v, n in zip(indices, nodes, strict=True))
            return _element_or_row(builder, base, found, node)
        case TupleValue():
            return _component(builder, base, indices, node)
        case _:
            _refuse_base(builder, base, node)


def place(builder: Builder, node: ast.Subscript) -> Place:
    """The element that `x[i]` names where it is written or updated; its indices are evaluated now."""
    base, indices, nodes = _base_and_indices(builder, node)
    if not isinstance(base, ArrayValue):
        if isinstance(base, TupleValue):
            builder.refuse(
                "IG124",
                f"{builder.quoted(node)} assigns a component of a tuple",
                node,
                "tuples do not change",
                remedies=("use an `ig.local` array, or assign a new tuple",),
            )
        _refuse_base(builder, base, node)
    found = tuple(_index(builder, v, n) for v, n in zip(indices, nodes, strict=True))
    if len(found) > base.rank:
        _refuse_rank(builder, base, len(found), node)
    array = _narrowed(base, found)
    if array.rank != 0:
        _refuse_rank(builder, base, len(found), node)
    return Place(array, array.leading, builder.span(node))


def place_of(builder: Builder, array: ArrayValue, indices: Value, node: ast.expr, call: ast.Call) -> Place:
    """The element that an atomic call names by an array and an index or a tuple of them."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    values = indices.items if isinstance(indices, TupleValue) else (indices,)
    if len(nodes) != len(values):
        nodes = [node] * len(values)
    found = tuple(_index(builder, v, n) for v, n in zip(values, nodes, strict=True))
    whole = _narrowed(array, found) if len(found) <= array.rank else array
    if len(found) != array.rank:
        builder.refuse(
            "IG119",
            f"`{array.name}` has {array.rank} {'axis' if array.rank == 1 else 'axes'}, and {len(found)} "
            f"{'index is' if len(found) == 1 else 'indices are'} given",
            node,
            f"{len(found)} here",
            remedies=("give a tuple with one index per axis",),
        )
    return Place(whole, whole.leading, builder.span(call))


def load(builder: Builder, target: Place) -> Typed:
    """Read the element."""
    array = target.array
    check_readable(builder, array, target.span)
    builder.accesses.setdefault(array.name, []).append(target.span)
    checked = (True,) * len(target.indices)
    return Typed(k.Load(array.name, target.indices, array.element.computing, array.space, checked, span=target.span))


def store(builder: Builder, target: Place, value: k.Expr, narrow_checked: bool, *, bounds_known: bool = False) -> None:
    """Write the element. `bounds_known` says that a load of the same place was checked just before."""
    array = target.array
    builder.accesses.setdefault(array.name, []).append(target.span)
    checked = (not bounds_known,) * len(target.indices)
    builder.emit(
        k.Store(
            array.name, target.indices, value, array.element, array.space, checked, narrow_checked, span=target.span
        )
    )


def check_readable(builder: Builder, array: ArrayValue, span: Span) -> None:
    """`Out` is only written."""
    if array.access.reads:
        return
    builder.refuse(
        "IG117",
        f"`{array.name}` is read, and it is Out",
        span,
        "read here",
        why="an Out array is only written; what it held before the launch is not brought to the device",
        remedies=_access_remedy(builder, array.name, Access.INOUT),
        secondary=_declared(builder, array.name),
    )


def check_writable(builder: Builder, array: ArrayValue, span: Span, action: str = "written") -> None:
    """`In` is only read; a table never changes."""
    if array.access.writes:
        return
    if array.space is Space.TABLE:
        builder.refuse(
            "IG116",
            f"the table `{array.name}` is {action}",
            span,
            f"{action} here",
            why="constants of a kernel never change",
            remedies=("pass the array as an InOut parameter",),
        )
    builder.refuse(
        "IG116",
        f"`{array.name}` is {action}, and it is In",
        span,
        f"{action} here",
        why="an In array is only read",
        remedies=_access_remedy(builder, array.name, Access.INOUT if action != "written" else Access.OUT),
        secondary=_declared(builder, array.name),
    )


def check_updatable(builder: Builder, array: ArrayValue, span: Span, action: str) -> None:
    """Augmented assignments and atomics read and write."""
    if array.access is Access.OUT:
        builder.refuse(
            "IG118",
            f"`{array.name}` is {action}, and it is Out",
            span,
            f"{action} here",
            why="an update reads the element before it writes it",
            remedies=_access_remedy(builder, array.name, Access.INOUT),
            secondary=_declared(builder, array.name),
        )
    check_writable(builder, array, span, action)


def index_nodes(node: ast.Subscript) -> list[ast.expr]:
    """The expressions between the brackets."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


# --- indices ---------------------------------------------------------------------------------------------------------


def _base_and_indices(builder: Builder, node: ast.Subscript) -> tuple[Value, list[Value], list[ast.expr]]:
    """What is subscripted, the indices, and where each is written; a tuple in a name is as many indices."""
    nodes = index_nodes(node)
    for index in nodes:
        if isinstance(index, ast.Slice | ast.Starred):
            refusals.refuse_slice(builder, index, node)
    base, *indices = expressions.evaluate_all(builder, (node.value, *nodes))
    if isinstance(base, Poison) or any(isinstance(v, Poison) for v in indices):
        builder.give_up()
    if len(nodes) == 1 and isinstance(indices[0], TupleValue) and isinstance(base, ArrayValue):
        items = list(indices[0].items)
        return base, items, nodes * len(items)
    return base, indices, nodes


def _index(builder: Builder, value: Value, node: ast.expr) -> k.Expr:
    """One index of an array: any integer; a negative literal is refused."""
    operand = scalar_operand(builder, value, node, "used as an index")
    if isinstance(operand, Typed):
        if not operand.type.is_integer and not operand.pending:
            _refuse_index(builder, operand.type, node)
        return operand.expression
    if default_type(operand) is not INDEX:
        _refuse_index(builder, default_type(operand), node)
    if isinstance(operand, Literal) and operand.value < 0:
        _refuse_negative(builder, int(operand.value), node)
    return typed_as(builder, operand, INDEX, node)


def _refuse_index(builder: Builder, type: Scalar, node: ast.expr) -> NoReturn:
    builder.refuse(
        "IG120",
        f"the index {builder.quoted(node)} is {type.value}, not an integer",
        node,
        f"this is {type.value}",
        remedies=(f"convert it: `int({builder.text(node)})`",),
    )


def _refuse_negative(builder: Builder, value: int, node: ast.expr) -> NoReturn:
    parent = next(
        (
            s
            for s in ast.walk(builder.frame.captured.tree)
            if isinstance(s, ast.Subscript) and node in index_nodes(s) and isinstance(s.value, ast.Name)
        ),
        None,
    )
    remedies: tuple[str | Remedy, ...] = ("count from the end with the extent",)
    if parent is not None:
        axis = index_nodes(parent).index(node)
        text = f"{builder.text(parent.value)}.shape[{axis}] - {-value}"
        remedies = (Remedy(f"count from the end: `{text}`", (Edit(builder.span(node), text),)),)
    builder.refuse(
        "IG121",
        f"the index {value} is negative",
        node,
        "indices do not count from the end",
        why="a negative index is out of range here, as it is in every language of a device",
        remedies=remedies,
    )


def _narrowed(array: ArrayValue, indices: tuple[k.Expr, ...]) -> ArrayValue:
    leading = (*array.leading, *indices)
    return ArrayValue(array.name, array.element, array.shape, array.space, array.access, leading)


def _element_or_row(builder: Builder, array: ArrayValue, indices: tuple[k.Expr, ...], node: ast.Subscript) -> Value:
    if len(indices) > array.rank:
        _refuse_rank(builder, array, len(indices), node)
    target = _narrowed(array, indices)
    if target.rank == 0:
        return load(builder, Place(target, target.leading, builder.span(node)))
    return target


def _components(value: TupleValue) -> str:
    return "1 component" if len(value.items) == 1 else f"{len(value.items)} components"


def _component(builder: Builder, value: TupleValue, indices: list[Value], node: ast.Subscript) -> Value:
    """A component of a tuple, by a literal; it follows Python, so it may count from the end."""
    if len(indices) != 1:
        builder.refuse("IG122", f"{builder.quoted(node.value)} is a tuple and takes one index", node, "several here")
    match indices[0]:
        case Literal(value=int() as number) if not isinstance(number, bool):
            if not -len(value.items) <= number < len(value.items):
                builder.refuse(
                    "IG122",
                    f"{builder.quoted(node.value)} has {_components(value)}, and {number} is none of them",
                    node.slice,
                    f"the last component is {len(value.items) - 1}",
                )
            return value.items[number]
        case _:
            builder.refuse(
                "IG122",
                f"the tuple {builder.quoted(node.value)} is indexed by {builder.quoted(node.slice)}",
                node.slice,
                "not a literal",
                why="the components of a tuple are known at compile time, so the index must be too",
                remedies=(
                    "for constants, use a read-only NumPy array, which run-time values may index"
                    + _as_table(builder, value, node),
                    "for values of the thread, use `ig.local`",
                ),
            )


def _as_table(builder: Builder, value: TupleValue, node: ast.Subscript) -> str:
    """The lines that make a table of a tuple of numbers that was captured; nothing for other tuples."""
    frame = builder.frame
    if not isinstance(node.value, ast.Name) or node.value.id in frame.locals or node.value.id in frame.parameters:
        return ""
    name, numbers = node.value.id, [item.value if isinstance(item, Literal) else None for item in value.items]
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        return ""
    whole = all(isinstance(number, int) and -(1 << 31) <= number < 1 << 31 for number in numbers)
    element = "int32" if whole else "float32"
    return f": outside, `{name} = np.array({name}, np.{element})` and `{name}.setflags(write=False)`"


# --- refusals --------------------------------------------------------------------------------------------------------


def _refuse_rank(builder: Builder, array: ArrayValue, given: int, node: ast.Subscript) -> NoReturn:
    axes = f"{array.rank} {'axis' if array.rank == 1 else 'axes'}"
    indices = f"{given} {'index' if given == 1 else 'indices'}"
    text = builder.text(node.value)
    remedies: tuple[str, ...] = (f"give one index per axis: `{text}[{', '.join('ijkl'[: array.rank])}]`",)
    if given < array.rank:
        remedies = (*remedies, "or loop over the row and store its elements")
    builder.refuse(
        "IG119",
        f"`{text}` has {axes}, and {indices} {'is' if given == 1 else 'are'} given",
        node,
        f"{indices} here",
        remedies=remedies,
        secondary=_declared(builder, array.name, f"`{array.name}` is declared here"),
    )


def _refuse_base(builder: Builder, base: Value, node: ast.Subscript) -> NoReturn:
    text = builder.quoted(node.value)
    remedies: tuple[str, ...] = ()
    match base:
        case NothingValue(of=""):
            builder.refuse(
                "IG154",
                f"{text} is None here",
                node.value,
                "the argument is absent in this specialisation",
                why="an optional array is specialised on None",
                remedies=(f"guard the use: `if {builder.text(node.value)} is not None:`",),
            )
        case Typed():
            remedies = ("only arrays and tuples have subscripts",)
        case DtypeValue() | FunctionValue() | ObjectValue():
            remedies = ("types are not subscripted in a body",)
        case _:
            pass
    builder.refuse("IG157", f"{text} has no subscripts", node.value, f"{describe(base)}", remedies=remedies)


def _declared(builder: Builder, name: str, text: str = "") -> tuple[Label, ...]:
    declaration = _declaration(builder, name)
    if declaration is None:
        return ()
    return (Label(declaration.span, text or f"`{name}` is {declaration.access.value}"),)


def _declaration(builder: Builder, name: str) -> ArrayDeclaration | None:
    for parameter in builder.definition.parameters:
        if isinstance(parameter, ArrayDeclaration) and parameter.name == name:
            return parameter
    return None


def _access_remedy(builder: Builder, name: str, access: Access) -> tuple[str | Remedy, ...]:
    declaration = _declaration(builder, name)
    if declaration is None:
        return ()
    text = f"declare it `{name}: {access.value}[...]`"
    edit = _access_edit(builder, declaration) if access is Access.INOUT else None
    return (text,) if edit is None else (Remedy(text, (edit,)),)


def _names_inout(builder: Builder) -> bool:
    function: Any = builder.definition.function
    return "InOut" in function.__globals__


def _access_edit(builder: Builder, declaration: ArrayDeclaration) -> Edit | None:
    """`Out` becomes `InOut` where the module can name it and the annotation stands on one line."""
    span, captured = declaration.span, builder.kernel_source
    if captured is None or span.line != span.end_line or span.file != captured.file:
        return None
    line = captured.lines[span.line - 1]
    found = re.compile(r"(ig\.)?\b(Out|In)\b(?=\[)").search(line, span.column - 1, span.end_column - 1)
    if found is None or not (found[1] or _names_inout(builder)):
        return None
    return Edit(Span(span.file, span.line, found.start(2) + 1, span.line, found.end(2) + 1), "InOut")
