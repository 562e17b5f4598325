"""Random statements: assignments, branches, loops, stores, atomics. Blocks stay small and every loop is short."""

from collections.abc import Callable

from .context import Array, Context, Variable
from .expressions import _text, boolean, bounded, element, expression, index, integer, literal_number, narrow
from .rare import rare_statements
from .values import CHECKED, COMPUTING, FLOATS, HALVES, INTEGERS, MODULAR, NUMBERS, SIGNED, Value, full

Lines = list[str]


def block(g: Context, depth: int, least_count: int = 1) -> Lines:
    """A non-empty block; what it declares is gone after it."""
    lines: Lines = []
    with g.block():
        for _ in range(g.choices.weighted(((3, least_count), (1, 2)))):
            lines += statement(g, depth)
    return lines


def indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


def statement(g: Context, depth: int) -> Lines:
    if g.room <= 0:
        depth = 0
    if depth > 0 and g.choices.chance(30):
        return rare_statements(g)
    options: list[tuple[int, Callable[[Context, int], Lines]]] = [
        (6, _declare), (4, _assign), (4, _augment), (5, _store), (2, _store_augmented), (1, _annotated), (1, _swap),
        (1, _assert), (2, _atomic), (2, helper_call), (1, _pass),
    ]  # fmt: skip
    if depth > 0:
        options += [(4, _if), (4, _for_range), (2, _while), (3, _for_in), (1, _branch_assigned), (1, _local_array)]
    if g.loops:
        options += [(1, _break), (1, _continue)]
    if g.can_return:
        options.append((1, _return))
    return g.choices.weighted(options)(g, depth)


def pick_type(g: Context) -> str:
    return g.choices.pick(("i32", "i64", "f32", "u32", "w32", "f64", "u64", "w64", "bool"))


def bounds_for(g: Context, type: str) -> tuple[int, int]:
    """The interval that a new integer variable promises."""
    low, high = full(type)
    if type not in CHECKED or g.choices.chance(40):
        return low, high
    return (-100 if type in SIGNED else 0), g.choices.pick((100, 7, 1000, 65535))


def fitted(g: Context, variable: Variable, depth: int) -> Value:
    """An expression that this variable may hold."""
    if variable.type in INTEGERS:
        return bounded(g, variable.type, depth, variable.low, variable.high)
    return expression(g, variable.type, depth)


def _declare(g: Context, depth: int) -> Lines:
    type = pick_type(g)
    low, high = bounds_for(g, type)
    value = fitted(g, Variable("", type, low, high), g.choices.weighted(((7, 1), (3, 2))))
    name = g.fresh("v")
    g.declare(name, type, low, high)
    g.use("assignment")
    return [f"{name} = {value.text}"]


def _annotated(g: Context, depth: int) -> Lines:
    type = pick_type(g)
    value = expression(g, type, 2)
    name = g.fresh("v")
    g.declare(name, type)
    g.use("annotated assignment")
    return [f"{name}: {'bool' if type == 'bool' else f'ig.{type}'} = {value.text}"]


def _writable(g: Context) -> list[Variable]:
    return [variable for variable in g.variables() if not variable.constant]


def _assign(g: Context, depth: int) -> Lines:
    targets = _writable(g)
    if not targets:
        return _declare(g, depth)
    variable = g.choices.pick(targets)
    value = fitted(g, variable, 1)
    others = [
        v
        for v in targets
        if v.type == variable.type and v is not variable and (v.low, v.high) == (variable.low, variable.high)
    ]
    if others and g.choices.chance(20):
        g.use("chained assignment")
        return [f"{g.choices.pick(others).name} = {variable.name} = {value.text}"]
    if (variable.type in NUMBERS and g.choices.chance(10) and variable.low <= 1 <= variable.high) or (
        variable.type in FLOATS and g.choices.chance(10)
    ):
        g.use("literal assigned")
        return [f"{variable.name} = {'1.0' if variable.type in FLOATS else '1'}"]
    g.use("assignment")
    return [f"{variable.name} = {value.text}"]


def _augment(g: Context, depth: int) -> Lines:
    """`v op= e`, with an operator that keeps v inside its interval."""
    targets = [variable for variable in _writable(g) if variable.type in NUMBERS]
    if not targets:
        return _declare(g, depth)
    variable = g.choices.pick(targets)
    type = variable.type
    if type in FLOATS:
        op = g.choices.pick(("+", "-", "*", "/", "//", "%"))
        g.use(f"augmented {op}=")
        return [f"{variable.name} {op}= {expression(g, type, 2).text}"]
    whole = (variable.low, variable.high) == full(type)
    if type in MODULAR:
        op = g.choices.pick(("+", "-", "*", "&", "|", "^"))
    elif g.dare() and whole:
        op = g.choices.pick(("+", "-", "*", "//", "%", "<<"))
    elif (whole and not (type in SIGNED and variable.low < 0)) or whole:
        op = g.choices.pick(("&", "|", "^", ">>"))
    else:
        g.use("augmented %=")
        return [f"{variable.name} %= {variable.high if variable.high > 0 else 1}"]
    g.use(f"augmented {op}=")
    right = str(g.choices.below(20)) if op in (">>", "<<") else expression(g, type, 2).text
    return [f"{variable.name} {op}= {right}"]


def _swap(g: Context, depth: int) -> Lines:
    targets = _writable(g)
    pairs = [
        (a, b) for a in targets for b in targets if a is not b and (a.type, a.low, a.high) == (b.type, b.low, b.high)
    ]
    g.use("tuple assignment")
    if not pairs:
        first, second = pick_type(g), pick_type(g)
        a, b = expression(g, first, 2), expression(g, second, 2)
        names = g.fresh("v"), g.fresh("v")
        g.declare(names[0], first)
        g.declare(names[1], second)
        return [f"{names[0]}, {names[1]} = {a.text}, {b.text}"]
    a, b = g.choices.pick(pairs)
    return [f"{a.name}, {b.name} = {b.name}, {a.name}"]


def _pass(g: Context, depth: int) -> Lines:
    g.use("pass")
    return ["pass"]


def _assert(g: Context, depth: int) -> Lines:
    g.use("assert")
    message = g.choices.pick(("", ', "must hold"'))
    if g.dare() or g.choices.chance(g.hot / 2):
        return [f"assert {boolean(g, 1).text}{message}"]
    value = integer(g, g.choices.pick(CHECKED), 2)
    # What is sure to trap may be thought to be negative where no such number can be written.
    return [f"assert {value.text} <= {_text(max(value.high, full(value.type)[0]))}{message}"]


# --- stores ----------------------------------------------------------------------------------------------------------


def stored(g: Context, array: Array, depth: int) -> str:
    """A value that a store to `array` accepts as written: its own type, or an integer that narrows."""
    g.use(f"store {array.element}")
    type = array.type
    if array.element in HALVES:
        return _stored_half(g, array.element, depth)
    if array.element in ("i8", "i16", "u8", "u16"):
        type = g.choices.pick(("i32", "i64", "u32", "u64"))
        g.use("narrowing store")
    elif array.element in ("i32", "u32") and g.choices.chance(20):
        type = g.choices.pick(("i64", "u64"))
        g.use("narrowing store")
    if array.element not in ("bool", *FLOATS) and g.choices.chance(10):
        g.use("literal stored")
        return _text(literal_number(g, type, array.low, array.high))
    if type in MODULAR or array.element in ("bool", *FLOATS):
        return expression(g, type, depth).text
    return bounded(g, type, depth, max(array.low, full(type)[0]), min(array.high, full(type)[1])).text


def _stored_half(g: Context, element: str, depth: int) -> str:
    """A value that is rounded to f16 or bf16 as it is stored."""
    if g.choices.chance(10):
        g.use("literal stored")
        return g.choices.pick(("1.0", "0.5", "(-0.0)", "3.0"))
    source = g.choices.pick(("f32", "f64", "f32", *CHECKED))
    g.use(f"cast {source} to {element}")
    return f"ig.{element}({expression(g, source, depth).text})"


def _targets(g: Context) -> list[Array]:
    return [array for array in g.arrays if array.writable and (array.own or array.use == "local")]


def place(g: Context, array: Array) -> str:
    """The subscript of an element that this thread may write."""
    if array.own:
        return array.own
    return ", ".join(index(g, *extent) for extent in array.extents)


def _store(g: Context, depth: int) -> Lines:
    targets = _targets(g)
    if not targets:
        return _declare(g, depth)
    array = g.choices.pick(targets)
    value = stored(g, array, g.choices.pick((1, 1, 2)))
    if g.choices.chance(18) and array.element in COMPUTING:
        name = g.fresh("v")
        g.use("chained store")
        lines = [f"{name} = {expression(g, array.type, 2).text}" if array.type not in CHECKED else
                 f"{name} = {bounded(g, array.type, 2, array.low, array.high).text}"]  # fmt: skip
        g.declare(name, array.type, array.low, array.high)
        return [*lines, f"{name} = {array.name}[{place(g, array)}] = {name}"]
    return [f"{array.name}[{place(g, array)}] = {value}"]


def _store_augmented(g: Context, depth: int) -> Lines:
    targets = [array for array in _targets(g) if array.readable and array.element in NUMBERS]
    if not targets:
        return _store(g, depth)
    array = g.choices.pick(targets)
    g.use("augmented store")
    where = f"{array.name}[{place(g, array)}]"
    if array.element in FLOATS:
        return [f"{where} {g.choices.pick(('+', '-', '*', '/'))}= {expression(g, array.type, 2).text}"]
    if array.element in MODULAR:
        return [f"{where} {g.choices.pick(('+', '*', '^', '-'))}= {expression(g, array.type, 2).text}"]
    if g.dare():
        return [f"{where} {g.choices.pick(('+', '-', '*'))}= {expression(g, array.type, 2).text}"]
    if (array.low, array.high) == full(array.element):
        return [f"{where} {g.choices.pick(('^', '|', '&'))}= {expression(g, array.type, 2).text}"]
    return [f"{where} %= {max(array.high, 1)}"]


def _atomic(g: Context, depth: int) -> Lines:
    arrays = [array for array in g.arrays if array.use == "atomic"]
    return atomic_on(g, g.choices.pick(arrays)) if arrays else _store(g, depth)


def atomic_on(g: Context, array: Array) -> Lines:
    """One update by the operation that this array is for."""
    op = array.atomic
    g.use(f"atomic {op}")
    where = ", ".join(index(g, *extent) for extent in array.extents)
    if len(array.extents) > 1:
        where = f"({where})"
    if op == "exchange":
        return [f"ig.atomic_exchange({array.name}, {where}, 7)"]
    if op == "cas":
        return [f"ig.atomic_cas({array.name}, {where}, 3, 9)"]
    if op == "add" and array.type in CHECKED:
        daring = g.choices.chance(50 if g.hot else 0)
        value = expression(g, array.type, 1).text if daring else bounded(g, array.type, 1, 0, 100).text
    else:
        value = expression(g, array.type, 2).text
    return [f"ig.atomic_{op}({array.name}, {where}, {value})"]


# --- control flow ----------------------------------------------------------------------------------------------------


def _if(g: Context, depth: int) -> Lines:
    g.use("if")
    lines = [f"if {boolean(g, 1).text}:", *indented(block(g, depth - 1))]
    if g.choices.chance(25):
        g.use("elif")
        lines += [f"elif {boolean(g, 1).text}:", *indented(block(g, depth - 1))]
    if g.choices.chance(50):
        g.use("else")
        lines += ["else:", *indented(block(g, depth - 1))]
    return lines


def _branch_assigned(g: Context, depth: int) -> Lines:
    """A variable that every branch assigns, read afterwards."""
    g.use("assigned in every branch")
    type = g.choices.pick(("i32", "f32", "u64", "bool"))
    condition = boolean(g, 1).text
    with g.block():
        first = block_lines(g, depth)
        a = expression(g, type, 2).text
    with g.block():
        b = expression(g, type, 2).text
    name = g.fresh("v")
    g.declare(name, type)
    return [f"if {condition}:", *indented([*first, f"{name} = {a}"]), "else:", *indented([f"{name} = {b}"])]


def block_lines(g: Context, depth: int) -> Lines:
    return _declare(g, depth) if g.choices.chance(50) else []


def _bound(g: Context, type: str, low: int, high: int) -> Value:
    if g.choices.chance(50):
        number = g.choices.between(max(low, -3), min(high, 4))
        return Value(_text(number), "", number, number, number)
    value = integer(g, type, 1)
    # Never dared: it would not trap, but run for hours.
    hot, g.hot = g.hot, 0
    value = narrow(g, value, low, high)
    g.hot = hot
    return value


def _for_range(g: Context, depth: int) -> Lines:
    type = g.choices.pick(("i64", "i32", "u32", "u64"))
    floor = -3 if type in SIGNED else 0
    form = g.choices.below(4)
    name = g.fresh("k")
    g.use("for range")
    if form == 0:
        stop = _bound(g, type, floor, 4)
        text, low, high, bounds = f"range({stop.text})", 0, max(stop.high - 1, 0), [stop]
    elif form == 1:
        start, stop = _bound(g, type, floor, 2), _bound(g, type, floor, 4)
        text, low, high = f"range({start.text}, {stop.text})", start.low, max(stop.high - 1, start.low)
        bounds = [start, stop]
        g.use("for range start")
    else:
        start, stop = _bound(g, type, floor, 5), _bound(g, type, floor, 5)
        low, high = min(start.low, stop.low), max(start.high, stop.high)
        bounds = [start, stop]
        if form == 2:
            step = g.choices.pick((2, 1, 3, -1, -2) if type in SIGNED else (2, 1, 3))
            text = f"range({start.text}, {stop.text}, {step})"
            g.use("for range negative step" if step < 0 else "for range step")
        else:
            value = bounded(g, type, 1, 0, 2)
            value = value if g.dare() else Value(f"({value.text} + 1)", type, 1, 3)
            bounds.append(value)
            text = f"range({start.text}, {stop.text}, {value.text})"
            g.use("for range run-time step")
        low, high = low - 3, high + 3
        if type not in SIGNED:
            low = max(low, 0)
    literal = all(part.number is not None for part in bounds)
    counter = "i64" if literal else type
    if g.choices.chance(20):
        factor = g.choices.weighted(((3, ""), (2, ", 1"), (3, ", 2"), (2, ", 3"), (1, ", 8")))
        g.use("unroll for")
        text = f"ig.unroll({text}{factor})"
    if depth > 1 and g.trips > 8:
        depth = 1
    g.trips *= 4
    g.loops += 1
    with g.block():
        variable = g.declare(name, counter, low, high)
        variable.constant = not g.choices.chance(25)
        if not variable.constant:
            g.use("counter assigned")
        body = block(g, depth - 1)
    g.loops -= 1
    g.trips //= 4
    return [f"for {name} in {text}:", *indented(body)]


def _while(g: Context, depth: int) -> Lines:
    g.use("while")
    name = g.fresh("w")
    limit = g.choices.between(1, 5)
    condition = f"{name} < {limit}"
    if g.choices.chance(60):
        condition += f" and {boolean(g, 1).text}"
    if g.choices.chance(15):
        g.use("unroll while")
        condition = f"ig.unroll({condition}{g.choices.pick(('', ', 2', ', 3'))})"
    counter = g.declare(name, "i32", 0, limit)
    counter.constant = True
    g.trips *= 4
    g.loops += 1
    body = [f"{name} += 1", *block(g, depth - 1)]
    g.loops -= 1
    g.trips //= 4
    return [f"{name} = ig.i32(0)", f"while {condition}:", *indented(body)]


def _for_in(g: Context, depth: int) -> Lines:
    """Loops over short arrays, literal tuples, enumerate and zip of them."""
    arrays = [
        a for a in g.arrays if a.use in ("read", "local", "table") and len(a.extents) == 1 and a.extents[0][2] <= 8
    ]
    item = g.fresh("e")
    sequence, variables = _sequence(g, arrays, item)
    kind = g.choices.below(3)
    if kind == 1:
        g.use("enumerate")
        at = g.fresh("k")
        variables = [Variable(at, "i64", 0, 8), *variables]
        sequence = f"enumerate({sequence})"
        heads = f"{at}, {item}"
    elif kind == 2:
        g.use("zip")
        second = g.fresh("e")
        other, more = _sequence(g, arrays, second)
        sequence, variables, heads = f"zip({sequence}, {other})", [*variables, *more], f"{item}, {second}"
    else:
        heads = item
    g.trips *= 4
    g.loops += 1
    with g.block():
        for variable in variables:
            variable.constant = True
            g.scopes[-1].append(variable)
        body = block(g, depth - 1)
    g.loops -= 1
    g.trips //= 4
    return [f"for {heads} in {sequence}:", *indented(body)]


def _sequence(g: Context, arrays: list[Array], item: str) -> tuple[str, list[Variable]]:
    if arrays and g.choices.chance(60):
        array = g.choices.pick(arrays)
        g.use("for in array")
        return array.name, [Variable(item, array.type, array.low, array.high)]
    g.use("for in tuple")
    if g.choices.chance(50):
        numbers = [g.choices.between(-3, 9) for _ in range(g.choices.between(1, 4))]
        return f"({', '.join(_text(n) for n in numbers)},)", [Variable(item, "i64", min(numbers), max(numbers))]
    type = g.choices.pick(NUMBERS)
    values = [expression(g, type, 1) for _ in range(g.choices.between(1, 3))]
    bounds = (min(v.low for v in values), max(v.high for v in values))
    return f"({', '.join(v.text for v in values)},)", [Variable(item, type, *bounds)]


def _break(g: Context, depth: int) -> Lines:
    g.use("break")
    return [f"if {boolean(g, 1).text}:", "    break"]


def _continue(g: Context, depth: int) -> Lines:
    g.use("continue")
    return [f"if {boolean(g, 1).text}:", "    continue"]


def _return(g: Context, depth: int) -> Lines:
    g.use("return")
    return [f"if {boolean(g, 1).text}:", "    return"]


def _local_array(g: Context, depth: int) -> Lines:
    """A small array of this thread's own."""
    g.use("local array")
    element_type = g.choices.pick(("i32", "f32", "i64", "u8", "f64", "w32", "bool", "i16", "f16", "bf16"))
    name = g.fresh("l")
    shape = [g.choices.between(1, 4) for _ in range(g.choices.between(1, 2))]
    extents = tuple((str(extent), extent, extent) for extent in shape)
    low, high = full(element_type)
    g.arrays.append(Array(name, element_type, extents, "local", low, high, writable=True))
    written = str(shape[0]) if len(shape) == 1 else f"({', '.join(map(str, shape))})"
    spelled = "bool" if element_type == "bool" else f"ig.{element_type}"
    array = g.arrays[-1]
    lines = [f"{name} = ig.local({spelled}, {written})", f"{name}[{place(g, array)}] = {stored(g, array, 1)}"]
    read = g.fresh("v")
    lines.append(f"{read} = {element(g, array).text}")
    g.declare(read, array.type, low, high)
    return lines


# --- helpers ---------------------------------------------------------------------------------------------------------


def helper_call(g: Context, depth: int) -> Lines:
    """Write a new helper with an early return, then call it."""
    if g.in_helper or len(g.helpers) >= 2:
        return _declare(g, depth)
    form = g.choices.weighted(((4, 0), (4, 1), (2, 2), (1, 3)))
    name = g.fresh("helper")
    if form == 2:
        return row_helper(g, name)
    if form == 3:
        return _recursive_helper(g, name)
    types = [g.choices.pick(COMPUTING) for _ in range(g.choices.between(1, 3))]
    result = g.choices.pick(NUMBERS)
    inner = Context(g.choices, g.hot, g.used, in_helper=True, counter=g.counter, rank=g.rank)
    for at, type in enumerate(types):
        inner.declare(f"p{at}", type)
    annotated = form == 0
    g.use("helper annotated" if annotated else "helper unannotated")
    body = [*statement(inner, 1)]
    body += [f"if {boolean(inner, 1).text}:", f"    return {expression(inner, result, 2).text}"]
    if g.choices.chance(50):
        g.use("helper returns out of a loop")
        at = inner.fresh("k")
        body += [
            f"for {at} in range(3):",
            f"    if {boolean(inner, 1).text}:",
            f"        return {expression(inner, result, 1).text}",
        ]
    body += statement(inner, 1)
    body += [f"return {expression(inner, result, 2).text}"]
    g.counter = inner.counter
    spelled = ["bool" if type == "bool" else f"ig.{type}" for type in types]
    heads = ", ".join(f"p{at}: {word}" if annotated else f"p{at}" for at, word in enumerate(spelled))
    arrow = f" -> ig.{result}" if annotated else ""
    g.helpers.append("\n".join(["@ig.func", f"def {name}({heads}){arrow}:", *indented(body)]))
    arguments = ", ".join(expression(g, type, 2).text for type in types)
    target = g.fresh("v")
    g.declare(target, result)
    g.use("helper with early return")
    return [f"{target} = {name}({arguments})"]


def row_helper(g: Context, name: str) -> Lines:
    """A helper over an array or a row of one."""
    rows = [a for a in g.arrays if a.use == "read" and a.readable and len(a.extents) in (1, 2) and a.type in FLOATS]
    if not rows:
        return _declare(g, 0)
    array = g.choices.pick(rows)
    g.helpers.append("\n".join([
        "@ig.func", f"def {name}(row, bias):", "    total = bias", "    for k in range(len(row)):",
        "        if row[k] > 1000.0:", "            return total", "        total += row[k]", "    return total",
    ]))  # fmt: skip
    argument = array.name
    if len(array.extents) == 2:
        g.use("row passed to a helper")
        argument = f"{array.name}[{index(g, *array.extents[0])}]"
    else:
        g.use("array passed to a helper")
    target = g.fresh("v")
    bias = expression(g, array.type, 1).text
    g.declare(target, array.type)
    return [f"{target} = {name}({argument}, {bias})"]


def _recursive_helper(g: Context, name: str) -> Lines:
    g.use("self tail recursion")
    type = g.choices.pick(("u32", "i32", "i64"))
    g.helpers.append("\n".join([
        "@ig.func", f"def {name}(a: ig.{type}, b: ig.{type}) -> ig.{type}:", "    if b == 0:", "        return a",
        f"    return {name}(b, a % b)",
    ]))  # fmt: skip
    a, b = bounded(g, type, 2, 0, 1000), bounded(g, type, 2, 0, 1000)
    target = g.fresh("v")
    g.declare(target, type)
    return [f"{target} = {name}({a.text}, {b.text})"]


__all__ = ["block", "bounded", "element", "indented", "integer", "narrow", "statement", "stored"]
