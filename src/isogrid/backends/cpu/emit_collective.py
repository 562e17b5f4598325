"""Group operations on a scratch array of one value per thread, in the fixed pairing of the language.

sum, min, max: slot[t] op slot[t + s] for s = half .. 1. Slots past the group hold the identity there, so leaving
them out changes nothing. Integer sums do not depend on order: they are taken exactly in wider lanes and then checked.
"""

from collections.abc import Callable, Iterator

from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_memory import load, store
from isogrid.backends.cpu.emit_regions import operand_store, result_set
from isogrid.backends.cpu.emit_units import lane_loop
from isogrid.backends.cpu.emit_values import BufferRef, Lanes, Val, apply, literal, vector
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.printers.llvm_text import element_type, mangled, type_text

#: Unroll a level of the tree into at most this many vectors.
_UNROLLED = 16


def scratch_elements(body: d.Block) -> list[Scalar]:
    """Element types of the scratch arrays that the collectives of a body need."""
    found: dict[Scalar, None] = {}
    for node in _collectives(body):
        found[node.scalar] = None
    return list(found)


def _collectives(body: d.Block) -> Iterator[d.Collective]:
    for node in body:
        match node:
            case d.Collective():
                yield node
            case d.If():
                yield from _collectives(node.then)
                yield from _collectives(node.otherwise)
            case d.For() | d.Loop() | d.Scope():
                yield from _collectives(node.body)
            case _:
                continue


def emit_collective(
    group: Lanes,
    node: d.Collective,
    threads: int,
    width: int,
    region: Callable[[d.Block], None],
    barrier: Callable[[], None],
    trapped: Callable[[int, str], None],
    stored: bool,
    loaded: bool,
) -> None:
    """`group` is one lane; `region` runs statements for every thread; `trapped` leaves, recording site and thread.

    `stored`: the threads have stored their operands already. `loaded`: they will take their results themselves.
    """
    name = f"scratch {node.scalar.value}"
    scratch = group.code.buffers[name]
    if not stored:
        region((operand_store(node),))
    barrier()
    machine = Machine.I1 if node.scalar is Scalar.BOOL else element_type(node.scalar)
    tool = _Tool(group, scratch, threads, width, node, trapped)
    match node.op:
        case "scan":
            store(group, scratch, literal(0, Machine.I64), literal(0, machine))
            tool.scan()
        case "sum" if node.scalar.is_integer:
            tool.exact_sum()
        case "any" | "all":
            tool.tree("ior" if node.op == "any" else "iand")
        case _:
            tool.tree(combiner(node.op, node.scalar))
    if loaded:
        return
    if node.target in group.slots:
        value = load(group, scratch, literal(1, Machine.I64), machine)
        group.w.do(f"store {type_text(machine)} {value.text}, ptr {group.slots[node.target].pointer}")
    else:
        region((result_set(node),))


def combiner(op: str, scalar: Scalar) -> str:
    """The device operation that combines two values of a float sum, a minimum or a maximum."""
    if op == "sum":
        return "fadd"
    if scalar.is_float:
        return "f" + op
    return ("s" if scalar.is_signed else "u") + op


class _Tool:
    """Loops over the scratch array at group level."""

    def __init__(
        self,
        group: Lanes,
        scratch: BufferRef,
        threads: int,
        width: int,
        node: d.Collective,
        trapped: Callable[[int, str], None],
    ) -> None:
        self.group, self.scratch, self.threads, self.width = group, scratch, threads, width
        self.node, self.trapped, self.w = node, trapped, group.w
        self.memory = element_type(scratch.element)

    def lanes(self, width: int, mask: str | None) -> Lanes:
        group = self.group
        zero = Val(Machine.I64, "0", 0 if width == 1 else 1)
        return Lanes(group.code, width, {}, {}, {}, zero, group.levels, mask)

    def place(self, first: str, offset: int, width: int) -> Val:
        text = self.w.emit(f"add nsw i64 {first}, {offset + 1}")
        return Val(Machine.I64, text, 0 if width == 1 else 1)

    def raw(self, lanes: Lanes, place: Val) -> Val:
        """The slot as it lies in memory: a bool as its byte."""
        plain = BufferRef(self.scratch.pointer, _plain(self.scratch.element), self.scratch.space, None)
        return load(lanes, plain, place, self.memory)

    def put(self, lanes: Lanes, place: Val, value: Val) -> None:
        plain = BufferRef(self.scratch.pointer, _plain(self.scratch.element), self.scratch.space, None)
        store(lanes, plain, place, value)

    def each(self, count: int, body: Callable[[Lanes, str], None]) -> None:
        """Vectors over slots 0..count: written out when few, as a loop otherwise."""

        def one(first: str, mask: str | None, width: int) -> None:
            body(self.lanes(width, mask), first)

        lane_loop(self.group.code, self.width, "0", str(count), one, _UNROLLED)

    def tree(self, op: str) -> None:
        half = 1 << max(self.threads - 1, 0).bit_length()
        while half > 1:
            half //= 2
            self._level(op, half)

    def _level(self, op: str, half: int) -> None:
        def pair(lanes: Lanes, first: str) -> None:
            low, high = self.place(first, 0, lanes.width), self.place(first, half, lanes.width)
            value = apply(lanes, op, (self.raw(lanes, low), self.raw(lanes, high)), self.memory)
            self.put(lanes, low, value)

        self.each(min(half, self.threads - half), pair)

    # --- integers ----------------------------------------------------------------------------------------------------

    def exact_sum(self) -> None:
        """The sum in 64-bit lanes: of whole 32-bit values, or of the halves of 64-bit ones."""
        signed, wide = self.node.scalar.is_signed, self.memory is Machine.I64
        if not wide:
            total = self._total(lambda lanes, v: apply(lanes, "sext" if signed else "zext", (v,), Machine.I64))
            self._finish(total, "i64", signed)
            return
        if self.node.scalar.is_modular:
            self._finish(self._total(lambda lanes, v: v), "i64", signed)
            return
        mask = literal((1 << 32) - 1, Machine.I64)
        low = self._total(lambda lanes, v: apply(lanes, "iand", (v, mask), Machine.I64))
        shift = "ashr" if signed else "lshr"
        high = self._total(lambda lanes, v: apply(lanes, shift, (v, literal(32, Machine.I64)), Machine.I64))
        w = self.w
        above = w.emit(f"{'sext' if signed else 'zext'} i64 {high} to i128")
        total = w.emit(f"add i128 {w.emit(f'shl i128 {above}, 32')}, {w.emit(f'zext i64 {low} to i128')}")
        self._finish(total, "i128", signed)

    def _total(self, part: Callable[[Lanes, Val], Val]) -> str:
        """Sum of `part` of every slot, modulo 2^64."""
        w = self.w
        width = min(self.width, 1 << (self.threads.bit_length() - 1))
        text = type_text(Machine.I64, width)
        total = w.alloca(text, "total")
        w.do(f"store {text} zeroinitializer, ptr {total}")

        def one(first: str, mask: str | None, width: int) -> None:
            lanes = self.lanes(width, mask)
            # Slots past the end read as zero under the mask.
            value = vector(lanes, part(lanes, self.raw(lanes, self.place(first, 0, width))))
            before = w.emit(f"load {text}, ptr {total}")
            w.do(f"store {text} {w.emit(f'add {text} {before}, {value}')}, ptr {total}")

        lane_loop(self.group.code, width, "0", str(self.threads), one)
        lanes = w.emit(f"load {text}, ptr {total}")
        return lanes if width == 1 else w.call(f"llvm.vector.reduce.add.v{width}i64", "i64", [text], [lanes])

    def _finish(self, total: str, type: str, signed: bool) -> None:
        """Narrow the total, check that it fits, put it where every thread reads it."""
        w, memory = self.w, type_text(self.memory)
        result = total if type == memory else w.emit(f"trunc {type} {total} to {memory}")
        if self.node.total is not None:
            self._fits(result, total, type, signed, "0")
        self.put(self.lanes(1, None), Val(Machine.I64, "1"), Val(self.memory, result))

    def _fits(self, result: str, total: str, type: str, signed: bool, thread: str) -> None:
        w = self.w
        again = w.emit(f"{'sext' if signed else 'zext'} {type_text(self.memory)} {result} to {type}")
        good, bad = w.block("fits"), w.block("fits.not")
        w.branch(w.emit(f"icmp eq {type} {again}, {total}"), good, bad)
        w.place(bad)
        self.trapped(self.node.total or 0, thread)
        w.place(good)

    # --- scans -------------------------------------------------------------------------------------------------------

    def scan(self) -> None:
        if self.node.scalar.is_integer:
            if self.width == 1:
                self._running_total()
            else:
                self._integer_scan()
            return
        distance = 1
        while distance < self.threads:
            self._scan_level(distance)
            distance *= 2

    def _integer_scan(self) -> None:
        """Wrapping prefixes of vectors where no prefix can leave the type, one exact value after another elsewhere."""
        w = self.w
        if self.node.total is None:
            self._vector_scan()
            return
        slow, done = w.block("scan.exact"), w.block("scan.end")
        fast = w.block("scan.fast")
        bound = self.node.scalar.maximum // self.threads
        largest = self._largest()
        w.branch(w.emit(f"icmp ule {type_text(self.memory)} {largest}, {bound}"), fast, slow)
        w.place(fast)
        self._vector_scan()
        w.jump(done)
        w.place(slow)
        self._running_total()
        w.place(done)

    def _largest(self) -> str:
        """The largest magnitude of a slot, as an unsigned number."""
        w, memory = self.w, self.memory
        width = min(self.width, 1 << (self.threads.bit_length() - 1))
        text = type_text(memory, width)
        most = w.alloca(text, "most")
        w.do(f"store {text} zeroinitializer, ptr {most}")

        def one(first: str, mask: str | None, width: int) -> None:
            lanes = self.lanes(width, mask)
            value = self.raw(lanes, self.place(first, 0, width))
            if self.node.scalar.is_signed:
                value = apply(lanes, "smax", (value, apply(lanes, "ineg", (value,), memory)), memory)
            before = Val(memory, w.emit(f"load {text}, ptr {most}"), 0 if width == 1 else None)
            w.do(f"store {text} {vector(lanes, apply(lanes, 'umax', (value, before), memory))}, ptr {most}")

        lane_loop(self.group.code, width, "0", str(self.threads), one)
        lanes = w.emit(f"load {text}, ptr {most}")
        if width == 1:
            return lanes
        return w.call(f"llvm.vector.reduce.umax.{mangled(memory, width)}", type_text(memory), [text], [lanes])

    def _vector_scan(self) -> None:
        """Prefixes modulo 2^n: within a vector by doubling distances, from vector to vector by a carry."""
        w = self.w
        width = min(self.width, 1 << (self.threads.bit_length() - 1))
        text = type_text(self.memory, width)
        carry = w.alloca(text, "carry")
        w.do(f"store {text} zeroinitializer, ptr {carry}")

        def one(first: str, mask: str | None, width: int) -> None:
            lanes = self.lanes(width, mask)
            place = self.place(first, 0, width)
            value, distance = self.raw(lanes, place).text, 1
            while distance < width:
                order = ", ".join(f"i32 {k - distance if k >= distance else width + k}" for k in range(width))
                moved = w.emit(f"shufflevector {text} {value}, {text} zeroinitializer, <{width} x i32> <{order}>")
                value = w.emit(f"add {text} {value}, {moved}")
                distance *= 2
            before = w.emit(f"load {text}, ptr {carry}")
            # Only this sum waits for the vector before.
            w.do(f"store {text} {w.emit(f'add {text} {before}, {self._last(value, width)}')}, ptr {carry}")
            result = w.emit(f"add {text} {value}, {before}")
            self.put(lanes, place, Val(self.memory, result, 0 if width == 1 else None))

        lane_loop(self.group.code, width, "0", str(self.threads), one)

    def _last(self, value: str, width: int) -> str:
        """The last lane's value in every lane."""
        if width == 1:
            return value
        text, order = type_text(self.memory, width), ", ".join([f"i32 {width - 1}"] * width)
        return self.w.emit(f"shufflevector {text} {value}, {text} poison, <{width} x i32> <{order}>")

    def _running_total(self) -> None:
        """Integer prefixes one after another, exact."""
        w, signed = self.w, self.node.scalar.is_signed
        type = "i128" if self.memory is Machine.I64 else "i64"
        total = w.alloca(type, "total")
        w.do(f"store {type} 0, ptr {total}")

        def one(thread: str) -> None:
            lanes, place = self.lanes(1, None), self.place(thread, 0, 1)
            value = self.raw(lanes, place).text
            wide = w.emit(f"{'sext' if signed else 'zext'} {type_text(self.memory)} {value} to {type}")
            sum = w.emit(f"add {type} {w.emit(f'load {type}, ptr {total}')}, {wide}")
            w.do(f"store {type} {sum}, ptr {total}")
            result = w.emit(f"trunc {type} {sum} to {type_text(self.memory)}")
            if self.node.total is not None:
                # The prefix up to here is the own one of the next thread when a scan leaves out the own value.
                own = w.emit(f"add i64 {thread}, 1") if self.node.exclusive else thread
                self._fits(result, sum, type, signed, own)
            self.put(lanes, place, Val(self.memory, result))

        counted(w, "0", str(self.threads - self.node.exclusive), "1", one)

    def _scan_level(self, distance: int) -> None:
        """slot[t - d] + slot[t] for every t, from the top down, so that each slot is read before it is overwritten."""
        count = self.threads - distance
        width = min(self.width, 1 << (count.bit_length() - 1))
        w, whole = self.w, count // width

        def down(step: str) -> None:
            first = w.emit(f"sub nsw i64 {self.threads - width}, {w.emit(f'mul nsw i64 {step}, {width}')}")
            self._add_earlier(width, first, distance)

        counted(w, "0", str(whole), "1", down)

        def single(step: str) -> None:
            first = w.emit(f"sub nsw i64 {distance + count % width - 1}, {step}")
            self._add_earlier(1, first, distance)

        if count % width:
            counted(w, "0", str(count % width), "1", single)

    def _add_earlier(self, width: int, first: str, distance: int) -> None:
        lanes = self.lanes(width, None)
        here = self.place(first, 0, width)
        earlier, own = self.raw(lanes, self.place(first, -distance, width)), self.raw(lanes, here)
        self.put(lanes, here, apply(lanes, "fadd", (earlier, own), self.memory))


def _plain(element: Scalar) -> Scalar:
    return Scalar.I8 if element is Scalar.BOOL else element
