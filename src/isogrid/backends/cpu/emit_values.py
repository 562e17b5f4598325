"""Values of a vector of lanes: uniform ones stay scalar, affine ones are a scalar base and a constant stride.

`gid` with 16 lanes is Val("%i", stride 1); `gid + 4` one scalar add; `x[gid]` a plain vector load at a scalar address.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from isogrid.backends.cpu.emit_levels import Levels
from isogrid.backends.cpu.emit_overlap import Rounds
from isogrid.backends.cpu.emit_ranges import Ranges
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.printers.llvm_ops import Shape, operation
from isogrid.printers.llvm_text import Writer, literal_text, splat_text, type_text
from isogrid.support.errors import CompilerBug


@dataclass(frozen=True, slots=True)
class Val:
    """`stride` 0: the same in every lane, `text` is a scalar. Another number: lane k has `text` + k * stride, modulo
    2^n. None: `text` is a vector. `constant` is the literal's bits. `low` is the vector of i32 below 2^31 that a vector
    of i64 extends, where there is one."""

    type: Machine
    text: str
    stride: int | None = 0
    constant: int | None = None
    low: str = ""

    @property
    def uniform(self) -> bool:
        return self.stride == 0


@dataclass(frozen=True, slots=True)
class BufferRef:
    """Where a buffer is. Element e of a local buffer of thread t lies at e * `pitch` + t: lanes are adjacent."""

    pointer: str
    element: Scalar
    space: Space
    count: int | None
    pitch: int = 1
    shadow: str = ""
    total: int | None = None
    #: Whether `pointer` holds sums in 64 bits that go to the array later.
    sums: bool = False
    #: Whether whole vectors are stored past the cache; their addresses are then those of cache lines.
    streamed: bool = False
    #: Where a table's elements lie beside those of others, for vectors of lanes: `table_rows`.
    column: "Column | None" = None


@dataclass(frozen=True, slots=True)
class Column:
    """A table's place in rows of so many elements of 32 bits."""

    pointer: str
    width: int
    at: int


@dataclass(slots=True)
class Code:
    """What all code of one LLVM function shares."""

    w: Writer
    arguments: dict[tuple[str, str], str]
    buffers: dict[str, BufferRef]
    interrupt: str
    record: str
    precise: bool
    flags: str = ""
    trap_label: str = "trapped"
    stop_label: str = "stopped"
    polls: bool = False
    traps: bool = False
    #: Whether f32 lanes are divided by multiplication: `emit_exact`.
    quick_division: bool = False
    #: Whether launches have one thread, whose loops then look at the interrupt flag: `emit_polled`.
    one_thread: bool = False
    #: Whether no other thread runs a launch meanwhile, so that updates of memory need no locked instructions.
    alone: bool = False
    #: Whether masks have registers, and loads and stores under them cost little.
    cheap_masks: bool = False
    #: Where threads load their own elements: `emit_own`.
    own_places: frozenset[tuple[str, d.Expr]] = frozenset()
    #: Elements of a register that permutes pick, 0 where there are none: `emit_tables`.
    table_lanes: int = 0
    #: Loops whose trips overlap, by their counters.
    overlapped: Mapping[str, Rounds] = field(default_factory=dict[str, Rounds])
    #: Memory for loops in stages at a distance, and an i1 variable that tells whether it holds numbers already: the
    #: same for all such loops of a function. "" where there is none.
    rings: str = ""
    rings_ready: str = ""
    #: i1 variable that tells whether a shared total wrapped in this interval, "" where there is none.
    dirty: str = ""
    #: What is known about the size of integers.
    ranges: Ranges | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A mutable variable: an alloca of one scalar (the same in every lane) or of a vector of lanes."""

    pointer: str
    type: Machine
    varying: bool


@dataclass(slots=True)
class Frame:
    """A construct that control can leave: `exit` continues after it, `again` starts its next trip.

    `live` points at the mask of lanes still inside, where lanes may leave apart, `cleared` counts the exits that took
    lanes out of it; `depth` counts the divergent constructs around its body.
    """

    kind: str
    label: str
    exit: str
    live: str
    depth: int
    cleared: int = 0
    reached: bool = False
    #: Of a loop: how many more quotients and roots `emit_exact` makes without the divider, and whether its roots need
    #: no test.
    quick: dict[str, int] = field(default_factory=dict[str, int])
    proved: bool = False


@dataclass(slots=True)
class Lanes:
    """The state of emitting one thread body for `width` lanes at once. `mask` None means that all lanes are on."""

    code: Code
    width: int
    specials: dict[tuple[str, int], Val]
    env: dict[str, Val]
    slots: dict[str, Slot]
    thread: Val
    levels: Levels
    mask: str | None = None
    frames: list[Frame] = field(default_factory=list[Frame])
    depth: int = 0
    #: Whether these are the last lanes of a range, some of them off: they run once, so that their code should be short.
    last: bool = False
    #: Whether adjacent elements are loaded as whole cache lines: `emit_lines`.
    lines: bool = False
    #: Where to go when an assumption about all lanes fails: code that makes none. "" where none may be made, as after
    #: the first store.
    slow: str = ""
    #: Tests of quotients and roots made without the divider that are left for later, None where each is tested at once.
    unproved: list[str] | None = None

    @property
    def w(self) -> Writer:
        return self.code.w


def literal(bits: int, type: Machine) -> Val:
    bits &= (1 << type.bits) - 1
    return Val(type, literal_text(bits, type), 0, bits)


def vector(lanes: Lanes, value: Val) -> str:
    """The value as an operand of a vector instruction (of a scalar one where there is one lane)."""
    if lanes.width == 1 or value.stride is None:
        return value.text
    text = type_text(value.type, lanes.width)
    if value.stride == 0:
        if value.constant is not None:
            return splat_text(value.text, value.type, lanes.width)
        return splat(lanes.w, value.text, value.type, lanes.width)
    base = splat(lanes.w, value.text, value.type, lanes.width)
    return lanes.w.emit(f"add {text} {base}, {_ramp(value.type, value.stride, lanes.width)}")


def splat(w: Writer, scalar: str, type: Machine, width: int) -> str:
    text = type_text(type, width)
    one = w.emit(f"insertelement {text} poison, {type_text(type)} {scalar}, i64 0", "s")
    result = w.emit(f"shufflevector {text} {one}, {text} poison, <{width} x i32> zeroinitializer", "s")
    w.splats.add(result)
    return result


def _ramp(type: Machine, stride: int, width: int) -> str:
    mask = (1 << type.bits) - 1
    return "<" + ", ".join(f"{type_text(type)} {(k * stride) & mask}" for k in range(width)) + ">"


def varying(lanes: Lanes, type: Machine, text: str) -> Val:
    """The result of a vector instruction."""
    return Val(type, text, 0 if lanes.width == 1 else None)


def apply(lanes: Lanes, op: str, arguments: Sequence[Val], result: Machine, small: bool = False) -> Val:
    """One device operation: scalar when every operand is uniform, by its base when it keeps lanes affine.

    `small`: the operands are known to lie in 0 .. 2^31 - 1.
    """
    operand = arguments[1].type if op == "select" else arguments[0].type
    arguments = _sanitised(lanes, op, arguments)
    if all(a.uniform for a in arguments):
        text = operation(lanes.w, op, [a.text for a in arguments], operand, result, Shape(1, lanes.code.flags))
        return Val(result, text, 0)
    affine = (
        _affine(lanes, op, arguments, result)
        or _whole_quotient(lanes, op, arguments)
        or _whole_clamp(lanes, op, arguments)
    )
    if affine is not None:
        return affine
    if operand is Machine.I64 and (short := _in_32_bits(lanes, op, arguments)) is not None:
        return short
    shape = Shape(lanes.width, lanes.code.flags)
    if small:
        short = [
            apply(lanes, "trunc", (a,), Machine.I32) if a.constant is None else literal(a.constant, Machine.I32)
            for a in arguments
        ]
        return apply(lanes, "zext", (apply(lanes, op, short, Machine.I32),), result)
    text = operation(lanes.w, op, [vector(lanes, a) for a in arguments], operand, result, shape)
    return Val(result, text, None)


def _in_32_bits(lanes: Lanes, op: str, arguments: Sequence[Val]) -> Val | None:
    """Low bits of 64-bit lanes, and whether they are some number, in lanes of 32 bits: `(i + j) % 2 == colour`. What is
    not used of the two forms is dropped."""
    for value, other in (tuple(arguments), tuple(arguments[::-1])) if len(arguments) == 2 else ():
        if op == "iand" and value.stride is not None and other.constant is not None and other.constant < 1 << 31:
            short = apply(lanes, "trunc", (value,), Machine.I32)
            low = apply(lanes, "iand", (short, literal(other.constant, Machine.I32)), Machine.I32)
            both = [vector(lanes, a) for a in arguments]
            whole = operation(lanes.w, op, both, Machine.I64, Machine.I64, Shape(lanes.width))
            return Val(Machine.I64, whole, None, low=vector(lanes, low))
        if op in ("ieq", "ine") and value.low and other.uniform:
            # No lane holds -1, which stands for numbers of more bits.
            number = apply(lanes, "trunc", (other,), Machine.I32)
            fits = apply(lanes, "ieq", (apply(lanes, "zext", (number,), Machine.I64), other), Machine.I1)
            number = apply(lanes, "select", (fits, number, literal(-1, Machine.I32)), Machine.I32)
            return apply(lanes, op, (Val(Machine.I32, value.low, None), number), Machine.I1)
    return None


def _affine(lanes: Lanes, op: str, arguments: Sequence[Val], result: Machine) -> Val | None:
    """The result as base and stride, where the operation is linear modulo 2^n in its affine operands."""
    first = arguments[0]
    if any(a.stride is None for a in arguments) or first.type.is_float:
        return None
    strides = [a.stride or 0 for a in arguments]
    match op:
        case "iadd":
            stride = strides[0] + strides[1]
        case "isub":
            stride = strides[0] - strides[1]
        case "ineg":
            stride = -strides[0]
        case "imul" if arguments[1].constant is not None:
            stride = strides[0] * _signed(arguments[1].constant, first.type)
        case "imul" if first.constant is not None:
            stride = strides[1] * _signed(first.constant, first.type)
        case "shl" if arguments[1].constant is not None:
            stride = strides[0] << arguments[1].constant
        case "trunc":
            stride = strides[0]
        case _:
            return None
    text = operation(lanes.w, op, [a.text for a in arguments], first.type, result, Shape())
    return Val(result, text, stride)


def _whole_quotient(lanes: Lanes, op: str, arguments: Sequence[Val]) -> Val | None:
    """Quotient or remainder of adjacent values that all have the same quotient: else the slow version runs instead."""
    dividend, second = arguments[0], arguments[1] if len(arguments) == 2 else arguments[0]
    if not lanes.slow or dividend.stride != 1 or not second.uniform:
        return None
    divisor = _divisor(op, second)
    if divisor is None:
        return None
    w, text = lanes.w, type_text(dividend.type)
    if divisor.constant is not None and divisor.constant < lanes.width:
        return None
    remainder = w.emit(f"urem {text} {dividend.text}, {divisor.text}")
    enough = w.emit(f"icmp uge {text} {divisor.text}, {lanes.width}")
    last = w.emit(f"sub {text} {divisor.text}, {lanes.width}")
    fits = w.emit(f"icmp ule {text} {remainder}, {last}")
    going = w.block("whole")
    # The last multiple of the divisor is cut short where the values wrap.
    top = w.emit(f"icmp ule {text} {dividend.text}, {(1 << dividend.type.bits) - lanes.width}")
    w.branch(w.emit(f"and i1 {top}, {w.emit(f'and i1 {enough}, {fits}')}"), going, lanes.slow)
    w.place(going)
    if op in ("urem", "iand"):
        return Val(dividend.type, remainder, 1)
    return Val(dividend.type, w.emit(f"udiv {text} {dividend.text}, {divisor.text}"), 0)


def _whole_clamp(lanes: Lanes, op: str, arguments: Sequence[Val]) -> Val | None:
    """Minimum or maximum of adjacent values and a limit that none of them lies beyond: else the slow version runs.
    Where masks cost little, so do gathers."""
    if op not in ("smin", "smax") or not lanes.slow or lanes.code.cheap_masks:
        return None
    adjacent, limit = arguments if arguments[0].stride == 1 else arguments[::-1]
    if adjacent.stride != 1 or not limit.uniform:
        return None
    w, text, most = lanes.w, type_text(adjacent.type), lanes.width - 1
    low, high = (limit.text, adjacent.text) if op == "smax" else (adjacent.text, limit.text)
    ordered = w.emit(f"icmp sle {text} {low}, {high}")
    if op == "smin":
        # As unsigned numbers, since the limit is not below the first value.
        within = w.emit(f"icmp uge {text} {w.emit(f'sub {text} {high}, {low}')}, {most}")
    else:
        within = w.emit(f"icmp sle {text} {high}, {(1 << adjacent.type.bits - 1) - 1 - most}")
    going = w.block("whole")
    w.branch(w.emit(f"and i1 {ordered}, {within}"), going, lanes.slow)
    w.place(going)
    return adjacent


def _divisor(op: str, second: Val) -> Val | None:
    match op:
        case "udiv" | "urem":
            return second
        case "lshr" if second.constant is not None:
            return literal(1 << second.constant, second.type)
        case "iand" if second.constant is not None and second.constant & (second.constant + 1) == 0:
            return literal(second.constant + 1, second.type) if second.constant + 1 < 1 << second.type.bits else None
        case _:
            return None


def makes_quotients(node: d.Expr) -> bool:
    """Whether an expression holds a division that `_whole_quotient` may simplify."""
    match node:
        case d.Op():
            own = node.op in ("udiv", "urem") or (
                node.op in ("lshr", "iand") and isinstance(node.arguments[1], d.Literal) and node.type is not Machine.I1
            )
            return own or any(makes_quotients(a) for a in node.arguments)
        case d.Load():
            return makes_quotients(node.index)
        case d.Literal() | d.Value() | d.Argument() | d.Special():
            return False
        case _:
            assert_never(node)


def _signed(bits: int, type: Machine) -> int:
    return bits - (1 << type.bits) if bits >> (type.bits - 1) else bits


def _sanitised(lanes: Lanes, op: str, arguments: Sequence[Val]) -> Sequence[Val]:
    """Lanes that are off hold anything: give them operands for which the operation is defined."""
    if lanes.mask is None or lanes.width == 1:
        return arguments
    match op:
        case "sdiv" | "srem" | "udiv" | "urem" if not arguments[1].uniform:
            return (arguments[0], chosen(lanes, arguments[1], literal(1, arguments[1].type)))
        case "shl" | "lshr" | "ashr" if not arguments[1].uniform:
            return (
                arguments[0],
                apply(
                    lanes,
                    "iand",
                    (arguments[1], literal(arguments[1].type.bits - 1, arguments[1].type)),
                    arguments[1].type,
                ),
            )
        case "fptosi" | "fptoui" if not arguments[0].uniform:
            return (chosen(lanes, arguments[0], literal(0, arguments[0].type)),)
        case _:
            return arguments


def chosen(lanes: Lanes, value: Val, otherwise: Val) -> Val:
    """`value` in lanes that are on, `otherwise` in the others."""
    text = type_text(value.type, lanes.width)
    on, off = vector(lanes, value), vector(lanes, otherwise)
    return Val(value.type, lanes.w.emit(f"select <{lanes.width} x i1> {lanes.mask}, {text} {on}, {text} {off}"), None)


# --- masks -----------------------------------------------------------------------------------------------------------


def mask_type(lanes: Lanes) -> str:
    return f"<{lanes.width} x i1>"


def mask_text(lanes: Lanes) -> str:
    """The mask as an operand."""
    return "splat (i1 true)" if lanes.mask is None else lanes.mask


def any_lane(lanes: Lanes, mask: str) -> str:
    """Whether some lane of `mask` is on."""
    bits = lanes.w.emit(f"bitcast {mask_type(lanes)} {mask} to i{lanes.width}", "m")
    return lanes.w.emit(f"icmp ne i{lanes.width} {bits}, 0", "m")


def all_lanes(lanes: Lanes, mask: str) -> str:
    """Whether every lane of `mask` is on."""
    bits = lanes.w.emit(f"bitcast {mask_type(lanes)} {mask} to i{lanes.width}", "m")
    return lanes.w.emit(f"icmp eq i{lanes.width} {bits}, -1", "m")


def both(lanes: Lanes, first: str | None, second: str) -> str:
    if first is None:
        return second
    return lanes.w.emit(f"and {mask_type(lanes)} {first}, {second}", "m")


def without(lanes: Lanes, first: str | None, second: str) -> str:
    """Lanes of `first` that are not in `second`."""
    off = lanes.w.emit(f"xor {mask_type(lanes)} {second}, splat (i1 true)", "m")
    return both(lanes, first, off)


# --- expressions -----------------------------------------------------------------------------------------------------


def read_slot(lanes: Lanes, slot: Slot) -> Val:
    width = lanes.width if slot.varying else 1
    text = lanes.w.emit(f"load {type_text(slot.type, width)}, ptr {slot.pointer}")
    return varying(lanes, slot.type, text) if slot.varying else Val(slot.type, text, 0)


def write_slot(lanes: Lanes, slot: Slot, value: Val) -> None:
    """Assign in the lanes that are on."""
    if not slot.varying:
        if not value.uniform:
            raise CompilerBug("a variable that was taken to be uniform is not")
        lanes.w.do(f"store {type_text(slot.type)} {value.text}, ptr {slot.pointer}")
        return
    text = type_text(slot.type, lanes.width)
    new = vector(lanes, value)
    if lanes.mask is not None and lanes.width > 1:
        old = lanes.w.emit(f"load {text}, ptr {slot.pointer}")
        new = lanes.w.emit(f"select {mask_type(lanes)} {lanes.mask}, {text} {new}, {text} {old}")
    lanes.w.do(f"store {text} {new}, ptr {slot.pointer}")


def argument(code: Code, node: d.Argument) -> Val:
    return Val(node.type, code.arguments[(node.kind, node.name)], 0)
