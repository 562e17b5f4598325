"""Device IR as text.

    kernel saxpy
      ...                                             parameters and geometry as in kernel IR
      buffer x: f32 global In
      site 0: index x "0" (i64, i64) at "saxpy.py":9:7-9:8
      body:
        let i:i64 = thread(0)
        check ult(i, #N) site 0 (i, #N)
        x[i] = fmul($a, x[i])

Operations show their type only where it does not follow from their operands. Integer literals without a type are i64;
integers are shown signed.
"""

from collections.abc import Iterator
from typing import assert_never, cast, get_args

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.operations import machine_type, natural_type
from isogrid.ir.text_kernel import expr_text
from isogrid.ir.text_lines import TextLine, float_text, header_lines, name_text, string_text
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar, Space


def device_lines(kernel: d.Kernel) -> list[TextLine]:
    """The whole kernel, line by line."""
    printer = _Printer(kernel)
    lines = list(header_lines(kernel, expr_text))
    if kernel.exact:
        lines.append(TextLine("  exact"))
    lines += [TextLine(f"  buffer {_buffer(buffer)}") for buffer in kernel.buffers]
    lines += [TextLine(f"  variable {name_text(name)}: {type.value}") for name, type in kernel.variables]
    lines += [TextLine(f"  site {number}: {_site(site)}", site.span) for number, site in enumerate(kernel.sites)]
    lines.append(TextLine("  body:"))
    lines += printer.block(kernel.body, 2)
    return lines


def device_node_text(node: d.Node) -> str:
    """One expression, or the first line of a statement; whatever a kernel would declare shows its type."""
    printer = _Printer(None)
    if isinstance(node, get_args(d.Expr)):
        return printer.expr(cast("d.Expr", node))
    return next(iter(printer.statement(cast("d.Statement", node), 0))).text


class _Printer:
    """Knows the types that declarations give, so that uses need not repeat them."""

    def __init__(self, kernel: d.Kernel | None) -> None:
        self.values: dict[str, d.Machine] = {} if kernel is None else dict(kernel.variables)
        self.elements: dict[str, Scalar] = {}
        self.arguments: dict[tuple[str, str], d.Machine] = {}
        if kernel is None:
            return
        self.elements = {buffer.name: buffer.element for buffer in kernel.buffers}
        self.arguments = {("dim", name): d.Machine.I64 for name in kernel.dims}
        for parameter in kernel.parameters:
            if isinstance(parameter, k.ScalarParameter):
                self.arguments["scalar", parameter.name] = machine_type(parameter.type)

    def block(self, block: d.Block, depth: int) -> Iterator[TextLine]:
        for statement in block:
            yield from self.statement(statement, depth)

    def statement(self, statement: d.Statement, depth: int) -> Iterator[TextLine]:
        pad = "  " * depth
        match statement:
            case d.If(condition, then, otherwise):
                yield TextLine(f"{pad}if {self.expr(condition)}:", statement.span)
                yield from self.block(then, depth + 1)
                if otherwise:
                    yield TextLine(f"{pad}else:")
                    yield from self.block(otherwise, depth + 1)
            case d.For():
                yield TextLine(f"{pad}{self.for_head(statement)}:", statement.span)
                yield from self.block(statement.body, depth + 1)
            case d.Loop(body, unroll, bounded):
                head = "loop" + (f" unroll {unroll}" if unroll else "") + (" bounded" if bounded else "")
                yield TextLine(f"{pad}{head}:", statement.span)
                yield from self.block(body, depth + 1)
            case d.Scope(label, body):
                yield TextLine(f"{pad}scope {name_text(label)}:", statement.span)
                yield from self.block(body, depth + 1)
            case _:
                yield TextLine(pad + self.simple(statement), statement.span)

    def simple(
        self,
        statement: d.Let
        | d.Set
        | d.Store
        | d.Atomic
        | d.Check
        | d.Leave
        | d.Break
        | d.Continue
        | d.Return
        | d.Barrier
        | d.Collective
        | d.WarpBarrier
        | d.WarpCollective
        | d.Agree
        | d.Fill,
    ) -> str:
        match statement:
            case d.Let(name, value):
                text = self.expr(value)
                self.values[name] = value.type
                return f"let {name_text(name)}:{value.type.value} = {text}"
            case d.Set(name, value):
                return f"set {name_text(name)} = {self.expr(value)}"
            case d.Store(buffer, index, value):
                return f"{self.element(buffer, index)} = {self.expr(value)}"
            case d.Atomic(op, buffer, index, value, expected, total=total):
                parts = [self.element(buffer, index)]
                parts += [self.expr(e) for e in (expected, value) if e is not None]
                target = f"set {name_text(statement.target)} = " if statement.target else ""
                return f"{target}atomic_{op}({', '.join(parts)}){_total(total)}"
            case d.Check(ok, site, operands):
                return f"check {self.expr(ok)} site {site} ({', '.join(self.expr(o) for o in operands)})"
            case d.Leave(label):
                return f"leave {name_text(label)}"
            case d.Break():
                return "break"
            case d.Continue():
                return "continue"
            case d.Return():
                return "return"
            case d.Barrier():
                return "barrier"
            case d.Collective(op, target, value, scalar, exclusive, total):
                last = ", exclusive" if exclusive else ""
                call = f"group_{op}({self.expr(value)}{last}) as {scalar.value}"
                return f"set {name_text(target)} = {call}{_total(total)}"
            case d.WarpBarrier(active):
                return f"warp_barrier{self.active(active)}"
            case d.WarpCollective(op, target, value, lane, scalar, exclusive, total, active):
                last = ", exclusive" if exclusive else "" if lane is None else f", {self.expr(lane)}"
                call = f"warp_{op}({self.expr(value)}{last}) as {scalar.value}"
                return f"set {name_text(target)} = {call}{_total(total)}{self.active(active)}"
            case d.Agree(target, value):
                return f"set {name_text(target)} = agree({self.expr(value)})"
            case d.Fill(buffer):
                return f"fill {name_text(buffer)}"
            case _:
                assert_never(statement)

    def active(self, active: d.Expr | None) -> str:
        return "" if active is None else f" if {self.expr(active)}"

    def for_head(self, loop: d.For) -> str:
        parts = f"from {self.expr(loop.start)} step {self.expr(loop.step)} trips {self.expr(loop.trips)}"
        self.values[loop.counter] = loop.type
        unroll = f" unroll {loop.unroll}" if loop.unroll else ""
        return f"for {name_text(loop.counter)}:{loop.type.value} {parts}{unroll}"

    def expr(self, expr: d.Expr) -> str:
        match expr:
            case d.Literal(bits, type):
                return _literal(bits, type)
            case d.Value(name, type):
                return name_text(name) + _suffix(type, self.values.get(name))
            case d.Argument(kind, name, type):
                sigil = "#" if kind == "dim" else "$"
                return sigil + name_text(name) + _suffix(type, self.arguments.get((kind, name)))
            case d.Special(kind, axis):
                return f"{kind}({axis})"
            case d.Op(op, arguments, type):
                natural = natural_type(op, [a.type for a in arguments])
                return f"{op}({', '.join(self.expr(a) for a in arguments)}){_suffix(type, natural)}"
            case d.Load(buffer, index, type):
                element = self.elements.get(buffer)
                return self.element(buffer, index) + _suffix(type, None if element is None else machine_type(element))
            case _:
                assert_never(expr)

    def element(self, buffer: str, index: d.Expr) -> str:
        return f"{name_text(buffer)}[{self.expr(index)}]"


def _suffix(type: d.Machine, known: d.Machine | None) -> str:
    return "" if type is known else f":{type.value}"


def _literal(bits: int, type: d.Machine) -> str:
    if type is d.Machine.I1:
        return "True" if bits else "False"
    if type.is_float:
        return f"{float_text(bits, type.bits)}:{type.value}"
    value = bits - (1 << type.bits) if bits >> (type.bits - 1) else bits
    return str(value) if type is d.Machine.I64 else f"{value}:{type.value}"


def _total(site: int | None) -> str:
    return "" if site is None else f" total {site}"


def _buffer(buffer: d.Buffer) -> str:
    text = f"{name_text(buffer.name)}: {buffer.element.value} {buffer.space.value} {buffer.access.value}"
    text += "" if buffer.count is None else f" count {buffer.count}"
    text += "" if buffer.zeroed else " unzeroed"
    return text + (f' = "{buffer.data.hex()}"' if buffer.space is Space.TABLE else "")


def _site(site: TrapSite) -> str:
    span = site.span
    types = ", ".join(scalar.value for scalar in site.operands)
    place = f"{string_text(span.file)}:{span.line}:{span.column}-{span.end_line}:{span.end_column}"
    kind = site.kind.value.replace(" ", "_")
    return f"{kind} {string_text(site.subject)} {string_text(site.detail)} ({types}) at {place}"
