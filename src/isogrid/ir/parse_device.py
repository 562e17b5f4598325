"""Read device IR from its text."""

from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.operations import ATOMICS, COLLECTIVES, SPECIALS, WARP_COLLECTIVES, machine_type, natural_type
from isogrid.ir.parse_expression import ExpressionReader
from isogrid.ir.parse_header import read_header, read_scalar
from isogrid.ir.text_lines import float_bits
from isogrid.ir.tokens import Cursor, Lines, SourceLine, Token, source_lines
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.ir.types import Access, Scalar, Space

_MACHINES = {machine.value: machine for machine in d.Machine}


def read_device(text: str) -> d.Kernel:
    """The kernel that `print_kernel` wrote."""
    lines = Lines(source_lines(text))
    reader = _Reader(lines)
    buffers: list[d.Buffer] = []
    variables: list[tuple[str, d.Machine]] = []
    sites: list[TrapSite] = []
    exact: list[bool] = []

    def part_line(word: str, cursor: Cursor) -> None:
        match word:
            case "buffer":
                buffers.append(_buffer(cursor))
            case "variable":
                name = cursor.name()
                cursor.expect(":")
                variables.append((name, _machine(cursor)))
            case "site":
                number = cursor.integer()
                if number != len(sites):
                    raise cursor.fault(f"site {len(sites)} is next")
                cursor.expect(":")
                sites.append(_site(cursor))
            case "exact":
                exact.append(True)
            case _:
                raise cursor.fault(f"a kernel has no part {word!r}")

    header = read_header(lines, ExpressionReader(), part_line)
    reader.values.update(variables)
    reader.elements.update((buffer.name, buffer.element) for buffer in buffers)
    for parameter in header.parameters:
        if isinstance(parameter, k.ScalarParameter):
            reader.scalars[parameter.name] = machine_type(parameter.type)
    body = reader.block(2)
    return d.Kernel(
        header.name,
        tuple(header.parameters),
        header.dims,
        header.geometry,
        header.grouped,
        tuple(buffers),
        tuple(variables),
        tuple(header.requires),
        tuple(sites),
        body,
        header.warp,
        header.deterministic,
        header.races,
        header.reason,
        bool(exact),
    )


class _Reader:
    """Statements and expressions; knows the types that declarations and earlier lines give."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.values: dict[str, d.Machine] = {}
        self.elements: dict[str, Scalar] = {}
        self.scalars: dict[str, d.Machine] = {}

    def block(self, depth: int) -> d.Block:
        return tuple(self.statement(line) for line in self.lines.at_depth(depth))

    def statement(self, line: SourceLine) -> d.Statement:
        cursor = line.cursor()
        statement = self._statement(cursor, line.depth)
        cursor.end()
        return statement

    def _statement(self, cursor: Cursor, depth: int) -> d.Statement:
        if cursor.at_sign(1, "["):
            return self._store(cursor)
        if cursor.peek().text.startswith("atomic_"):
            return self._atomic(cursor)
        match cursor.name():
            case "let":
                return self._let(cursor)
            case "set":
                return self._set(cursor)
            case "check":
                ok = self.expr(cursor)
                cursor.expect("site")
                site = cursor.integer()
                cursor.expect("(")
                return d.Check(ok, site, cursor.separated(lambda: self.expr(cursor), ")"))
            case "if":
                condition = self.expr(cursor)
                cursor.expect(":")
                then = self.block(depth + 1)
                has_else = self.lines.next_if(lambda line: line.depth == depth and line.text == "else:")
                return d.If(condition, then, self.block(depth + 1) if has_else else ())
            case "for":
                return self._for(cursor, depth)
            case "loop":
                unroll = cursor.integer() if cursor.take("unroll") else 0
                bounded = cursor.take("bounded")
                cursor.expect(":")
                return d.Loop(self.block(depth + 1), unroll, bounded)
            case "scope":
                label = cursor.name()
                cursor.expect(":")
                return d.Scope(label, self.block(depth + 1))
            case "leave":
                return d.Leave(cursor.name())
            case "break":
                return d.Break()
            case "continue":
                return d.Continue()
            case "return":
                return d.Return()
            case "barrier":
                return d.Barrier()
            case "warp_barrier":
                return d.WarpBarrier(self._active(cursor))
            case "fill":
                return d.Fill(cursor.name())
            case word:
                raise cursor.fault(f"no statement starts with {word!r}")

    def _let(self, cursor: Cursor) -> d.Let:
        name = cursor.name()
        cursor.expect(":")
        type = _machine(cursor)
        cursor.expect("=")
        value = self.expr(cursor)
        if value.type is not type:
            raise cursor.fault(f"{name!r} is {type.value} and its value {value.type.value}")
        self.values[name] = type
        return d.Let(name, value)

    def _set(self, cursor: Cursor) -> d.Statement:
        name = cursor.name()
        cursor.expect("=")
        word = cursor.peek().text
        family, _, op = word.partition("_")
        if family == "atomic" and op in ATOMICS:
            return self._atomic(cursor, name)
        if word == "agree":
            cursor.next()
            cursor.expect("(")
            agreed = self.expr(cursor)
            cursor.expect(")")
            return d.Agree(name, agreed)
        if family == "warp" and op in WARP_COLLECTIVES:
            return self._warp_collective(op, name, cursor)
        if family != "group" or op not in COLLECTIVES:
            return d.Set(name, self.expr(cursor))
        cursor.next()
        cursor.expect("(")
        value = self.expr(cursor)
        exclusive = cursor.take(",")
        if exclusive:
            cursor.expect("exclusive")
        cursor.expect(")")
        cursor.expect("as")
        scalar = read_scalar(cursor)
        return d.Collective(op, name, value, scalar, exclusive, _total(cursor))

    def _warp_collective(self, op: str, target: str, cursor: Cursor) -> d.WarpCollective:
        cursor.next()
        cursor.expect("(")
        value = self.expr(cursor)
        lane: d.Expr | None = None
        exclusive = False
        if cursor.take(","):
            exclusive = cursor.take("exclusive")
            lane = None if exclusive else self.expr(cursor)
        cursor.expect(")")
        cursor.expect("as")
        scalar = read_scalar(cursor)
        total = _total(cursor)
        return d.WarpCollective(op, target, value, lane, scalar, exclusive, total, self._active(cursor))

    def _active(self, cursor: Cursor) -> d.Expr | None:
        return self.expr(cursor) if cursor.take("if") else None

    def _store(self, cursor: Cursor) -> d.Store:
        buffer, index = self._element(cursor)
        cursor.expect("=")
        return d.Store(buffer, index, self.expr(cursor))

    def _atomic(self, cursor: Cursor, target: str = "") -> d.Atomic:
        op = cursor.name().removeprefix("atomic_")
        cursor.expect("(")
        buffer, index = self._element(cursor)
        cursor.expect(",")
        *before, value = cursor.separated(lambda: self.expr(cursor), ")")
        element = self._element_type(buffer, cursor)
        expected = before[0] if before else None
        return d.Atomic(op, buffer, index, value, expected, element, _total(cursor), target)

    def _for(self, cursor: Cursor, depth: int) -> d.For:
        counter = cursor.name()
        cursor.expect(":")
        type = _machine(cursor)
        cursor.expect("from")
        start = self.expr(cursor)
        cursor.expect("step")
        step = self.expr(cursor)
        cursor.expect("trips")
        trips = self.expr(cursor)
        unroll = cursor.integer() if cursor.take("unroll") else 0
        cursor.expect(":")
        self.values[counter] = type
        return d.For(counter, start, step, trips, self.block(depth + 1), type, unroll)

    def expr(self, cursor: Cursor) -> d.Expr:
        token = cursor.peek()
        if cursor.take("$"):
            name = cursor.name()
            return d.Argument("scalar", name, self._type(cursor, self.scalars.get(name)))
        if cursor.take("#"):
            name = cursor.name()
            return d.Argument("dim", name, self._type(cursor, d.Machine.I64))
        if token.kind in ("number", "bits"):
            return self._number(cursor.next(), cursor)
        if token.kind == "name" and token.text in ("True", "False"):
            cursor.next()
            return d.Literal(int(token.text == "True"), d.Machine.I1)
        if cursor.at_sign(1, "["):
            buffer, index = self._element(cursor)
            element = machine_type(self._element_type(buffer, cursor))
            return d.Load(buffer, index, self._type(cursor, element))
        if cursor.at_sign(1, "("):
            return self._operation(cursor)
        name = cursor.name()
        return d.Value(name, self._type(cursor, self.values.get(name)))

    def _operation(self, cursor: Cursor) -> d.Expr:
        name = cursor.name()
        cursor.expect("(")
        if name in SPECIALS:
            axis = cursor.integer()
            cursor.expect(")")
            return d.Special(name, axis)
        arguments = cursor.separated(lambda: self.expr(cursor), ")")
        return d.Op(name, arguments, self._type(cursor, natural_type(name, [a.type for a in arguments])))

    def _element(self, cursor: Cursor) -> tuple[str, d.Expr]:
        buffer = cursor.name()
        cursor.expect("[")
        index = self.expr(cursor)
        cursor.expect("]")
        return buffer, index

    def _element_type(self, buffer: str, cursor: Cursor) -> Scalar:
        if buffer not in self.elements:
            raise cursor.fault(f"no buffer {buffer!r}")
        return self.elements[buffer]

    def _type(self, cursor: Cursor, known: d.Machine | None) -> d.Machine:
        """The type written here, else the one that is known."""
        if cursor.at(":") and cursor.peek(1).text in _MACHINES:
            cursor.next()
            return _machine(cursor)
        if known is None:
            raise cursor.fault(f"the type of what stands before {cursor.peek().text!r} is not known")
        return known

    def _number(self, token: Token, cursor: Cursor) -> d.Literal:
        type = self._type(cursor, d.Machine.I64)
        if token.kind == "bits":
            return d.Literal(int(token.text, 16), type)
        bits = float_bits(token.text, type.bits) if type.is_float else int(token.text) % (1 << type.bits)
        return d.Literal(bits, type)


def _machine(cursor: Cursor) -> d.Machine:
    name = cursor.name()
    if name not in _MACHINES:
        raise cursor.fault(f"{name!r} is no machine type")
    return _MACHINES[name]


def _total(cursor: Cursor) -> int | None:
    return cursor.integer() if cursor.take("total") else None


def _buffer(cursor: Cursor) -> d.Buffer:
    name = cursor.name()
    cursor.expect(":")
    element = read_scalar(cursor)
    space = Space(cursor.name())
    access = Access(cursor.name())
    count = cursor.integer() if cursor.take("count") else None
    zeroed = not cursor.take("unzeroed")
    data = bytes.fromhex(cursor.string()) if cursor.take("=") else b""
    return d.Buffer(name, element, space, count, access, zeroed, data)


def _site(cursor: Cursor) -> TrapSite:
    kind = TrapKind(cursor.name().replace("_", " "))
    subject, detail = cursor.string(), cursor.string()
    cursor.expect("(")
    operands = cursor.separated(lambda: read_scalar(cursor), ")")
    cursor.expect("at")
    file = cursor.string()
    cursor.expect(":")
    line, column = _place(cursor)
    end_line, end_column = _place(cursor)
    # `9:7-9:8`: the dash between the two places was read as the sign of the second.
    return TrapSite(kind, Span(file, line, column, abs(end_line), end_column), subject, detail, operands)


def _place(cursor: Cursor) -> tuple[int, int]:
    line = cursor.integer()
    cursor.expect(":")
    return line, cursor.integer()
