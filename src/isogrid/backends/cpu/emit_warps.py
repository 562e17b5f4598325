"""Warp operations on a scratch array of one value per thread: all threads store, warps combine in turn, all load.

Shuffles load from the lane they name. In the precise twin a warp with a trapped thread ends at its next operation: its
other threads, and all warps behind it, run no further, while those before it go on to the barrier.
"""

from collections.abc import Callable
from typing import assert_never

from isogrid.backends.cpu.emit_collective import combiner
from isogrid.backends.cpu.emit_counted import counted
from isogrid.backends.cpu.emit_lanes import write_record
from isogrid.backends.cpu.emit_memory import load, store
from isogrid.backends.cpu.emit_regions import every_statement
from isogrid.backends.cpu.emit_values import BufferRef, Lanes, Val, apply, literal
from isogrid.backends.cpu.layout import RECORD_LOCAL, RECORD_SITE, RECORD_THREAD
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.printers.llvm_text import element_type, type_text

_LINEAR = d.Special("linear", 0)


def warp_scratch(kernel: d.Kernel) -> list[Scalar]:
    """Element types of the scratch arrays that the warp operations of a kernel need."""
    found: dict[Scalar, None] = {}
    for node in every_statement(kernel.body):
        match node:
            case d.WarpCollective():
                found[node.scalar] = None
                if node.op == "ballot":
                    found[_ballot(kernel.warp)] = None
                if node.active is not None:
                    found[Scalar.BOOL] = None
            case d.WarpBarrier(active) if active is not None:
                found[Scalar.BOOL] = None
            case d.Agree():
                found[Scalar.BOOL] = None
            case _:
                continue
    return list(found)


def warp_notes(kernel: d.Kernel) -> tuple[str, ...]:
    """What `explain` says of the way that values take between lanes."""
    operations = [s for s in every_statement(kernel.body) if isinstance(s, d.WarpCollective | d.WarpBarrier)]
    if not operations:
        return ()
    masked = any(operation.active is not None for operation in operations)
    return ("warps exchange through memory" + (", under a mask where they part" if masked else ""),)


def _ballot(width: int) -> Scalar:
    return Scalar.W64 if width == 64 else Scalar.W32


class Warps:
    """Emits the operations of one group's warps. `region` runs statements for every thread; `limit` is the place that
    holds the lowest trapped thread, "" in the fast twin; `linear` is the group's number."""

    def __init__(self, group: Lanes, region: Callable[[d.Block], None], width: int, threads: int) -> None:
        self.group, self.region, self.width, self.threads = group, region, width, threads
        self.limit, self.linear, self.w = "", "", group.w

    def emit(self, node: d.WarpBarrier | d.WarpCollective | d.Agree, limit: str, linear: str) -> None:
        self.limit, self.linear = limit, linear
        match node:
            case d.WarpBarrier():
                self.meet(node.active)
            case d.WarpCollective():
                self.collective(node)
            case d.Agree():
                self.agree(node)
            case _:
                assert_never(node)

    def scratch(self, scalar: Scalar) -> BufferRef:
        return self.group.code.buffers[f"scratch {scalar.value}"]

    def spread(self, scalar: Scalar, value: d.Expr) -> None:
        """Each thread's value to its slot; slot 0 belongs to the scans of groups."""
        self.region((d.Store(f"scratch {scalar.value}", _plus(_LINEAR, 1), value),))

    # --- meetings ----------------------------------------------------------------------------------------------------

    def meet(self, active: d.Expr | None) -> None:
        """A warp that takes part and has a trapped thread stops here."""
        if not self.limit:
            return
        if active is not None:
            self.spread(Scalar.BOOL, active)
        w = self.w
        limit = w.emit(f"load i64, ptr {self.limit}")
        first = w.emit(f"and i64 {limit}, {-self.width}")
        if active is not None:
            # Where no thread has trapped this looks at the slot behind the group, which is there and means nothing.
            took_part = self.slot(Scalar.BOOL, first)
            first = w.emit(f"select i1 {took_part.text}, i64 {first}, i64 {limit}")
        self._stop_at(first)

    def _stop_at(self, thread: str) -> None:
        """Threads from here on run no further; where thread 0 is one of them the group leaves."""
        w = self.w
        w.do(f"store i64 {thread}, ptr {self.limit}")
        go_on = w.block("warps")
        w.branch(w.emit(f"icmp eq i64 {thread}, 0"), self.group.code.trap_label, go_on)
        self.group.code.traps = True
        w.place(go_on)

    def slot(self, scalar: Scalar, thread: str) -> Val:
        place = Val(Machine.I64, self.w.emit(f"add nsw i64 {thread}, 1"), 0)
        machine = Machine.I1 if scalar is Scalar.BOOL else element_type(scalar)
        return load(self.one(), self.scratch(scalar), place, machine)

    def put(self, scalar: Scalar, thread: str, value: Val) -> None:
        place = Val(Machine.I64, self.w.emit(f"add nsw i64 {thread}, 1"), 0)
        store(self.one(), self.scratch(scalar), place, value)

    def one(self) -> Lanes:
        """One lane at group level."""
        group = self.group
        return Lanes(group.code, 1, {}, {}, {}, Val(Machine.I64, "0"), group.levels, None)

    # --- operations --------------------------------------------------------------------------------------------------

    def agree(self, node: d.Agree) -> None:
        """Whether some thread that has not trapped says yes."""
        self.spread(Scalar.BOOL, node.value)
        w = self.w
        some = w.alloca("i1", "some")
        w.do(f"store i1 false, ptr {some}")

        def one(thread: str) -> None:
            value = self.slot(Scalar.BOOL, thread)
            before = w.emit(f"load i1, ptr {some}")
            after = w.emit(f"or i1 {value.text}, {before}")
            w.do(f"store i1 {after}, ptr {some}")

        counted(w, "0", self._running_threads(), "1", one)
        result = w.emit(f"load i1, ptr {some}")
        w.do(f"store i1 {result}, ptr {self.group.slots[node.target].pointer}")

    def collective(self, node: d.WarpCollective) -> None:
        self.spread(node.scalar, node.value)
        self.meet(node.active)
        first = d.Op("iand", (_LINEAR, d.Literal(2**64 - self.width, Machine.I64)), Machine.I64)
        scalar: Scalar = node.scalar
        place: d.Expr = first
        match node.op:
            case "shuffle":
                assert node.lane is not None
                place = d.Op("iadd", (first, node.lane), Machine.I64)
            case "ballot":
                scalar = _ballot(self.width)
                self._each_warp(lambda base: self._ballots(scalar, base))
            case "scan":
                place = _LINEAR
                self._each_warp(lambda base: self._scan(node, base))
            case "sum" if scalar.is_integer:
                self._each_warp(lambda base: self._sum(node, base))
            case _:
                self._each_warp(lambda base: self._tree(node, base))
        machine = Machine.I1 if scalar is Scalar.BOOL else element_type(scalar)
        self.region((d.Set(node.target, d.Load(f"scratch {scalar.value}", _plus(place, 1), machine)),))

    def _running_threads(self) -> str:
        return self.w.emit(f"load i64, ptr {self.limit}") if self.limit else str(self.threads)

    def _each_warp(self, body: Callable[[str], None]) -> None:
        """Every warp of the group that still runs, by its first thread."""
        counted(self.w, "0", self._running_threads(), str(self.width), body)

    def _tree(self, node: d.WarpCollective, base: str) -> None:
        op = {"any": "ior", "all": "iand"}.get(node.op) or combiner(node.op, node.scalar)
        machine = Machine.I1 if node.scalar is Scalar.BOOL else element_type(node.scalar)
        half = self.width // 2
        while half:

            def pair(lane: str, half: int = half) -> None:
                low = self.w.emit(f"add nsw i64 {base}, {lane}")
                high = self.w.emit(f"add nsw i64 {low}, {half}")
                values = (self.slot(node.scalar, low), self.slot(node.scalar, high))
                self.put(node.scalar, low, apply(self.one(), op, values, machine))

            counted(self.w, "0", str(half), "1", pair)
            half //= 2

    def _ballots(self, bits: Scalar, base: str) -> None:
        w, text = self.w, type_text(element_type(bits))
        total = w.alloca(text, "ballot")
        w.do(f"store {text} 0, ptr {total}")

        def one(lane: str) -> None:
            value = self.slot(Scalar.BOOL, w.emit(f"add nsw i64 {base}, {lane}"))
            bit = w.emit(f"zext i1 {value.text} to {text}")
            amount = lane if text == "i64" else w.emit(f"trunc i64 {lane} to {text}")
            shifted = w.emit(f"shl {text} {bit}, {amount}")
            before = w.emit(f"load {text}, ptr {total}")
            after = w.emit(f"or {text} {shifted}, {before}")
            w.do(f"store {text} {after}, ptr {total}")

        counted(w, "0", str(self.width), "1", one)
        self.put(bits, base, Val(element_type(bits), w.emit(f"load {text}, ptr {total}"), 0))

    # --- totals ------------------------------------------------------------------------------------------------------

    def _prefixes(self, node: d.WarpCollective, base: str, each: Callable[[str, str, str], None]) -> str:
        """Exact integer prefixes of one warp: `each(thread, before, after)`. The result is where the total stands."""
        w, memory = self.w, element_type(node.scalar)
        wide = _wide(node)
        widen = "sext" if node.scalar.is_signed else "zext"
        total = w.alloca(wide, "total")
        w.do(f"store {wide} 0, ptr {total}")

        def one(lane: str) -> None:
            thread = w.emit(f"add nsw i64 {base}, {lane}")
            value = w.emit(f"{widen} {type_text(memory)} {self.slot(node.scalar, thread).text} to {wide}")
            before = w.emit(f"load {wide}, ptr {total}")
            after = w.emit(f"add {wide} {before}, {value}")
            w.do(f"store {wide} {after}, ptr {total}")
            each(thread, before, after)

        counted(w, "0", str(self.width), "1", one)
        return total

    def _narrowed(self, node: d.WarpCollective, exact: str, thread: str, base: str) -> Val:
        """An exact number in the type of the values; where it does not fit, this thread traps."""
        w, memory, wide = self.w, element_type(node.scalar), _wide(node)
        result = w.emit(f"trunc {wide} {exact} to {type_text(memory)}")
        if node.total is None:
            return Val(memory, result, 0)
        widen = "sext" if node.scalar.is_signed else "zext"
        again = w.emit(f"{widen} {type_text(memory)} {result} to {wide}")
        good, bad = w.block("fits"), w.block("fits.not")
        w.branch(w.emit(f"icmp eq {wide} {again}, {exact}"), good, bad)
        w.place(bad)
        self._trap(node.total, thread, base)
        w.jump(good)
        w.place(good)
        return Val(memory, result, 0)

    def _trap(self, site: int, thread: str, base: str) -> None:
        """The first trap of a warp: the warps before it go on, this one and those behind it do not."""
        w, code = self.w, self.group.code
        code.traps = True
        if not self.limit:
            w.jump(code.trap_label)
            return
        noted, on = w.block("noted"), w.block("not.noted")
        limit = w.emit(f"load i64, ptr {self.limit}")
        w.branch(w.emit(f"icmp ult i64 {base}, {limit}"), noted, on)
        w.place(noted)
        write_record(self.group, RECORD_SITE, str(site + 1))
        write_record(self.group, RECORD_THREAD, self.linear)
        write_record(self.group, RECORD_LOCAL, thread)
        self._stop_at(base)
        w.jump(on)
        w.place(on)

    def _sum(self, node: d.WarpCollective, base: str) -> None:
        total = self._prefixes(node, base, lambda thread, before, after: None)
        exact = self.w.emit(f"load {_wide(node)}, ptr {total}")
        self.put(node.scalar, base, self._narrowed(node, exact, base, base))

    def _scan(self, node: d.WarpCollective, base: str) -> None:
        if not node.scalar.is_integer:
            self._float_scan(node, base)
            return

        def each(thread: str, before: str, after: str) -> None:
            exact = before if node.exclusive else after
            self.put(node.scalar, thread, self._narrowed(node, exact, thread, base))

        self._prefixes(node, base, each)

    def _float_scan(self, node: d.WarpCollective, base: str) -> None:
        """v[t - d] + v[t] for d = 1, 2, 4..., each level from the last lane down."""
        w, machine = self.w, element_type(node.scalar)
        distance = 1
        while distance < self.width:

            def add(step: str, distance: int = distance) -> None:
                here = w.emit(f"add nsw i64 {base}, {w.emit(f'sub nsw i64 {self.width - 1}, {step}')}")
                earlier = self.slot(node.scalar, w.emit(f"sub nsw i64 {here}, {distance}"))
                value = apply(self.one(), "fadd", (earlier, self.slot(node.scalar, here)), machine)
                self.put(node.scalar, here, value)

            counted(w, "0", str(self.width - distance), "1", add)
            distance *= 2
        if not node.exclusive:
            return

        def shift(step: str) -> None:
            here = w.emit(f"add nsw i64 {base}, {w.emit(f'sub nsw i64 {self.width - 1}, {step}')}")
            self.put(node.scalar, here, self.slot(node.scalar, w.emit(f"sub nsw i64 {here}, 1")))

        counted(w, "0", str(self.width - 1), "1", shift)
        self.put(node.scalar, base, literal(0, machine))


def _wide(node: d.WarpCollective) -> str:
    """Holds the sum of a warp's values exactly."""
    return "i128" if element_type(node.scalar) is Machine.I64 else "i64"


def _plus(index: d.Expr, amount: int) -> d.Expr:
    return d.Op("iadd", (index, d.Literal(amount, Machine.I64)), Machine.I64)
