"""A counted loop in LLVM IR."""

from collections.abc import Callable

from isogrid.printers.llvm_text import Writer


def counted(w: Writer, lo: str, hi: str, step: str, body: Callable[[str], None]) -> None:
    """for (i = lo; i < hi; i += step)"""
    head, inside, done = w.block("each"), w.block("each.body"), w.block("each.end")
    counter = w.alloca("i64", "at")
    w.do(f"store i64 {lo}, ptr {counter}")
    w.place(head)
    at = w.emit(f"load i64, ptr {counter}", "i")
    w.branch(w.emit(f"icmp slt i64 {at}, {hi}"), inside, done)
    w.place(inside)
    body(at)
    w.do(f"store i64 {w.emit(f'add nsw i64 {at}, {step}')}, ptr {counter}")
    w.jump(head)
    w.place(done)
