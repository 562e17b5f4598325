"""Kernel IR as text.

    kernel saxpy
      dims N
      scalar a: f32
      In x: f32[#N]
      InOut y: f32[#N]
      grid #N
      block 256
      body:
        i:i64 = gid(0)
        y[i!] = ($a * x[i!]) + y[i!]

`$a` is a scalar parameter, `#N` a dimension, `!` marks a check that is kept (an index, an operator, a narrowing store).
A local shows its type where it first appears. Integer literals without a type are i64.
"""

from collections.abc import Iterator
from typing import assert_never, cast, get_args

from isogrid.ir import kernel as k
from isogrid.ir.operations import BINARY_SIGNS, COMPARE_SIGNS
from isogrid.ir.text_lines import TextLine, float_text, header_lines, name_text, string_text
from isogrid.ir.types import INDEX, Scalar


def source_kernel_lines(kernel: k.Kernel) -> list[TextLine]:
    """The whole kernel, line by line."""
    printer = _Printer()
    lines = list(header_lines(kernel, printer.expr))
    for fact in kernel.facts:
        lines.append(TextLine(f"  fact {_fact(fact, printer)}", fact.span))
    for array in kernel.shared:
        lines.append(TextLine(f"  shared {_array(array)}", array.span))
    for table in kernel.tables:
        lines.append(TextLine(f'  table {_shaped(table.name, table.element, table.shape)} = "{table.data.hex()}"'))
    lines.append(TextLine("  body:"))
    lines += printer.block(kernel.body, 2)
    return lines


def expr_text(expr: k.Expr) -> str:
    """One expression; every local shows its type."""
    return _Printer().expr(expr)


def node_text(node: k.Node) -> str:
    """One expression, or the first line of a statement."""
    printer = _Printer()
    if isinstance(node, get_args(k.Expr)):
        return printer.expr(cast("k.Expr", node))
    return next(iter(printer.statement(cast("k.Statement", node), 0))).text


class _Printer:
    """Remembers which locals have shown their type. Parts must be printed in the order in which they are read."""

    def __init__(self) -> None:
        self.types: dict[str, Scalar] = {}

    def block(self, block: k.Block, depth: int) -> Iterator[TextLine]:
        for statement in block:
            yield from self.statement(statement, depth)

    def statement(self, statement: k.Statement, depth: int) -> Iterator[TextLine]:
        pad = "  " * depth
        match statement:
            case k.If(condition, then, otherwise):
                yield TextLine(f"{pad}if {self.expr(condition)}:", statement.span)
                yield from self.block(then, depth + 1)
                if otherwise:
                    yield TextLine(f"{pad}else:")
                    yield from self.block(otherwise, depth + 1)
            case k.For():
                yield TextLine(f"{pad}{self.for_head(statement)}:", statement.span)
                yield from self.block(statement.body, depth + 1)
            case k.While(prelude, condition, body, unroll):
                word = "while"
                if prelude:
                    yield TextLine(f"{pad}while:", statement.span)
                    yield from self.block(prelude, depth + 1)
                    word = "test"
                yield TextLine(f"{pad}{word} {self.expr(condition)}{_unroll(unroll)}:", statement.span)
                yield from self.block(body, depth + 1)
            case k.Scope(label, body):
                yield TextLine(f"{pad}scope {name_text(label)}:", statement.span)
                yield from self.block(body, depth + 1)
            case _:
                yield TextLine(pad + self.simple(statement), statement.span)

    def simple(
        self,
        statement: k.Assign
        | k.Evaluate
        | k.Store
        | k.Atomic
        | k.Barrier
        | k.Collective
        | k.WarpBarrier
        | k.WarpCollective
        | k.Leave
        | k.Break
        | k.Continue
        | k.Return
        | k.Assert
        | k.DeclareLocal,
    ) -> str:
        match statement:
            case k.Assign(name, value):
                # The target stands first in the text, so it shows its type before the value mentions it.
                return f"{self.local(name, value.type)} = {self.expr(value)}"
            case k.Evaluate(value):
                return f"eval {self.expr(value)}"
            case k.Store(array, indices, value, checked=checked, narrow_checked=narrow):
                return f"{self.element(array, indices, checked)} ={_mark(narrow)} {self.expr(value)}"
            case k.Atomic(op, array, indices, value, expected, element, checked=checked, total_checked=total):
                parts = [self.element(array, indices, checked)]
                parts += [self.expr(e) for e in (expected, value) if e is not None]
                target = f"{self.local(statement.target, element.computing)} = " if statement.target else ""
                return f"{target}atomic_{op}{_mark(total)}({', '.join(parts)})"
            case k.Barrier():
                return "barrier"
            case k.Collective(op, target, value, type, exclusive, total):
                last = ", exclusive" if exclusive else ""
                return f"{self.local(target, type)} = group_{op}{_mark(total)}({self.expr(value)}{last})"
            case k.WarpBarrier():
                return "warp_barrier"
            case k.WarpCollective(op, target, value, lane, _, result, exclusive, total):
                last = ", exclusive" if exclusive else "" if lane is None else f", {self.expr(lane)}"
                return f"{self.local(target, result)} = warp_{op}{_mark(total)}({self.expr(value)}{last})"
            case k.Leave(label):
                return f"leave {name_text(label)}"
            case k.Break():
                return "break"
            case k.Continue():
                return "continue"
            case k.Return():
                return "return"
            case k.Assert(condition, message):
                return f"assert {self.expr(condition)}, {string_text(message)}"
            case k.DeclareLocal():
                return f"local {_array(statement)}"
            case _:
                assert_never(statement)

    def for_head(self, loop: k.For) -> str:
        counter = self.local(loop.counter, loop.type)
        start, stop, step = self.expr(loop.start), self.expr(loop.stop), self.expr(loop.step)
        return f"for {counter} in range({start}, {stop}, {step}{_mark(loop.step_checked)}){_unroll(loop.unroll)}"

    def expr(self, expr: k.Expr) -> str:
        match expr:
            case k.Const(value, type):
                return _const(value, type)
            case k.Local(name, type):
                return self.local(name, type)
            case k.ScalarValue(name):
                return f"${name_text(name)}"
            case k.DimValue(name):
                return f"#{name_text(name)}"
            case k.Query(kind, axis):
                return f"{kind}({'' if axis is None else axis})"
            case k.Unary(op, operand, checked=checked):
                return f"{op}{_mark(checked)}({self.expr(operand)})"
            case k.Binary(op, left, right, checked=checked):
                if op not in BINARY_SIGNS:
                    return f"{op}{_mark(checked)}({self.expr(left)}, {self.expr(right)})"
                return f"{self.atom(left)} {BINARY_SIGNS[op]}{_mark(checked)} {self.atom(right)}"
            case k.Compare(op, left, right):
                return f"{self.atom(left)} {COMPARE_SIGNS[op]} {self.atom(right)}"
            case k.Logical(op, left, right):
                return f"{self.atom(left)} {op} {self.atom(right)}"
            case k.Choose(condition, then, otherwise):
                return f"{self.atom(then)} if {self.atom(condition)} else {self.atom(otherwise)}"
            case k.Cast(value, type, checked):
                return f"{type.value}{_mark(checked)}({self.expr(value)})"
            case k.Call(name, arguments, type):
                return f"{name_text(name)}({', '.join(self.expr(a) for a in arguments)}):{type.value}"
            case k.Load(array, indices, checked=checked):
                return self.element(array, indices, checked)
            case _:
                assert_never(expr)

    def atom(self, expr: k.Expr) -> str:
        """The expression as an operand: in parentheses where it is infix itself."""
        infix = isinstance(expr, k.Compare | k.Logical | k.Choose) or (
            isinstance(expr, k.Binary) and expr.op in BINARY_SIGNS
        )
        return f"({self.expr(expr)})" if infix else self.expr(expr)

    def local(self, name: str, type: Scalar) -> str:
        known = self.types.get(name) is type
        self.types[name] = type
        return name_text(name) if known else f"{name_text(name)}:{type.value}"

    def element(self, array: str, indices: tuple[k.Expr, ...], checked: tuple[bool, ...]) -> str:
        parts = [self.atom(i) + _mark(c) for i, c in zip(indices, checked, strict=True)]
        return f"{name_text(array)}[{', '.join(parts)}]"


def _fact(fact: k.ArrayFact, printer: _Printer) -> str:
    bounds = ""
    if fact.low is not None and fact.high is not None:
        bounds = f" from {printer.expr(fact.low)} to {printer.expr(fact.high)}"
    where = f" where {name_text(fact.where)}" if fact.where else ""
    return f"{fact.kind} {name_text(fact.array)}{bounds}{where}, {string_text(fact.text)}"


def _mark(checked: bool) -> str:
    return "!" if checked else ""


def _unroll(factor: int) -> str:
    return f" unroll {factor}" if factor else ""


def _const(value: int, type: Scalar) -> str:
    if type is Scalar.BOOL:
        return "True" if value else "False"
    if type is Scalar.BF16:
        return f"0x{value:04x}:bf16"
    if type.is_float:
        return f"{float_text(value, type.bits)}:{type.value}"
    return str(value) if type is INDEX else f"{value}:{type.value}"


def _shaped(name: str, element: Scalar, shape: tuple[int, ...]) -> str:
    return f"{name_text(name)}: {element.value}[{', '.join(str(n) for n in shape)}]"


def _array(array: k.SharedArray | k.DeclareLocal) -> str:
    return _shaped(array.name, array.element, array.shape) + ("" if array.zeroed else " unzeroed")
