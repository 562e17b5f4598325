"""Statements of device IR in C, with the source line before what came of it."""

from collections.abc import Callable
from typing import assert_never

from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit
from isogrid.printers.c_family_expressions import Expressions
from isogrid.printers.c_family_loops import Counting, Loops, counter_interval, passes_bound
from isogrid.printers.c_family_names import Names, Places
from isogrid.printers.c_family_signs import Signs
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_text import CType, Text, cast, element_type, infix, machine_type

#: A line of source text as a comment shows it, "" where there is none.
Source = Callable[[Span], str]
#: Prints a statement that threads do together, or one that may trap.
Meeting = Callable[["Body", d.Statement], None]


class Body:
    """The lines of one function's body."""

    def __init__(
        self,
        kernel: d.Kernel,
        spelling: Spelling,
        names: Names,
        expressions: Expressions,
        signs: Signs,
        source: Source,
        meeting: Meeting,
        depth: int,
    ) -> None:
        self.kernel, self.spelling, self.names, self.expressions = kernel, spelling, names, expressions
        self.ranges = expressions.ranges
        self.mutable = frozenset(name for name, _ in kernel.variables)
        self.machines = dict(kernel.variables)
        self.signs = signs
        self.types = {name: signs.type_of(name, machine) for name, machine in kernel.variables}
        self.source, self.meeting, self.depth = source, meeting, depth
        self.loops = Loops(kernel)
        self.lets = dict.fromkeys(self.loops.definitions)
        self.places = Places(kernel.body, [*self.lets, *self.machines])
        self.elements = {b.name: b.element for b in kernel.buffers}
        self.lines: list[str] = []
        self.shown = ""
        self.declared: set[str] = set()
        self.skipped: frozenset[str] = frozenset()

    # --- lines --------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def opened(self, text: str) -> None:
        """A line that opens a block."""
        self.line(text)
        self.depth += 1

    def closed(self, text: str = "}") -> None:
        self.depth -= 1
        self.line(text)

    def mark(self, span: Span) -> None:
        """The source line, where it is another than that before."""
        text = self.source(span)
        if text and text != self.shown:
            self.line(f"// {text}")
            self.shown = text

    # --- statements ---------------------------------------------------------------------------------------------------

    def block(self, body: d.Block, path: tuple[int, ...] = ()) -> None:
        for number, node in enumerate(body):
            for name in self.places.before.get((path, number), ()):
                if name not in self.skipped:
                    self.line(f"{self._type_of(name).value} {self.names.give('value', name)};")
            if not (isinstance(node, d.Let) and (node.name in self.skipped or node.name in self.loops.unneeded)):
                self.mark(node.span)
            self.statement(node, (*path, number))

    def statement(self, node: d.Statement, path: tuple[int, ...]) -> None:
        match node:
            case d.Let():
                self._let(node)
            case d.Set():
                self._set(node)
            case d.Store():
                self._store(node)
            case d.If():
                self._if(node, path)
            case d.For():
                self._for(node, path)
            case d.Loop():
                self._loop(node, path)
            case d.Scope():
                before = dict(self.ranges.known)
                self.opened("do {")
                self.block(node.body, (*path, 2))
                self.closed("} while (false);")
                self.ranges.known = before
                self.ranges.forget(self.assigned(node.body))
            case d.Leave() | d.Break():
                self.line("break;")
            case d.Continue():
                self.line("continue;")
            case d.Fill():
                self._fill(node)
            case (
                d.Check()
                | d.Return()
                | d.Atomic()
                | d.Barrier()
                | d.Collective()
                | d.WarpBarrier()
                | d.WarpCollective()
                | d.Agree()
            ):
                self.meeting(self, node)
            case _:
                assert_never(node)

    def _type_of(self, name: str) -> CType:
        found = self.expressions.types.get(name)
        if found is not None:
            return found
        if name in self.machines:
            return self.types[name]
        return self.signs.type_of(name, self.loops.definitions[name].type)

    def _let(self, node: d.Let) -> None:
        if node.name in self.skipped or node.name in self.loops.unneeded:
            self.ranges.bind(node.name, node.value)
            if node.name not in self.skipped:
                self.expressions.deferred[node.name] = node.value
            return
        if node.name in self.mutable:
            self._assign(node.name, node.value)
            return
        value = self.expressions.text(node.value)
        type = value.type
        if type.bits == 64 and type.is_integer and self.expressions.fits_int(node.value):
            type = CType.I32
        if type.is_integer and not type.is_signed and type.bits >= 32:
            type = self.signs.type_of(node.name, node.value.type)
        if node.value.type in (Machine.I8, Machine.I16) and type.bits > 16:
            type = machine_type(node.value.type)
        own = node.name in self.places.own
        if not own:
            # It was declared before its value was seen.
            type = self._type_of(node.name)
        self.expressions.types[node.name] = type
        self.ranges.bind(node.name, node.value)
        name = self.names.give("value", node.name)
        value = self.expressions.converted(node.value, type)
        self.line(f"{f'const {type.value} ' if own else ''}{name} = {value.text};")

    def _set(self, node: d.Set) -> None:
        self._assign(node.name, node.value)

    def _assign(self, name: str, value: d.Expr) -> None:
        type = self.types[name]
        self.expressions.types[name] = type
        text = self.expressions.converted(value, type).text
        shown = self.names.give("value", name)
        self._changed(name, value)
        if name in self.places.own and name not in self.declared:
            self.declared.add(name)
            self.line(f"{type.value} {shown} = {text};")
            return
        self.line(f"{shown} = {text};")

    def _changed(self, name: str, value: d.Expr) -> None:
        if not value.type.is_float:
            known = self.ranges.of(value)
            self.ranges.bind_interval(name, value.type, known)

    def assigned(self, body: d.Block) -> list[tuple[str, Machine]]:
        """The variables that a block may change."""
        found: list[tuple[str, Machine]] = []
        for node in visit(body):
            match node:
                case (
                    d.Set(name=name) | d.Collective(target=name) | d.WarpCollective(target=name) | d.Agree(target=name)
                ):
                    found.append((name, self.machines[name]))
                case d.Let(name=name) if name in self.machines:
                    found.append((name, self.machines[name]))
                case d.Atomic(target=name) if name:
                    found.append((name, self.machines[name]))
                case _:
                    continue
        return found

    def give(self, name: str, text: Text) -> None:
        """Assign a value that is text already to a variable."""
        type = self.types[name]
        self.ranges.forget([(name, self.machines[name])])
        self.expressions.types[name] = type
        self.line(f"{self.names.give('value', name)} = {cast(text, type).text};")

    def element(self, buffer: str, index: d.Expr) -> str:
        return f"{self.names.give('buffer', buffer)}[{self.expressions.index(index).text}]"

    def _store(self, node: d.Store) -> None:
        type = element_type(self.elements[node.buffer])
        value = self.expressions.text(node.value)
        if value.type is CType.BOOL:
            value = Text(value.text, type)
        elif type.is_integer and isinstance(node.value, d.Literal):
            value = self.expressions.converted(node.value, type)
        elif value.type is not type:
            value = cast(value, type)
        self.line(f"{self.element(node.buffer, node.index)} = {value.text};")

    def _fill(self, node: d.Fill) -> None:
        buffer = next(b for b in self.kernel.buffers if b.name == node.buffer)
        name = self.names.give("buffer", node.buffer)
        at = "at"
        self.line(f"for (int {at} = 0; {at} < {buffer.count}; ++{at}) {name}[{at}] = 0;")

    # --- control flow -------------------------------------------------------------------------------------------------

    def _if(self, node: d.If, path: tuple[int, ...]) -> None:
        condition = self.expressions.text(node.condition)
        if not node.then and node.otherwise:
            negated = d.Op("inot", (node.condition,), Machine.I1)
            self.opened(f"if ({self.expressions.text(negated).text}) {{")
            self._under(node.condition, False, node.otherwise, (*path, 1))
            self.closed()
            return
        self.opened(f"if ({condition.text}) {{")
        self._under(node.condition, True, node.then, (*path, 0))
        if node.otherwise:
            self.depth -= 1
            self.opened("} else {")
            self._under(node.condition, False, node.otherwise, (*path, 1))
        self.closed()
        if _exits(node.then):
            self.ranges.assume(node.condition, False)
        if node.otherwise and _exits(node.otherwise):
            self.ranges.assume(node.condition, True)

    def _under(self, condition: d.Expr, holds: bool, body: d.Block, path: tuple[int, ...]) -> None:
        shown = self.shown
        with self.ranges.assuming(condition, holds):
            self.block(body, path)
        self.ranges.forget(self.assigned(body))
        if not body:
            self.shown = shown

    def _for(self, node: d.For, path: tuple[int, ...]) -> None:
        found = self.loops.counting.get(id(node))
        interval = counter_interval(self.ranges, node, found)
        narrow = node.type is Machine.I64 and interval is not None and _fits(interval)
        if found is not None and not passes_bound(self.ranges, found, 32 if narrow else node.type.bits):
            self._counting(node, found, narrow, interval, path)
        elif found is not None and narrow and not passes_bound(self.ranges, found, 64):
            self._counting(node, found, False, interval, path)
        else:
            self._counted(node, interval, path)

    def _counting(
        self, node: d.For, found: Counting, narrow: bool, interval: tuple[int, int] | None, path: tuple[int, ...]
    ) -> None:
        type = CType.I32 if narrow else machine_type(node.type)
        if found.is_unsigned:
            type = CType.U32 if node.type is Machine.I32 else CType.U64
        name = self.names.give("value", node.counter)
        start, stop = self.expressions.loosely(found.start, type), self.expressions.loosely(found.stop, type)
        self.expressions.types[node.counter] = type
        test = infix("<" if found.step > 0 else ">", Text(name, type), stop, CType.BOOL)
        size = abs(found.step)
        sign = "+" if found.step > 0 else "-"
        step = f"{sign}{sign}{name}" if size == 1 else f"{name} {sign}= {size}"
        self.opened(f"for ({type.value} {name} = {start.text}; {test.text}; {step}) {{")
        self._trip(node, interval, path)

    def _counted(self, node: d.For, interval: tuple[int, int] | None, path: tuple[int, ...]) -> None:
        """By the number of trips, for counters that no bound stops in their type."""
        ranges = self.ranges
        name = self.names.give("value", node.counter)
        trip, most = self.names.fresh("trip"), self.names.fresh("trips")
        small = ranges.of(node.trips)[0] >= 0 and ranges.of(node.trips)[1] < 1 << 31
        counts = CType.I32 if small else CType.U64
        type = machine_type(node.type)
        start, step = (self._kept(e, stem, type) for e, stem in ((node.start, "start"), (node.step, "step")))
        self.line(f"const {counts.value} {most} = {self.expressions.converted(node.trips, counts).text};")
        self.opened(f"for ({counts.value} {trip} = 0; {trip} < {most}; ++{trip}) {{")
        word = CType.U32 if type.bits == 32 else CType.U64
        value = infix(
            "+",
            cast(start, word),
            infix("*", cast(Text(trip, counts), word), cast(step, word), word),
            word,
        )
        self.expressions.types[node.counter] = type
        self.line(f"const {type.value} {name} = {cast(value, type).text};")
        self._trip(node, interval, path)

    def _kept(self, node: d.Expr, stem: str, type: CType) -> Text:
        """A value as it is before the first trip."""
        text = self.expressions.converted(node, type)
        if isinstance(node, d.Literal | d.Argument) or (isinstance(node, d.Value) and node.name not in self.mutable):
            return text
        name = self.names.fresh(stem)
        self.line(f"const {type.value} {name} = {text.text};")
        return Text(name, type)

    def _trip(self, node: d.For, interval: tuple[int, int] | None, path: tuple[int, ...]) -> None:
        before = dict(self.ranges.known)
        self.ranges.forget(self.assigned(node.body))
        if interval is not None and interval[0] <= interval[1]:
            self.ranges.bind_interval(node.counter, node.type, interval)
        self.block(node.body, (*path, 2))
        self.ranges.known = before
        self.ranges.forget(self.assigned(node.body))
        self.closed()

    def _loop(self, node: d.Loop, path: tuple[int, ...]) -> None:
        body, start = node.body, 0
        condition = "true"
        self.ranges.forget(self.assigned(body))
        before = dict(self.ranges.known)
        match body[0] if body else None:
            case d.If(condition=stop, then=(d.Break(),), otherwise=()) if ((*path, 2), 0) not in self.places.before:
                negated = d.Op("inot", (stop,), Machine.I1)
                condition, start = self.expressions.text(negated).text, 1
                self.opened(f"while ({condition}) {{")
                self.ranges.assume(stop, False)
            case _:
                self.opened("while (true) {")
        if not node.bounded and self.spelling.keeps_loop:
            self.line(self.spelling.keeps_loop)
        for number in range(start, len(body)):
            for name in self.places.before.get(((*path, 2), number), ()):
                self.line(f"{self._type_of(name).value} {self.names.give('value', name)};")
            self.mark(body[number].span)
            self.statement(body[number], (*path, 2, number))
        self.ranges.known = before
        self.closed()

    def negation(self, node: d.Expr) -> Text:
        """The opposite of a condition."""
        if isinstance(node, d.Op) and node.op == "inot":
            return self.expressions.text(node.arguments[0])
        return self.expressions.text(d.Op("inot", (node,), Machine.I1))


def _exits(body: d.Block) -> bool:
    return bool(body) and isinstance(body[-1], d.Break | d.Continue | d.Leave | d.Return)


def _fits(interval: tuple[int, int]) -> bool:
    return interval[0] >= -(1 << 31) and interval[1] < 1 << 31
