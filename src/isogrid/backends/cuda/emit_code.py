"""What all code of one kernel shares while it is written, and the values of expressions.

Threads are scalar here: one LLVM function is one thread, and `%i` is the value of `i` in it.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from isogrid.backends.cuda.emit_math import emit_fmod
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar, Space
from isogrid.printers.llvm_ops import Shape, operation
from isogrid.printers.llvm_text import Writer, element_type, literal_text, type_text

if TYPE_CHECKING:
    from isogrid.analysis.meetings import Meetings

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
class Exit:
    """A construct that control can leave for the block `label`. `kind` is loop, trip or scope."""

    kind: str
    name: str
    label: str


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
    specials: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    env: dict[str, str] = field(default_factory=dict[str, str])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    helpers: dict[str, str] = field(default_factory=dict[str, str])
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
    notes: list[str] = field(default_factory=list[str])


def evaluate(code: Code, node: d.Expr) -> str:
    """The value of an expression as an LLVM operand."""
    match node:
        case d.Literal():
            return literal_text(node.bits, node.type)
        case d.Value():
            known = code.env.get(node.name)
            return known if known is not None else read_variable(code, code.variables[node.name])
        case d.Argument():
            return code.arguments[(node.kind, node.name)]
        case d.Special():
            return code.specials[(node.kind, node.axis)]
        case d.Op():
            return apply(code, node.op, [evaluate(code, a) for a in node.arguments], _operand(node), node.type)
        case d.Load():
            return load(code, code.buffers[node.buffer], place(code, node.index))
        case _:
            assert_never(node)


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


def place(code: Code, index: d.Expr) -> str:
    """An index as i64."""
    value = evaluate(code, index)
    return value if index.type is Machine.I64 else code.w.emit(f"sext {type_text(index.type)} {value} to i64")


def address(code: Code, buffer: BufferRef, index: str) -> str:
    element = type_text(buffer.memory)
    return code.w.emit(f"getelementptr inbounds {element}, {buffer.pointer_type} {buffer.pointer}, i64 {index}", "p")


def load(code: Code, buffer: BufferRef, index: str) -> str:
    memory = buffer.memory
    at = address(code, buffer, index)
    invariant = ", !invariant.load !0" if buffer.constant else ""
    text = f"load {type_text(memory)}, {buffer.pointer_type} {at}, align {memory.bits // 8}{invariant}"
    value = code.w.emit(text)
    return code.w.emit(f"icmp ne i8 {value}, 0") if buffer.element is Scalar.BOOL else value


def store(code: Code, buffer: BufferRef, index: str, value: str, type: Machine) -> None:
    memory = buffer.memory
    stored = to_memory(code, value, type, memory)
    at = address(code, buffer, index)
    code.w.do(f"store {type_text(memory)} {stored}, {buffer.pointer_type} {at}, align {memory.bits // 8}")


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
