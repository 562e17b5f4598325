"""Operations that are no single instruction: the exact remainder of floats, and inverses to start from.

Long division on the mantissas, 40 bits of the exponents' difference at a time for f32 and 11 for f64, so that what is
shifted fits 64 bits.
"""

from collections.abc import Callable, Sequence

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import Writer

_F32 = ("f32", "float", 32, 23, 8, 40)
_F64 = ("f64", "double", 64, 52, 11, 11)


def emit_fmod(w: Writer, helpers: dict[str, str], arguments: Sequence[str], type: Machine) -> str:
    """Call the remainder function, adding it to `helpers` at its first use."""
    facts = _F32 if type is Machine.F32 else _F64
    name = f"fmod.{facts[0]}"
    helpers.setdefault(name, _fmod_text(*facts))
    integer = f"i{type.bits}"
    w.declare(f"llvm.ctlz.{integer}", integer, [integer, "i1"])
    text = facts[1]
    return w.emit(f"call {text} @{name}({text} {arguments[0]}, {text} {arguments[1]})")


def near_inverse(w: Writer, node: d.Let, evaluate: Callable[[d.Expr], str]) -> str | None:
    """A value near 1 / x or 1 / sqrt(x) where what follows corrects it: the hardware's. In f64 it is that of the upper
    half of x, with an error of about 2^-20; in f32 its error is a unit or two, and a subnormal x counts as 0."""
    match node.value:
        case d.Op(op="fdiv", arguments=(_, d.Op(op="fsqrt", arguments=(x,)))):
            name = "rsqrt"
        case d.Op(op="fdiv", arguments=(_, x)):
            name = "rcp"
        case _:
            return None
    letter, type = ("f", "float") if node.value.type is Machine.F32 else ("d", "double")
    return w.call(f"llvm.nvvm.{name}.approx.ftz.{letter}", type, [type], [evaluate(x)])


def _fmod_text(name: str, real: str, bits: int, fraction: int, exponent: int, step: int) -> str:
    """`x - trunc(x / y) * y`, exact; NaN for an infinite x, y = 0 and NaN operands.

    With x = mx * 2^ex and y = my * 2^ey in whole mantissas, the answer is (mx * 2^(ex - ey)) mod my, in units of 2^ey.
    """
    i = f"i{bits}"
    sign, top = 1 << (bits - 1), (1 << exponent) - 1
    one = 1 << fraction
    infinity = top << fraction
    ctlz = f"@llvm.ctlz.{i}"
    wide = "i64"
    widen = f"zext {i} %{{0}} to i64" if bits == 32 else "add i64 %{0}, 0"
    narrow = f"trunc i64 %{{0}} to {i}" if bits == 32 else "add i64 %{0}, 0"
    nan = "0x7FF8000000000000"
    return f"""define internal {real} @fmod.{name}({real} %x, {real} %y) nounwind noinline {{
entry:
  %bx = bitcast {real} %x to {i}
  %by = bitcast {real} %y to {i}
  %sx = and {i} %bx, {sign}
  %ax = and {i} %bx, {sign - 1}
  %ay = and {i} %by, {sign - 1}
  %x.bad = icmp uge {i} %ax, {infinity}
  %y.nan = icmp ugt {i} %ay, {infinity}
  %y.zero = icmp eq {i} %ay, 0
  %bad.1 = or i1 %x.bad, %y.nan
  %bad = or i1 %bad.1, %y.zero
  br i1 %bad, label %invalid, label %compare
invalid:
  ret {real} {nan}
compare:
  %less = icmp ult {i} %ax, %ay
  br i1 %less, label %same, label %divide
same:
  ret {real} %x
divide:
  %ex.raw = lshr {i} %ax, {fraction}
  %ey.raw = lshr {i} %ay, {fraction}
  %fx = and {i} %ax, {one - 1}
  %fy = and {i} %ay, {one - 1}
  %x.normal = icmp ne {i} %ex.raw, 0
  %y.normal = icmp ne {i} %ey.raw, 0
  %mx.one = or {i} %fx, {one}
  %my.one = or {i} %fy, {one}
  %mx = select i1 %x.normal, {i} %mx.one, {i} %fx
  %my = select i1 %y.normal, {i} %my.one, {i} %fy
  %ex = select i1 %x.normal, {i} %ex.raw, {i} 1
  %ey = select i1 %y.normal, {i} %ey.raw, {i} 1
  %distance = sub {i} %ex, %ey
  %mx.wide = {widen.format("mx")}
  %my.wide = {widen.format("my")}
  %first = urem {wide} %mx.wide, %my.wide
  br label %loop
loop:
  %rest = phi {wide} [ %first, %divide ], [ %following, %shift ]
  %left = phi {i} [ %distance, %divide ], [ %left.next, %shift ]
  %done = icmp eq {i} %left, 0
  br i1 %done, label %pack, label %shift
shift:
  %short = icmp ult {i} %left, {step}
  %amount = select i1 %short, {i} %left, {i} {step}
  %left.next = sub {i} %left, %amount
  %amount.wide = {widen.format("amount")}
  %moved = shl {wide} %rest, %amount.wide
  %following = urem {wide} %moved, %my.wide
  br label %loop
pack:
  %m = {narrow.format("rest")}
  %zero = icmp eq {i} %m, 0
  br i1 %zero, label %nothing, label %normalise
nothing:
  %b0 = bitcast {i} %sx to {real}
  ret {real} %b0
normalise:
  %leading = call {i} {ctlz}({i} %m, i1 false)
  %up = sub {i} %leading, {bits - 1 - fraction}
  %room = sub {i} %ey, 1
  %fits = icmp ule {i} %up, %room
  %by.shift = select i1 %fits, {i} %up, {i} %room
  %scaled = shl {i} %m, %by.shift
  %e.after = sub {i} %ey, %by.shift
  %is.normal = icmp uge {i} %scaled, {one}
  %e.field = select i1 %is.normal, {i} %e.after, {i} 0
  %e.bits = shl {i} %e.field, {fraction}
  %f.bits = and {i} %scaled, {one - 1}
  %magnitude = or {i} %e.bits, %f.bits
  %all = or {i} %magnitude, %sx
  %result = bitcast {i} %all to {real}
  ret {real} %result
}}"""
