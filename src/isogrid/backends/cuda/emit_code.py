"""What all code of one kernel shares while it is written, and the values of expressions.

Threads are scalar here: one LLVM function is one thread, and `%i` is the value of `i` in it.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from isogrid.backends.cuda.emit_address import Linear, constant, is_linear, signed
from isogrid.backends.cuda.emit_alignment import zero_bits
from isogrid.backends.cuda.emit_math import emit_fmod, near_inverse
from isogrid.backends.cuda.emit_short import in_32_bits, is_short
from isogrid.backends.cuda.emit_words import halves_of, is_long, long_number, put_together
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit
from isogrid.printers.c_family_loops import Loops
from isogrid.printers.c_family_ranges import Ranges
from isogrid.printers.llvm_ops import Shape, operation
from isogrid.printers.llvm_text import Writer, element_type, literal_text, type_text

if TYPE_CHECKING:
    from isogrid.analysis.meetings import Meetings

_WORD, _HALF_WORD = 1 << 64, 1 << 32
GLOBAL_POINTER = "ptr addrspace(1)"
SHARED_POINTER = "ptr addrspace(3)"
_POINTERS = {
    Space.GLOBAL: GLOBAL_POINTER,
    Space.TABLE: GLOBAL_POINTER,
    Space.SHARED: SHARED_POINTER,
    Space.LOCAL: "ptr",
}


@dataclass(frozen=True, slots=True)
class BufferRef:
    """Where a buffer is. `constant`: nothing writes to it while the kernel runs. `counters` is the shared array that
    counts how often the sums of a shared buffer left their type, "" where there is none."""

    pointer: str
    element: Scalar
    space: Space
    count: int | None
    constant: bool = False
    counters: str = ""

    @property
    def memory(self) -> Machine:
        return element_type(self.element)

    @property
    def pointer_type(self) -> str:
        return _POINTERS[self.space]


@dataclass(frozen=True, slots=True)
class Variable:
    """A mutable variable: a stack slot that LLVM turns into registers."""

    pointer: str
    type: Machine


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a thread would have added to an element: it keeps the sum, and adds it to memory at its end."""

    total: Variable
    element: Variable


@dataclass(frozen=True, slots=True)
class Exit:
    """A construct that control can leave for the block `label`. `kind` is loop, trip or scope."""

    kind: str
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class SlowPath:
    """A rare path that is a function: its name, what it reads, by name and type, and the variable that it computes."""

    name: str
    reads: tuple[tuple[str, Machine], ...]
    result: str


@dataclass(slots=True)
class Code:
    """The state of writing one kernel.

    `threads` is the number of threads of a block and `local` the linear number of this one in it (i32). `key` gives the
    place of this thread in the order of traps (i64). `helpers` are functions and globals beside the kernel, by name.
    """

    w: Writer
    kernel: d.Kernel
    flags: str
    threads: int
    meetings: "Meetings"
    buffers: dict[str, BufferRef]
    arguments: dict[tuple[str, str], str]
    #: Writes one statement; here so that what writes several copies of one need not know all kinds.
    emit: Callable[["Code", d.Statement], None]
    specials: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    env: dict[str, str] = field(default_factory=dict[str, str])
    #: Names of `env`, and specials by "kind.axis", as sums.
    sums: dict[str, Linear] = field(default_factory=dict[str, Linear])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    helpers: dict[str, str] = field(default_factory=dict[str, str])
    #: The sums that are kept, by identity of the atomic.
    gathered: dict[int, Gathered] = field(default_factory=dict[int, Gathered])
    exits: list[Exit] = field(default_factory=list[Exit])
    local: str = ""
    key: str = ""
    #: Where a thread goes at its end, and after it has recorded a trap.
    end: str = "end"
    trapped: str = "trapped"
    #: Where the lanes of a warp go in which some lane has trapped.
    leaving: str = "leaving"
    #: Whether something goes there.
    has_trapped: bool = False
    has_leaving: bool = False
    #: i1 variable: a shared sum of this thread has left its type since the last barrier; "" where none can.
    wrapped: str = ""
    #: Whether a thread may trap before a meeting: then lanes of a warp may come to barriers apart.
    lanes_part: bool = False
    #: What is known of the size of integers, and which loops count.
    ranges: Ranges | None = None
    #: Whether every element of every array has a number below 2^31, and addresses are computed in 32 bits.
    short_addresses: bool = False
    #: Low bits of names and dimensions that are zero, and whether arrays start at multiples of 16 bytes.
    zeros: dict[str, int] = field(default_factory=dict[str, int])
    aligned: bool = False
    #: Whether the launch gives dividers for the numbers of tiles.
    divides: bool = False
    loops: Loops | None = None
    #: Whether this half of a kernel runs only where its other half found nothing that traps.
    trusting: bool = False
    #: Whether the kernel itself waits for the one before it, so that it may start early.
    waits: bool = False
    #: Whether what is being written seldom runs.
    rare: bool = False
    #: Whether this is code that most threads run, and not that of the last few: only there are numbers kept at hand,
    #: as those that two places need would be held from before both.
    usual: bool = True
    #: Rare paths by identity: the function of each, None where it cannot be one.
    slow_paths: dict[int, SlowPath | None] = field(default_factory=dict[int, SlowPath | None])
    #: How far apart along each axis are the threads of the grid that one thread takes.
    gaps: tuple[int, ...] = ()
    #: How many times a thread takes its copies, a block's width apart.
    rounds: int = 1
    #: Whether checks of several trips may be asked at once, and whether their quotients and roots are made here.
    batches: bool = True
    divides_quickly: bool = False
    notes: list[str] = field(default_factory=list[str])


def evaluate(code: Code, node: d.Expr) -> str:
    """The value of an expression as an LLVM operand."""
    match node:
        case d.Literal() if is_long(node) and code.usual and not code.rare:
            return long_number(code.w, code.helpers, node)
        case d.Literal():
            return literal_text(node.bits, node.type)
        case d.Value():
            known = code.env.get(node.name)
            return known if known is not None else read_variable(code, code.variables[node.name])
        case d.Argument():
            return code.arguments[(node.kind, node.name)]
        case d.Special():
            return code.specials[(node.kind, node.axis)]
        case d.Op(
            op="bits", arguments=(d.Op(op="select", arguments=(d.Op(op="fisnan"), d.Literal(), value)) as chosen,)
        ):
            return _canonical_bits(code, chosen, value)
        case d.Op(op="bits", arguments=(value,)) if value.type.is_float and not node.type.is_float:
            return _bits(code, value)
        case d.Op() if (halves := halves_of(node)) is not None:
            high, low = halves
            return put_together(code.w, evaluate(code, high), evaluate(code, low))
        case d.Op() if code.ranges is not None and is_short(code.ranges, node):
            return in_32_bits(code.w, code.ranges, node, lambda part: evaluate(code, part))
        case d.Op():
            return apply(code, node.op, [evaluate(code, a) for a in node.arguments], _operand(node), node.type)
        case d.Load():
            return load(code, code.buffers[node.buffer], node.index)
        case _:
            assert_never(node)


def _canonical_bits(code: Code, node: d.Op, value: d.Expr) -> str:
    """The bits of a float, of the canonical NaN for every NaN. Chosen among integers: LLVM takes a choice between a NaN
    and a root of a negative number for the root itself, whose bits are others."""
    test, canonical = node.arguments[0], node.arguments[1]
    assert isinstance(canonical, d.Literal)
    integer, bits = f"i{node.type.bits}", _bits(code, value)
    return code.w.emit(f"select i1 {evaluate(code, test)}, {integer} {canonical.bits}, {integer} {bits}")


def _bits(code: Code, value: d.Expr) -> str:
    """The bits of a float, by a move that LLVM does not look into. It would store the low part of a register that a
    conversion to a float has written, and the ptxas of CUDA 13.0 takes that for a conversion back to an integer."""
    bits, letters = value.type.bits, "=l,d" if value.type is Machine.F64 else "=r,f"
    operand = f"{type_text(value.type)} {evaluate(code, value)}"
    return code.w.emit(f'call i{bits} asm "mov.b{bits} $0, $1;", "{letters}"({operand})')


def _operand(node: d.Op) -> Machine:
    return node.arguments[1].type if node.op == "select" else node.arguments[0].type


def apply(code: Code, op: str, arguments: list[str], operand: Machine, result: Machine) -> str:
    """One device operation on operands of type `operand`."""
    if op == "ffmod":
        return emit_fmod(code.w, code.helpers, arguments, operand)
    return operation(code.w, op, arguments, operand, result, Shape(1, code.flags))


def read_variable(code: Code, variable: Variable) -> str:
    return code.w.emit(f"load {type_text(variable.type)}, ptr {variable.pointer}")


def write_variable(code: Code, name: str, value: str) -> None:
    variable = code.variables[name]
    code.w.do(f"store {type_text(variable.type)} {value}, ptr {variable.pointer}")


def define(code: Code, node: d.Let) -> None:
    """Give a name its value; that of a sum is also kept as one."""
    near = near_inverse(code.w, node, lambda part: evaluate(code, part)) if node.start else None
    code.env[node.name] = evaluate(code, node.value) if near is None else near
    code.sums.pop(node.name, None)
    code.zeros[node.name] = 0 if node.value.type.is_float else zero_bits(code.zeros, node.value)
    if code.ranges is not None:
        code.ranges.bind(node.name, node.value)
    if is_linear(node.value):
        code.sums[node.name] = as_sum(code, node.value)


@contextmanager
def assuming(code: Code, condition: d.Expr | None, holds: bool) -> Generator[None]:
    """Within, a condition is known to be `holds`; afterwards nothing learnt within is known any more."""
    if code.ranges is None:
        yield
        return
    before = dict(code.ranges.known)
    if condition is not None:
        assume(code, condition, holds)
    try:
        yield
    finally:
        code.ranges.known = before


def assume(code: Code, condition: d.Expr, holds: bool) -> None:
    """From here on a condition is known to be `holds`, unless variables, which may change, have a part in it."""
    if code.ranges is None or any(isinstance(n, d.Value) and n.name in code.variables for n in visit(condition)):
        return
    code.ranges.assume(condition, holds)


def as_sum(code: Code, node: d.Expr) -> Linear:
    """An i64 expression as a sum of operands."""
    match node:
        case d.Literal():
            return constant(signed(node.bits))
        case d.Value() if node.name in code.sums:
            return code.sums[node.name]
        case d.Special() if f"{node.kind}.{node.axis}" in code.sums:
            return code.sums[f"{node.kind}.{node.axis}"]
        case d.Op() if is_linear(node):
            return _combined(code, node)
        case _:
            return Linear(((evaluate(code, node), 1),))


def _combined(code: Code, node: d.Op) -> Linear:
    parts = [as_sum(code, argument) for argument in node.arguments]
    match node.op:
        case "iadd":
            return parts[0].plus(parts[1])
        case "isub":
            return parts[0].plus(parts[1], -1)
        case "ineg":
            return parts[0].times(-1)
        case "shl" if not parts[1].terms and 0 <= parts[1].constant < Machine.I64.bits:
            return parts[0].times(1 << parts[1].constant)
        case "imul":
            return _product(code, node, parts[0], parts[1])
        case _:
            return Linear(((evaluate(code, node), 1),))


def _product(code: Code, node: d.Op, a: Linear, b: Linear) -> Linear:
    if not a.terms:
        return b.times(a.constant)
    if not b.terms:
        return a.times(b.constant)
    if a.atom:
        a, b = b, a
    if not b.atom or a.atom:
        return Linear(((evaluate(code, node), 1),))
    products = [(code.w.emit(f"mul i64 {atom}, {b.atom}"), coefficient) for atom, coefficient in a.terms]
    return Linear((*products, (b.atom, a.constant))) if a.constant else Linear(tuple(products))


def address(code: Code, buffer: BufferRef, index: d.Expr) -> str:
    """Where an element is."""
    if index.type is not Machine.I64:
        value = code.w.emit(f"sext {type_text(index.type)} {evaluate(code, index)} to i64")
        return element_address(code, buffer, Linear(((value, 1),)))
    return element_address(code, buffer, as_sum(code, index))


def element_address(code: Code, buffer: BufferRef, index: Linear) -> str:
    w, element = code.w, type_text(buffer.memory)
    if code.short_addresses:
        return _short_address(code, buffer, index)
    offset = ""
    for atom, coefficient in index.terms:
        term = atom if coefficient == 1 else w.emit(f"mul i64 {atom}, {coefficient}")
        offset = w.emit(f"add i64 {offset}, {term}") if offset else term
    at = buffer.pointer
    if offset:
        at = w.emit(f"getelementptr {element}, {buffer.pointer_type} {at}, i64 {offset}", "p")
    if index.constant % _WORD:
        at = w.emit(f"getelementptr {element}, {buffer.pointer_type} {at}, i64 {index.constant}", "p")
    return at


def _short_address(code: Code, buffer: BufferRef, index: Linear) -> str:
    """The address from the sum modulo 2^32. The whole index lies in 0 .. 2^31 - 1; without a constant below zero its
    sum fits an unsigned number, without one above zero a signed one."""
    w, element = code.w, type_text(buffer.memory)
    offset = ""
    for atom, coefficient in index.terms:
        term = w.emit(f"trunc i64 {atom} to i32")
        term = term if coefficient == 1 else w.emit(f"mul i32 {term}, {coefficient % _HALF_WORD}")
        offset = w.emit(f"add i32 {offset}, {term}") if offset else term
    at, last = buffer.pointer, signed(index.constant % _WORD)
    if offset and not -_HALF_WORD // 2 < last < _HALF_WORD // 2:
        offset, last = w.emit(f"add i32 {offset}, {last % _HALF_WORD}"), 0
    if offset:
        wide = w.emit(f"{'zext' if last < 0 else 'sext'} i32 {offset} to i64")
        at = w.emit(f"getelementptr {element}, {buffer.pointer_type} {at}, i64 {wide}", "p")
    if last:
        at = w.emit(f"getelementptr {element}, {buffer.pointer_type} {at}, i64 {last}", "p")
    return at


def load(code: Code, buffer: BufferRef, index: d.Expr) -> str:
    memory = buffer.memory
    at = address(code, buffer, index)
    invariant = ", !invariant.load !0" if buffer.constant else ""
    text = f"load {type_text(memory)}, {buffer.pointer_type} {at}, align {_align(code, buffer, index)}{invariant}"
    value = code.w.load(text, buffer.pointer, at)
    return code.w.emit(f"icmp ne i8 {value}, 0") if buffer.element is Scalar.BOOL else value


def store(code: Code, node: d.Store) -> None:
    buffer = code.buffers[node.buffer]
    memory = buffer.memory
    at = address(code, buffer, node.index)
    stored = to_memory(code, evaluate(code, node.value), node.value.type, memory)
    align = _align(code, buffer, node.index)
    code.w.do(f"store {type_text(memory)} {stored}, {buffer.pointer_type} {at}, align {align}")
    code.w.stored(buffer.pointer)


def _align(code: Code, buffer: BufferRef, index: d.Expr) -> int:
    """What an element's address is a multiple of, at most 16. All but arrays of some launches start at such a place."""
    size = buffer.memory.bits // 8
    if buffer.space is Space.GLOBAL and not code.aligned:
        return size
    return max(size, min(size << min(zero_bits(code.zeros, index), 4), 16))


def to_memory(code: Code, value: str, type: Machine, memory: Machine) -> str:
    """A value in the machine type of an element."""
    if type is memory:
        return value
    op = "zext" if type.bits < memory.bits else "trunc"
    return code.w.emit(f"{op} {type_text(type)} {value} to {type_text(memory)}")


def as_bits(code: Code, value: str, type: Machine) -> str:
    """The bits of a value, zero-extended to i64."""
    if type.is_float:
        integer = f"i{type.bits}"
        value = code.w.emit(f"bitcast {type_text(type)} {value} to {integer}")
    else:
        integer = type_text(type)
    return value if type.bits == 64 else code.w.emit(f"zext {integer} {value} to i64")
