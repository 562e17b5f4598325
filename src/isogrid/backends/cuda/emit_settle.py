"""`settle`: one block that looks through the events of the watch for sums that did not come back into their type.

Events are few, since a wrap is rare; each is compared with all others. The first array, then the lowest element wins.
"""

from isogrid.backends.cuda.emit_code import GLOBAL_POINTER
from isogrid.backends.cuda.layout import (
    RECORD_OPERANDS,
    RECORD_SITE,
    SETTLE_THREADS,
    SITE_TOO_MANY,
    TOTAL_KEY,
    WATCH_CAPACITY,
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
    p = GLOBAL_POINTER
    return f"""define ptx_kernel void @settle({p} %record, {p} %watch) nounwind "nvvm.reqntid"="{SETTLE_THREADS},1,1" {{
entry:
  %key = load volatile i64, {p} %record, align 8
  %trapped = icmp ne i64 %key, -1
  %count = load volatile i64, {p} %watch, align 8
  %nothing = icmp eq i64 %count, 0
  %leave = or i1 %trapped, %nothing
  br i1 %leave, label %out, label %look
look:
  %room.at = getelementptr inbounds i64, {p} %watch, i64 {WATCH_CAPACITY}
  %room = load i64, {p} %room.at, align 8
  %events = getelementptr inbounds i64, {p} %watch, i64 {WATCH_EVENTS}
  %rank.at = getelementptr inbounds i64, {p} %record, i64 {_RANK}
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %thread = zext i32 %tid to i64
  %too.many = icmp ugt i64 %count, %room
  br i1 %too.many, label %decide, label %outer
outer:
  %i = phi i64 [ %thread, %look ], [ %i.next, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %decide
one:
  %i.pair = shl i64 %i, 1
  %i.at = getelementptr inbounds i64, {p} %events, i64 %i.pair
  %i.event = load i64, {p} %i.at, align 8
  %i.array = lshr i64 %i.event, 1
  %i.element.at = getelementptr inbounds i64, {p} %i.at, i64 1
  %i.element = load i64, {p} %i.element.at, align 8
  br label %inner
inner:
  %j = phi i64 [ 0, %one ], [ %j.next, %inner ]
  %sum = phi i64 [ 0, %one ], [ %sum.next, %inner ]
  %j.pair = shl i64 %j, 1
  %j.at = getelementptr inbounds i64, {p} %events, i64 %j.pair
  %j.event = load i64, {p} %j.at, align 8
  %j.array = lshr i64 %j.event, 1
  %j.element.at = getelementptr inbounds i64, {p} %j.at, i64 1
  %j.element = load i64, {p} %j.element.at, align 8
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
  %before = atomicrmw umin {p} %rank.at, i64 %rank syncscope("device") monotonic
  br label %next
next:
  %i.next = add i64 %i, {SETTLE_THREADS}
  br label %outer
decide:
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
