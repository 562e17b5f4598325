"""Traps: a failed check records itself under a lock if its key is the lowest so far, then its thread ends.

The recording functions are cold and not inlined; a check that holds costs one comparison and one branch.
"""

from collections.abc import Sequence

from isogrid.backends.cuda.emit_code import GLOBAL_POINTER, Code, as_bits, evaluate
from isogrid.backends.cuda.layout import (
    MAX_OPERANDS,
    MIRROR_WORD,
    POISON_WORD,
    RECORD_LOCK,
    RECORD_OPERANDS,
    RECORD_SITE,
    RECORD_WORDS,
    WATCH_CAPACITY,
    WATCH_DENSE,
    WATCH_EVENTS,
)
from isogrid.ir import device as d
from isogrid.support.errors import KnownLimit

_COLD = ', !prof !{!"branch_weights", i32 1000000, i32 1}'


def emit_check(code: Code, node: d.Check) -> None:
    """Go on where `ok` holds; else record the trap and end the thread, whole groups at their next meeting."""
    ok = evaluate(code, node.ok)
    if ok == "true":
        return
    w = code.w
    passed, failed = w.block("checked"), w.block("failed")
    w.branch(ok, passed, failed, _COLD)
    w.place(failed)
    operands = [as_bits(code, evaluate(code, o), o.type) for o in node.operands]
    record_trap(code, node.site, operands)
    if id(node) in code.meetings.followed:
        code.has_trapped = True
        w.jump(code.trapped)
    else:
        w.finish("ret void")
    w.place(passed)


def record_trap(code: Code, site: int, operands: Sequence[str], key: str = "") -> None:
    """Record a trap of this thread, or one with another key."""
    if len(operands) > MAX_OPERANDS:
        raise KnownLimit(f"a check with more than {MAX_OPERANDS} operands")
    count = len(operands)
    name = f"trap.{count}"
    code.helpers.setdefault(name, _trap_text(count))
    values = "".join(f", i64 {o}" for o in operands)
    code.w.do(f"call void @{name}({GLOBAL_POINTER} %record, i64 {key or code.key}, i64 {site}{values})")


def report_skipped(code: Code) -> None:
    """The first thread of the grid tells later launches that this one did nothing."""
    _first_thread(code, "report.skipped", 0)


def report_trap(code: Code) -> None:
    """It tells the host of the trap as well."""
    _first_thread(code, "report.trap", RECORD_WORDS)


def _first_thread(code: Code, name: str, words: int) -> None:
    """Call a function of the record in the first thread of the grid; it copies so many words to the host."""
    w = code.w
    code.helpers[name] = _report_text(name, words)
    thread = w.call("llvm.nvvm.read.ptx.sreg.tid.x", "i32", [], [])
    block = w.call("llvm.nvvm.read.ptx.sreg.ctaid.x", "i32", [], [])
    first, other = w.block("first"), w.block("not.first")
    w.branch(w.emit(f"icmp eq i32 {w.emit(f'or i32 {thread}, {block}')}, 0"), first, other)
    w.place(first)
    w.do(f"call void @{name}({GLOBAL_POINTER} %record)")
    w.jump(other)
    w.place(other)


def _report_text(name: str, words: int) -> str:
    copies = "".join(
        f"""
  %from.{n} = getelementptr inbounds i64, {GLOBAL_POINTER} %record, i64 {n}
  %to.{n} = getelementptr inbounds i64, {GLOBAL_POINTER} %mirror, i64 {n}
  %word.{n} = load volatile i64, {GLOBAL_POINTER} %from.{n}
  store volatile i64 %word.{n}, {GLOBAL_POINTER} %to.{n}"""
        for n in range(words)
    )
    return f"""define internal void @{name}({GLOBAL_POINTER} %record) cold noinline {{
entry:
  %mirror.at = getelementptr inbounds i64, {GLOBAL_POINTER} %record, i64 {MIRROR_WORD}
  %mirror = load {GLOBAL_POINTER}, {GLOBAL_POINTER} %mirror.at{copies}
  %poison = getelementptr inbounds i64, {GLOBAL_POINTER} %record, i64 {POISON_WORD}
  store volatile i64 0, {GLOBAL_POINTER} %poison
  ret void
}}"""


def _trap_text(count: int) -> str:
    """`trap` repeats `record` until that has had the lock. The lock's holder never waits for anybody, and it gives the
    lock back before lanes of its warp meet again."""
    parameters = "".join(f", i64 %o{n}" for n in range(count))
    values = "".join(f", i64 %o{n}" for n in range(count))
    stores = "".join(
        f"""
  %p{n} = getelementptr inbounds i64, {GLOBAL_POINTER} %record, i64 {RECORD_OPERANDS + n}
  store volatile i64 %o{n}, {GLOBAL_POINTER} %p{n}"""
        for n in range(count)
    )
    scope = 'syncscope("device")'
    taken = f"{GLOBAL_POINTER} %record, i64 %key, i64 %site{parameters}"
    return f"""define internal void @trap.{count}({taken}) cold noinline {{
entry:
  %seen = load atomic i64, {GLOBAL_POINTER} %record {scope} monotonic, align 8
  %late = icmp uge i64 %key, %seen
  br i1 %late, label %done, label %try
try:
  %had = call i1 @record.{count}({GLOBAL_POINTER} %record, i64 %key, i64 %site{values})
  br i1 %had, label %done, label %try
done:
  ret void
}}
define internal i1 @record.{count}({taken}) cold noinline {{
entry:
  %lock = getelementptr inbounds i64, {GLOBAL_POINTER} %record, i64 {RECORD_LOCK}
  %pair = cmpxchg {GLOBAL_POINTER} %lock, i64 -1, i64 0 {scope} monotonic monotonic
  %mine = extractvalue {{i64, i1}} %pair, 1
  br i1 %mine, label %inside, label %out
inside:
  fence {scope} seq_cst
  %now = load atomic i64, {GLOBAL_POINTER} %record {scope} monotonic, align 8
  %first = icmp ult i64 %key, %now
  br i1 %first, label %write, label %leave
write:
  %where = getelementptr inbounds i64, {GLOBAL_POINTER} %record, i64 {RECORD_SITE}
  store volatile i64 %site, {GLOBAL_POINTER} %where{stores}
  store atomic i64 %key, {GLOBAL_POINTER} %record {scope} monotonic, align 8
  br label %leave
leave:
  fence {scope} seq_cst
  store atomic i64 -1, {GLOBAL_POINTER} %lock {scope} monotonic, align 8
  br label %out
out:
  ret i1 %mine
}}"""


def note_wrapped(code: Code, parameter: int, downward: str, element: str) -> None:
    """Add an event to the watch: a sum of a global array left its type."""
    code.helpers.setdefault("wrapped", _wrapped_text())
    sign = code.w.emit(f"zext i1 {downward} to i64")
    event = code.w.emit(f"or i64 {sign}, {2 * parameter}")
    code.w.do(f"call void @wrapped({GLOBAL_POINTER} %watch, i64 {event}, i64 {element})")


def _wrapped_text() -> str:
    return f"""define internal void @wrapped({GLOBAL_POINTER} %watch, i64 %event, i64 %element) cold noinline {{
entry:
  %number = atomicrmw add {GLOBAL_POINTER} %watch, i64 1 syncscope("device") monotonic
  %limit = getelementptr inbounds i64, {GLOBAL_POINTER} %watch, i64 {WATCH_CAPACITY}
  %room = load i64, {GLOBAL_POINTER} %limit, align 8
  %dense = icmp eq i64 %room, {WATCH_DENSE - (1 << 64)}
  br i1 %dense, label %count, label %list
count:
  %array = lshr i64 %event, 1
  %events = getelementptr inbounds i64, {GLOBAL_POINTER} %watch, i64 {WATCH_EVENTS}
  %start.at = getelementptr inbounds i64, {GLOBAL_POINTER} %events, i64 %array
  %start = load i64, {GLOBAL_POINTER} %start.at, align 8
  %place = add i64 %start, %element
  %counter = getelementptr inbounds i64, {GLOBAL_POINTER} %watch, i64 %place
  %down = and i64 %event, 1
  %two = shl i64 %down, 1
  %change = sub i64 1, %two
  %old = atomicrmw add {GLOBAL_POINTER} %counter, i64 %change syncscope("device") monotonic
  br label %done
list:
  %fits = icmp ult i64 %number, %room
  br i1 %fits, label %write, label %done
write:
  %twice = shl i64 %number, 1
  %at = add i64 %twice, {WATCH_EVENTS}
  %first = getelementptr inbounds i64, {GLOBAL_POINTER} %watch, i64 %at
  store i64 %event, {GLOBAL_POINTER} %first, align 8
  %second = getelementptr inbounds i64, {GLOBAL_POINTER} %first, i64 1
  store i64 %element, {GLOBAL_POINTER} %second, align 8
  br label %done
done:
  ret void
}}"""
