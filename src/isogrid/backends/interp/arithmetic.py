"""Closures for the operators that kernels use most, specialised by type; tests hold them to the builtin tables."""

from collections.abc import Callable
from typing import Any, TypeAlias

from isogrid.backends.interp.failures import failure
from isogrid.ir import kernel as k
from isogrid.ir import sites

Frame: TypeAlias = list[Any]
Evaluator: TypeAlias = Callable[[Frame], Any]


def fast_binary(node: k.Binary, left: Evaluator, right: Evaluator) -> Evaluator | None:
    """A closure for the operator at this type, or None where the table's own meaning has to be called."""
    op, type = node.op, node.type
    if op in ("and", "or", "xor"):
        return _plain(node, left, right)
    if type.is_float:
        return _plain(node, left, right) if op in ("add", "sub", "mul", "div") else None
    if op in ("add", "sub", "mul"):
        return _checked(node, left, right) if type.is_checked else _modular(node, left, right)
    if op in ("floordiv", "mod"):
        return _divided(node, left, right)
    if op in ("shl", "shr"):
        return _shifted(node, left, right)
    if op in ("min", "max"):
        return _extreme(node, left, right)
    return None


def _checked(node: k.Binary, left: Evaluator, right: Evaluator) -> Evaluator:
    """`+ - *` of a checked type: exact, then a range check."""
    low, high = node.type.minimum, node.type.maximum
    fail = failure(sites.overflow_site(node), node.checked)

    def add(frame: Frame) -> int:
        a = left(frame)
        b = right(frame)
        return c if low <= (c := a + b) <= high else fail(a, b)

    def sub(frame: Frame) -> int:
        a = left(frame)
        b = right(frame)
        return c if low <= (c := a - b) <= high else fail(a, b)

    def mul(frame: Frame) -> int:
        a = left(frame)
        b = right(frame)
        return c if low <= (c := a * b) <= high else fail(a, b)

    return {"add": add, "sub": sub, "mul": mul}[node.op]


def _modular(node: k.Binary, left: Evaluator, right: Evaluator) -> Evaluator:
    """`+ - *` modulo 2^n."""
    mask = node.type.maximum
    table: dict[str, Evaluator] = {
        "add": lambda frame: left(frame) + right(frame) & mask,
        "sub": lambda frame: left(frame) - right(frame) & mask,
        "mul": lambda frame: left(frame) * right(frame) & mask,
    }
    return table[node.op]


def _plain(node: k.Binary, left: Evaluator, right: Evaluator) -> Evaluator:
    """Operators that Python's own, on values of the type, define: IEEE arithmetic and logic on bits."""
    table: dict[str, Evaluator] = {
        "add": lambda frame: left(frame) + right(frame),
        "sub": lambda frame: left(frame) - right(frame),
        "mul": lambda frame: left(frame) * right(frame),
        "div": lambda frame: left(frame) / right(frame),
        "and": lambda frame: left(frame) & right(frame),
        "or": lambda frame: left(frame) | right(frame),
        "xor": lambda frame: left(frame) ^ right(frame),
    }
    return table[node.op]


def _divided(node: k.Binary, left: Evaluator, right: Evaluator) -> Evaluator:
    """Floor division and remainder of integers; only MIN // -1 can leave the type."""
    high = node.type.maximum
    zero = failure(sites.zero_site(node), node.checked)
    fail = failure(sites.overflow_site(node), node.checked)

    def floordiv(frame: Frame) -> int:
        a = left(frame)
        b = right(frame)
        if b == 0:
            zero(a)
        return c if (c := a // b) <= high else fail(a, b)

    def mod(frame: Frame) -> int:
        a = left(frame)
        b = right(frame)
        return a % b if b else zero(a)

    return floordiv if node.op == "floordiv" else mod


def _shifted(node: k.Binary, left: Evaluator, right: Evaluator) -> Evaluator:
    """Shifts of integers: the amount is checked, then what a left shift makes of a checked type."""
    low, high, bits = node.type.minimum, node.type.maximum, node.type.bits
    outside = failure(sites.shift_site(node), node.checked)
    fail = failure(sites.overflow_site(node), node.checked)
    modular = node.type.is_modular

    def shl(frame: Frame) -> int:
        a = left(frame)
        amount = right(frame)
        if not 0 <= amount < bits:
            outside(amount)
        c = a << amount
        if modular:
            return c & high
        return c if low <= c <= high else fail(a, amount)

    def shr(frame: Frame) -> int:
        a = left(frame)
        amount = right(frame)
        return a >> amount if 0 <= amount < bits else outside(amount)

    return shl if node.op == "shl" else shr


def _extreme(node: k.Binary, left: Evaluator, right: Evaluator) -> Evaluator:
    """The smaller or larger of two integers."""
    if node.op == "min":
        return lambda frame: min(left(frame), right(frame))
    return lambda frame: max(left(frame), right(frame))
