"""What threads do together: barriers, group and warp operations, atomics, and how a group with a trapped thread leaves.

A thread that traps records itself and ends. Where a meeting of its group may follow, the group leaves there, whole: the
meeting asks whether somebody has trapped, and the trapped thread answers from where it is (`Spelling.barrier_or`).
"""

from typing import Final

from isogrid.analysis.meetings import Meetings, Pending
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.printers.c_family_frame import Frame, totals_of, watched_buffers
from isogrid.printers.c_family_groups import (
    any_function,
    combiner,
    scan_function,
    tree_function,
    wide_type,
)
from isogrid.printers.c_family_helpers import function_name
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_statements import Body
from isogrid.printers.c_family_text import CType, Text, element_type, unsigned
from isogrid.support.errors import CompilerBug, KnownLimit

ALL: Final = "~(u64)0"


class Together:
    """Prints the statements of one kernel that `Body` hands over; collects functions and shared arrays."""

    def __init__(self, kernel: d.Kernel, spelling: Spelling, frame: Frame, meetings: Meetings) -> None:
        self.kernel, self.spelling, self.frame, self.meetings = kernel, spelling, frame, meetings
        self.functions: dict[str, str] = {}
        self.shared: dict[str, tuple[str, int]] = {}
        self.totals = totals_of(kernel)
        shared = [b for b in kernel.buffers if b.space is Space.SHARED]
        self.shared_totals = {b.name: self.totals[b.name] for b in shared if b.name in self.totals}
        self.watched = watched_buffers(kernel)
        self.spaces = {b.name: b.space for b in kernel.buffers}
        self.needs_key = False

    def __call__(self, body: Body, node: d.Statement) -> None:
        match node:
            case d.Check():
                self._check(body, node)
            case d.Return():
                self.end(body)
                body.line("return;")
            case d.Barrier():
                self.meet(body, self.meetings.pending(node))
            case d.Collective():
                self._collective(body, node)
            case d.WarpBarrier():
                self._warp_barrier(body, node)
            case d.WarpCollective():
                self._warp_collective(body, node)
            case d.Agree():
                vote = self.vote(body.expressions.text(node.value))
                body.give(node.target, Text(vote, CType.BOOL))
            case d.Atomic():
                self._atomic(body, node)
            case _:
                raise CompilerBug(f"{type(node).__name__} is no meeting")

    @property
    def thread(self) -> str:
        return self.frame.local_index.text

    @property
    def _narrow(self) -> bool:
        """Whether one hardware warp holds a logical one."""
        return self.kernel.warp in self.spelling.warp_widths

    # --- traps --------------------------------------------------------------------------------------------------------

    def _check(self, body: Body, node: d.Check) -> None:
        if isinstance(node.ok, d.Literal):
            if not node.ok.bits:
                self._trap(body, node.site, [self._word(body, o) for o in node.operands])
                if not self._leaves_later(node):
                    self._trapped(body, node)
            return
        body.opened(f"if ({body.negation(node.ok).text}) {{")
        before = dict(body.ranges.known)
        self._trap(body, node.site, [self._word(body, o) for o in node.operands])
        self._trapped(body, node)
        body.ranges.known = before
        body.closed()
        body.ranges.assume(node.ok, True)

    def _leaves_later(self, node: d.Check) -> bool:
        """Whether the statements behind the check take the thread to the next meeting."""
        return not self.spelling.barrier_or and self.kernel.grouped and bool(self.meetings.before)

    def _trap(self, body: Body, site: int, operands: list[Text]) -> None:
        """Record a trap of this thread."""
        self.needs_key = True
        if not self.spelling.barrier_or:
            name, text = _mark_function(self.spelling)
            self.functions[name] = text
            body.line(f"{name}(record, ({self.spelling.key_type})key);")
            return
        name, text = _trap_function(self.spelling, len(operands))
        self.functions[name] = text
        body.line(f"{name}({', '.join(['record', 'key', str(site), *(o.text for o in operands)])});")

    def _word(self, body: Body, operand: d.Expr) -> Text:
        """The bits of a value, which C extends with zeros to 64 of them."""
        if operand.type.is_float:
            operand = d.Op("bits", (operand,), Machine(f"i{operand.type.bits}"))
        if operand.type is Machine.I64:
            return body.expressions.text(operand)
        if operand.type is Machine.I1:
            return body.expressions.text(operand)
        return body.expressions.converted(operand, unsigned(operand.type.bits))

    def _trapped(self, body: Body, node: d.Statement) -> None:
        """This thread has trapped: it goes to the meeting where its group leaves, and ends."""
        if id(node) in self.meetings.followed:
            if self.meetings.warps:
                body.line(f"{self.warp_vote('true')};")
            self._stand_in(body)
        body.line("return;")

    def _stand_in(self, body: Body) -> None:
        vote = self.spelling.barrier_or.format(ok="true")
        body.line(f"{vote};")
        if self.shared_totals:
            body.line(f"{vote};")

    # --- meetings of the group ----------------------------------------------------------------------------------------

    def meet(self, body: Body, pending: Pending) -> None:
        """All threads of the group meet; the group leaves if one of them has trapped."""
        if pending.warp and self.meetings.warps and self.spelling.barrier_or:
            self._leave_with_warp(body)
        if pending.total:
            self._settle_shared(body)
        elif pending.group and self.spelling.barrier_or:
            body.line(f"if ({self.spelling.barrier_or.format(ok='false')}) return;")
        else:
            body.line(self.spelling.barrier)

    def end(self, body: Body) -> None:
        """Before a thread ends that has not trapped."""
        pending = self.meetings.pending(None)
        if pending.total or (pending.group and self.spelling.barrier_or):
            self.meet(body, pending)

    def _leave_with_warp(self, body: Body) -> None:
        body.opened(f"if ({self.warp_vote('false')}) {{")
        self._stand_in(body)
        body.line("return;")
        body.closed()

    def vote(self, value: Text) -> str:
        """Whether some thread of the group says `value`, as an expression; a barrier."""
        if self.spelling.barrier_or:
            return self.spelling.barrier_or.format(ok=value.text)
        name, text = any_function(self.spelling)
        self.functions[name] = text
        slots = self.slots(CType.I32, 1, "vote")
        return f"{name}({slots}, {value.text}, {self.thread})"

    def slots(self, type: CType, count: int, stem: str = "") -> str:
        name = self.frame.names.give("frame", stem or f"slots_{type.suffix}")
        self.shared[name] = (type.value, max(count, self.shared.get(name, ("", 0))[1]))
        return name

    # --- totals of shared arrays --------------------------------------------------------------------------------------

    def counters(self, name: str) -> str:
        """The array that counts how often the sums of a shared array left their type."""
        return self.frame.names.give("counters", f"{name}_wraps")

    def _settle_shared(self, body: Body) -> None:
        """Where a sum wrapped since the last meeting, see whether its total is out of its type for good."""
        body.line("// A sum that left its type may have come back; the lowest element that did not traps.")
        body.opened(f"if ({self.vote(Text('sum_wrapped', CType.BOOL))}) {{")
        if self.spelling.barrier_or:
            body.line(f"if ({self.spelling.barrier_or.format(ok='false')}) return;")
        body.line("sum_wrapped = false;")
        lost = self.slots(CType.U64 if self.spelling.barrier_or else CType.U32, 1, "lost_total")
        bits = 32 if self.spelling.barrier_or else 20
        word = CType.U64 if self.spelling.barrier_or else CType.U32
        buffers = {b.name: b for b in self.kernel.buffers}
        for order, name in enumerate(self.shared_totals):
            count = buffers[name].count
            head = f"for (int at = {self.thread}; at < {count}; at += {self.frame.threads})"
            rank = f"({word.value}){order} << {bits} | ({word.value})at" if order else f"({word.value})at"
            update = self.spelling.atomics[f"min_{word.suffix}"].format(
                p=f"&{lost}[0]", v=rank, s=self.spelling.spaces["shared"]
            )
            body.line(f"{head} {{")
            body.depth += 1
            body.line(f"if ({self.counters(name)}[at] != 0) {update};")
            body.closed()
        body.line(self.spelling.barrier)
        body.opened(f"if ({lost}[0] != ~({word.value})0) {{")
        self._record_lost(body, lost, bits, word)
        body.line("return;")
        body.closed()
        body.closed()

    def _record_lost(self, body: Body, lost: str, bits: int, word: CType) -> None:
        body.opened(f"if ({self.thread} == 0) {{")
        element = Text(f"({lost}[0] & {hex((1 << bits) - 1)}{'u' if word is CType.U32 else ''})", word)
        sites = list(self.shared_totals.values())
        for order, site in enumerate(sites):
            if len(sites) > 1:
                body.opened(f"if ({lost}[0] >> {bits} == {order}) {{")
            self._trap(body, site, [element])
            if len(sites) > 1:
                body.closed()
        body.closed()

    # --- group operations ---------------------------------------------------------------------------------------------

    def _collective(self, body: Body, node: d.Collective) -> None:
        pending = self.meetings.pending(node)
        value = body.expressions.text(node.value)
        if node.op in ("any", "all"):
            if pending.warp or pending.group or pending.total:
                self.meet(body, pending)
            body.give(node.target, self._any_or_all(node.op, value))
            return
        type, wide = element_type(node.scalar), wide_type(node)
        own = Pending(pending.warp, pending.group, False)
        value = body.expressions.converted(node.value, type)
        if node.total is not None and type.bits == 64:
            self._exact(body, node, value, own)
        else:
            slots = self.slots(wide, self.frame.threads)
            body.line(f"{slots}[{self.thread}] = {value.text};")
            self.meet(body, own)
            result = self._combined(body, node, slots, wide)
            self._narrowed(body, node, result, type, wide)
        if pending.total:
            self.meet(body, Pending(total=True))

    def _any_or_all(self, op: str, value: Text) -> Text:
        if op == "any":
            return Text(self.vote(value), CType.BOOL)
        return Text(f"!{self.vote(Text(f'!{value.as_unary}', CType.BOOL))}", CType.BOOL, 14)

    def _combined(self, body: Body, node: d.Collective, slots: str, type: CType) -> str:
        """The result of a group operation on filled slots, as text."""
        if node.op == "scan":
            name, text = scan_function(self.spelling, type, self.frame.threads)
            self.functions[name] = text
            body.line(f"{name}({slots}, {self.thread});")
            if node.exclusive:
                zero = "0.0f" if type is CType.F32 else "0.0" if type is CType.F64 else f"({type.value})0"
                return f"{self.thread} > 0 ? {slots}[{self.thread} - 1] : {zero}"
            return f"{slots}[{self.thread}]"
        name, text = tree_function(
            self.spelling, node.op, node.scalar, type, self.frame.threads, body.expressions.needs
        )
        self.functions[name] = text
        return f"{name}({slots}, {self.thread})"

    def _narrowed(self, body: Body, node: d.Collective, result: str, type: CType, wide: CType) -> None:
        """The result in its own type; the group leaves where it does not fit."""
        if wide is type:
            body.give(node.target, Text(result, type, 3, "?" if "?" in result else ""))
            if node.op == "scan":
                body.line(self.spelling.barrier)
            return
        total = self.frame.names.fresh("total")
        body.line(f"const {wide.value} {total} = {result};")
        if node.op == "scan":
            body.line(self.spelling.barrier)
        self._leave_at_total(body, node, f"{total} != ({type.value}){total}")
        body.give(node.target, Text(f"({type.value}){total}", type, 14))

    def _leave_at_total(self, body: Body, node: d.Collective, lost: str) -> None:
        """Thread 0 names a sum that is out of its type, the lowest such thread a scan; then all leave."""
        assert node.total is not None
        if node.op == "sum":
            body.opened(f"if ({lost}) {{")
            body.opened(f"if ({self.thread} == 0) {{")
            self._trap(body, node.total, [])
            body.closed()
            body.line("return;")
            body.closed()
            return
        flag = self.frame.names.fresh("is_lost")
        body.line(f"const bool {flag} = {lost};")
        body.opened(f"if ({flag}) {{")
        self._trap(body, node.total, [])
        body.closed()
        body.line(f"if ({self.vote(Text(flag, CType.BOOL))}) return;")

    def _exact(self, body: Body, node: d.Collective, value: Text, pending: Pending) -> None:
        """A checked total of 64-bit integers: the upper and lower halves are added apart, and carry at the end."""
        type = element_type(node.scalar)
        upper = self.slots(CType.I64, self.frame.threads)
        lower = self.slots(CType.U64, self.frame.threads)
        names = self.frame.names
        kept = names.fresh("value")
        body.line(f"const {type.value} {kept} = {value.text};")
        body.line(f"{upper}[{self.thread}] = (i64)({kept} >> 32);")
        body.line(f"{lower}[{self.thread}] = (u32){kept};")
        self.meet(body, pending)
        highs = self._combined(body, _like(node, Scalar.I64), upper, CType.I64)
        high, low = names.fresh("high"), names.fresh("low")
        body.line(f"i64 {high} = {highs};")
        lows = self._combined(body, _like(node, Scalar.U64), lower, CType.U64)
        body.line(f"const u64 {low} = {lows};")
        body.line(self.spelling.barrier)
        body.line(f"{high} += (i64)({low} >> 32);")
        lost = f"{high} != (int){high}" if type.is_signed else f"{high} >> 32 != 0"
        self._leave_at_total(body, node, lost)
        body.give(node.target, Text(f"({type.value})((u64){high} << 32 | (u32){low})", type, 14))

    # --- warps --------------------------------------------------------------------------------------------------------

    def mask(self) -> str:
        """The hardware lanes of this thread's logical warp."""
        if self.kernel.warp == 32:
            return "0xffffffffu"
        return f"{hex((1 << self.kernel.warp) - 1)}u << ({self.thread} & {32 - self.kernel.warp})"

    def warp_vote(self, value: str) -> str:
        if not self._narrow:
            raise KnownLimit(
                f"warps of {self.kernel.warp} threads are wider than the hardware's in {self.spelling.language}"
            )
        return self.spelling.warps["any"].format(mask=self.mask(), v=value)

    def _warp_barrier(self, body: Body, node: d.WarpBarrier) -> None:
        if not self.spelling.warps:
            body.line(self.spelling.barrier)
            return
        pending = self.meetings.pending(node)
        if pending.warp:
            self._leave_with_warp(body)
        if not self._narrow:
            self.warp_vote("false")
        body.line(self.spelling.warps["barrier"].format(mask=self.mask()))

    def _warp_collective(self, body: Body, node: d.WarpCollective) -> None:
        pending = self.meetings.pending(node)
        if self.spelling.warps and pending.warp:
            self._leave_with_warp(body)
        from isogrid.printers.c_family_warps import warp_operation

        warp_operation(self, body, node)

    def leave_warp(self, body: Body, node: d.WarpCollective) -> None:
        """A warp whose total is out of its type leaves."""
        if id(node) in self.meetings.followed:
            self._stand_in(body)
        body.line("return;")

    def trap(self, body: Body, site: int) -> None:
        self._trap(body, site, [])

    # --- atomics ------------------------------------------------------------------------------------------------------

    def _atomic(self, body: Body, node: d.Atomic) -> None:
        type = element_type(node.element)
        place = body.element(node.buffer, node.index)
        space = "shared" if self.spaces[node.buffer] is Space.SHARED else "global"
        word = self.spelling.spaces[space]
        if node.op == "load":
            body.give(node.target, Text(self.spelling.atomic_load.format(p=f"&{place}", t=type.value, s=word), type))
            return
        value = body.expressions.converted(node.value, type)
        if node.op == "store":
            body.line(self.spelling.atomic_store.format(p=f"&{place}", t=type.value, s=word, v=value.text) + ";")
            return
        expected = None if node.expected is None else body.expressions.converted(node.expected, type)
        if node.total is not None:
            self._counted_add(body, node, type, value, word)
            return
        text = self._update(body, node.op, type, f"&{place}", value, expected, space)
        if node.target:
            body.give(node.target, Text(text, type))
        else:
            body.line(f"{text};")

    def _update(
        self, body: Body, op: str, type: CType, place: str, value: Text, expected: Text | None, space: str
    ) -> str:
        key = f"{op}_{type.suffix}"
        word = self.spelling.spaces[space]
        found = self.spelling.atomics.get(key)
        if found is not None:
            return found.format(p=place, v=value.text, e=expected.text if expected else "", s=word)
        name, text = self._loop_function(body, op, type, space)
        self.functions[name] = text
        return f"{name}({place}, {value.text})"

    def _loop_function(self, body: Body, op: str, type: CType, space: str) -> tuple[str, str]:
        """An atomic that the language lacks, by comparing and swapping the bits of the element."""
        bits = unsigned(type.bits)
        swap = self.spelling.atomics.get(f"cas_{bits.suffix}")
        if swap is None:
            raise KnownLimit(f"{self.spelling.language} has no atomic {op} of {type.suffix} elements here")
        word = self.spelling.spaces[space]
        scalar = {CType.F32: Scalar.F32, CType.F64: Scalar.F64}.get(type)
        if scalar is None or op not in ("min", "max", "add", "exchange"):
            raise KnownLimit(f"{self.spelling.language} has no atomic {op} of {type.suffix} elements here")
        combined = (
            "value"
            if op == "exchange"
            else combiner(self.spelling, "sum" if op == "add" else op, scalar, body.expressions.needs).format(
                a="old", b="value"
            )
        )
        there, back = (
            function_name(self.spelling, k) for k in (f"{type.suffix}_{bits.suffix}", f"{bits.suffix}_{type.suffix}")
        )
        name = f"atomic_{op}_{type.suffix}" + ("" if not word else f"_{space}")
        swapped = swap.format(p=f"({word}{bits.value}*)place", e="seen", v=f"{there}({combined})", s=word)
        text = f"""
{self.spelling.function}{type.value} {name}({word}{type.value}* place, {type.value} value) {{
    {bits.value} seen = *(volatile {word}{bits.value}*)place;
    while (true) {{
        const {type.value} old = {back}(seen);
        const {bits.value} now = {swapped};
        if (now == seen) return old;
        seen = now;
    }}
}}"""
        return name, text

    def _counted_add(self, body: Body, node: d.Atomic, type: CType, value: Text, word: str) -> None:
        """An add whose sum may leave its type: a wrap is noted, and what it means is seen when all have added."""
        index = body.expressions.index(node.index)
        buffer = body.names.give("buffer", node.buffer)
        shared = self.spaces[node.buffer] is Space.SHARED
        body.opened("{")
        body.line(f"const {index.type.value} at = {index.text};")
        body.line(f"const {type.value} more = {value.text};")
        update = self._update(
            body, "add", type, f"&{buffer}[at]", Text("more", type), None, "shared" if shared else "global"
        )
        body.line(f"const {type.value} old = {update};")
        if node.target:
            body.give(node.target, Text("old", type))
        key = f"{'s' if type.is_signed else 'u'}add_overflows_{type.suffix}"
        body.expressions.needs.add(key)
        body.opened(f"if ({function_name(self.spelling, key)}(old, more)) {{")
        down = "more < 0 ? 1 : 0" if type.is_signed else "0"
        if shared:
            sign = "more < 0 ? -1 : 1" if type.is_signed else "1"
            count = self.spelling.atomics["add_i32"].format(p=f"&{self.counters(node.buffer)}[at]", v=sign, s=word)
            body.line(f"{count};")
            body.line("sum_wrapped = true;")
        else:
            number = next(k for k, p in enumerate(self.kernel.parameters) if p.name == node.buffer)
            name, text = _wrapped_function(self.spelling)
            self.functions[name] = text
            event = f"{2 * number} + ({down})" if type.is_signed else f"{2 * number}"
            body.line(f"{name}(watch, {event}, ({self.spelling.key_type})at);")
        body.closed()
        body.closed()


def _like(node: d.Collective, scalar: Scalar) -> d.Collective:
    return d.Collective(node.op, node.target, node.value, scalar, node.exclusive, None, span=node.span)


def _trap_function(spelling: Spelling, count: int) -> tuple[str, str]:
    """Records a trap if it comes before what is recorded. The lock is given back before lanes meet again."""
    name = f"trap_{count}"
    space = spelling.spaces["global"]
    values = "".join(f", u64 operand_{n}" for n in range(count))
    stores = "".join(f"\n                record[{4 + n}] = operand_{n};" for n in range(count))
    words = {
        "take": spelling.atomics["cas_u64"].format(p=f"({space}u64*)&record[2]", e=ALL, v="0", s=space),
        "give": spelling.atomics["exchange_u64"].format(p=f"({space}u64*)&record[2]", v=ALL, s=space),
    }
    text = f"""
// Records a trap, unless one that comes before it in the order of the launch is there.
{spelling.cold}void {name}(volatile {space}u64* record, u64 key, u64 site{values}) {{
    bool waits = true;
    while (waits && key < record[0]) {{
        if ({words["take"]} == {ALL}) {{
            {spelling.warps["fence"]}
            if (key < record[0]) {{
                record[1] = site;{stores}
                record[0] = key;
            }}
            {spelling.warps["fence"]}
            {words["give"]};
            waits = false;
        }}
    }}
}}"""
    return name, text


def _mark_function(spelling: Spelling) -> tuple[str, str]:
    """Notes the first thread or group that traps; who it was and why is found by running it again elsewhere."""
    type, space = spelling.key_type, spelling.spaces["global"]
    suffix = "u64" if type == "u64" else "u32"
    update = spelling.atomics[f"min_{suffix}"].format(p="record", v="key", s=space)
    text = f"""
// Notes the first thread, or the first group, that trapped.
{spelling.cold}void trap(volatile {space}{type}* record, {type} key) {{
    {update};
}}"""
    return "trap", text


def _wrapped_function(spelling: Spelling) -> tuple[str, str]:
    type, space = spelling.key_type, spelling.spaces["global"]
    suffix = "u64" if type == "u64" else "u32"
    count = spelling.atomics[f"add_{suffix}"].format(p=f"({space}{type}*)&watch[0]", v="1", s=space)
    text = f"""
// Notes that a sum left its type: the array and direction, and the element.
{spelling.cold}void wrapped(volatile {space}{type}* watch, {type} event, {type} element) {{
    const {type} number = {count};
    if (number < watch[1]) {{
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }}
}}"""
    return "wrapped", text
