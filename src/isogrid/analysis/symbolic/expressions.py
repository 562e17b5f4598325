"""Symbolic values of kernel-IR expressions; loads are recorded as accesses in the order of evaluation."""

from typing import Any

import numpy as np

from isogrid.analysis.symbolic.context import GROUP, LAUNCH, THREAD, Access, Context, Value
from isogrid.analysis.symbolic.formula import (
    FALSE,
    TRUE,
    AtLeastZero,
    Formula,
    Known,
    Unknown,
    both,
    compare,
    either,
    negate,
    truth,
)
from isogrid.analysis.symbolic.geometry import query
from isogrid.analysis.symbolic.integers import atom_name, divide, exact, fact_once, modular, nonnegative
from isogrid.analysis.symbolic.polynomial import ZERO, Coefficient, Polynomial, TooLarge, largest, normal
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar, Space


def evaluate(c: Context, e: k.Expr) -> Value:
    """The value of `e` in the present environment."""
    match e:
        case k.Const(value, type):
            return _constant(c, value, type)
        case k.Local(name, type):
            known = c.environment.get(name)
            # Assigned on every way here, though on each of them inside a loop that was not followed to that exit.
            return known if known is not None else _loaded(c, c.fresh(name, THREAD), type)
        case k.ScalarValue(name, type):
            return _parameter(c, name, type)
        case k.DimValue(name):
            return _dimension(c, name)
        case k.Query(kind, axis):
            return query(c, kind, axis)
        case k.Unary():
            return _unary(c, e)
        case k.Binary():
            return _binary(c, e)
        case k.Compare(op, left, right):
            a = evaluate(c, left)
            b = evaluate(c, right)
            return _compare(c, op, a, b, left.type)
        case k.Logical(op, left, right):
            a = as_formula(evaluate(c, left))
            mark = with_guard(c, a if op == "and" else negate(a), a)
            b = as_formula(evaluate(c, right))
            without_guard(c, mark)
            return both(a, b) if op == "and" else either(a, b)
        case k.Choose(condition, then, otherwise, _):
            f = as_formula(evaluate(c, condition))
            mark = with_guard(c, f, f)
            a = evaluate(c, then)
            without_guard(c, mark)
            mark = with_guard(c, negate(f), f)
            b = evaluate(c, otherwise)
            without_guard(c, mark)
            return merge(c, f, a, b)
        case k.Cast(value, type, _):
            return _cast(c, evaluate(c, value), value.type, type)
        case k.Call(name, arguments, type):
            return _call(c, e, name, tuple(evaluate(c, a) for a in arguments), type)
        case k.Load(array, indices, type, space, _):
            return _load(c, e, array, indices, type, space)


Mark = tuple[int, int]


def with_guard(c: Context, guard: Formula, condition: Formula) -> Mark:
    """Put `guard` in force; `condition` decides how uniform the control is. Undone by `without_guard`."""
    mark = (len(c.guards), len(c.control))
    c.control.append(c.level(condition))
    c.guards.append(guard)
    return mark


def without_guard(c: Context, mark: Mark) -> None:
    del c.guards[mark[0] :]
    del c.control[mark[1] :]


def as_formula(v: Value) -> Formula:
    if isinstance(v, Polynomial):
        raise TypeError("a number stands where a condition is needed")
    return v


def as_polynomial(c: Context, v: Value) -> Polynomial:
    if isinstance(v, Polynomial):
        return v
    if isinstance(v, Known):
        bits = np.frombuffer(v.bits, np.uint8).astype(np.int64)
        return Polynomial.constant(int(bits[0]) if len(bits) == 1 else bits)
    return c.named("bool", (v,), c.level(v), nonnegative=True)


def record(c: Context, array: str, kind: str, indices: tuple[Polynomial, ...], span: Any) -> None:
    """Note an access at this point."""
    c.spend()
    if kind != "read":
        c.changed.add(array)
    c.accesses.append(
        Access(
            array,
            kind,
            indices,
            tuple(c.guards),
            c.intervals,
            c.warp_intervals,
            span,
            len(c.accesses),
        )
    )


def index_values(c: Context, indices: tuple[k.Expr, ...]) -> tuple[Polynomial, ...]:
    return tuple(as_polynomial(c, evaluate(c, i)) for i in indices)


def merge(c: Context, condition: Formula, a: Value, b: Value) -> Value:
    """`a` where the condition holds, else `b`."""
    if a == b:
        return a
    t = truth(condition)
    if isinstance(t, int) and t >= 0:
        return a if t else b
    if isinstance(a, Polynomial) and isinstance(b, Polynomial):
        if not isinstance(t, int) and (t >= 0).all():
            terms: dict[tuple[str, ...], Coefficient] = {}
            for m in {**a.terms, **b.terms}:
                chosen = normal(np.where(t == 1, a.terms.get(m, 0), b.terms.get(m, 0)).astype(np.int64))
                if not (isinstance(chosen, int) and chosen == 0):
                    terms[m] = chosen
            return Polynomial(terms)
        level = max(c.level(condition), c.level(a), c.level(b))
        p = c.named("choice", (condition, a, b), level, nonnegative=nonnegative(c, a) and nonnegative(c, b))
        _bound_choice(c, p, a, b)
        return p
    if not isinstance(a, Polynomial) and not isinstance(b, Polynomial):
        return either(both(condition, a), both(negate(condition), b))
    raise TypeError("a value is a number on one path and a condition on another")


def _bound_choice(c: Context, p: Polynomial, a: Polynomial, b: Polynomial) -> None:
    """A choice lies between the least and the greatest of what is chosen from, where those are known."""
    one, other = _range(c, a), _range(c, b)
    if one is not None and other is not None:
        low, high = min(one[0], other[0]), max(one[1], other[1])
        c.ranges[atom_name(p)] = (low, high)
        fact_once(c, p, p.shift(-low), Polynomial.constant(high) - p)


def _range(c: Context, p: Polynomial) -> tuple[int, int] | None:
    constant = p.as_constant
    if constant is not None:
        return int(np.min(constant)), int(np.max(constant))
    if len(p.terms) > 1:
        return None
    ((m, factor),) = p.terms.items()
    return c.ranges.get(m[0]) if len(m) == 1 and isinstance(factor, int) and factor == 1 else None


def _constant(c: Context, value: int, type: Scalar) -> Value:
    if type is Scalar.BOOL:
        return TRUE if value else FALSE
    if type.is_float:
        return c.named("float", (value, type), LAUNCH)
    if value.bit_length() > 61:
        return c.named("literal", (value,), LAUNCH, nonnegative=value >= 0)
    return Polynomial.constant(value)


def _parameter(c: Context, name: str, type: Scalar) -> Value:
    key = f"${name}"
    if key not in c.atoms:
        c.atom(key, LAUNCH, nonnegative=type.is_unsigned or type.is_modular or type is Scalar.BOOL)
    if type is Scalar.BOOL:
        return Unknown(key, LAUNCH)
    return Polynomial.atom(key)


def _dimension(c: Context, name: str) -> Polynomial:
    if name not in c.atoms:
        c.atom(name, LAUNCH, nonnegative=True)
    return Polynomial.atom(name)


def _unary(c: Context, e: k.Unary) -> Value:
    v = evaluate(c, e.operand)
    if e.op == "not":
        return negate(as_formula(v))
    p = as_polynomial(c, v)
    if e.type.is_float:
        return _rounded(c, f"{e.op}.{e.type.value}", (p,), e)
    if e.type.is_modular:
        return c.named(f"{e.op}.{e.type.value}", (p,), c.level(p), nonnegative=True)
    match e.op:
        case "neg":
            return -p
        case "abs":
            constant = p.as_constant
            if constant is not None:
                return Polynomial.constant(abs(constant))
            return c.named("abs", (p,), c.level(p), nonnegative=True)
        case "invert":
            return (-p).shift(-1) if e.type.is_signed else c.named("invert", (p,), c.level(p), nonnegative=True)
        case _:
            raise ValueError(e.op)


def _rounded(c: Context, operation: str, arguments: tuple[Value, ...], e: k.Expr) -> Polynomial:
    """A computed float. Where a compiler may round it in its own way, it is the same value at one place only."""
    place = () if c.exact else (e.span.file, e.span.line, e.span.column, e.span.end_line, e.span.end_column)
    level = max((c.level(a) for a in arguments), default=LAUNCH)
    if not place:
        return c.named(operation, arguments, level)
    return c.named(f"{operation}@", (*arguments, *place), level)


def _compare(c: Context, op: str, a: Value, b: Value, type: Scalar) -> Formula:
    if isinstance(a, Polynomial) and isinstance(b, Polynomial) and not type.is_float:
        return compare(op, a, b)
    if not isinstance(a, Polynomial) and not isinstance(b, Polynomial):
        equal = either(both(a, b), both(negate(a), negate(b)))
        return equal if op == "eq" else negate(equal)
    pa, pb = as_polynomial(c, a), as_polynomial(c, b)
    name = next(iter(c.named(f"compare.{op}", (pa, pb), max(c.level(pa), c.level(pb))).terms))[0]
    return Unknown(name, max(c.level(pa), c.level(pb)))


def _binary(c: Context, e: k.Binary) -> Value:
    left = evaluate(c, e.left)
    right = evaluate(c, e.right)
    if e.type is Scalar.BOOL:
        f, g = as_formula(left), as_formula(right)
        match e.op:
            case "and":
                return both(f, g)
            case "or":
                return either(f, g)
            case "xor":
                return either(both(f, negate(g)), both(negate(f), g))
            case _:
                raise ValueError(e.op)
    a, b = as_polynomial(c, left), as_polynomial(c, right)
    level = max(c.level(a), c.level(b))
    if e.type.is_float:
        return _rounded(c, f"{e.op}.{e.type.value}", (a, b), e)
    if e.type.is_modular:
        return modular(c, e.op, e.type, a, b, level)
    try:
        known = exact(c, e.op, a, b, level)
    except TooLarge:
        # Products of data grow without end; such a value is as good as unknown.
        known = None
    if known is not None:
        return known
    folded = _bitwise(e.op, a.as_constant, b.as_constant)
    if folded is not None:
        return Polynomial.constant(folded)
    never_negative = e.type.is_unsigned or (
        nonnegative(c, a) and nonnegative(c, b) and e.op in ("add", "mul", "and", "or", "xor", "shr", "shl", "pow")
    )
    p = c.named(e.op, (a, b), level, nonnegative=never_negative)
    if e.op == "and" and isinstance(b.as_constant, int) and b.as_constant >= 0:
        fact_once(c, p, b - p)
        c.atoms[atom_name(p)].nonnegative = True
    return p


def _bitwise(op: str, a: Coefficient | None, b: Coefficient | None) -> Coefficient | None:
    if a is None or b is None:
        return None
    match op:
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case _:
            return None


def _cast(c: Context, v: Value, source: Scalar, target: Scalar) -> Value:
    if target is Scalar.BOOL:
        if source is Scalar.BOOL:
            return v
        p = as_polynomial(c, v)
        if source.is_float:
            name = atom_name(c.named("nonzero", (p,), c.level(p)))
            return Unknown(name, c.level(p))
        return compare("ne", p, ZERO)
    p = as_polynomial(c, v)
    if source.is_float or target.is_float:
        if source == target:
            return p
        return c.named(f"to.{target.value}", (p,), c.level(p), nonnegative=target.is_unsigned or target.is_modular)
    if target.is_modular and not (source is Scalar.BOOL or _fits(c, p, target)):
        return c.named(f"to.{target.value}", (p,), c.level(p), nonnegative=True)
    return p


def _fits(c: Context, p: Polynomial, target: Scalar) -> bool:
    constant = p.as_constant
    return constant is not None and largest(constant) <= target.maximum and nonnegative(c, p)


def _call(c: Context, e: k.Call, name: str, arguments: tuple[Value, ...], type: Scalar) -> Value:
    if name == "select" and len(arguments) == 3:
        return merge(c, as_formula(arguments[0]), arguments[1], arguments[2])
    if name == "cdiv" and len(arguments) == 2:
        a, b = (as_polynomial(c, x) for x in arguments)
        return -divide(c, "floordiv", -a, b, max(c.level(a), c.level(b)))
    level = max((c.level(a) for a in arguments), default=LAUNCH)
    if type.is_float:
        return _rounded(c, f"{name}.{type.value}", arguments, e)
    p = c.named(f"{name}.{type.value}", arguments, level, nonnegative=type.is_unsigned or type.is_modular)
    if type is Scalar.BOOL:
        return Unknown(atom_name(p), level)
    if name in ("popcount", "clz", "ctz"):
        c.atoms[atom_name(p)].nonnegative = True
        fact_once(c, p, Polynomial.constant(64) - p)
    return p


def _load(c: Context, e: k.Load, array: str, indices: tuple[k.Expr, ...], type: Scalar, space: Space) -> Value:
    values = index_values(c, indices)
    if space is Space.LOCAL:
        return _loaded(c, c.fresh(f"local {array}", THREAD, nonnegative=False), type)
    if space is not Space.TABLE:
        record(c, array, "read", values, e.span)
    level = max((c.level(v) for v in values), default=LAUNCH)
    if array not in c.written or (space is Space.GLOBAL and array not in c.changed):
        # What a global array holds before the kernel writes to it is what the launch gave: a thread that would see
        # another's write races with it, and is reported for that.
        p = c.named(f"load {array}", values, level, nonnegative=_never_negative(c, array, type))
        bits = _storage_bits(c, array)
        if bits:
            fact_once(c, p, Polynomial.constant((1 << bits) - 1) - p)
        if array in c.element_bounds:
            low, high = c.element_bounds[array]
            c.guards += [AtLeastZero(p - low), AtLeastZero((high - p).shift(-1))]
    else:
        level = GROUP if level <= GROUP and max(c.control, default=0) <= GROUP else THREAD
        p = c.fresh(f"load {array}", level, nonnegative=_never_negative(c, array, type))
    return _loaded(c, p, type)


def _loaded(c: Context, p: Polynomial, type: Scalar) -> Value:
    if type is Scalar.BOOL:
        name = atom_name(p)
        return Unknown(name, c.atoms[name].level)
    return p


def _element(c: Context, array: str) -> Scalar | None:
    for parameter in c.kernel.parameters:
        if parameter.name == array and isinstance(parameter, k.ArrayParameter):
            return parameter.element
    for declared in (*c.kernel.shared, *c.kernel.tables):
        if declared.name == array:
            return declared.element
    return None


def _never_negative(c: Context, array: str, type: Scalar) -> bool:
    element = _element(c, array)
    return type.is_unsigned or type.is_modular or element in (Scalar.U8, Scalar.U16)


def _storage_bits(c: Context, array: str) -> int:
    element = _element(c, array)
    return element.bits if element in (Scalar.U8, Scalar.U16) else 0
