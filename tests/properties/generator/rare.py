"""One statement around each of the constructs that chance alone would show too seldom; every kernel gets a few."""

from collections.abc import Callable

from .context import Context
from .expressions import boolean, bounded, expression, floating, integer, leaves, narrow
from .values import CHECKED, COMPUTING, FLOATS, INTEGERS, MODULAR, NUMBERS, full, scalar

Lines = list[str]
CASTS = [(source, target) for source in COMPUTING for target in (*NUMBERS, "bool") if source != target]
BITCASTS = [(a, b) for a in NUMBERS for b in NUMBERS if a != b and scalar(a).bits == scalar(b).bits]
NARROW_TARGETS = ("i8", "u8", "i16", "u16")


def rare_statements(g: Context) -> Lines:
    """Two of: a conversion, a function, an assignment form or loop."""
    parts = g.choices.weighted(
        ((3, (_cast, _form)), (2, (_cast, _function)), (1, (_function, _form)), (1, (_form, _form)))
    )
    return [line for part in parts for line in part(g)]


def _keep(g: Context, text: str, type: str, low: int | None = None, high: int | None = None) -> Lines:
    name = g.fresh("v")
    g.declare(name, type, low, high)
    return [f"{name} = {text}"]


def _cast(g: Context) -> Lines:
    source, target = g.choices.pick(CASTS)
    g.use(f"cast {source} to {target}")
    word = "bool" if target == "bool" else f"ig.{target}"
    if source in FLOATS and target in INTEGERS and not g.dare():
        value = floating(g, source, 1)
        low = -(2.0**20) if target in ("i32", "i64") else 0.0
        return _keep(g, f"{word}(ig.clamp(0.0 if math.isnan({value.text}) else {value.text}, {low}, 1e6))", target)
    value = expression(g, source, 1)
    if source in INTEGERS and target in CHECKED:
        value = narrow(g, value, *full(target))
    return _keep(g, f"{word}({value.text})", target)


def _function(g: Context) -> Lines:
    kind = g.choices.pick(("popcount", "clz", "ctz", "saturate", "bitcast", "rotate", "mulhi", "isnan", "test"))
    if kind in ("popcount", "clz", "ctz"):
        g.use(kind)
        return _keep(g, f"ig.{kind}({integer(g, g.choices.pick(INTEGERS), 1).text})", "i32", 0, 64)
    if kind == "saturate":
        target = g.choices.pick((*NARROW_TARGETS, *NARROW_TARGETS, *CHECKED))
        g.use(f"saturate {target}")
        type = target if target in CHECKED else "i32"
        return _keep(
            g, f"ig.saturate(ig.{target}, {expression(g, g.choices.pick(NUMBERS), 1).text})", type, *full(target)
        )
    if kind == "bitcast":
        source, target = g.choices.pick(BITCASTS)
        g.use(f"bitcast to {target}")
        return _keep(g, f"ig.bitcast(ig.{target}, {expression(g, source, 1).text})", target)
    if kind in ("rotate", "mulhi"):
        g.use(kind)
        type = g.choices.pick(INTEGERS)
        other = integer(g, g.choices.pick(INTEGERS) if kind == "rotate" else type, 1)
        return _keep(g, f"ig.{kind}({integer(g, type, 1).text}, {other.text})", type)
    name = g.choices.pick(("math.isnan", "math.isinf", "math.isfinite", "ig.signbit"))
    g.use(name)
    return _keep(g, f"{name}({floating(g, g.choices.pick(FLOATS), 1).text})", "bool")


def _form(g: Context) -> Lines:
    forms: tuple[Callable[[Context], Lines], ...] = (
        _chained,
        _augmented_float,
        _augmented_integer,
        _augmented_integer,
        _shape_helper,
        _shape_helper,
        _trapping,
        _trapping,
        _loop,
        _loop,
        _helper,
        _helper,
    )
    return g.choices.pick(forms)(g)


def _chained(g: Context) -> Lines:
    g.use("chained assignment")
    type = g.choices.pick(NUMBERS)
    first, second = g.fresh("v"), g.fresh("v")
    value = expression(g, type, 1).text
    g.declare(first, type)
    g.declare(second, type)
    return [f"{first} = {second} = {value}"]


def _augmented_float(g: Context) -> Lines:
    type, op = g.choices.pick(FLOATS), g.choices.pick(("+", "-", "*", "/", "//", "%"))
    g.use(f"augmented {op}=")
    lines = _keep(g, expression(g, type, 1).text, type)
    name = lines[0].split(" ")[0]
    return [*lines, f"{name} {op}= {expression(g, type, 1).text}"]


def _augmented_integer(g: Context) -> Lines:
    type = g.choices.pick(MODULAR if not g.hot else INTEGERS)
    op = g.choices.pick(("+", "-", "*", "<<", ">>", "&", "|", "^", "**", "//", "%"))
    g.use(f"augmented {op}=")
    lines = _keep(g, integer(g, type, 1).text, type)
    name = lines[0].split(" ")[0]
    if op in ("<<", ">>"):
        right = str(g.choices.below(20))
    elif op == "**":
        right = str(g.choices.below(4))
    elif op in ("//", "%"):
        right = f"({integer(g, type, 1).text} | 1)"
    else:
        right = integer(g, type, 1).text
    return [*lines, f"{name} {op}= {right}"]


def _loop(g: Context) -> Lines:
    """A short loop that some threads leave, or go on with, before others."""
    counter, total = g.fresh("k"), g.fresh("v")
    type = g.choices.pick((*MODULAR, *FLOATS))
    before = [f"{total} = {expression(g, type, 1).text}"]
    g.declare(total, type)
    head = g.choices.pick(("down", "while", "up"))
    if head == "down":
        g.use("for range negative step")
        bounds = f"{g.choices.between(1, 6)}, {g.choices.between(-3, 1)}, {g.choices.pick((-1, -2))}"
        loop = f"for {counter} in range({bounds}):"
    elif head == "up":
        loop = f"for {counter} in range({g.choices.pick((2, 1, 3, 5))}):"
    else:
        g.use("unroll while")
        before.append(f"{counter} = ig.i32(0)")
        factor = g.choices.weighted(((3, ""), (3, ", 2"), (2, ", 3"), (1, ", 8")))
        loop = f"while ig.unroll({counter} < {g.choices.between(1, 6)}{factor}):"
    step = [f"{counter} += 1"] if head == "while" else []
    way = g.choices.pick(("break", "continue"))
    g.use(way)
    body = [*step, f"if {boolean(g, 1).text}:", f"    {way}", f"{total} += {expression(g, type, 1).text}"]
    return [*before, loop, *(f"    {line}" for line in body)]


def _helper(g: Context) -> Lines:
    from .statements import helper_call

    return helper_call(g, 1)


def _shape_helper(g: Context) -> Lines:
    from .statements import row_helper

    return row_helper(g, g.fresh("helper"))


def data(g: Context, type: str) -> str:
    """Something that no compiler knows: an element, a scalar argument or a variable."""
    found = leaves(g, type)
    return g.choices.pick(found)().text if found else integer(g, type, 1).text


def edge(type: str) -> str:
    """The literal whose `&` leaves 0 or the least value of a signed type; that of the other types keeps all."""
    low, high = full(type)
    return f"({low})" if low < 0 else str(high)


def _trapping(g: Context) -> Lines:
    """In a daring kernel, an operation that traps for some values of each kind; a plain one elsewhere."""
    if not g.hot:
        return _chained(g)
    type = g.choices.pick(CHECKED)
    a, b = (data(g, type) for _ in range(2))
    kinds = ["+", "-", "*", "//", "%", "**", "<<", ">>", "-x", "abs", "cast", "step", "exponent", "assert", "float"]
    if type in ("i32", "i64"):
        kinds += ["MIN // -1", "MIN // -1", "abs"]
    kind = g.choices.pick(kinds)
    g.use(f"unguarded {kind}")
    match kind:
        case "-x":
            return _keep(g, f"(-{a})", type)
        case "abs":
            return _keep(g, f"abs({a} & {edge(type)})" if g.choices.chance(50) else f"abs({a})", type)
        case "MIN // -1":
            return _keep(g, f"(({a} & {edge(type)}) // ({b} | (-1)))", type)
        case "<<" | ">>":
            return _keep(g, f"({a} {kind} {integer(g, g.choices.pick(INTEGERS), 1).text})", type)
        case "cast":
            return _keep(g, f"ig.{type}({integer(g, g.choices.pick(INTEGERS), 1).text})", type)
        case "float":
            return _keep(g, f"ig.{type}({floating(g, g.choices.pick(FLOATS), 1).text})", type)
        case "exponent":
            return _keep(g, f"({bounded(g, type, 1, 0, 3).text} ** {bounded(g, 'i32', 1, -2, 3).text})", type)
        case "step":
            at = g.fresh("k")
            return [f"for {at} in range(0, 3, {bounded(g, 'i32', 1, 0, 2).text}):", "    pass"]
        case "assert":
            return [f'assert {a} != {b}, "differ"']
        case _:
            return _keep(g, f"({a} {kind} {b})", type)
