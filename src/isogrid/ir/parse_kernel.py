"""Read kernel IR from its text."""

from isogrid.ir import kernel as k
from isogrid.ir.operations import ATOMICS, COLLECTIVES, WARP_COLLECTIVES
from isogrid.ir.parse_expression import ExpressionReader
from isogrid.ir.parse_header import read_header, read_shape
from isogrid.ir.tokens import Cursor, Lines, SourceLine, source_lines
from isogrid.ir.types import Scalar, Space


def read_kernel(text: str) -> k.Kernel:
    """The kernel that `print_kernel` wrote."""
    lines = Lines(source_lines(text))
    reader = _StatementReader(lines)
    shared: list[k.SharedArray] = []
    tables: list[k.Table] = []
    facts: list[k.ArrayFact] = []

    def array_line(word: str, cursor: Cursor) -> None:
        match word:
            case "shared":
                name, element, shape = read_shape(cursor)
                shared.append(k.SharedArray(name, element, shape, not cursor.take("unzeroed")))
                reader.arrays[name] = (element, Space.SHARED)
            case "table":
                name, element, shape = read_shape(cursor)
                cursor.expect("=")
                tables.append(k.Table(name, element, shape, bytes.fromhex(cursor.string())))
                reader.arrays[name] = (element, Space.TABLE)
            case "fact":
                facts.append(_fact(reader, cursor))
            case _:
                raise cursor.fault(f"a kernel has no part {word!r}")

    header = read_header(lines, reader, array_line)
    for parameter in header.parameters:
        if isinstance(parameter, k.ArrayParameter):
            reader.arrays[parameter.name] = (parameter.element, Space.GLOBAL)
    body = reader.block(2)
    return k.Kernel(
        header.name,
        tuple(header.parameters),
        header.dims,
        header.geometry,
        header.grouped,
        tuple(shared),
        tuple(tables),
        tuple(header.requires),
        body,
        header.warp,
        header.deterministic,
        header.races,
        header.reason,
        tuple(facts),
    )


def _fact(reader: ExpressionReader, cursor: Cursor) -> k.ArrayFact:
    kind, array = cursor.name(), cursor.name()
    low: k.Expr | None = None
    high: k.Expr | None = None
    if cursor.take("from"):
        low = reader.expr(cursor)
        cursor.expect("to")
        high = reader.expr(cursor)
    where = cursor.name() if cursor.take("where") else ""
    cursor.expect(",")
    return k.ArrayFact(kind, array, cursor.string(), low, high, where)


class _StatementReader(ExpressionReader):
    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self.lines = lines

    def block(self, depth: int) -> k.Block:
        return tuple(self.statement(line) for line in self.lines.at_depth(depth))

    def statement(self, line: SourceLine) -> k.Statement:
        cursor = line.cursor()
        statement = self._compound(cursor, line.depth) or self._simple(cursor)
        cursor.end()
        return statement

    def _compound(self, cursor: Cursor, depth: int) -> k.Statement | None:
        following = cursor.peek(1)
        if cursor.at("while", ":"):
            cursor.next()
            return self._while(cursor, depth)
        if following.kind == "sign" and following.text in ("=", "[", ":"):
            return None
        if cursor.take("if"):
            condition = self._head(cursor)
            then = self.block(depth + 1)
            has_else = self.lines.next_if(lambda line: line.depth == depth and line.text == "else:")
            return k.If(condition, then, self.block(depth + 1) if has_else else ())
        if cursor.take("for"):
            return self._for(cursor, depth)
        if cursor.take("while"):
            condition = self.expr(cursor)
            unroll = _unroll(cursor)
            cursor.expect(":")
            return k.While((), condition, self.block(depth + 1), unroll)
        if cursor.take("scope"):
            label = cursor.name()
            cursor.expect(":")
            return k.Scope(label, self.block(depth + 1))
        return None

    def _head(self, cursor: Cursor) -> k.Expr:
        condition = self.expr(cursor)
        cursor.expect(":")
        return condition

    def _for(self, cursor: Cursor, depth: int) -> k.For:
        counter, type = self.local(cursor)
        cursor.expect("in")
        cursor.expect("range")
        cursor.expect("(")
        start = self.expr(cursor)
        cursor.expect(",")
        stop = self.expr(cursor)
        cursor.expect(",")
        step = self.expr(cursor)
        step_checked = cursor.take("!")
        cursor.expect(")")
        unroll = _unroll(cursor)
        cursor.expect(":")
        return k.For(counter, start, stop, step, self.block(depth + 1), type, unroll, step_checked)

    def _while(self, cursor: Cursor, depth: int) -> k.While:
        """`while:`, the prelude, `test condition:`, the body."""
        cursor.expect(":")
        prelude = self.block(depth + 1)
        line = self.lines.next_if(lambda line: line.depth == depth and line.text.startswith("test "))
        if line is None:
            raise cursor.fault("a while with a prelude has no `test` line")
        test = line.cursor()
        test.expect("test")
        condition = self.expr(test)
        unroll = _unroll(test)
        test.expect(":")
        test.end()
        return k.While(prelude, condition, self.block(depth + 1), unroll)

    def _simple(self, cursor: Cursor) -> k.Statement:
        token, following = cursor.peek(), cursor.peek(1)
        if token.kind in ("name", "quoted") and following.kind == "sign" and following.text == "[":
            return self._store(cursor)
        if token.text.startswith("atomic_") and cursor.at_call():
            return self._atomic(cursor)
        if following.kind == "sign" and following.text in ("=", ":"):
            return self._assign(cursor)
        match cursor.name():
            case "eval":
                return k.Evaluate(self.expr(cursor))
            case "barrier":
                return k.Barrier()
            case "warp_barrier":
                return k.WarpBarrier()
            case "leave":
                return k.Leave(cursor.name())
            case "break":
                return k.Break()
            case "continue":
                return k.Continue()
            case "return":
                return k.Return()
            case "assert":
                condition = self.expr(cursor)
                cursor.expect(",")
                return k.Assert(condition, cursor.string())
            case "local":
                name, element, shape = read_shape(cursor)
                self.arrays[name] = (element, Space.LOCAL)
                return k.DeclareLocal(name, element, shape, not cursor.take("unzeroed"))
            case word:
                raise cursor.fault(f"no statement starts with {word!r}")

    def _store(self, cursor: Cursor) -> k.Store:
        array, indices, checked = self.element(cursor)
        element, space = self.array(array, cursor)
        narrow = cursor.take("=!")
        if not narrow:
            cursor.expect("=")
        return k.Store(array, indices, self.expr(cursor), element, space, checked, narrow)

    def _atomic(self, cursor: Cursor, target: str = "") -> k.Atomic:
        op = cursor.name().removeprefix("atomic_")
        if op not in ATOMICS:
            raise cursor.fault(f"no atomic {op!r}")
        total = cursor.take("!")
        cursor.expect("(")
        array, indices, checked = self.element(cursor)
        element, space = self.array(array, cursor)
        cursor.expect(",")
        *before, value = cursor.separated(lambda: self.expr(cursor), ")")
        expected = before[0] if before else None
        return k.Atomic(op, array, indices, value, expected, element, space, checked, total, target)

    def _assign(self, cursor: Cursor) -> k.Statement:
        name, type = self.local(cursor)
        cursor.expect("=")
        family, _, op = cursor.peek().text.partition("_")
        # A function call shows its type at the end; what is no function has the type of its target.
        if cursor.at_call() and not cursor.call_is_typed():
            if family == "group" and op in COLLECTIVES:
                return self._collective(op, name, type, cursor)
            if family == "warp" and op in WARP_COLLECTIVES:
                return self._warp_collective(op, name, type, cursor)
            if family == "atomic" and op in ATOMICS:
                return self._atomic(cursor, name)
        value = self.expr(cursor)
        if value.type is not type:
            raise cursor.fault(f"{name!r} is {type.value} and its value {value.type.value}")
        return k.Assign(name, value)

    def _collective(self, op: str, target: str, type: Scalar, cursor: Cursor) -> k.Collective:
        cursor.next()
        total = cursor.take("!")
        cursor.expect("(")
        value = self.expr(cursor)
        exclusive = cursor.take(",")
        if exclusive:
            cursor.expect("exclusive")
        cursor.expect(")")
        return k.Collective(op, target, value, type, exclusive, total)

    def _warp_collective(self, op: str, target: str, result: Scalar, cursor: Cursor) -> k.WarpCollective:
        cursor.next()
        total = cursor.take("!")
        cursor.expect("(")
        value = self.expr(cursor)
        lane: k.Expr | None = None
        exclusive = False
        if cursor.take(","):
            exclusive = cursor.take("exclusive")
            lane = None if exclusive else self.expr(cursor)
        cursor.expect(")")
        return k.WarpCollective(op, target, value, lane, value.type, result, exclusive, total)


def _unroll(cursor: Cursor) -> int:
    return cursor.integer() if cursor.take("unroll") else 0
