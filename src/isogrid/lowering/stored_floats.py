"""Values on their way into f16 and bf16 elements: one rounding from the exact value, an f64 through an odd f32.

`y[i] = f16(x)` becomes `store y[i] = f16_bits(x)`.
"""

from isogrid.builtins import floats
from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.lowering.builder import Builder
from isogrid.lowering.machine import MACHINE, literal, op, test
from isogrid.support.errors import CompilerBug


def stored_float(builder: Builder, value: d.Expr, source: Scalar, target: Scalar, span: Span) -> d.Expr:
    """The bits of `value`, of type `source`, as an element of the storage type `target`. A checked integer goes through
    f32, as the table says."""
    if source.is_checked:
        value = op("sitofp" if source.is_signed else "uitofp", Machine.F32, value, span=span)
    elif source is Scalar.F64:
        value = _rounded_to_odd(builder, value, span)
    elif source is not Scalar.F32:
        raise CompilerBug(f"{span}: {source.value} does not convert to {target.value}")
    if isinstance(value, d.Literal):
        return literal(_bits_of(target, value), MACHINE[target])
    return op(f"{target.value}_bits", MACHINE[target], value, span=span)


def _bits_of(target: Scalar, value: d.Literal) -> int:
    number = float(floats.from_bits(Scalar.F32, value.bits))
    return floats.to_bits(target, floats.number(target, number))


def _rounded_to_odd(builder: Builder, value: d.Expr, span: Span) -> d.Expr:
    """An f32 that rounds to f16 and to bf16 as the f64 does: the value itself where f32 holds it, else that one of its
    two neighbours whose last bit is set. A tie of the narrow type is then never made or lost (24 >= 11 + 2).

    The nearest f32 is that neighbour, or next to it: one step away from the value where it lies beyond it, infinity
    included. A NaN stays one whatever its bits.
    """
    value = builder.atom(value)
    near = builder.let(op("fptrunc", Machine.F32, value, span=span))
    back = builder.let(op("fpext", Machine.F64, near))
    word = builder.let(op("bits", Machine.I32, near))
    beyond = test("flt", op("fabs", Machine.F64, value), op("fabs", Machine.F64, back))
    step = op("select", Machine.I32, beyond, literal(-1, Machine.I32), literal(1, Machine.I32))
    odd = test("ine", op("iand", Machine.I32, word, literal(1, Machine.I32)), literal(0, Machine.I32))
    keep = test("ior", test("feq", back, value), odd)
    chosen = op("select", Machine.I32, keep, word, op("iadd", Machine.I32, word, step))
    return builder.let(op("bits", Machine.F32, chosen))
