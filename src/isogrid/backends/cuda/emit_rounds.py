"""Maps by elementary functions as loops: a thread takes 16 bytes of each array several times, a block's width apart.

    copy the elements of all rounds to shared memory
    for each round:  wait for its elements;  compute;  store

What begins a thread is done once for all rounds. A thread reads back only what it has copied itself, and no register
waits for memory: such maps compute for about as long as memory takes, and what is in flight is what makes the two
overlap. A round that is not whole, or meets a slow path, is done element by element, and the next one as usual: a warp
that stayed behind would keep the place of its whole block.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from isogrid.backends.cuda.emit_address import Linear
from isogrid.backends.cuda.emit_code import SHARED_POINTER, Code, assuming, element_address
from isogrid.backends.cuda.emit_lockstep import Copy, together
from isogrid.backends.cuda.emit_statements import ROLLED
from isogrid.backends.cuda.plan_copies import usual_nodes
from isogrid.ir import device as d
from isogrid.ir.types import Space
from isogrid.printers.llvm_text import element_type, type_text

#: Writes one element: its coordinate, the statements, what they may use already, and where it goes on.
Alone: TypeAlias = Callable[[str, d.Block, dict[str, str], str], None]

#: Threads of a block: fewer wait for one that is on a slow path.
ROUND_THREADS: Final = 128
#: Rounds of a thread, and those of bodies from so many nodes on, whose arithmetic takes longer than memory does.
_ROUNDS, _MORE_ROUNDS, _LONG = 3, 6, 175
#: Bytes of an array that a thread takes in each round, and arrays.
_BYTES, _MOST_ARRAYS = 16, 2
#: Bytes of shared memory that a block of any device may have without asking.
_MOST_BYTES: Final = 48 << 10
#: The first architecture that copies to shared memory by itself.
FIRST_COPYING: Final = 80


def rounds_of(kernel: d.Kernel, items: tuple[int, ...], gaps: tuple[int, ...], threads: int) -> int:
    """How many times a thread of so many takes its copies: more than once in maps by elementary functions that begin
    by loading whole 16 bytes of one array or two, where a block has room for those of all rounds."""
    body = kernel.body
    plain = all(isinstance(s, d.Let | d.Set | d.Store) or (isinstance(s, d.If) and s.rare) for s in body)
    calls = any(isinstance(s, d.If) for s in body)
    if not (plain and calls) or len(items) != 1 or gaps[0] != 1:
        return 1
    arrays = len(_loads_first(kernel, items[0]))
    rounds = _ROUNDS if usual_nodes(body) < _LONG else _MORE_ROUNDS
    return rounds if 0 < arrays <= _MOST_ARRAYS and arrays * rounds * threads * _BYTES <= _MOST_BYTES else 1


def _loads_first(kernel: d.Kernel, count: int) -> dict[str, d.Load]:
    """What the body loads before it computes anything: the elements of this thread's number, 16 bytes of all copies."""
    threads: set[str] = set()
    found: dict[str, d.Load] = {}
    elements = {b.name: element_type(b.element) for b in kernel.buffers if b.space is Space.GLOBAL}
    for statement in kernel.body:
        match statement:
            case d.Let(value=d.Special(kind="thread")):
                threads.add(statement.name)
            case d.Let(value=d.Load(buffer=buffer, index=d.Value(name=name)) as load) if name in threads:
                if elements.get(buffer) is not load.type or count * load.type.bits != 8 * _BYTES:
                    break
                found[statement.name] = load
            case _:
                break
    return found


def emit_rounds(
    code: Code, first: str, index: str, count: int, copies_at: Callable[[str], list[Copy]], alone: Alone
) -> tuple[str, str]:
    """The loop over the rounds of a thread that are whole, as the first one is; `copies_at` gives the copies of one by
    its first coordinate. Gives where the round behind them is to be done, and its first coordinate."""
    w, kernel = code.w, code.kernel
    data = {name for name, _ in kernel.variables}
    loads = _loads_first(kernel, count)
    ahead = _Ahead(code, loads, count)
    turn, place, left = w.alloca(index, "turn"), w.alloca("i32", "place"), w.alloca("i32", "left")
    whole = _whole_rounds(code, first, index, count)
    ahead.fetch_all(first, index, whole)
    w.do(f"store {index} {w.emit(f'udiv exact {index} {first}, {count}')}, ptr {turn}")
    w.do(f"store i32 {ahead.first}, ptr {place}")
    w.do(f"store i32 {whole}, ptr {left}")
    head, again, after, rest = (w.block(name) for name in ("round", "again", "after", "rest"))
    w.place(head)
    # Hidden, so that LLVM does not keep a sum of 64 bits for each array: a product of 32 bits and a sum are one step.
    letter = "r" if index == "i32" else "l"
    now = w.emit(f"load {index}, ptr {turn}")
    now = w.emit(f'call {index} asm "mov.b{index[1:]} $0, $1;", "={letter},{letter}"({index} {now})')
    here, mine = w.emit(f"mul nuw nsw {index} {now}, {count}"), w.emit(f"load i32, ptr {place}")
    copies = copies_at(here)
    ahead.take(copies, mine)
    body = tuple(s for s in kernel.body if not (isinstance(s, d.Let) and s.name in loads))
    with assuming(code, None, True):
        together(code, copies, body, again, data | loads.keys(), [False])
    w.jump(after)
    w.place(again)
    _one_by_one(code, here, index, count, body, lambda number: ahead.one(mine, number), alone)
    w.place(after)
    w.do(f"store {index} {w.emit(f'add nuw {index} {now}, {code.threads}')}, ptr {turn}")
    w.do(f"store i32 {w.emit(f'add i32 {mine}, {ahead.size}')}, ptr {place}")
    fewer = w.emit(f"sub nuw i32 {w.emit(f'load i32, ptr {left}')}, 1")
    w.do(f"store i32 {fewer}, ptr {left}")
    w.finish(f"br i1 {w.emit(f'icmp ne i32 {fewer}, 0')}, label %{head}, label %{rest}, {ROLLED}")
    w.place(rest)
    left_over, following = w.block("left.over"), w.emit(f"add nuw {index} {here}, {code.threads * count}")
    w.branch(w.emit(f"icmp ne i32 {whole}, {code.rounds}"), left_over, code.end)
    return left_over, following


def _one_by_one(
    code: Code,
    first: str,
    index: str,
    count: int,
    body: d.Block,
    loaded: Callable[[str], dict[str, str]],
    alone: Alone,
) -> None:
    """The elements of a whole round, one after the other."""
    w, counter = code.w, code.w.alloca("i32", "copy")
    head, following = w.block("copy"), w.block("copy.again")
    w.do(f"store i32 0, ptr {counter}")
    w.place(head)
    number = w.emit(f"load i32, ptr {counter}")
    wide = number if index == "i32" else w.emit(f"zext nneg i32 {number} to i64")
    alone(w.emit(f"add nuw {index} {first}, {wide}"), body, loaded(number), following)
    w.place(following)
    more, done = w.emit(f"add nuw i32 {number}, 1"), w.block("copies")
    w.do(f"store i32 {more}, ptr {counter}")
    w.finish(f"br i1 {w.emit(f'icmp ult i32 {more}, {count}')}, label %{head}, label %{done}, {ROLLED}")
    w.place(done)


def _whole_rounds(code: Code, first: str, index: str, count: int) -> str:
    """How many rounds of a thread are whole, as an i32: at least one."""
    w, most = code.w, code.rounds
    behind = w.emit(f"sub nuw {index} {w.emit(f'sub nuw {index} %extent.0, {first}')}, {count}")
    found = w.emit(f"add nuw {index} {w.emit(f'udiv {index} {behind}, {code.threads * count}')}, 1")
    found = w.emit(f"select i1 {w.emit(f'icmp ult {index} {found}, {most}')}, {index} {found}, {index} {most}")
    return found if index == "i32" else w.emit(f"trunc i64 {found} to i32")


class _Ahead:
    """The elements that are on their way: a place in shared memory for each round and array, which each thread fills
    and reads. Each round is a group of copies, and each wait is behind one more group, with nothing in it: so always
    the same number of groups may be under way."""

    def __init__(self, code: Code, loads: dict[str, d.Load], count: int) -> None:
        w = code.w
        self.loads, self.size, self._code, self._count = loads, code.threads * _BYTES, code, count
        total = len(loads) * code.rounds * self.size
        code.helpers["ahead"] = f"@ahead = internal addrspace(3) global [{total} x i8] undef, align {_BYTES}"
        base = w.emit(f"ptrtoint {SHARED_POINTER} @ahead to i32")
        self.first = w.emit(f"add i32 {base}, {w.emit(f'mul nuw i32 {code.local}, {_BYTES}')}")

    def fetch_all(self, first: str, index: str, whole: str) -> None:
        """Begin to copy the elements of so many rounds, from number `first` on."""
        code, w = self._code, self._code.w
        for round in range(code.rounds):
            fetch, fetched = w.block("fetch"), w.block("fetched")
            if round:
                w.branch(w.emit(f"icmp ult i32 {round}, {whole}"), fetch, fetched)
                w.place(fetch)
            at = w.emit(f"add nuw {index} {first}, {round * code.threads * self._count}")
            wide = at if index == "i64" else w.emit(f"zext nneg i32 {at} to i64")
            for name, load in self.loads.items():
                buffer = code.buffers[load.buffer]
                types = (SHARED_POINTER, buffer.pointer_type)
                source = element_address(code, buffer, Linear(((wide, 1),)))
                place = self._at(name, w.emit(f"add i32 {self.first}, {round * self.size}"))
                w.call(f"llvm.nvvm.cp.async.cg.shared.global.{_BYTES}", "void", types, (place, source))
            if round:
                w.place(fetched)
            self._close()

    def take(self, copies: list[Copy], place: str) -> None:
        """Wait for the next round's, at a place, and give it to the copies."""
        w = self._code.w
        self._close()
        w.call("llvm.nvvm.cp.async.wait.group", "void", ["i32"], [str(self._code.rounds)])
        for name, load in self.loads.items():
            type = f"<{self._count} x {type_text(load.type)}>"
            found = w.emit(f"load {type}, {SHARED_POINTER} {self._at(name, place)}, align {_BYTES}")
            for number, copy in enumerate(copies):
                copy.env[name] = w.emit(f"extractelement {type} {found}, i32 {number}")

    def one(self, place: str, number: str) -> dict[str, str]:
        """One of a round's elements of each array."""
        w, found = self._code.w, dict[str, str]()
        for name, load in self.loads.items():
            type, start = type_text(load.type), self._at(name, place)
            at = w.emit(f"getelementptr {type}, {SHARED_POINTER} {start}, i32 {number}", "p")
            found[name] = w.emit(f"load {type}, {SHARED_POINTER} {at}")
        return found

    def _close(self) -> None:
        """What was begun since the last time is a group."""
        self._code.w.call("llvm.nvvm.cp.async.commit.group", "void", [], [])

    def _at(self, name: str, place: str) -> str:
        """The place of one array."""
        w, number = self._code.w, list(self.loads).index(name)
        at = w.emit(f"inttoptr i32 {place} to {SHARED_POINTER}", "p")
        if not number:
            return at
        return w.emit(f"getelementptr i8, {SHARED_POINTER} {at}, i32 {number * self._code.rounds * self.size}", "p")
