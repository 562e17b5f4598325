"""Integer operators: wrapped machine arithmetic, and a check before the first use wherever the language would trap.

`a // 8` on i64 becomes `ashr(a, 3)`; `a + b` on i32 becomes a check of `sadd_overflows(a, b)` and `iadd(a, b)`.
"""

from collections.abc import Callable

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.device import Machine
from isogrid.ir.types import Scalar
from isogrid.lowering.builder import Builder
from isogrid.lowering.machine import FALSE, MACHINE, TRUE, both, literal, negated, op, resized, test

_WRAPPED = {"add": "iadd", "sub": "isub", "mul": "imul"}
_BITWISE = {"and": "iand", "or": "ior", "xor": "ixor"}

#: The longest constant exponent that is multiplied out in a row.
_INLINE_EXPONENT = 64


def lower_integer_binary(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    """An integer operator on operands that have been evaluated."""
    machine = MACHINE[node.type]
    match node.op:
        case "add" | "sub" | "mul":
            return _add_sub_mul(builder, node, left, right)
        case "floordiv":
            return _floor_divide(builder, node, builder.atom(left), builder.atom(right))
        case "mod":
            return _modulo(builder, node, builder.atom(left), builder.atom(right))
        case "pow":
            return _power(builder, node, builder.atom(left), builder.atom(right))
        case "shl":
            return _shift_left(builder, node, builder.atom(left), builder.atom(right))
        case "shr":
            return _shift_right(builder, node, left, builder.atom(right))
        case "and" | "or" | "xor":
            return op(_BITWISE[node.op], machine, left, right, span=node.span)
        case "min" | "max":
            sign = "s" if node.type.is_signed else "u"
            return op(sign + node.op, machine, left, right, span=node.span)
        case _:
            raise AssertionError(node.op)


def lower_integer_unary(builder: Builder, node: k.Unary, operand: d.Expr) -> d.Expr:
    """`-x`, `~x` and `abs(x)` of an integer."""
    type, machine = node.type, MACHINE[node.type]
    match node.op:
        case "invert":
            return op("inot", machine, operand, span=node.span)
        case "neg":
            if node.checked and type.is_checked:
                operand = builder.atom(operand)
                fits = (
                    test("ine", operand, literal(type.minimum, machine))
                    if type.is_signed
                    else test("ieq", operand, literal(0, machine))
                )
                builder.check(fits, sites.overflow_site(node), operand)
            return op("ineg", machine, operand, span=node.span)
        case "abs":
            if not type.is_signed:
                return operand
            operand = builder.atom(operand)
            if node.checked:
                fits = test("ine", operand, literal(type.minimum, machine))
                builder.check(fits, sites.overflow_site(node), operand)
            return op("smax", machine, operand, op("ineg", machine, operand), span=node.span)
        case _:
            raise AssertionError(node.op)


def _add_sub_mul(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    machine = MACHINE[node.type]
    name = _WRAPPED[node.op]
    if not (node.checked and node.type.is_checked):
        return op(name, machine, left, right, span=node.span)
    left, right = builder.atom(left), builder.atom(right)
    sign = "s" if node.type.is_signed else "u"
    overflows = test(f"{sign}{node.op}_overflows", left, right, span=node.span)
    builder.check(negated(overflows), sites.overflow_site(node), left, right)
    return op(name, machine, left, right, span=node.span)


# --- division ---------------------------------------------------------------------------------------------------------


def _check_division(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> None:
    """Zero divisors, and MIN // -1, which alone leaves the type."""
    if not node.checked:
        return
    type, machine = node.type, MACHINE[node.type]
    nonzero = (
        (TRUE if right.bits else FALSE) if isinstance(right, d.Literal) else test("ine", right, literal(0, machine))
    )
    builder.check(nonzero, sites.zero_site(node), left)
    if node.op != "floordiv" or not type.is_signed:
        return
    minus_one = literal(-1, machine)
    if isinstance(right, d.Literal) and right != minus_one:
        return
    safe = test("ine", left, literal(type.minimum, machine))
    if right != minus_one:
        safe = test("ior", safe, test("ine", right, minus_one))
    builder.check(safe, sites.overflow_site(node), left, right)


def _positive_literal(value: d.Expr, type: Scalar) -> int | None:
    """The value of a literal divisor above 0, else None."""
    if not isinstance(value, d.Literal) or value.bits == 0:
        return None
    if type.is_signed and value.bits >> (value.type.bits - 1):
        return None
    return value.bits


def _is_power_of_two(value: int) -> bool:
    return value & (value - 1) == 0


def _floor_divide(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    machine = MACHINE[node.type]
    _check_division(builder, node, left, right)
    divisor = _positive_literal(right, node.type)
    if divisor == 1:
        return left
    unsigned = not node.type.is_signed or (id(node.left) in builder.nonnegative and divisor is not None)
    if divisor is not None and _is_power_of_two(divisor):
        shift = "lshr" if unsigned else "ashr"
        return op(shift, machine, left, literal(divisor.bit_length() - 1, machine), span=node.span)
    if unsigned or (id(node.left) in builder.nonnegative and id(node.right) in builder.nonnegative):
        return _kept_in_place(builder, op("udiv", machine, left, right, span=node.span), right)
    quotient = builder.let(op("sdiv", machine, left, right, span=node.span))
    remainder = builder.let(op("isub", machine, left, op("imul", machine, quotient, right)))
    return op("isub", machine, quotient, op("zext", machine, _needs_floor(remainder, right, divisor)), span=node.span)


def _modulo(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    machine = MACHINE[node.type]
    _check_division(builder, node, left, right)
    divisor = _positive_literal(right, node.type)
    if divisor is not None and _is_power_of_two(divisor):
        return op("iand", machine, left, literal(divisor - 1, machine), span=node.span)
    unsigned = not node.type.is_signed or (
        id(node.left) in builder.nonnegative and (divisor is not None or id(node.right) in builder.nonnegative)
    )
    if unsigned:
        return _kept_in_place(builder, op("urem", machine, left, right, span=node.span), right)
    if isinstance(right, d.Literal):
        safe: d.Expr = literal(1, machine) if right == literal(-1, machine) else right
    else:
        # MIN srem -1 is undefined on most targets; the answer for -1 is that for 1, namely 0.
        safe = builder.let(op("select", machine, test("ieq", right, literal(-1, machine)), literal(1, machine), right))
    remainder = builder.let(op("srem", machine, left, safe, span=node.span))
    correction = op("select", machine, _needs_floor(remainder, right, divisor), right, literal(0, machine))
    return op("iadd", machine, remainder, correction, span=node.span)


def _needs_floor(remainder: d.Expr, right: d.Expr, divisor: int | None) -> d.Expr:
    """Whether a truncated quotient is one above the floored one: remainder and divisor differ in sign."""
    zero = literal(0, right.type)
    if divisor is not None:
        return test("slt", remainder, zero)
    return both(test("ine", remainder, zero), test("slt", op("ixor", right.type, remainder, right), zero))


def _kept_in_place(builder: Builder, value: d.Expr, guarded: d.Expr) -> d.Expr:
    """Name a value whose operand is in range only here, so that no branch is flattened around it."""
    return value if isinstance(guarded, d.Literal) else builder.let(value)


# --- shifts -----------------------------------------------------------------------------------------------------------


def _shift_amount(builder: Builder, node: k.Binary, right: d.Expr) -> d.Expr:
    """The checked amount in the machine type of the shifted value."""
    bits = node.type.bits
    if node.checked:
        in_range: d.Expr = test("ult", right, literal(bits, right.type))
        if isinstance(right, d.Literal):
            in_range = TRUE if right.bits < bits else FALSE
        builder.check(in_range, sites.shift_site(node), right)
    return resized(right, node.right.type, MACHINE[node.type])


def _shift_left(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    machine = MACHINE[node.type]
    amount = builder.atom(_shift_amount(builder, node, right))
    shifted = _kept_in_place(builder, op("shl", machine, left, amount, span=node.span), amount)
    if not (node.checked and node.type.is_checked):
        return shifted
    shifted = builder.atom(shifted)
    back = op("ashr" if node.type.is_signed else "lshr", machine, shifted, amount)
    builder.check(test("ieq", back, left), sites.overflow_site(node), left, right)
    return shifted


def _shift_right(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    amount = _shift_amount(builder, node, right)
    name = "ashr" if node.type.is_signed else "lshr"
    return _kept_in_place(builder, op(name, MACHINE[node.type], left, amount, span=node.span), amount)


# --- powers -----------------------------------------------------------------------------------------------------------


def _power(builder: Builder, node: k.Binary, left: d.Expr, right: d.Expr) -> d.Expr:
    """Square and multiply.

    Every product that is used divides the result in magnitude, so one of them overflows exactly when the result does;
    a square that no later product uses is not looked at.
    """
    if node.checked and node.right.type.is_signed:
        not_negative: d.Expr = test("sle", literal(0, right.type), right)
        if isinstance(right, d.Literal):
            not_negative = FALSE if right.bits >> (right.type.bits - 1) else TRUE
        builder.check(not_negative, sites.power_site(node), right)
    if isinstance(right, d.Literal) and right.bits <= _INLINE_EXPONENT:
        result, overflowed = _power_in_a_row(builder, node, left, right.bits)
    else:
        result, overflowed = _power_loop(builder, node, left, right)
    if overflowed is not None:
        builder.check(negated(overflowed), sites.overflow_site(node), left, right)
    return result


def _multiply(builder: Builder, type: Scalar) -> Callable[[d.Expr, d.Expr], tuple[d.Expr, d.Expr]]:
    """A function that gives product and overflow of two atoms of `type`."""
    machine = MACHINE[type]
    overflows = "smul_overflows" if type.is_signed else "umul_overflows"
    return lambda a, b: (op("imul", machine, a, b), test(overflows, a, b))


def _power_in_a_row(builder: Builder, node: k.Binary, base: d.Expr, exponent: int) -> tuple[d.Expr, d.Expr | None]:
    multiply = _multiply(builder, node.type)
    watched = node.checked and node.type.is_checked
    result: d.Expr | None = None
    overflowed: d.Expr | None = None

    def step(a: d.Expr, b: d.Expr) -> d.Expr:
        nonlocal overflowed
        value, overflow = multiply(a, b)
        if watched:
            overflowed = overflow if overflowed is None else test("ior", overflowed, overflow)
        return builder.let(value)

    while exponent:
        if exponent & 1:
            result = base if result is None else step(result, base)
        exponent >>= 1
        if exponent:
            base = step(base, base)
    return (literal(1, MACHINE[node.type]) if result is None else result), overflowed


def _power_loop(builder: Builder, node: k.Binary, base: d.Expr, exponent: d.Expr) -> tuple[d.Expr, d.Expr | None]:
    """At most 64 turns: the exponent is halved in each."""
    machine = MACHINE[node.type]
    multiply = _multiply(builder, node.type)
    watched = node.checked and node.type.is_checked
    result = builder.variable("power", machine)
    square = builder.variable("square", machine)
    rest = builder.variable("rest", exponent.type)
    overflowed = builder.variable("overflowed", Machine.I1) if watched else None
    builder.set(result, literal(1, machine))
    builder.set(square, base)
    builder.set(rest, exponent)
    if overflowed is not None:
        builder.set(overflowed, FALSE)

    def update(target: d.Value, a: d.Value, b: d.Value) -> None:
        value, overflow = multiply(a, b)
        if overflowed is not None:
            builder.set(overflowed, test("ior", overflowed, overflow))
        builder.set(target, value)

    one, zero = literal(1, exponent.type), literal(0, exponent.type)
    with builder.block() as odd:
        update(result, result, square)
    with builder.block() as body:
        builder.emit(d.If(test("ine", op("iand", exponent.type, rest, one), zero), tuple(odd), span=node.span))
        builder.set(rest, op("lshr", exponent.type, rest, one))
        builder.emit(d.If(test("ieq", rest, zero), (d.Break(span=node.span),), span=node.span))
        update(square, square, square)
    builder.emit(d.Loop(tuple(body), bounded=True, span=node.span))
    return builder.let(result), overflowed
