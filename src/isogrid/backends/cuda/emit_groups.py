"""Several groups in one block, one after the other, where groups end in sums on the same elements.

The groups of a histogram all add to the same few bins, and the memory adds one number at a time: 100,000 groups cost a
millisecond there, whatever they count. So a block takes many groups in turn, each thread keeps what it would have added
in a register, and adds it to memory once. A total is exact whatever the order, so nothing else can be seen.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isogrid.backends.cuda.emit_atomic import Gathered, flush
from isogrid.backends.cuda.emit_code import Code, Variable
from isogrid.backends.cuda.emit_frame import ceiling, find_place, group_specials
from isogrid.backends.cuda.emit_statements import ROLLED, emit_block
from isogrid.backends.cuda.emit_sync import plain_barrier
from isogrid.backends.cuda.layout import Layout, shared_totals
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import element_type, type_text

#: Sums that a thread can keep.
_MOST_SUMS = 8


def gathered_sums(kernel: d.Kernel, *, small: bool) -> tuple[d.Atomic, ...]:
    """The sums that threads can keep from group to group, none where the groups of a kernel do not run in turn.

    They go to elements that have nothing to do with the group's number, and nothing else touches their arrays. A kernel
    whose threads may trap runs its groups apart: a thread that is gone cannot take part in the next one.
    """
    if not kernel.grouped or not small or kernel.races != "prove" or not kernel.deterministic:
        return ()
    nodes = list(visit(kernel.body))
    if shared_totals(kernel) or any(_may_trap(node) for node in nodes):
        return ()
    touched: dict[str, int] = {}
    for node in nodes:
        if isinstance(node, d.Load | d.Store | d.Atomic):
            touched[node.buffer] = touched.get(node.buffer, 0) + 1
    globals_ = {b.name for b in kernel.buffers if b.space is Space.GLOBAL}
    known = _Fixed(kernel)
    found = [
        node for node in _straight(kernel.body) if isinstance(node, d.Atomic) and _is_sum(node) and known.index(node)
    ]
    for node in found:
        touched[node.buffer] -= 1
    kept = [node for node in found if node.buffer in globals_ and not touched[node.buffer]]
    # A statement that stands in two places of the body is two sums.
    whole = len({id(node) for node in kept}) == len(kept)
    return tuple(kept) if whole and len(kept) <= _MOST_SUMS else ()


def _may_trap(node: d.Node) -> bool:
    return isinstance(node, d.Check) or (isinstance(node, d.Collective | d.WarpCollective) and node.total is not None)


def _is_sum(node: d.Atomic) -> bool:
    return node.op == "add" and node.element.is_integer and not node.target


def _straight(body: d.Block) -> Iterator[d.Statement]:
    """The statements that a thread comes to at most once."""
    for node in body:
        yield node
        if isinstance(node, d.If):
            yield from _straight(node.then)
            yield from _straight(node.otherwise)


@dataclass(slots=True)
class _Fixed:
    """Which indices are the same in every group that a thread takes part in."""

    definitions: dict[str, list[d.Expr]]

    def __init__(self, kernel: d.Kernel) -> None:
        self.definitions = {}
        for node in visit(kernel.body):
            if isinstance(node, d.Let):
                self.definitions.setdefault(node.name, []).append(node.value)

    def index(self, node: d.Atomic) -> bool:
        return node.index.type is Machine.I64 and self.is_fixed(node.index)

    def is_fixed(self, node: d.Expr) -> bool:
        match node:
            case d.Literal() | d.Argument():
                return True
            case d.Special():
                return node.kind in ("local", "groups", "extent")
            case d.Value():
                found = self.definitions.get(node.name, [])
                return len(found) == 1 and self.is_fixed(found[0])
            case d.Op():
                return all(self.is_fixed(argument) for argument in node.arguments)
            case d.Load():
                return False


@dataclass(frozen=True, slots=True)
class Turn:
    """What a block is told of its groups: extents of the block, and how many groups a tile has."""

    block: tuple[int, ...]
    tile: tuple[int, ...]
    sums: tuple[d.Atomic, ...]


def emit_groups(code: Code, layout: Layout, turn: Turn, before: Callable[[Code], None]) -> None:
    """The groups of this block, from its own number on in steps of the number of blocks; `before` each of them."""
    w = code.w
    for node in turn.sums:
        text = type_text(element_type(node.element))
        total, at = w.alloca(text, "sum"), w.alloca("i64", "element")
        w.do(f"store {text} 0, ptr {total}")
        w.do(f"store i64 0, ptr {at}")
        code.gathered[id(node)] = Gathered(Variable(total, element_type(node.element)), Variable(at, Machine.I64))
    groups = ""
    for axis, size in enumerate(turn.tile):
        here = ceiling(code, "i32", f"%extent.{axis}", size)
        groups = w.emit(f"mul nuw i32 {groups}, {here}") if groups else here
    blocks = w.call("llvm.nvvm.read.ptx.sreg.nctaid.x", "i32", [], [])
    number = w.alloca("i32", "group")
    w.do(f"store i32 {w.call('llvm.nvvm.read.ptx.sreg.ctaid.x', 'i32', [], [])}, ptr {number}")
    head, body, again, done = w.block("groups"), w.block("group"), w.block("group.end"), w.block("groups.end")
    w.place(head)
    now = w.emit(f"load i32, ptr {number}")
    w.branch(w.emit(f"icmp ult i32 {now}, {groups}"), body, done)
    w.place(body)
    place = find_place(code, layout, turn.block, turn.tile, now)
    group_specials(code, layout, place)
    before(code)
    end, code.end = code.end, again
    emit_block(code, code.kernel.body)
    code.end = end
    w.place(again)
    if any(b.space is Space.SHARED for b in code.kernel.buffers):
        plain_barrier(code)
    w.do(f"store i32 {w.emit(f'add nuw i32 {now}, {blocks}')}, ptr {number}")
    w.finish(f"br label %{head}, {ROLLED}")
    w.place(done)
    for node in turn.sums:
        flush(code, node)
