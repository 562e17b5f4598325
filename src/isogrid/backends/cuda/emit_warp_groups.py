"""A whole group in one warp: each lane runs several threads of the group, statement by statement.

For groups that meet only in group operations: their values then never leave registers and shuffles, no barrier is
needed, and four neighbouring threads of a lane read 16 bytes at once. Lane l of a group of 256 has the threads
4l..4l+3 and 128+4l..128+4l+3, so that pairs at a distance of 128 stand in one lane, 64 to 4 in two, 2 and 1 in one.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from isogrid.backends.cuda.emit_address import Linear
from isogrid.backends.cuda.emit_code import Code, Variable, assuming, evaluate, write_variable
from isogrid.backends.cuda.emit_collective import Numbers
from isogrid.backends.cuda.emit_exchange import shuffle
from isogrid.backends.cuda.emit_frame import Place
from isogrid.backends.cuda.emit_lockstep import Copy, each, together
from isogrid.backends.cuda.emit_sync import forget
from isogrid.backends.cuda.emit_trap import record_trap
from isogrid.ir import device as d
from isogrid.ir.types import Space
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import type_text

#: Threads of a block of the GPU: as many warps, each with a group.
THREADS = 256
#: Neighbouring threads that a lane takes.
_ROW = 4
_MOST_THREADS = 256
_MOST_NODES = 1600
_ALLOWED = (d.Let, d.Set, d.Store, d.Atomic, d.If, d.Collective)


def fits_in_warps(kernel: d.Kernel) -> bool:
    """Whether the groups of a kernel meet only in group operations, and one warp can run one of them."""
    size = kernel.geometry.group_size
    if not kernel.grouped or kernel.geometry.rank != 1 or kernel.races != "prove":
        return False
    if size not in (64, 128, _MOST_THREADS) or any(b.space in (Space.SHARED, Space.LOCAL) for b in kernel.buffers):
        return False
    nodes = list(visit(kernel.body))
    if any(not isinstance(n, _ALLOWED) for n in nodes if isinstance(n, d.Statement)):
        return False
    whole = sum(isinstance(n, d.Collective) for n in kernel.body)
    some = sum(isinstance(n, d.Collective) for n in nodes)
    return 0 < whole == some and len(nodes) * size // 32 <= _MOST_NODES


def groups_per_block(kernel: d.Kernel) -> int:
    return THREADS // 32


def emit_warp_groups(code: Code, place: Place, tile: int) -> None:
    """The groups of this block, one a warp; `tile` is how far blocks lie apart along the extent."""
    w, kernel, index = code.w, code.kernel, place.index
    size = kernel.geometry.group_size
    first = w.emit(f"mul nuw {index} {place.tile[0]}, {tile if kernel.geometry.kind == 'groups' else tile // size}")
    warp = w.emit(f"lshr i32 {code.local}, 5")
    group = w.emit(f"add nuw {index} {first}, {_index(code, warp, index)}")
    groups = "%extent.0"
    if kernel.geometry.kind == "grid":
        groups = w.emit(f"udiv {index} {w.emit(f'add nuw {index} {groups}, {size - 1}')}, {size}")
    start = w.block("group")
    w.branch(w.emit(f"icmp ult {index} {group}, {groups}"), start, code.end)
    w.place(start)
    copies = _copies(code, group, groups, index)
    apart = w.block("apart")
    data = {name for name, _ in kernel.variables}
    lane = _Warp(code)
    with assuming(code, None, True):
        together(code, copies, kernel.body, apart, data, [False], lane.all_lanes, lane.collective)
    w.jump(code.end)
    if not any(line.endswith(f"label %{apart}") or f"label %{apart}," in line for line in w.lines):
        return
    w.place(apart)
    copies = _copies(code, group, groups, index)
    together(code, copies, kernel.body, "", data, [True], lane.all_lanes, lane.collective)
    w.jump(code.end)


def _index(code: Code, value: str, index: str) -> str:
    return value if index == "i32" else code.w.emit(f"zext nneg i32 {value} to i64")


def _wide(code: Code, value: str, index: str) -> str:
    return value if index == "i64" else code.w.emit(f"zext nneg i32 {value} to i64")


def _copies(code: Code, group: str, groups: str, index: str) -> list[Copy]:
    w, size = code.w, code.kernel.geometry.group_size
    row = min(_ROW, size // 32)
    lane = w.emit(f"and i32 {code.local}, 31")
    near = w.emit(f"zext nneg i32 {w.emit(f'mul nuw nsw i32 {lane}, {row}')} to i64")
    wide_group = _wide(code, group, index)
    base = w.emit(f"mul nuw nsw i64 {wide_group}, {size}")
    far = w.emit(f"add nuw nsw i64 {base}, {near}")
    wide_groups = _wide(code, groups, index)
    shared = {("group", 0): wide_group, ("groups", 0): wide_groups}
    shared[("extent", 0)] = w.emit(f"mul nuw nsw i64 {wide_groups}, {size}")
    code.key = base
    found: list[Copy] = []
    for step in range(0, size, 32 * row):
        for offset in range(step, step + row):
            specials = dict(shared)
            specials[("local", 0)] = w.emit(f"add nuw nsw i64 {near}, {offset}") if offset else near
            specials[("thread", 0)] = w.emit(f"add nuw nsw i64 {far}, {offset}") if offset else far
            sums = {"local.0": Linear(((near, 1),), offset), "thread.0": Linear(((far, 1),), offset)}
            variables = {n: Variable(w.alloca(type_text(t), "var"), t) for n, t in code.kernel.variables}
            found.append(Copy(specials, sums, variables))
    return found


class _Warp:
    """Decisions and group operations of the threads that the lanes of one warp run."""

    def __init__(self, code: Code) -> None:
        self.code, self.w = code, code.w
        self.size = code.kernel.geometry.group_size
        self.row = min(_ROW, self.size // 32)

    def all_lanes(self, value: str) -> str:
        return self.w.call("llvm.nvvm.vote.all.sync", "i1", ["i32", "i1"], ["-1", value])

    def collective(self, copies: Sequence[Copy], node: d.Collective) -> None:
        code, w, values = self.code, self.w, list[str]()
        each(code, copies, lambda: values.append(evaluate(code, node.value)))
        forget(code)
        w.call("llvm.nvvm.bar.warp.sync", "void", ["i32"], ["-1"])
        if node.op in ("any", "all"):
            results = [self.vote(node.op, values)] * len(copies)
        else:
            results = self.numbers(copies, node, values)
        given = iter(results)
        each(code, copies, lambda: write_variable(code, node.target, next(given)))

    def vote(self, op: str, values: list[str]) -> str:
        both = values[0]
        for value in values[1:]:
            both = self.w.emit(f"{'or' if op == 'any' else 'and'} i1 {both}, {value}")
        return self.w.call(f"llvm.nvvm.vote.{op}.sync", "i1", ["i32", "i1"], ["-1", both])

    def numbers(self, copies: Sequence[Copy], node: d.Collective, values: list[str]) -> list[str]:
        if not Numbers(self.code, node).widens:
            return self.results(copies, node, values)
        # Where no value is so large that a total could leave the type, one warp finds that out with one vote.
        w, type = self.w, Numbers(self.code, node).raw
        few, many, met = w.block("small"), w.block("large"), w.block("totals")
        w.branch(self.all_lanes(self.all_small(node, values)), few, many)
        w.place(few)
        exact = self.results(copies, replace(node, total=None), values)
        kept = dict.fromkeys(exact, "")
        for value in kept:
            kept[value] = w.alloca(type, "total")
            w.do(f"store {type} {value}, ptr {kept[value]}")
        w.jump(met)
        w.place(many)
        places = [kept[value] for value in exact]
        for value, place in dict.fromkeys(zip(self.results(copies, node, values), places, strict=True)):
            w.do(f"store {type} {value}, ptr {place}")
        w.place(met)
        return [w.emit(f"load {type}, ptr {place}") for place in places]

    def all_small(self, node: d.Collective, values: list[str]) -> str:
        """Whether a lane's values are all in a range so narrow that sums of a group's size cannot leave the type."""
        w, type, signed = self.w, Numbers(self.code, node).raw, node.scalar.is_signed
        limit = (1 << node.scalar.bits - signed) // self.size
        both = ""
        for value in values:
            moved = w.emit(f"add {type} {value}, {limit}") if signed else value
            both = w.emit(f"or {type} {both}, {moved}") if both else moved
        return w.emit(f"icmp ult {type} {both}, {2 * limit if signed else limit}")

    def results(self, copies: Sequence[Copy], node: d.Collective, values: list[str]) -> list[str]:
        numbers = Numbers(self.code, node)
        wide = [numbers.widened(value) for value in values]
        if node.op == "scan":
            prefixes = self.scan(numbers, wide)
            if node.exclusive:
                prefixes = self.exclusive(numbers, prefixes, wide)
        else:
            prefixes = [self.tree(numbers, wide)] * len(copies)
        narrow = [numbers.narrowed(value) for value in prefixes]
        if node.total is not None and narrow[0][1]:
            self.leave_at_total(copies, node, [fits for _, fits in narrow])
        return [value for value, _ in narrow]

    def leave_at_total(self, copies: Sequence[Copy], node: d.Collective, fits: list[str]) -> None:
        """A sum names thread 0, a scan the lowest thread whose prefix is out of its type; then the warp leaves."""
        assert node.total is not None
        code, w = self.code, self.w
        base = code.key
        good = fits[0]
        for other in dict.fromkeys(fits[1:]):
            good = w.emit(f"and i1 {good}, {other}") if other != good else good
        bad, stay = w.block("lost"), w.block("fits")
        w.branch(self.all_lanes(good), stay, bad)
        w.place(bad)
        for copy, fit in zip(copies, fits, strict=True):
            record, done = w.block("record"), w.block("recorded")
            key = w.emit(f"add nuw i64 {base}, {copy.specials[('local', 0)]}")
            w.branch(fit, done, record)
            w.place(record)
            record_trap(code, node.total, [], base if node.op == "sum" else key)
            w.place(done)
            if node.op == "sum":
                break
        w.finish("ret void")
        w.place(stay)

    def tree(self, numbers: Numbers, values: list[str]) -> str:
        """slot[t] op slot[t + half] first: rows of a lane, then lanes, then the neighbours of a lane. Where no order
        can be seen in the result, everything of a lane comes first."""
        values = list(values)
        if numbers.any_order:
            while len(values) > 1:
                half = len(values) // 2
                values = [numbers.both(values[k], values[k + half]) for k in range(half)]
        rows = max(len(values) // self.row, 1)
        while rows > 1:
            rows //= 2
            half = rows * self.row
            values = [numbers.both(values[k], values[k + half]) for k in range(half)]
        dealt: list[int] = []
        for step in (16, 8, 4, 2, 1):
            if len(values) > 1:
                dealt.append(step)
                values = self.dealt(numbers, values, step)
            else:
                values = [numbers.both(values[0], self.exchanged("bfly", numbers, values[0], str(step)))]
        for step in dealt:
            values = [numbers.both(values[0], self.exchanged("bfly", numbers, values[0], str(step)))]
        return values[0]

    def dealt(self, numbers: Numbers, values: list[str], step: int) -> list[str]:
        """One level of the tree between lanes `step` apart, which share the neighbours out: the upper lane goes on with
        the upper half of them, the lower one with the lower half. So a level moves half of what it would in each."""
        w, text, half = self.w, numbers.wide, len(values) // 2
        upper = w.emit(f"icmp ne i32 {w.emit(f'and i32 {self.lane()}, {step}')}, 0")
        result: list[str] = []
        for low, high in zip(values[:half], values[half:], strict=True):
            kept = w.emit(f"select i1 {upper}, {text} {high}, {text} {low}")
            given = w.emit(f"select i1 {upper}, {text} {low}, {text} {high}")
            result.append(numbers.both(kept, self.exchanged("bfly", numbers, given, str(step))))
        return result

    def exchanged(self, kind: str, numbers: Numbers, value: str, operand: str) -> str:
        return shuffle(self.code, kind, "-1", value, numbers.wide, operand)

    def scan(self, numbers: Numbers, values: list[str]) -> list[str]:
        """v[t - d] op v[t] for d = 1, 2, 4...: every level on all slots at once."""
        if numbers.any_order:
            return self.exact_scan(numbers, values)
        distance = 1
        while distance < self.size:
            values = [self.below(numbers, values, k, distance) for k in range(len(values))]
            distance *= 2
        return values

    def exact_scan(self, numbers: Numbers, values: list[str]) -> list[str]:
        """Row after row: the slots of a lane, the lanes, and what stands before the row."""
        w, text = self.w, numbers.wide
        result: list[str] = []
        before = ""
        for start in range(0, len(values), self.row):
            row = list(accumulate(values[start : start + self.row], numbers.both))
            lanes, distance = row[-1], 1
            while distance < 32:
                below = self.exchanged("up", numbers, lanes, str(distance))
                enough = w.emit(f"icmp uge i32 {self.lane()}, {distance}")
                lanes = w.emit(f"select i1 {enough}, {text} {numbers.both(below, lanes)}, {text} {lanes}")
                distance *= 2
            lower = w.emit(f"sub {text} {lanes}, {row[-1]}")
            if before:
                lower = numbers.both(before, lower)
            result += [numbers.both(lower, value) for value in row]
            if start + self.row < len(values):
                whole = self.exchanged("idx", numbers, lanes, "31")
                before = numbers.both(before, whole) if before else whole
        return result

    def below(self, numbers: Numbers, values: list[str], place: int, distance: int) -> str:
        """The next level's value of one slot of each lane."""
        own = values[place]
        there, lanes, before = self.source(values, place, distance)
        if lanes == 0:
            return numbers.both(there, own) if there else own
        got = self.from_lane(numbers, there, before, lanes)
        paired = numbers.both(got, own)
        if before:
            return paired
        enough = self.w.emit(f"icmp uge i32 {self.lane()}, {lanes}")
        return self.w.emit(f"select i1 {enough}, {numbers.wide} {paired}, {numbers.wide} {own}")

    def source(self, values: list[str], place: int, distance: int) -> tuple[str, int, str]:
        """Where slot t - distance is: its value in the lane `lanes` below, and what stands for it in the row before.

        No lane below means this lane; no value that there is no such slot.
        """
        row, column = divmod(place, self.row)
        if distance >= 32 * self.row:
            at = row - distance // (32 * self.row)
            return (values[at * self.row + column] if at >= 0 else "", 0, "")
        lanes, back = divmod(distance, self.row)
        if back > column:
            lanes, back = lanes + 1, back - self.row
        column -= back
        there = values[row * self.row + column]
        if lanes == 0:
            return there, 0, ""
        return there, lanes, values[(row - 1) * self.row + column] if row else ""

    def from_lane(self, numbers: Numbers, value: str, before: str, lanes: int) -> str:
        """`value` of the lane below; the first lanes get `before` of the last ones."""
        if not before:
            return self.exchanged("up", numbers, value, str(lanes))
        source = self.w.emit(f"and i32 {self.w.emit(f'sub i32 {self.lane()}, {lanes}')}, 31")
        # The lane that reads is never one of those whose value it could take from the other row.
        late = self.w.emit(f"icmp uge i32 {self.lane()}, {32 - lanes}")
        mixed = self.w.emit(f"select i1 {late}, {numbers.wide} {before}, {numbers.wide} {value}")
        return self.exchanged("idx", numbers, mixed, source)

    def lane(self) -> str:
        return self.w.emit(f"and i32 {self.code.local}, 31")

    def exclusive(self, numbers: Numbers, prefixes: list[str], values: list[str]) -> list[str]:
        if numbers.scalar.is_integer:
            both = zip(prefixes, values, strict=True)
            return [self.w.emit(f"sub {numbers.wide} {prefix}, {value}") for prefix, value in both]
        shifted: list[str] = []
        for place in range(len(prefixes)):
            there, lanes, before = self.source(prefixes, place, 1)
            if lanes == 0:
                shifted.append(there)
                continue
            got = self.from_lane(numbers, there, before, lanes)
            if not before:
                first = self.w.emit(f"icmp eq i32 {self.lane()}, 0")
                got = self.w.emit(f"select i1 {first}, {numbers.wide} {numbers.zero()}, {numbers.wide} {got}")
            shifted.append(got)
        return shifted
