"""Sums of a small global array gathered in private memory: one locked addition per element for many groups.

Where all that a grouped kernel does to an array of few elements is to add to them, nobody can tell when it adds. Sums
are taken in 64 bits over at most `_GROUPS` groups, so they are exact; then they go to the array, and their carries to
the counters that tell whether a total left its type.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_frame import FunctionFrame, work_array
from isogrid.backends.cpu.emit_levels import expressions_of
from isogrid.backends.cpu.emit_units import extreme
from isogrid.backends.cpu.emit_values import BufferRef
from isogrid.ir import device as d
from isogrid.ir.kernel import ArrayParameter, Const

#: Groups between two settlements: with at most 1024 threads and `_ADDITIONS` each, sums of 32-bit values fit.
_GROUPS = 1 << 16
_ADDITIONS = 8
#: Elements of an array that is worth a private copy.
_FEW = 1024


def private_sums(kernel: d.Kernel) -> dict[str, int]:
    """Arrays that may be summed apart, with their sizes."""
    sizes = {p.name: _size(p) for p in kernel.parameters if isinstance(p, ArrayParameter) and p.element.bits == 32}
    found = {name: size for name, size in sizes.items() if 1 < size <= _FEW}
    additions = dict.fromkeys(found, 0)
    for node, inside in _with_loops(kernel.body, False):
        for name in _read(node):
            found.pop(name, None)
        match node:
            case d.Store():
                found.pop(node.buffer, None)
            case d.Atomic():
                plain = node.op == "add" and not node.target and not inside and not node.element.is_float
                additions[node.buffer] = additions.get(node.buffer, 0) + 1
                if not plain or additions[node.buffer] > _ADDITIONS:
                    found.pop(node.buffer, None)
            case _:
                continue
    return {name: size for name, size in found.items() if additions[name]}


def _size(parameter: ArrayParameter) -> int:
    extents = [e.value if isinstance(e, Const) else 0 for e in parameter.shape]
    return math.prod(int(e) for e in extents)


def _with_loops(body: d.Block, inside: bool) -> Iterator[tuple[d.Statement, bool]]:
    for node in body:
        yield node, inside
        match node:
            case d.If():
                yield from _with_loops(node.then + node.otherwise, inside)
            case d.For() | d.Loop():
                yield from _with_loops(node.body, True)
            case d.Scope():
                yield from _with_loops(node.body, inside)
            case _:
                continue


def _read(node: d.Statement) -> Iterator[str]:
    for expression in expressions_of(node):
        yield from _loads(expression)


def _loads(node: d.Expr) -> Iterator[str]:
    match node:
        case d.Load():
            yield node.buffer
            yield from _loads(node.index)
        case d.Op():
            for argument in node.arguments:
                yield from _loads(argument)
        case _:
            return


class PrivateSums:
    """The private arrays of one function."""

    def __init__(self, frame: FunctionFrame) -> None:
        self.frame, self.shared = frame, dict[str, BufferRef]()
        self.sizes = {} if frame.code.precise else private_sums(frame.kernel)
        for name, size in self.sizes.items():
            self.shared[name] = frame.code.buffers[name]
            memory = work_array(frame, "", size + 64, 8, "sums")
            frame.code.buffers[name] = replace(self.shared[name], pointer=memory, sums=True)

    def over(self, body: Callable[[str, str], None]) -> None:
        """Run `body(first, end)` over all groups, a stretch at a time where there are sums to settle."""
        frame, w = self.frame, self.frame.code.w
        if not self.sizes:
            body(frame.lo, frame.hi)
            return
        groups = w.emit(f"sub i64 {frame.hi}, {frame.lo}")
        stretches = w.emit(f"lshr i64 {w.emit(f'add i64 {groups}, {_GROUPS - 1}')}, 16")

        def stretch(number: str) -> None:
            first = w.emit(f"add i64 {frame.lo}, {w.emit(f'shl i64 {number}, 16')}")
            end = extreme(w, "smin", frame.hi, w.emit(f"add i64 {first}, {_GROUPS}"))
            w.declare("llvm.memset.p0.i64", "void", ["ptr", "i8", "i64", "i1"])
            for name, size in self.sizes.items():
                memory = frame.code.buffers[name].pointer
                w.do(f"call void @llvm.memset.p0.i64(ptr align 64 {memory}, i8 0, i64 {size * 8}, i1 false)")
            body(first, end)
            for name, size in self.sizes.items():
                counted(w, "0", str(size), "1", lambda element, name=name: self._settle(name, element))

        counted(w, "0", stretches, "1", stretch)

    def _settle(self, name: str, element: str) -> None:
        w, target = self.frame.code.w, self.shared[name]
        place = w.emit(f"getelementptr inbounds i64, ptr {self.frame.code.buffers[name].pointer}, i64 {element}", "p")
        sum = w.emit(f"load i64, ptr {place}")
        some, done = w.block("sum"), w.block("sum.end")
        w.branch(w.emit(f"icmp ne i64 {sum}, 0"), some, done)
        w.place(some)
        address = w.emit(f"getelementptr inbounds i32, ptr {target.pointer}, i64 {element}", "p")
        short = w.emit(f"trunc i64 {sum} to i32")
        old = w.emit(f"atomicrmw add ptr {address}, i32 {short} monotonic")
        if target.shadow:
            extend = "sext" if target.element.is_signed else "zext"
            exact = w.emit(f"add i64 {w.emit(f'{extend} i32 {old} to i64')}, {sum}")
            new = w.emit(f"{extend} i32 {w.emit(f'trunc i64 {exact} to i32')} to i64")
            carries = w.emit(f"ashr i64 {w.emit(f'sub i64 {exact}, {new}')}, 32")
            wrapped = w.block("carry")
            w.branch(w.emit(f"icmp ne i64 {carries}, 0"), wrapped, done)
            w.place(wrapped)
            counter = w.emit(f"getelementptr inbounds i64, ptr {target.shadow}, i64 {element}", "p")
            w.do(f"{w.name()} = atomicrmw add ptr {counter}, i64 {carries} monotonic")
        w.place(done)
