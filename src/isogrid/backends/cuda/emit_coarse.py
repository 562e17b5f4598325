"""Several threads of an ungrouped kernel in one thread, statement by statement under one guard.

All loads of a statement come before the first use of their values, and neighbours' addresses differ by constants, so
that LLVM makes 16-byte accesses of them; in two dimensions there is a body for that of rows whose width allows it.
Where the guard, a check or a condition on coordinates does not hold for all copies, nothing has been written yet, and
the copies run one after the other instead, in the order of traps. Copies of several rounds are a loop, `emit_rounds`.
"""

import math
from collections.abc import Sequence
from itertools import product

from isogrid.backends.cuda.emit_address import Linear
from isogrid.backends.cuda.emit_code import Code, Variable, assuming
from isogrid.backends.cuda.emit_frame import Place, thread_specials
from isogrid.backends.cuda.emit_lockstep import Copy, together
from isogrid.backends.cuda.emit_rounds import emit_rounds
from isogrid.backends.cuda.emit_statements import ROLLED, emit_block
from isogrid.ir import device as d
from isogrid.ir.kernel import ArrayParameter, DimValue
from isogrid.printers.llvm_text import type_text


def emit_copies(code: Code, place: Place, first: tuple[str, ...], items: tuple[int, ...]) -> None:
    """All copies of a thread whose first coordinates are `first` (of the type of sizes)."""
    w, index = code.w, place.index
    whole = ""
    for axis, count in enumerate(items):
        last = w.emit(f"add nuw {index} {first[axis]}, {(count - 1) * code.gaps[axis] + 1}")
        here = w.emit(f"icmp ule {index} {last}, %extent.{axis}")
        whole = w.emit(f"and i1 {whole}, {here}") if whole else here
    together, apart = w.block("together"), w.block("apart")
    w.branch(whole, together, apart)
    w.place(together)
    if widths := _widths(code, items[-1]):
        together = _aligned_rows(code, first, index, items, apart, widths)
        w.place(together)
    if code.rounds > 1:

        def alone(thread: str, body: d.Block, known: dict[str, str], after: str) -> None:
            _alone(code, (thread,), index, body, known, after)

        behind, reached = emit_rounds(
            code, first[0], index, items[0], lambda at: _copies(code, (at,), index, items), alone
        )
        start = w.alloca(index, "start")
        one_by_one = w.block("one.by.one")
        for block, coordinate in ((behind, reached), (apart, first[0])):
            w.place(block)
            w.do(f"store {index} {coordinate}, ptr {start}")
            w.jump(one_by_one)
        w.place(one_by_one)
        first = (w.emit(f"load {index}, ptr {start}"),)
    else:
        _lockstep(code, _copies(code, first, index, items), apart)
        w.jump(code.end)
        w.place(apart)
    _one_by_one(code, first, index, items)


def _widths(code: Code, row: int) -> list[str]:
    """The dimensions that decide whether rows start at multiples of what one thread takes of them."""
    kernel = code.kernel
    if row == 1 or code.gaps[-1] != 1 or kernel.geometry.rank == 1:
        return []
    last = [p.shape[-1] for p in kernel.parameters if isinstance(p, ArrayParameter) and len(p.shape) > 1]
    return list(dict.fromkeys(extent.name for extent in last if isinstance(extent, DimValue)))


def _aligned_rows(
    code: Code, first: tuple[str, ...], index: str, items: tuple[int, ...], apart: str, widths: list[str]
) -> str:
    """The copies for rows that all start at multiples of what one thread takes. LLVM sees that by a mask, and must not
    see that the mask changes nothing: it would drop it. Gives the block for other rows."""
    w, row, before = code.w, items[-1], dict(code.arguments)
    aligned, other, odd = w.block("aligned"), w.block("unaligned"), ""
    for name in widths:
        width = w.emit(f'call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 {before["dim", name]})')
        odd = w.emit(f"or i64 {odd}, {width}") if odd else width
    rest = w.emit(f"and i64 {odd}, {row - 1}")
    w.branch(w.emit(f"icmp eq i64 {rest}, 0"), aligned, other)
    w.place(aligned)
    for name in widths:
        code.arguments["dim", name] = w.emit(f"and i64 {before['dim', name]}, {-row}")
    _lockstep(code, _copies(code, first, index, items), apart)
    w.jump(code.end)
    code.arguments = before
    return other


def _copies(code: Code, first: tuple[str, ...], index: str, items: tuple[int, ...]) -> list[Copy]:
    w = code.w
    start = [f if index == "i64" else w.emit(f"zext nneg {index} {f} to i64") for f in first]
    found: list[Copy] = []
    for offsets in product(*(range(count) for count in items)):
        specials: dict[tuple[str, int], str] = {}
        sums: dict[str, Linear] = {}
        for axis, number in enumerate(offsets):
            offset = number * code.gaps[axis]
            value = w.emit(f"add nuw nsw i64 {start[axis]}, {offset}") if offset else start[axis]
            specials[("thread", axis)] = value
            sums[f"thread.{axis}"] = Linear(((start[axis], 1),), offset)
            extent = f"%extent.{axis}"
            specials[("extent", axis)] = extent if index == "i64" else w.emit(f"zext nneg i32 {extent} to i64")
        variables = {name: Variable(w.alloca(type_text(type), "var"), type) for name, type in code.kernel.variables}
        found.append(Copy(specials, sums, variables))
    return found


def _lockstep(code: Code, copies: Sequence[Copy], apart: str) -> None:
    data = {name for name, _ in code.kernel.variables}
    with assuming(code, None, True):
        together(code, copies, code.kernel.body, apart, data, [False], done=code.end)


def _one_by_one(code: Code, first: tuple[str, ...], index: str, items: tuple[int, ...]) -> None:
    """The copies in a loop, each under the grid's own guard."""
    w, total = code.w, math.prod(items)
    counter = w.alloca("i32", "copy")
    head, body, run, again = w.block("copy"), w.block("copy.body"), w.block("copy.run"), w.block("copy.again")
    w.do(f"store i32 0, ptr {counter}")
    w.place(head)
    number = w.emit(f"load i32, ptr {counter}")
    w.branch(w.emit(f"icmp ult i32 {number}, {total}"), body, code.end)
    w.place(body)
    threads = _numbered(code, first, index, items, number)
    inside = ""
    for axis, thread in enumerate(threads):
        here = w.emit(f"icmp ult {index} {thread}, %extent.{axis}")
        inside = w.emit(f"and i1 {inside}, {here}") if inside else here
    w.branch(inside, run, again)
    w.place(run)
    _alone(code, threads, index, code.kernel.body, {}, again)
    w.place(again)
    w.do(f"store i32 {w.emit(f'add nuw i32 {number}, 1')}, ptr {counter}")
    w.finish(f"br label %{head}, {ROLLED}")


def _alone(code: Code, threads: tuple[str, ...], index: str, body: d.Block, known: dict[str, str], after: str) -> None:
    """One thread of the grid, which goes on at `after`."""
    w = code.w
    code.specials, code.sums, code.env = {}, {}, dict(known)
    code.variables = {n: Variable(w.alloca(type_text(t), "var"), t) for n, t in code.kernel.variables}
    thread_specials(code, threads, index)
    end, code.end, code.usual = code.end, after, False
    emit_block(code, body)
    code.end, code.usual = end, True


def _numbered(code: Code, first: tuple[str, ...], index: str, items: tuple[int, ...], number: str) -> tuple[str, ...]:
    """The coordinates of copy `number`, in C order."""
    w, rest, found = code.w, number, list[str]()
    for axis in reversed(range(len(items))):
        count = items[axis]
        offset = w.emit(f"urem i32 {rest}, {count}")
        rest = w.emit(f"udiv i32 {rest}, {count}")
        if code.gaps[axis] > 1:
            offset = w.emit(f"mul nuw i32 {offset}, {code.gaps[axis]}")
        wide = offset if index == "i32" else w.emit(f"zext nneg i32 {offset} to i64")
        found.append(w.emit(f"add nuw {index} {first[axis]}, {wide}"))
    return tuple(reversed(found))
