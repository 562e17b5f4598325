"""Reference integer arithmetic: Python ints, range-checked for checked types and reduced modulo 2^n for w-types.

Every function takes the result type first. Values are mathematical integers of their type, so a w32 is never negative.
"""

from isogrid.builtins.meaning import Trapped
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar


def wrap(type: Scalar, value: int) -> int:
    """The value of `type` that is equal to `value` modulo 2^n."""
    value &= (1 << type.bits) - 1
    return value - (1 << type.bits) if value > type.maximum else value


def unsigned(type: Scalar, value: int) -> int:
    """The two's complement bits of a value, as a non-negative integer."""
    return value & ((1 << type.bits) - 1)


def fit(type: Scalar, exact: int, *operands: int) -> int:
    """`exact` where `type` holds it; else wrapped (w-types) or a trap that reports `operands`."""
    if type.holds(exact):
        return exact
    if type.is_modular:
        return wrap(type, exact)
    raise Trapped(TrapKind.OVERFLOW, *operands)


def add(type: Scalar, a: int, b: int) -> int:
    return fit(type, a + b, a, b)


def sub(type: Scalar, a: int, b: int) -> int:
    return fit(type, a - b, a, b)


def mul(type: Scalar, a: int, b: int) -> int:
    return fit(type, a * b, a, b)


def floordiv(type: Scalar, a: int, b: int) -> int:
    if b == 0:
        raise Trapped(TrapKind.ZERO_DIVISION, a)
    return fit(type, a // b, a, b)


def mod(type: Scalar, a: int, b: int) -> int:
    if b == 0:
        raise Trapped(TrapKind.ZERO_DIVISION, a)
    return a % b


def power(type: Scalar, base: int, exponent: int) -> int:
    if exponent < 0:
        raise Trapped(TrapKind.VALUE, exponent)
    if type.is_modular:
        return pow(base, exponent, 1 << type.bits)
    if exponent > type.bits:
        # |base| >= 2 surely overflows, and the exact result may not fit the machine; 0, 1 and -1 depend on parity only.
        if abs(base) > 1:
            raise Trapped(TrapKind.OVERFLOW, base, exponent)
        exponent = 2 - exponent % 2
    return fit(type, base**exponent, base, exponent)


def shl(type: Scalar, a: int, amount: int) -> int:
    if not 0 <= amount < type.bits:
        raise Trapped(TrapKind.VALUE, amount)
    return fit(type, a << amount, a, amount)


def shr(type: Scalar, a: int, amount: int) -> int:
    if not 0 <= amount < type.bits:
        raise Trapped(TrapKind.VALUE, amount)
    return a >> amount


def neg(type: Scalar, a: int) -> int:
    return fit(type, -a, a)


def absolute(type: Scalar, a: int) -> int:
    return fit(type, abs(a), a)


def invert(type: Scalar, a: int) -> int:
    return wrap(type, ~a)


def popcount(type: Scalar, a: int) -> int:
    return unsigned(type, a).bit_count()


def clz(type: Scalar, a: int) -> int:
    return type.bits - unsigned(type, a).bit_length()


def ctz(type: Scalar, a: int) -> int:
    bits = unsigned(type, a)
    return (bits & -bits).bit_length() - 1 if bits else type.bits


def mulhi(type: Scalar, a: int, b: int) -> int:
    return (a * b) >> type.bits


def rotate(type: Scalar, a: int, amount: int) -> int:
    amount %= type.bits
    bits = unsigned(type, a)
    return wrap(type, bits << amount | bits >> (type.bits - amount))
