"""Random expressions of a wanted type. Integers stay in their interval, so nothing traps unless the kernel dares."""

from collections.abc import Callable
from typing import Any

from .context import Array, Context
from .values import CHECKED, COMPUTING, FLOATS, INTEGERS, MODULAR, NUMBERS, SIGNED, Value, full, least, most, scalar

_UNITS = {
    "i32": "u32",
    "u32": "f32",
    "w32": "i32",
    "f32": "w32",
    "i64": "f64",
    "f64": "w64",
    "w64": "u64",
    "u64": "i64",
}


def expression(g: Context, type: str, depth: int) -> Value:
    """An expression of exactly this computing type that is not a bare literal."""
    if type == "bool":
        return boolean(g, depth)
    if type in FLOATS:
        return floating(g, type, depth)
    return integer(g, type, depth)


def bounded(g: Context, type: str, depth: int, low: int, high: int) -> Value:
    """An integer expression that stays in [low, high] (unless the kernel dares)."""
    return narrow(g, integer(g, type, depth), low, high)


def narrow(g: Context, value: Value, low: int, high: int) -> Value:
    """`value` brought into [low, high], as far as its type goes."""
    low, high = max(low, least(value.type)), min(high, most(value.type))
    if value.within(low, high) or (value.type in CHECKED and g.dare()):
        return value
    type = value.type
    options: list[tuple[int, Callable[[], Value]]] = [(2, lambda: _clamped(g, value, low, high))]
    if low <= 0 < high:
        options.append((1, lambda: _remainder(g, value, high)))
        options.append((5, lambda: _masked(g, value, high)))
    shift = next((k for k in range(1, scalar(type).bits) if low <= value.low >> k and value.high >> k <= high), 0)
    if shift:
        options.append((3, lambda: _shifted(g, value, shift)))
    if low <= high // 2 and low + (high - low) // 2 > 0 and low > 0:
        options.append((2, lambda: _moved(g, value, low, high)))
    return g.choices.weighted(options)()


def _clamped(g: Context, value: Value, low: int, high: int) -> Value:
    if g.choices.chance(50):
        g.use("clamp")
        return Value(f"ig.clamp({value.text}, {_text(low)}, {_text(high)})", value.type, low, high)
    g.use("min max nested")
    return Value(f"min(max({value.text}, {_text(low)}), {_text(high)})", value.type, low, high)


def _remainder(g: Context, value: Value, high: int) -> Value:
    g.use("%")
    return Value(f"({value.text} % {high + 1 if high < most(value.type) else high})", value.type, 0, high)


def _masked(g: Context, value: Value, high: int) -> Value:
    g.use("&")
    mask = (1 << high.bit_length() - 1) - 1 if high & high + 1 else high
    return Value(f"({value.text} & {mask})", value.type, 0, mask)


def _shifted(g: Context, value: Value, count: int) -> Value:
    g.use(">>")
    return Value(f"({value.text} >> {count})", value.type, value.low >> count, value.high >> count)


def _moved(g: Context, value: Value, low: int, high: int) -> Value:
    g.use("%")
    return Value(f"({value.text} % {high - low + 1} + {low})", value.type, low, high)


def _text(number: int | float) -> str:
    """A literal; a sign belongs to its literal and wants parentheses."""
    if isinstance(number, float):
        text = repr(number)
        return f"({text})" if text.startswith("-") else text
    return f"({number})" if number < 0 else str(number)


# --- integers --------------------------------------------------------------------------------------------------------


def integer(g: Context, type: str, depth: int) -> Value:
    if depth <= 0 or g.choices.chance(25) or not g.has_room():
        return _integer_leaf(g, type)
    options: list[tuple[int, Callable[[Context, str, int], Value]]] = [
        (6, _add), (5, _sub), (5, _mul), (3, _floordiv), (3, _mod), (2, _power), (3, _shl), (2, _shr), (5, _bits),
        (2, _invert), (2, _negate), (2, _absolute), (2, _minmax), (2, _choose), (4, _cast), (2, _function),
        (1, _saturate),
    ]  # fmt: skip
    if type == "i64":
        options.append((2, _widening))
    return g.choices.weighted(options)(g, type, depth - 1)


def _integer_leaf(g: Context, type: str) -> Value:
    found = leaves(g, type)
    if found and not g.choices.chance(3 if g.hot else 15):
        return g.choices.pick(found)()
    if not found and g.choices.chance(85):
        return _borrowed(g, type)
    number = literal_number(g, type, *full(type))
    g.use(f"literal {type}")
    return Value(f"ig.{type}({number})" if number >= 0 else f"ig.{type}(-{-number})", type, number, number, simple=True)


def _borrowed(g: Context, type: str) -> Value:
    """A value of `type` made of something at hand of another one, so that it depends on data."""
    at_hand = [v.value() for v in g.variables() if v.type in NUMBERS] + [q for q in g.queries if q.type in NUMBERS]
    if type in INTEGERS:
        at_hand = [value for value in at_hand if value.type in INTEGERS]
    arrays = [
        a
        for a in g.arrays
        if a.readable and a.type != type and (a.type in INTEGERS or type in FLOATS) and a.type != "bool"
    ]
    if arrays and g.nesting == 0 and g.choices.chance(35):
        value = element(g, g.choices.pick(arrays))
    elif at_hand:
        value = g.choices.pick(at_hand)
    else:
        return Value(f"ig.{type}(1)", type, 1, 1, simple=True)
    if value.type == type:
        return value
    g.use(f"cast {value.type} to {type}")
    if type in FLOATS:
        return Value(f"ig.{type}({value.text})", type)
    if type in MODULAR:
        return Value(f"ig.{type}({value.text})", type, *full(type))
    value = narrow(g, value, *full(type))
    return _combine(type, f"ig.{type}({value.text})", [value.low, value.high])


def leaves(g: Context, type: str) -> list[Callable[[], Value]]:
    """Everything of this type that is at hand: variables, elements, queries. Subscripts prefer what is no element."""
    weight = 2 + 2 * g.nesting
    found: list[Callable[[], Value]] = [v.value for v in g.variables() if v.type == type for _ in range(weight)]
    for query in g.queries:
        if query.type == type:
            found.append(lambda query=query: query)
    for array in g.arrays:
        if array.type == type and array.readable:
            found.append(lambda array=array: element(g, array))
    return found


def literal_number(g: Context, type: str, low: int, high: int) -> int:
    kind = g.choices.below(8)
    small = [n for n in (1, 2, 3, 5, 7, 0, -1, -2, 10, 31, 100) if low <= n <= high] or [low]
    if kind < 5:
        return g.choices.pick(small)
    edges = [
        n
        for n in (high, low, high - 1, low + 1, 127, 128, 255, 65535, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 63)
        if low <= n <= high
    ]
    return g.choices.pick(edges)


def _operand(g: Context, type: str, depth: int, low: int, high: int) -> Value:
    """A right operand: a bare literal of the other side's type, or an expression."""
    if g.choices.chance(30):
        number = literal_number(g, type, low, high)
        if g.choices.chance(10) and 2 < number < 1 << 40:
            g.use("constant expression")
            return Value(f"({number - 1} + 1)", type, number, number, number)
        return Value(_text(number), type, number, number, number, simple=True)
    return bounded(g, type, depth, low, high)


def _combine(type: str, text: str, corners: list[int]) -> Value:
    low, high = full(type)
    if type in MODULAR:
        return Value(text, type, low, high)
    return Value(text, type, max(low, min(corners)), min(high, max(corners)))


def _add(g: Context, type: str, depth: int) -> Value:
    g.use(f"+ {type}")
    low, high = full(type)
    if type in MODULAR:
        a, b = integer(g, type, depth), _operand(g, type, depth, low, high)
    else:
        a, b = integer(g, type, depth), _operand(g, type, depth, low, high)
        if not (low <= a.low + b.low and a.high + b.high <= high) and not g.dare():
            a, b = _halved(g, a), _halved(g, b)
    return _combine(type, f"({a.text} + {b.text})", [a.low + b.low, a.high + b.high])


def _halved(g: Context, value: Value) -> Value:
    """The value at half its range, so that a sum of two fits: extremes stay extreme."""
    low, high = full(value.type)
    if value.number is not None:
        number = int(value.number) // 2
        return Value(_text(number), value.type, number, number, number, simple=True)
    if value.within(-(-low // 2), high // 2):
        return value
    if g.choices.chance(50):
        return narrow(g, value, -(-low // 2), high // 2)
    if g.choices.chance(40):
        g.use("//")
        return Value(f"({value.text} // 2)", value.type, value.low // 2, value.high // 2)
    return _shifted(g, value, 1)


def _sub(g: Context, type: str, depth: int) -> Value:
    g.use(f"- {type}")
    low, high = full(type)
    a, b = integer(g, type, depth), _operand(g, type, depth, low, high)
    if type in MODULAR:
        return Value(f"({a.text} - {b.text})", type, low, high)
    if not (low <= a.low - b.high and a.high - b.low <= high) and not g.dare():
        if type in SIGNED:
            a, b = _halved(g, a), _halved(g, b)
            if a.high - b.low > high:
                b = narrow(g, _typed(b), max(b.low, low // 2 + 1), b.high)
        else:
            a = Value(f"({_typed(a).text} | 255)", type, 255, high)
            b = narrow(g, _typed(b), 0, 255)
    if not (low <= a.low - b.high and a.high - b.low <= high) and not g.hot:
        a, b = narrow(g, _typed(a), 100, 200), narrow(g, _typed(b), 0, 100)
    return _combine(type, f"({a.text} - {b.text})", [a.low - b.high, a.high - b.low])


def _typed(value: Value) -> Value:
    """A literal with its type written, so that it can stand alone."""
    if value.number is None:
        return value
    return Value(f"ig.{value.type}({value.text})", value.type, value.low, value.high, simple=True)


def _mul(g: Context, type: str, depth: int) -> Value:
    g.use(f"* {type}")
    low, high = full(type)
    a, b = integer(g, type, depth), _operand(g, type, depth, low, high)
    if type in MODULAR:
        return Value(f"({a.text} * {b.text})", type, low, high)
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    if not (low <= min(products) and max(products) <= high) and not g.dare():
        root = (1 << (scalar(type).bits - (type in SIGNED)) // 2) - 1
        a = narrow(g, _typed(a), -root if type in SIGNED else 0, root)
        b = narrow(g, _typed(b), -root if type in SIGNED else 0, root)
    return _combine(type, f"({a.text} * {b.text})", [x * y for x in (a.low, a.high) for y in (b.low, b.high)])


def _divisor(g: Context, type: str, depth: int) -> Value:
    """Not zero, unless daring."""
    if g.choices.chance(40):
        number = g.choices.pick([n for n in (2, 3, 7, 10, 16, 1, -1, -3, -8, 255) if full(type)[0] <= n])
        return Value(_text(number), type, number, number, number, simple=True)
    value = integer(g, type, depth)
    if g.dare():
        return value
    if g.choices.chance(50) or not value.within(0, most(type) - 1):
        g.use("|")
        return Value(f"({value.text} | 1)", type, value.low if value.low else 1, most(type))
    return Value(f"({value.text} + 1)", type, value.low + 1, value.high + 1)


def _floordiv(g: Context, type: str, depth: int) -> Value:
    g.use(f"// {type}")
    low, high = full(type)
    a, b = integer(g, type, depth), _divisor(g, type, depth)
    if type in SIGNED and a.low == low and b.low <= -1 <= b.high and not g.dare():
        a = narrow(g, a, -high, high)
    if type not in SIGNED or (a.low >= 0 and b.low > 0):
        return Value(f"({a.text} // {b.text})", type, 0, a.high)
    size = min(high, max(abs(a.low), abs(a.high)))
    return Value(f"({a.text} // {b.text})", type, max(low, -size - 1), size)


def _mod(g: Context, type: str, depth: int) -> Value:
    g.use(f"% {type}")
    a, b = integer(g, type, depth), _divisor(g, type, depth)
    low = 0 if b.low > 0 or type not in SIGNED else max(least(type), b.low + 1)
    return Value(f"({a.text} % {b.text})", type, min(low, 0), max(b.high - 1, 0))


def _power(g: Context, type: str, depth: int) -> Value:
    g.use(f"** {type}")
    low, high = full(type)
    base = integer(g, type, depth)
    wide = type in MODULAR or g.dare()
    if g.choices.chance(50):
        exponent = g.choices.pick((2, 3, 1, 0, 4))
        text, top = str(exponent), exponent
    else:
        kind = g.choices.pick(("i32", "u32", "i64", "w32", "u64"))
        value = bounded(g, kind, min(depth, 1), 0, 6 if not wide else 70)
        text, top = value.text, 6
    if not wide:
        limit = int(high ** (1 / max(top, 1)) * 0.99)
        limit = max(1, min(limit, most(type)))
        base = narrow(g, base, -limit if type in SIGNED else 0, limit)
    corners = (
        [base.low**p for p in range(top + 1)] + [base.high**p for p in range(top + 1)] if not wide else [low, high]
    )
    form = g.choices.below(4)
    if form == 3:
        g.use("pow()")
    return _combine(type, f"pow({base.text}, {text})" if form == 3 else f"({base.text} ** {text})", corners)


def _amount(g: Context, type: str, depth: int, top: int) -> Value:
    if g.choices.chance(40):
        number = g.choices.between(0, top)
        return Value(str(number), "i64", number, number, number, simple=True)
    kind = g.choices.pick(("i32", "i64", "u32", "u64", "w32", "w64"))
    return bounded(g, kind, min(depth, 1), 0, top)


def _shl(g: Context, type: str, depth: int) -> Value:
    g.use(f"<< {type}")
    low, high = full(type)
    bits = scalar(type).bits
    if type in MODULAR:
        amount = _amount(g, type, depth, bits - 1)
        return Value(f"({integer(g, type, depth).text} << {amount.text})", type, low, high)
    top = g.choices.pick((1, 4, 8, 15))
    a, amount = integer(g, type, depth), _amount(g, type, depth, top)
    if not g.dare():
        a = narrow(g, a, -(high >> top) if type in SIGNED else 0, high >> top)
    return _combine(type, f"({a.text} << {amount.text})", [a.low, a.low << top, a.high, a.high << top])


def _shr(g: Context, type: str, depth: int) -> Value:
    g.use(f">> {type}")
    a, amount = integer(g, type, depth), _amount(g, type, depth, scalar(type).bits - 1)
    return Value(f"({a.text} >> {amount.text})", type, min(a.low, 0), max(a.high, 0))


def _bits(g: Context, type: str, depth: int) -> Value:
    op = g.choices.pick(("&", "|", "^"))
    g.use(f"{op} {type}")
    low, high = full(type)
    a, b = integer(g, type, depth), _operand(g, type, depth, low, high)
    if op == "&" and b.low >= 0:
        return Value(f"({a.text} & {b.text})", type, 0, b.high)
    if a.low >= 0 and b.low >= 0:
        return Value(f"({a.text} {op} {b.text})", type, 0, (1 << max(a.high, b.high).bit_length()) - 1)
    return Value(f"({a.text} {op} {b.text})", type, low, high)


def _invert(g: Context, type: str, depth: int) -> Value:
    g.use(f"~ {type}")
    a = integer(g, type, depth)
    if type in SIGNED:
        return Value(f"(~{a.text})", type, -a.high - 1, -a.low - 1)
    return Value(f"(~{a.text})", type, most(type) - a.high, most(type) - a.low)


def _negate(g: Context, type: str, depth: int) -> Value:
    low, high = full(type)
    if type in ("u32", "u64") and not g.hot:
        return _invert(g, type, depth)
    g.use(f"-x {type}")
    a = integer(g, type, depth)
    if type in MODULAR:
        return Value(f"(-{a.text})", type, low, high)
    if not g.dare():
        a = narrow(g, a, -high, high) if type in SIGNED else narrow(g, a, 0, 0)
    return _combine(type, f"(-{a.text})", [-a.low, -a.high])


def _absolute(g: Context, type: str, depth: int) -> Value:
    g.use(f"abs {type}")
    high = most(type)
    a = integer(g, type, depth)
    if type in SIGNED and not g.dare():
        a = narrow(g, a, -high, high)
    top = min(high, max(abs(a.low), abs(a.high)))
    return Value(f"abs({a.text})", type, 0, top)


def _minmax(g: Context, type: str, depth: int) -> Value:
    name = g.choices.pick(("min", "max"))
    g.use(f"{name} {type}")
    a, b = integer(g, type, depth), _operand(g, type, depth, *full(type))
    pick = min if name == "min" else max
    low, high = pick(a.low, b.low), pick(a.high, b.high)
    if g.choices.chance(25):
        g.use("min max of three")
        c = integer(g, type, depth)
        return Value(f"{name}({a.text}, {b.text}, {c.text})", type, pick(low, c.low), pick(high, c.high))
    return Value(f"{name}({a.text}, {b.text})", type, low, high)


def _choose(g: Context, type: str, depth: int) -> Value:
    a, b = integer(g, type, depth), _operand(g, type, depth, *full(type))
    low, high = min(a.low, b.low), max(a.high, b.high)
    if g.choices.chance(30):
        g.use("select")
        return Value(f"ig.select({boolean(g, depth).text}, {a.text}, {b.text})", type, low, high)
    g.use("conditional expression")
    return Value(f"({a.text} if {boolean(g, depth).text} else {b.text})", type, low, high)


def _cast(g: Context, type: str, depth: int) -> Value:
    source = g.choices.pick([kind for kind in COMPUTING if kind != type])
    low, high = full(type)
    name = "int" if type == "i64" and g.choices.chance(40) else f"ig.{type}"
    g.use(f"cast {source} to {type}")
    if name == "int":
        g.use("int()")
    if source == "bool":
        return Value(f"{name}({boolean(g, depth).text})", type, 0, 1)
    if source in FLOATS:
        return _from_float(g, name, type, source, depth)
    value = integer(g, source, depth)
    if type in MODULAR:
        fits = value.within(low, high)
        return Value(f"{name}({value.text})", type, value.low if fits else low, value.high if fits else high)
    value = narrow(g, value, low, high)
    return _combine(type, f"{name}({value.text})", [value.low, value.high])


def _from_float(g: Context, name: str, type: str, source: str, depth: int) -> Value:
    value = floating(g, source, depth)
    if g.dare() or value.text == "":
        return Value(f"{name}({value.text})", type, *full(type))
    floor = 0 if type not in SIGNED else -1000
    if g.choices.chance(50) and "(" not in value.text:
        g.use("conditional expression")
        zero = "abs(" + value.text + ") < 1000.0" if floor else f"0.0 <= {value.text} <= 1000.0"
        other = literal_number(g, type, 0, 100)
        return Value(f"({name}({value.text}) if {zero} else {other})", type, floor, 1000)
    g.use(f"saturate {type}")
    if type in MODULAR:
        return Value(f"{name}(ig.saturate(ig.u16, {value.text}))", type, 0, 65535)
    return Value(f"ig.saturate(ig.{type}, {value.text})", type, *full(type))


def _saturate(g: Context, type: str, depth: int) -> Value:
    targets = [t for t in ("u8", "i8", "u16", "i16") if type == "i32"] or ([type] if type in CHECKED else [])
    if not targets:
        return _bits(g, type, depth)
    target = g.choices.pick(targets)
    g.use(f"saturate {target}")
    value = expression(g, g.choices.pick(NUMBERS), depth)
    return Value(f"ig.saturate(ig.{target}, {value.text})", type, *full(target))


def _function(g: Context, type: str, depth: int) -> Value:
    low, high = full(type)
    kind = g.choices.below(4)
    if kind == 0 and type == "i32":
        name, source = g.choices.pick(("popcount", "clz", "ctz")), g.choices.pick(INTEGERS)
        g.use(name)
        return Value(f"ig.{name}({integer(g, source, depth).text})", type, 0, 64)
    if kind <= 1:
        g.use("mulhi")
        return Value(f"ig.mulhi({integer(g, type, depth).text}, {integer(g, type, depth).text})", type, low, high)
    if kind == 2:
        g.use("rotate")
        amount = integer(g, g.choices.pick(INTEGERS), min(depth, 1))
        return Value(f"ig.rotate({integer(g, type, depth).text}, {amount.text})", type, low, high)
    bits = scalar(type).bits
    source = g.choices.pick([kind for kind in NUMBERS if kind != type and scalar(kind).bits == bits])
    g.use(f"bitcast to {type}")
    return Value(f"ig.bitcast(ig.{type}, {expression(g, source, depth).text})", type, low, high)


def _widening(g: Context, type: str, depth: int) -> Value:
    """i64 beside i32 or u32: the narrow side widens by itself."""
    g.use("widening")
    source = g.choices.pick(("i32", "u32"))
    wide, thin = narrow(g, integer(g, "i64", depth), -(1 << 40), 1 << 40), integer(g, source, depth)
    op = g.choices.pick(("+", "-", "*"))
    if op == "*":
        thin = narrow(g, thin, 0, 1 << 20)
    pair = (wide, thin) if g.choices.chance(50) else (thin, wide)
    bound = 1 << 62
    return _combine(type, f"({pair[0].text} {op} {pair[1].text})", [-bound, bound] if not g.hot else list(full(type)))


# --- floats ----------------------------------------------------------------------------------------------------------


def floating(g: Context, type: str, depth: int) -> Value:
    if depth <= 0 or g.choices.chance(25) or not g.has_room():
        found = leaves(g, type)
        if found and not g.choices.chance(15):
            return g.choices.pick(found)()
        if not found and g.choices.chance(85):
            return _borrowed(g, type)
        g.use(f"literal {type}")
        return Value(f"ig.{type}({_float_literal(g)})", type, simple=True)
    kind = g.choices.below(20)
    if kind < 8:
        op = g.choices.pick(("+", "-", "*", "/"))
        g.use(f"{op} {type}")
        return Value(f"({floating(g, type, depth - 1).text} {op} {_float_operand(g, type, depth - 1)})", type)
    if kind < 10:
        op = g.choices.pick(("//", "%"))
        g.use(f"{op} {type}")
        return Value(f"({floating(g, type, depth - 1).text} {op} {_float_operand(g, type, depth - 1)})", type)
    return _float_function(g, type, depth - 1)


def _float_operand(g: Context, type: str, depth: int) -> str:
    if g.choices.chance(25):
        return _float_literal(g)
    return floating(g, type, depth).text


def _float_literal(g: Context) -> str:
    return g.choices.pick(
        ("1.0", "0.5", "2.0", "0.0", "3", "0.1", "1e-3", "(-0.0)", "(-2.5)", "1e30", "16777217.0", "math.inf")
    )


def _float_function(g: Context, type: str, depth: int) -> Value:
    a = floating(g, type, depth).text

    def more() -> str:
        return floating(g, type, depth).text

    kind = g.choices.pick(
        ("fma", "sqrt", "-x", "abs", "min", "max", "floor", "ceil", "trunc", "round", "copysign", "**", "choose",
         "cast", "bitcast", "clamp", "select")
    )  # fmt: skip
    g.use(f"{kind} {type}")
    match kind:
        case "fma":
            text = f"ig.fma({a}, {more()}, {more()})"
        case "-x":
            text = f"(-{a})"
        case "abs" | "round":
            text = f"{kind}({a})"
        case "min" | "max":
            text = f"{kind}({a}, {_float_operand(g, type, depth)})"
        case "copysign":
            text = f"math.copysign({a}, {more()})"
        case "**":
            text = f"({a} ** {g.choices.pick((2, 0, 1, 3, 4))})"
        case "choose":
            g.use("conditional expression")
            text = f"({a} if {boolean(g, depth).text} else {_float_operand(g, type, depth)})"
        case "select":
            g.use("select")
            text = f"ig.select({boolean(g, depth).text}, {a}, {more()})"
        case "clamp":
            text = f"ig.clamp({a}, {_float_operand(g, type, depth)}, {_float_operand(g, type, depth)})"
        case "cast":
            source = g.choices.pick([kind for kind in COMPUTING if kind != type])
            g.use(f"cast {source} to {type}")
            text = f"ig.{type}({expression(g, source, depth).text})"
        case "bitcast":
            source = g.choices.pick([kind for kind in INTEGERS if scalar(kind).bits == scalar(type).bits])
            g.use(f"bitcast to {type}")
            text = f"ig.bitcast(ig.{type}, {integer(g, source, depth).text})"
        case _:
            text = f"math.{kind}({a})"
    return Value(text, type)


# --- bools -----------------------------------------------------------------------------------------------------------


def boolean(g: Context, depth: int) -> Value:
    found = leaves(g, "bool")
    if found and g.choices.chance(25):
        return g.choices.pick(found)()
    if depth <= 0 or not g.has_room():
        return _comparison(g, 0)
    kind = g.choices.weighted(
        (
            (6, "compare"),
            (2, "chain"),
            (2, "and"),
            (2, "or"),
            (2, "not"),
            (1, "bits"),
            (1, "test"),
            (1, "cast"),
            (1, "equal"),
        )
    )
    depth -= 1
    match kind:
        case "compare":
            return _comparison(g, depth)
        case "chain":
            g.use("chained comparison")
            type = g.choices.pick(NUMBERS)
            a, b, c = (expression(g, type, depth).text for _ in range(3))
            first, second = (g.choices.pick(("<", "<=", ">", ">=", "!=", "==")) for _ in range(2))
            return Value(f"({a} {first} {b} {second} {c})", "bool")
        case "and" | "or":
            g.use(kind)
            return Value(f"({boolean(g, depth).text} {kind} {boolean(g, depth).text})", "bool")
        case "not":
            g.use("not")
            return Value(f"(not {boolean(g, depth).text})", "bool")
        case "bits":
            op = g.choices.pick(("&", "|", "^"))
            g.use(f"{op} bool")
            return Value(f"({boolean(g, depth).text} {op} {boolean(g, depth).text})", "bool")
        case "test":
            name = g.choices.pick(("math.isnan", "math.isinf", "math.isfinite", "ig.signbit"))
            g.use(name)
            return Value(f"{name}({floating(g, g.choices.pick(FLOATS), depth).text})", "bool")
        case "cast":
            type = g.choices.pick(NUMBERS)
            g.use(f"cast {type} to bool")
            return Value(f"bool({expression(g, type, depth).text})", "bool")
        case _:
            op = g.choices.pick(("==", "!="))
            g.use(f"{op} bool")
            return Value(f"({boolean(g, depth).text} {op} {boolean(g, depth).text})", "bool")


def _comparison(g: Context, depth: int) -> Value:
    type = g.choices.pick(NUMBERS)
    op = g.choices.pick(("<", "<=", ">", ">=", "==", "!="))
    g.use(f"{op} {type}")
    left = expression(g, type, depth)
    if g.choices.chance(40):
        right = _float_literal(g) if type in FLOATS else _text(literal_number(g, type, *full(type)))
    else:
        right = expression(g, type, depth).text
    return Value(f"({left.text} {op} {right})", "bool")


# --- elements --------------------------------------------------------------------------------------------------------


def element(g: Context, array: Array) -> Value:
    """A load that stays inside the array (unless the kernel dares)."""
    if array.own and (array.use == "own" or g.choices.chance(60)):
        text = array.own
    else:
        text = ", ".join(index(g, *extent) for extent in array.extents)
    g.use(f"load {array.element}")
    if array.use in ("phase", "local", "table", "tuple"):
        g.use(f"load from {array.use}")
    return Value(f"{array.name}[{text}]", array.type, array.low, array.high)


def index(g: Context, extent: str, low: int, high: int) -> str:
    """A subscript for an axis whose extent, written `extent`, is between `low` (at least 1) and `high`."""
    kind = g.choices.below(10)
    counters: list[Any] = [v for v in g.variables() if v.type in INTEGERS and v.low >= 0 and v.high < low]
    counters += [q for q in g.queries if q.type in INTEGERS and q.low >= 0 and q.high < low]
    if counters and kind >= 4:
        found = g.choices.pick(counters)
        return found.text if isinstance(found, Value) else found.name
    if kind == 0 or g.nesting > 1:
        return str(g.choices.below(low))
    type = g.choices.pick(("i64", "i32", "u32", "u64", "w32", "w64"))
    g.use(f"subscript {type}")
    g.nesting += 1
    value = integer(g, type, 1)
    g.nesting -= 1
    if low == high:
        return narrow(g, value, 0, high - 1).text
    if g.choices.chance(25) and g.dare():
        return value.text
    if not g.choices.chance(25):
        return narrow(g, value, 0, low - 1).text if g.choices.chance(60) else _nearest(g, value, extent)
    if type in ("i64", "i32", "u32"):
        return f"({value.text} % {extent})"
    return f"(ig.i64({narrow(g, value, 0, 1000).text}) % {extent})"


def _nearest(g: Context, value: Value, extent: str) -> str:
    """The place in an axis that is nearest to `value`: dividing would cost more than all else in a small kernel."""
    if value.type == "i64" and g.choices.chance(50):
        return f"ig.clamp({value.text}, 0, {extent} - 1)"
    wide = narrow(g, value, 0, (1 << 31) - 1)
    return f"min({wide.text if value.type == 'i64' else f'ig.i64({wide.text})'}, {extent} - 1)"
