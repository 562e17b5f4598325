"""Read the part of IR text that both IRs share: name, dimensions, geometry, parameters, preconditions."""

from collections.abc import Callable
from dataclasses import dataclass, field

from isogrid.ir import kernel as k
from isogrid.ir.parse_expression import ExpressionReader
from isogrid.ir.tokens import Cursor, IRSyntaxError, Lines
from isogrid.ir.types import Access, Scalar


@dataclass(slots=True)
class Header:
    """What has been read so far; `rest` reads the lines that only one IR has, by their first word."""

    name: str
    grouped: bool
    warp: int
    deterministic: bool = True
    races: str = "prove"
    reason: str = ""
    dims: tuple[str, ...] = ()
    kind: str = ""
    extents: tuple[k.Expr, ...] = ()
    block: tuple[int, ...] = ()
    parameters: list[k.Parameter] = field(default_factory=list[k.Parameter])
    requires: list[k.Require] = field(default_factory=list[k.Require])

    @property
    def geometry(self) -> k.Geometry:
        return k.Geometry(self.kind, self.extents, self.block)


def read_header(lines: Lines, reader: ExpressionReader, rest: Callable[[str, Cursor], None]) -> Header:
    """Everything up to and including the line `body:`."""
    first = lines.next_if(lambda line: line.depth == 0)
    if first is None:
        raise IRSyntaxError("no line starts with `kernel`")
    cursor = first.cursor()
    cursor.expect("kernel")
    name = cursor.name()
    grouped = cursor.take("grouped")
    header = Header(name, grouped, cursor.integer() if cursor.take("warp") else 32)
    header.deterministic = not cursor.take("nondeterministic")
    if cursor.take("races"):
        header.races = cursor.name()
        header.reason = cursor.string() if cursor.peek().kind == "string" else ""
    cursor.end()
    for line in lines.at_depth(1):
        cursor = line.cursor()
        word = cursor.name()
        if word == "body":
            cursor.expect(":")
            return header
        _read_line(word, cursor, header, reader, rest)
        cursor.end()
    raise IRSyntaxError(f"kernel {name} has no body")


def read_shape(cursor: Cursor) -> tuple[str, Scalar, tuple[int, ...]]:
    """`tile: f32[16, 17]`."""
    name = cursor.name()
    cursor.expect(":")
    element = read_scalar(cursor)
    cursor.expect("[")
    return name, element, cursor.separated(cursor.integer, "]")


def read_scalar(cursor: Cursor) -> Scalar:
    name = cursor.name()
    try:
        return Scalar(name)
    except ValueError:
        raise cursor.fault(f"{name!r} is no type") from None


def _read_line(
    word: str, cursor: Cursor, header: Header, reader: ExpressionReader, rest: Callable[[str, Cursor], None]
) -> None:
    match word:
        case "dims":
            header.dims = cursor.separated(cursor.name)
        case "grid" | "groups":
            header.kind = word
            header.extents = cursor.separated(lambda: reader.expr(cursor))
        case "block":
            header.block = cursor.separated(cursor.integer)
        case "scalar":
            name = cursor.name()
            cursor.expect(":")
            reader.scalars[name] = read_scalar(cursor)
            header.parameters.append(k.ScalarParameter(name, reader.scalars[name]))
        case "In" | "Out" | "InOut":
            header.parameters.append(_array(Access(word), cursor, reader))
        case "require":
            condition = reader.expr(cursor)
            cursor.expect(",")
            header.requires.append(k.Require(condition, cursor.string()))
        case _:
            rest(word, cursor)


def _array(access: Access, cursor: Cursor, reader: ExpressionReader) -> k.ArrayParameter:
    name = cursor.name()
    cursor.expect(":")
    element = read_scalar(cursor)
    cursor.expect("[")
    return k.ArrayParameter(name, element, cursor.separated(lambda: reader.expr(cursor), "]"), access)
