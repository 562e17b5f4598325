"""Meetings of threads: barriers of the group, barriers and votes of a warp, and how threads that trapped take part.

A trapped thread stands in for itself at the next meeting and says so there: its warp, then its group, leaves. So the
meeting that ends an interval with a possible trap asks `barrier.red.or`; every other barrier is a plain one.
"""

from collections.abc import Callable

from isogrid.analysis.meetings import Pending
from isogrid.backends.cuda.emit_code import SHARED_POINTER, BufferRef, Code, read_variable
from isogrid.backends.cuda.emit_trap import record_trap
from isogrid.backends.cuda.layout import shared_totals
from isogrid.support.errors import KnownLimit

_ALIGNED = "llvm.nvvm.barrier.cta.sync.aligned.all"
_OR = "llvm.nvvm.barrier.cta.red.or.all"
#: Named barriers of a block besides the whole block's own.
_NAMED = 15
#: Lanes of the hardware's warp.
_WARP = 32


def group_meeting(code: Code, pending: Pending) -> None:
    """All threads of the group meet; the group leaves if one of them has trapped."""
    if pending.warp and code.meetings.warps:
        _leave_with_warp(code)
    if pending.total:
        _meeting_with_totals(code)
    elif pending.group:
        leave, stay = code.w.block("leave"), code.w.block("stay")
        code.w.branch(group_any(code, "false"), leave, stay)
        code.w.place(leave)
        if code.wrapped:
            group_any(code, "false")  # those that trapped come twice
        code.w.finish("ret void")
        code.w.place(stay)
    else:
        plain_barrier(code)


def plain_barrier(code: Code) -> None:
    """A barrier that no thread comes to from a trap. But where threads may trap somewhere, the lanes of a warp need not
    be together again behind a branch, so the aligned form is for kernels that do not trap before a meeting."""
    forget(code)
    if not code.lanes_part:
        code.w.call(_ALIGNED, "void", ["i32"], ["0"])
    elif code.threads > _WARP:
        code.w.call("llvm.nvvm.barrier.cta.sync.all", "void", ["i32"], ["0"])
    else:
        code.w.call("llvm.nvvm.bar.warp.sync", "void", ["i32"], [block_mask(code)])


def block_mask(code: Code) -> str:
    """The lanes of a block of at most one warp."""
    return str((1 << code.threads) - 1 if code.threads < _WARP else -1)


def group_vote(code: Code, op: str, value: str) -> str:
    """A barrier that says whether some ("any") or every ("all") thread of the group says `value`."""
    forget(code)
    form = "or" if op == "any" else "and"
    if not code.lanes_part:
        name = f"llvm.nvvm.barrier.cta.red.{form}.aligned.all"
        return code.w.call(name, "i1", ["i32", "i1"], ["0", value])
    if code.threads > _WARP:
        return code.w.call(f"llvm.nvvm.barrier.cta.red.{form}.all", "i1", ["i32", "i1"], ["0", value])
    code.w.call("llvm.nvvm.bar.warp.sync", "void", ["i32"], [block_mask(code)])
    return code.w.call(f"llvm.nvvm.vote.{op}.sync", "i1", ["i32", "i1"], [block_mask(code), value])


def group_any(code: Code, value: str) -> str:
    """A barrier that says whether some thread of the group says `value`; lanes may come from different places.

    Lanes of one warp that come from different places come at different times, and a block's barrier may count their
    warp when the first of them is there. So the warp votes first, which waits for every lane by its mask, and each
    lane brings the answer of all. A block of one warp needs nothing more.
    """
    forget(code)
    mask = _lanes(code)
    if code.threads > _WARP:
        vote = code.w.call("llvm.nvvm.vote.any.sync", "i1", ["i32", "i1"], [mask, value])
        return code.w.call(_OR, "i1", ["i32", "i1"], ["0", vote])
    code.w.call("llvm.nvvm.bar.warp.sync", "void", ["i32"], [mask])
    return code.w.call("llvm.nvvm.vote.any.sync", "i1", ["i32", "i1"], [mask, value])


def _lanes(code: Code) -> str:
    """The lanes of this thread's warp of the hardware; the last warp of a block may have fewer."""
    rest = code.threads % _WARP
    if code.threads < _WARP:
        return str((1 << rest) - 1)
    if rest == 0:
        return "-1"
    last = code.w.emit(f"icmp uge i32 {code.local}, {code.threads - rest}")
    return code.w.emit(f"select i1 {last}, i32 {(1 << rest) - 1}, i32 -1")


def forget(code: Code) -> None:
    """What was read before a meeting may have changed after it."""
    code.w.loaded.clear()


def _leave_if(code: Code, condition: str) -> None:
    w = code.w
    leave, stay = w.block("leave"), w.block("stay")
    w.branch(condition, leave, stay)
    w.place(leave)
    w.finish("ret void")
    w.place(stay)


def end_of_thread(code: Code) -> None:
    """The block where every thread ends that has not trapped, and the one for those that have."""
    w = code.w
    w.place(code.end)
    pending = code.meetings.pending(None)
    if pending.group or pending.total:
        group_meeting(code, pending)
    w.finish("ret void")
    if code.has_trapped:
        w.place(code.trapped)
        if code.meetings.warps:
            warp_any(code, "true")
            code.has_leaving = True
            w.jump(code.leaving)
        else:
            _stand_in(code)
    if code.has_leaving:
        w.place(code.leaving)
        _stand_in(code)


def _stand_in(code: Code) -> None:
    """Say at the group's next meeting that somebody trapped."""
    group_any(code, "true")
    if code.wrapped:
        group_any(code, "true")
    code.w.finish("ret void")


# --- warps ------------------------------------------------------------------------------------------------------------


def warp_meeting(code: Code, pending: Pending) -> None:
    """The threads of a warp meet, as far as a trap asks for it; a warp with a trapped thread leaves."""
    if pending.warp:
        _leave_with_warp(code)


def _leave_with_warp(code: Code) -> None:
    """Where a lane has trapped, the others go to the group's next meeting and leave there with it."""
    leave_with_warp(code, warp_any(code, "false"))


def leave_with_warp(code: Code, condition: str) -> None:
    """Where `condition`, the same in all lanes, holds, the warp goes to the group's next meeting and leaves there."""
    stay = code.w.block("warp.stay")
    code.has_leaving = True
    code.w.branch(condition, code.leaving, stay)
    code.w.place(stay)


def warp_any(code: Code, value: str) -> str:
    """Whether some lane of the logical warp says `value`."""
    if code.kernel.warp > 32:
        return wide_warp_barrier(code, value)
    name = "llvm.nvvm.vote.any.sync"
    return code.w.call(name, "i1", ["i32", "i1"], [warp_mask(code), value])


def warp_mask(code: Code) -> str:
    """The lanes of this thread's logical warp, as the hardware numbers them."""
    w, width = code.w, code.kernel.warp
    if width == 32:
        return "-1"
    first = w.emit(f"and i32 {code.local}, {32 - width}")
    return w.emit(f"shl i32 {(1 << width) - 1}, {first}")


def warp_barrier(code: Code) -> None:
    """Orders the memory accesses of a logical warp."""
    if code.kernel.warp > 32:
        wide_warp_barrier(code, "false")
    else:
        forget(code)
        code.w.call("llvm.nvvm.bar.warp.sync", "void", ["i32"], [warp_mask(code)])


def wide_warp_barrier(code: Code, value: str) -> str:
    """A barrier of 64 threads on one of the block's named barriers; says whether some of them say `value`."""
    w, width = code.w, code.kernel.warp
    if code.threads // width > _NAMED:
        raise KnownLimit(
            f"a block of {code.threads} threads has more warps of {width} than the {_NAMED} named barriers"
        )
    number = w.emit(f"lshr i32 {code.local}, {width.bit_length() - 1}")
    name = w.emit(f"add nuw nsw i32 {number}, 1")
    forget(code)
    return w.call("llvm.nvvm.barrier.cta.red.or.count", "i1", ["i32", "i32", "i1"], [name, str(width), value])


# --- totals of shared arrays ------------------------------------------------------------------------------------------


def _meeting_with_totals(code: Code) -> None:
    """Where a sum wrapped in this interval, look whether its total is out of its type for good.

    The first vote says that something happened, the second that somebody trapped: traps of threads come first.
    """
    w = code.w
    wrapped = read_variable(code, code.variables[code.wrapped])
    something, calm = w.block("settle"), w.block("calm")
    w.branch(group_any(code, wrapped), something, calm)
    w.place(something)
    _leave_if(code, group_any(code, "false"))
    w.do(f"store i1 false, ptr {code.variables[code.wrapped].pointer}")
    lowest = _lowest_lost(code)
    lost, fine = w.block("lost"), w.block("fine")
    w.branch(w.emit(f"icmp ne i64 {lowest}, -1"), lost, fine)
    w.place(lost)
    _record_total(code, lowest)
    w.finish("ret void")
    w.place(fine)
    w.jump(calm)
    w.place(calm)


def _lowest_lost(code: Code) -> str:
    """The lowest shared element whose count of wraps is not 0: its array's place times 2^32 plus the element."""
    w = code.w
    found = f"{SHARED_POINTER} {totals_word(code)}"
    for order, name in enumerate(shared_totals(code.kernel)):
        buffer = code.buffers[name]
        assert buffer.count is not None

        def look(index: str, buffer: BufferRef = buffer, order: int = order) -> None:
            at = w.emit(f"getelementptr inbounds i32, {SHARED_POINTER} {buffer.counters}, i32 {index}", "p")
            count = w.emit(f"load i32, {SHARED_POINTER} {at}, align 4")
            bad, good = w.block("bad"), w.block("good")
            w.branch(w.emit(f"icmp ne i32 {count}, 0"), bad, good)
            w.place(bad)
            wide = w.emit(f"zext i32 {index} to i64")
            rank = w.emit(f"or i64 {wide}, {order << 32}")
            w.do(f'{w.name()} = atomicrmw umin {found}, i64 {rank} syncscope("block") monotonic')
            w.place(good)

        strided(code, buffer.count, look)
    plain_barrier(code)
    return w.emit(f"load i64, {found}, align 8")


def strided(code: Code, count: int, body: Callable[[str], None]) -> None:
    """Call `body(index)` for the indices below `count`, dealt out to the threads of the group in turn."""
    w = code.w
    place = w.alloca("i32", "at")
    head, inside, done = w.block("each"), w.block("each.body"), w.block("each.end")
    w.do(f"store i32 {code.local}, ptr {place}")
    w.place(head)
    index = w.emit(f"load i32, ptr {place}")
    w.branch(w.emit(f"icmp ult i32 {index}, {count}"), inside, done)
    w.place(inside)
    body(index)
    w.do(f"store i32 {w.emit(f'add nuw i32 {index}, {code.threads}')}, ptr {place}")
    w.jump(head)
    w.place(done)


def _record_total(code: Code, lowest: str) -> None:
    """Thread 0 records the total, under the key of its group's first thread: no thread of the group has trapped."""
    w = code.w
    mine, done = w.block("mine"), w.block("not.mine")
    w.branch(w.emit(f"icmp eq i32 {code.local}, 0"), mine, done)
    w.place(mine)
    order = w.emit(f"lshr i64 {lowest}, 32")
    element = w.emit(f"and i64 {lowest}, {(1 << 32) - 1}")
    for number, site in enumerate(shared_totals(code.kernel).values()):
        this, other = w.block("site"), w.block("next")
        w.branch(w.emit(f"icmp eq i64 {order}, {number}"), this, other)
        w.place(this)
        record_trap(code, site, [element])
        w.place(other)
    w.jump(done)
    w.place(done)


def totals_word(code: Code) -> str:
    """The shared word that gathers the lowest lost total; all ones at the start of a group."""
    return code.buffers["totals"].pointer
