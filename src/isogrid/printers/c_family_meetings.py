"""How threads meet: checks, barriers, votes, and how a group with a trapped thread leaves.

A thread that traps records itself and ends. Where a meeting of its group may follow, the group leaves there, whole: the
meeting asks whether somebody has trapped, and the trapped thread answers from where it is (`Spelling.barrier_or`).
"""

from isogrid.analysis.meetings import Meetings, Pending
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.printers.c_family_frame import Frame, totals_of, watched_buffers
from isogrid.printers.c_family_groups import any_function
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_statements import Body
from isogrid.printers.c_family_text import CType, Text, unsigned
from isogrid.printers.c_family_traps import mark_function, trap_function
from isogrid.support.errors import KnownLimit


class Together:
    """What the threads of one kernel do together; collects functions and shared arrays."""

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

    @property
    def thread(self) -> str:
        return self.frame.local_index.text

    @property
    def is_narrow(self) -> bool:
        """Whether one hardware warp holds a logical one."""
        return self.kernel.warp in self.spelling.warp_widths

    # --- traps --------------------------------------------------------------------------------------------------------

    def check(self, body: Body, node: d.Check) -> None:
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
            name, text = mark_function(self.spelling)
            self.functions[name] = text
            body.line(f"{name}(record, ({self.spelling.key_type})key);")
            return
        name, text = trap_function(self.spelling, len(operands))
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

    # --- warps --------------------------------------------------------------------------------------------------------

    def mask(self) -> str:
        """The hardware lanes of this thread's logical warp."""
        if self.kernel.warp == 32:
            return "0xffffffffu"
        return f"{hex((1 << self.kernel.warp) - 1)}u << ({self.thread} & {32 - self.kernel.warp})"

    def warp_vote(self, value: str) -> str:
        """Whether some lane of the warp says `value`, as an expression."""
        self.check_width()
        return self.spelling.warps["any"].format(mask=self.mask(), v=value)

    def check_width(self) -> None:
        """Refuse warps that the hardware's shuffles do not reach across."""
        if not self.is_narrow:
            raise KnownLimit(
                f"kernel {self.kernel.name}: warps of {self.kernel.warp} threads are wider than those of "
                f"{self.spelling.language}"
            )

    def warp_barrier(self, body: Body, node: d.WarpBarrier) -> None:
        native = self.spelling.warps.get("barrier")
        if native is None:
            body.line(self.spelling.barrier)
            return
        self.check_width()
        if self.meetings.pending(node).warp:
            self._leave_with_warp(body)
        body.line(native.format(mask=self.mask()))

    def before_warp_operation(self, body: Body, node: d.WarpCollective) -> None:
        """The warp leaves here if one of its threads has trapped."""
        if self.spelling.barrier_or and self.meetings.pending(node).warp:
            self._leave_with_warp(body)

    def leave_warp(self, body: Body, node: d.WarpCollective) -> None:
        """A warp whose total is out of its type leaves."""
        if id(node) in self.meetings.followed:
            self._stand_in(body)
        body.line("return;")

    def trap(self, body: Body, site: int) -> None:
        self._trap(body, site, [])
