"""`settle`: one block that looks through the events of the watch for sums that did not come back into their type.

Events are few, since a wrap is rare; each is compared with all others. Where the watch is dense, every element has its
count instead. The first array, then the lowest element wins.
"""

from typing import Final

from isogrid.backends.cuda.emit_code import GLOBAL_POINTER
from isogrid.backends.cuda.layout import (
    RECORD_OPERANDS,
    RECORD_SITE,
    SETTLE_THREADS,
    SITE_TOO_MANY,
    TOTAL_KEY,
    WATCH_CAPACITY,
    WATCH_DENSE,
    WATCH_EVENTS,
    watched,
)
from isogrid.ir import device as d
from isogrid.printers.llvm_text import Writer

#: The word of the record where the lowest (parameter, element) gathers, all ones at first.
_RANK = 3
#: An element's number stands in the low bits of a rank.
_ELEMENT_BITS = 48


def settle_text(kernel: d.Kernel, w: Writer) -> str:
    """The text of the entry; its declarations go to `w`."""
    for name, result, types in (
        ("llvm.nvvm.read.ptx.sreg.tid.x", "i32", []),
        ("llvm.nvvm.barrier.cta.sync.aligned.all", "void", ["i32"]),
    ):
        w.declare(name, result, types)
    site = "-1"
    lines: list[str] = []
    for number, parameter in enumerate(kernel.parameters):
        if parameter.name in watched(kernel):
            lines.append(f"  %is.{number} = icmp eq i64 %winner.array, {number}")
            lines.append(
                f"  %site.{number} = select i1 %is.{number}, i64 {watched(kernel)[parameter.name]}, i64 {site}"
            )
            site = f"%site.{number}"
    chosen = "\n".join(lines)
    parts = [_entry_text(), _counts_text(len(kernel.parameters)), _LISTED, _decision_text(chosen, site)]
    return "".join(parts)


def _entry_text() -> str:
    p = GLOBAL_POINTER
    return f"""define ptx_kernel void @settle({p} %record, {p} %watch) nounwind "nvvm.reqntid"="{SETTLE_THREADS},1,1" {{
entry:
  %key = load volatile i64, {p} %record, align 8
  %trapped = icmp ne i64 %key, -1
  %count = load volatile i64, {p} %watch, align 8
  %nothing = icmp eq i64 %count, 0
  br i1 %nothing, label %out, label %look
look:
  %room.at = getelementptr inbounds i64, {p} %watch, i64 {WATCH_CAPACITY}
  %room = load i64, {p} %room.at, align 8
  %events = getelementptr inbounds i64, {p} %watch, i64 {WATCH_EVENTS}
  %rank.at = getelementptr inbounds i64, {p} %record, i64 {_RANK}
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %thread = zext i32 %tid to i64
  %dense = icmp eq i64 %room, {WATCH_DENSE - (1 << 64)}
  br i1 %dense, label %counts, label %listed
"""


def _counts_text(parameters: int) -> str:
    """Every element has a count, which goes back to zero for the next launch."""
    p, places = GLOBAL_POINTER, _array_of_count(parameters)
    return f"""counts:
  %first.count = load i64, {p} %events, align 8
  %end.at = getelementptr inbounds i64, {p} %events, i64 {parameters}
  %end = load i64, {p} %end.at, align 8
  %mine = add i64 %first.count, %thread
  br label %each
each:
  %c = phi i64 [ %mine, %counts ], [ %c.next, %each.next ]
  %c.more = icmp ult i64 %c, %end
  br i1 %c.more, label %counted, label %reset
counted:
  %c.at = getelementptr inbounds i64, {p} %watch, i64 %c
  %c.times = load i64, {p} %c.at, align 8
  %c.none = icmp eq i64 %c.times, 0
  br i1 %c.none, label %each.next, label %clear
clear:
  store i64 0, {p} %c.at, align 8
  br i1 %trapped, label %each.next, label %place
place:
{places}
  %c.start.at = getelementptr inbounds i64, {p} %events, i64 %c.array
  %c.start = load i64, {p} %c.start.at, align 8
  %c.element = sub i64 %c, %c.start
  %c.high = shl i64 %c.array, {_ELEMENT_BITS}
  %c.rank = or i64 %c.high, %c.element
  %c.before = atomicrmw umin {p} %rank.at, i64 %c.rank syncscope("device") monotonic
  br label %each.next
each.next:
  %c.next = add i64 %c, {SETTLE_THREADS}
  br label %each
reset:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i64 0, {p} %watch, align 8
  br i1 %trapped, label %out, label %decide
"""


#: Every thread compares one event after the other with all of them.
_LISTED: Final = f"""listed:
  %more.than.room = icmp ugt i64 %count, %room
  br i1 %trapped, label %out, label %within
within:
  br i1 %more.than.room, label %decide, label %outer
outer:
  %i = phi i64 [ %thread, %within ], [ %i.next, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %decide
one:
  %i.pair = shl i64 %i, 1
  %i.at = getelementptr inbounds i64, {GLOBAL_POINTER} %events, i64 %i.pair
  %i.event = load i64, {GLOBAL_POINTER} %i.at, align 8
  %i.array = lshr i64 %i.event, 1
  %i.element.at = getelementptr inbounds i64, {GLOBAL_POINTER} %i.at, i64 1
  %i.element = load i64, {GLOBAL_POINTER} %i.element.at, align 8
  br label %inner
inner:
  %j = phi i64 [ 0, %one ], [ %j.next, %inner ]
  %sum = phi i64 [ 0, %one ], [ %sum.next, %inner ]
  %j.pair = shl i64 %j, 1
  %j.at = getelementptr inbounds i64, {GLOBAL_POINTER} %events, i64 %j.pair
  %j.event = load i64, {GLOBAL_POINTER} %j.at, align 8
  %j.array = lshr i64 %j.event, 1
  %j.element.at = getelementptr inbounds i64, {GLOBAL_POINTER} %j.at, i64 1
  %j.element = load i64, {GLOBAL_POINTER} %j.element.at, align 8
  %down = and i64 %j.event, 1
  %twice = shl i64 %down, 1
  %change = sub i64 1, %twice
  %same.array = icmp eq i64 %i.array, %j.array
  %same.element = icmp eq i64 %i.element, %j.element
  %same = and i1 %same.array, %same.element
  %add = select i1 %same, i64 %change, i64 0
  %sum.next = add i64 %sum, %add
  %j.next = add i64 %j, 1
  %j.more = icmp ult i64 %j.next, %count
  br i1 %j.more, label %inner, label %judge
judge:
  %lost = icmp ne i64 %sum.next, 0
  br i1 %lost, label %note, label %next
note:
  %high = shl i64 %i.array, {_ELEMENT_BITS}
  %rank = or i64 %high, %i.element
  %before = atomicrmw umin {GLOBAL_POINTER} %rank.at, i64 %rank syncscope("device") monotonic
  br label %next
next:
  %i.next = add i64 %i, {SETTLE_THREADS}
  br label %outer
"""


def _decision_text(chosen: str, site: str) -> str:
    """Thread 0 writes what was found into the record."""
    p = GLOBAL_POINTER
    return f"""decide:
  %too.many = phi i1 [ false, %reset ], [ %more.than.room, %within ], [ false, %outer ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %first = icmp eq i32 %tid, 0
  br i1 %first, label %write, label %out
write:
  %winner = load volatile i64, {p} %rank.at, align 8
  %found = icmp ne i64 %winner, -1
  %any = or i1 %found, %too.many
  br i1 %any, label %fill, label %out
fill:
  %winner.array = lshr i64 %winner, {_ELEMENT_BITS}
  %winner.element = and i64 %winner, {(1 << _ELEMENT_BITS) - 1}
{chosen}
  %site = select i1 %too.many, i64 {SITE_TOO_MANY}, i64 {site}
  %site.at = getelementptr inbounds i64, {p} %record, i64 {RECORD_SITE}
  store i64 %site, {p} %site.at, align 8
  %operand.at = getelementptr inbounds i64, {p} %record, i64 {RECORD_OPERANDS}
  store i64 %winner.element, {p} %operand.at, align 8
  store i64 {TOTAL_KEY - (1 << 64)}, {p} %record, align 8
  br label %out
out:
  ret void
}}"""


def _array_of_count(parameters: int) -> str:
    """Which array the count at place %c belongs to: as many as end at or before it come first."""
    p, total = GLOBAL_POINTER, "0"
    lines: list[str] = []
    for number in range(1, parameters + 1):
        lines += [
            f"  %after.at.{number} = getelementptr inbounds i64, {p} %events, i64 {number}",
            f"  %after.{number} = load i64, {p} %after.at.{number}, align 8",
            f"  %past.{number} = icmp ule i64 %after.{number}, %c",
            f"  %is.past.{number} = zext i1 %past.{number} to i64",
            f"  %passed.{number} = add i64 {total}, %is.past.{number}",
        ]
        total = f"%passed.{number}"
    return "\n".join([*lines, f"  %c.array = add i64 {total}, 0"])
