"""Division and square root of f32 lanes by approximation and correction, where the divider is the slowest unit.

The result is the correctly rounded one in every lane: docs/decisions/0055 has the proof, tests/cpu/test_exact.py the
cases that the proof leaves to a computer. A vector with a lane outside the proof's range goes to the hardware.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from isogrid.backends.cpu.emit_pieces import PIECE, joined, pieces, split
from isogrid.backends.cpu.emit_values import Frame, Lanes, Val, vector
from isogrid.ir.device import Machine
from isogrid.printers.llvm_ops import Shape, operation
from isogrid.printers.llvm_text import Writer, literal_text, splat_text, type_text

#: Types of one register, the width that has the approximations.
_FLOATS: Final = type_text(Machine.F32, PIECE)
_WORDS: Final = type_text(Machine.I32, PIECE)
_MASK: Final = type_text(Machine.I1, PIECE)
_RARELY: Final = ', !prof !{!"branch_weights", i32 4000, i32 1}'
#: LLVM's number for "round up, raise no exceptions".
_UPWARDS: Final = 10
_TOP: Final = 1 << 30
_BIAS: Final = 127

#: Ranges of magnitudes as exponents, lowest included, highest not. Those of vectors are 128 exponents wide, so that a
#: sum of the value's bits and a constant has bit 30 set exactly inside.
QUOTIENTS: Final = (-64, 64)
DIVISORS: Final = (-32, 96)
UNIFORM_DIVIDENDS: Final = (-50, 50)
#: Square roots of this and more belong to arguments in the range of the proof.
_LEAST_ROOT: Final = -48


@dataclass(frozen=True, slots=True)
class _Part:
    """The result of 16 lanes. It stands where bit 30 of all `words` is set and all `masks` are."""

    result: str
    words: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()


def emit_exact(lanes: Lanes, op: str, arguments: Sequence[Val]) -> Val | None:
    """A quotient or square root of lanes, or None where the hardware's instruction is as good."""
    loop = _quick_loop(lanes, op, arguments)
    if loop is None:
        return None
    w = lanes.w
    if op == "fsqrt" and loop.proved:
        return Val(
            Machine.F32,
            joined(w, [part.result for part in _root(lanes, arguments[0], tested=False)], Machine.F32),
            None,
        )
    quick, slow, done = w.block("quick"), w.block("slow"), w.block("exact")
    if lanes.unproved is None:
        _place(w, quick)
    parts = _divide(lanes, *arguments) if op == "fdiv" else _root(lanes, arguments[0])
    result = joined(w, [part.result for part in parts], Machine.F32)
    passed = [_passed(lanes, parts), *_uniform_tests(w, arguments)]
    if lanes.unproved is not None:
        lanes.unproved += passed
        return Val(Machine.F32, result, None)
    known, loaded = dict(w.known), dict(w.loaded)
    w.branch(_all(w, "i1", passed), done, slow, _RARELY)
    w.place(slow)
    operands = [vector(lanes, a) for a in arguments]
    exact = operation(w, op, operands, Machine.F32, Machine.F32, Shape(lanes.width))
    w.place(done)
    text = w.emit(f"phi {type_text(Machine.F32, lanes.width)} [ {result}, %{quick} ], [ {exact}, %{slow} ]")
    # The quick block comes before this one on every way, and nothing was stored.
    w.known, w.loaded = known, loaded
    return Val(Machine.F32, text, None)


def settle(lanes: Lanes, names: Sequence[str], again: Callable[[], None]) -> None:
    """Test what `lanes.unproved` has collected, all at once: where a lane fails, `again` makes the values of `names`
    anew, with the divider."""
    tests, lanes.unproved = lanes.unproved, None
    if not tests:
        return
    w = lanes.w
    quick, slow, done = w.block("quick"), w.block("slow"), w.block("exact")
    _place(w, quick)
    passed = _all(w, "i1", tests)
    first = {name: lanes.env[name] for name in names if lanes.env[name].stride is None}
    known, loaded = dict(w.known), dict(w.loaded)
    w.branch(passed, done, slow, _RARELY)
    w.place(slow)
    again()
    second = {name: vector(lanes, lanes.env[name]) for name in first}
    w.place(done)
    for name, value in first.items():
        type = type_text(value.type, lanes.width)
        text = w.emit(f"phi {type} [ {value.text}, %{quick} ], [ {second[name]}, %{slow} ]")
        lanes.env[name] = Val(value.type, text, None)
    w.known, w.loaded = known, loaded


def in_place(lanes: Lanes, value: Val) -> Val:
    """The same value, made where it stands: LLVM gathers independent chains again, to need fewer registers."""
    if value.stride is not None or value.type is not Machine.F32 or lanes.width != PIECE:
        return value
    same = lanes.w.emit(f'call {_FLOATS} asm sideeffect "", "=v,0"({_FLOATS} {value.text})')
    return Val(value.type, same, None)


def _quick_loop(lanes: Lanes, op: str, arguments: Sequence[Val]) -> Frame | None:
    """The loop whose plan wants this one made without the divider; it is then counted."""
    if not lanes.code.quick_division or op not in ("fdiv", "fsqrt") or arguments[0].type is not Machine.F32:
        return None
    if lanes.width % PIECE or all(a.uniform for a in arguments) or (op == "fdiv" and not _is_suitable(arguments)):
        return None
    loop = next((frame for frame in reversed(lanes.frames) if frame.kind == "loop"), None)
    if loop is None or not loop.quick.get(op):
        return None
    loop.quick[op] -= 1
    return loop


def _place(w: Writer, label: str) -> None:
    """Start a block that only the present one leads to: what is known stays known."""
    known, loaded = dict(w.known), dict(w.loaded)
    w.place(label)
    w.known, w.loaded = known, loaded


def _is_suitable(arguments: Sequence[Val]) -> bool:
    """Whether constant operands lie in range; a power of two is a factor already."""
    dividend, divisor = arguments
    if dividend.constant is not None and not _holds(dividend.constant, UNIFORM_DIVIDENDS):
        return False
    if divisor.constant is None:
        return True
    return _holds(divisor.constant, DIVISORS) and bool(divisor.constant & 0x7FFFFF)


def _holds(bits: int, range: tuple[int, int]) -> bool:
    return range[0] <= (bits >> 23 & 0xFF) - _BIAS < range[1]


# --- the sequences ---------------------------------------------------------------------------------------------------


def _divide(lanes: Lanes, dividend: Val, divisor: Val) -> list[_Part]:
    w = lanes.w
    tops, bottoms = pieces(lanes, dividend), pieces(lanes, divisor)
    minus = _negated(w, bottoms)
    if divisor.constant is None:
        inverses = reciprocals(w, bottoms, minus)
    else:
        inverses = [_inverse_of(divisor.constant)] * len(tops)
    firsts = [w.emit(f"fmul {_FLOATS} {a}, {inverse}") for a, inverse in zip(tops, inverses, strict=True)]
    rests = _fmas(w, minus, firsts, tops)
    results = _fmas(w, rests, inverses, firsts)
    words = [(_inside(w, result, QUOTIENTS),) for result in results]
    if not dividend.uniform and not divisor.uniform:
        words = [(*own, _inside(w, b, DIVISORS)) for own, b in zip(words, bottoms, strict=True)]
    return [_Part(result, words=own) for result, own in zip(results, words, strict=True)]


def reciprocals(w: Writer, values: Sequence[str], minus: Sequence[str]) -> list[str]:
    """1 / b, within the bound of the proof. The rounding upwards serves the divisor with all bits set."""
    estimates = _estimates(w, "rcp14", values)
    errors = _fmas(w, minus, estimates, [splat_text("1.0", Machine.F32, PIECE)] * len(values))
    name, types = "llvm.x86.avx512.vfmadd.ps.512", [_FLOATS, _FLOATS, _FLOATS, "i32"]
    both = [w.call(name, _FLOATS, types, [error, error, error, str(_UPWARDS)]) for error in errors]
    return _fmas(w, both, estimates, estimates)


def _inverse_of(bits: int) -> str:
    """The correctly rounded reciprocal of a constant that is no power of two."""
    whole = bits & 0x7FFFFF | 1 << 23
    rounded = ((1 << 48) // whole + 1) >> 1
    exponent = 2 * _BIAS - 1 - (bits >> 23 & 0xFF)
    inverse = bits & 1 << 31 | (exponent << 23) + rounded - (1 << 23)
    return splat_text(literal_text(inverse, Machine.F32), Machine.F32, PIECE)


def _root(lanes: Lanes, value: Val, tested: bool = True) -> list[_Part]:
    w, values = lanes.w, pieces(lanes, value)
    least = splat_text(literal_text((_LEAST_ROOT + _BIAS) << 23, Machine.F32), Machine.F32, PIECE)
    estimates = _estimates(w, "rsqrt14", values)
    results = _refined(w, values, estimates)
    if not tested:
        return [_Part(result) for result in results]
    return [_Part(result, masks=(w.emit(f"fcmp oge {_FLOATS} {result}, {least}"),)) for result in results]


def finish_root(w: Writer, value: str, estimate: str) -> str:
    """The root of 16 lanes from `rsqrt14` of them, where no test is needed."""
    return _refined(w, [value], [estimate])[0]


def _refined(w: Writer, values: Sequence[str], estimates: Sequence[str]) -> list[str]:
    half = splat_text("5.0e-1", Machine.F32, PIECE)
    roots = [w.emit(f"fmul {_FLOATS} {x}, {estimate}") for x, estimate in zip(values, estimates, strict=True)]
    inverses = [w.emit(f"fmul {_FLOATS} {estimate}, {half}") for estimate in estimates]
    errors = _fmas(w, _negated(w, inverses), roots, [half] * len(values))
    roots, inverses = _fmas(w, roots, errors, roots), _fmas(w, inverses, errors, inverses)
    rests = _fmas(w, _negated(w, roots), roots, values)
    return _fmas(w, rests, inverses, roots)


def _estimates(w: Writer, name: str, values: Sequence[str]) -> list[str]:
    types = [_FLOATS, _FLOATS, "i16"]
    return [w.call(f"llvm.x86.avx512.{name}.ps.512", _FLOATS, types, [v, "zeroinitializer", "-1"]) for v in values]


def _fmas(w: Writer, a: Sequence[str], b: Sequence[str], c: Sequence[str]) -> list[str]:
    """Piece by piece at each step, so that the chains of several pieces run beside each other."""
    return [w.call("llvm.fma.v16f32", _FLOATS, [_FLOATS] * 3, three) for three in zip(a, b, c, strict=True)]


def _negated(w: Writer, values: Sequence[str]) -> list[str]:
    return [w.emit(f"fneg {_FLOATS} {value}") for value in values]


# --- tests -----------------------------------------------------------------------------------------------------------


def _inside(w: Writer, value: str, range: tuple[int, int]) -> str:
    """Words with bit 30 set where the magnitude lies in a range of 128 exponents."""
    bits = w.emit(f"bitcast {_FLOATS} {value} to {_WORDS}")
    shift = (128 - _BIAS - range[0]) << 23
    return w.emit(f"add {_WORDS} {bits}, {splat_text(str(shift), Machine.I32, PIECE)}")


def _uniform_inside(w: Writer, value: str, range: tuple[int, int]) -> str:
    bits = w.emit(f"bitcast float {value} to i32")
    magnitude = w.emit(f"and i32 {bits}, {(1 << 31) - 1}")
    above = w.emit(f"sub i32 {magnitude}, {(range[0] + _BIAS) << 23}")
    return w.emit(f"icmp ult i32 {above}, {(range[1] - range[0]) << 23}")


def _uniform_tests(w: Writer, arguments: Sequence[Val]) -> list[str]:
    """Quotients of lanes by one value or of one value by lanes: that value's range."""
    if len(arguments) == 1:
        return []
    dividend, divisor = arguments
    value, range = (divisor, DIVISORS) if divisor.uniform else (dividend, UNIFORM_DIVIDENDS)
    return [_uniform_inside(w, value.text, range)] if value.uniform and value.constant is None else []


def _passed(lanes: Lanes, parts: Sequence[_Part]) -> str:
    """Whether every lane that is on passes."""
    w = lanes.w
    if lanes.mask is None:
        good = [_good(w, [t for part in parts for t in part.words], [m for part in parts for m in part.masks])]
    else:
        good = [_good(w, part.words, part.masks) for part in parts]
        for place, on in enumerate(split(w, lanes.mask, Machine.I1, lanes.width)):
            off = w.emit(f"xor {_MASK} {on}, splat (i1 true)", "m")
            good[place] = w.emit(f"or {_MASK} {good[place]}, {off}", "m")
    bits = w.emit(f"bitcast {_MASK} {_all(w, _MASK, good)} to i{PIECE}", "m")
    return w.emit(f"icmp eq i{PIECE} {bits}, -1", "m")


def _good(w: Writer, words: Sequence[str], masks: Sequence[str]) -> str:
    """The lanes that pass."""
    if not words:
        return _all(w, _MASK, masks)
    top = w.emit(f"and {_WORDS} {_all(w, _WORDS, words)}, {splat_text(str(_TOP), Machine.I32, PIECE)}")
    return _all(w, _MASK, [w.emit(f"icmp ne {_WORDS} {top}, zeroinitializer", "m"), *masks])


def _all(w: Writer, type: str, operands: Sequence[str]) -> str:
    result = operands[0]
    for operand in operands[1:]:
        result = w.emit(f"and {type} {result}, {operand}")
    return result
