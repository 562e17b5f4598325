"""f64 as two registers: numbers whose lower half is not zero, and floats put together from two words.

An instruction holds the upper half of an f64; the assembler moves any other number into registers, two instructions
each time. In the memory for constants it is an operand like a register.
"""

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import Writer, literal_text

_LOWER = 0xFFFFFFFF
#: Numbers of one kernel that are kept so, of the 31 that uniform registers hold.
_MOST = 24


def is_long(node: d.Literal) -> bool:
    """Whether the assembler would need two instructions for it."""
    return node.type is Machine.F64 and bool(node.bits & _LOWER)


def long_number(w: Writer, helpers: dict[str, str], node: d.Literal) -> str:
    """The number, read from the memory for constants, from where loops take it to uniform registers: there is room for
    some. LLVM must not see that its value is known."""
    name = f"number_{node.bits:016X}"
    if name not in helpers and sum(helper.startswith("number_") for helper in helpers) >= _MOST:
        return literal_text(node.bits, node.type)
    helpers.setdefault(name, f"@{name} = addrspace(4) externally_initialized constant double 0x{node.bits:016X}")
    return w.emit(f"load double, ptr addrspace(4) @{name}, align 8")


def halves_of(node: d.Op) -> tuple[d.Expr, d.Expr] | None:
    """The i64 expressions that hold the upper and the lower word of an f64, in their low bits, if it is made of two."""
    match node:
        case d.Op(
            op="bits",
            type=Machine.F64,
            arguments=(
                d.Op(
                    op="ior",
                    arguments=(
                        d.Op(op="shl", arguments=(high, d.Literal(bits=32))),
                        d.Op(op="iand", arguments=(low, d.Literal(bits=4294967295))),
                    ),
                ),
            ),
        ):
            return high, low
        case d.Op(op="bits", type=Machine.F64, arguments=(d.Op(op="shl", arguments=(high, d.Literal(bits=32) as by)),)):
            return high, d.Literal(0, by.type)
        case _:
            return None


def put_together(w: Writer, high: str, low: str) -> str:
    """An f64 of two words, given as i64. LLVM would make a sum of 64 bits of a changed upper word."""
    upper, lower = (w.emit(f"trunc i64 {word} to i32") for word in (high, low))
    return w.call("llvm.nvvm.lohi.i2d", "double", ["i32", "i32"], [lower, upper])
