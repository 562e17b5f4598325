"""Bodies of grouped kernels: phases that write one's own shared element, a barrier, then reading anybody's."""

from math import prod

from .context import Array, Context
from .elementary import elementary_statements
from .expressions import bounded, expression
from .rare import rare_statements
from .statements import _text, atomic_on, indented, statement, stored
from .values import CHECKED, FLOATS, HALVES, INTEGERS, MODULAR, NARROW, NUMBERS, full

Lines = list[str]


def grouped_body(g: Context, head: Lines, guard: str, block_shape: tuple[int, ...], results: list[Array]) -> Lines:
    """Head, shared arrays, phases between barriers, and the guarded results."""
    size = prod(block_shape)
    lines = list(head)
    shared = [_shared(g, block_shape, lines) for _ in range(g.choices.between(0, 2))]
    counters = _shared_counters(g, lines)
    if len(block_shape) == 1:
        lines.append("t = ig.lid()")
        g.declare("t", "i64", 0, size - 1).constant = True
    else:
        names = ("tz", "ty", "tx")[-len(block_shape) :]
        lines.append(f"{', '.join(names)} = ig.lids()")
        g.use("query lids")
        for name, extent in zip(names, block_shape, strict=True):
            g.declare(name, "i64", 0, extent - 1).constant = True
    lines += rare_statements(g) + elementary_statements(g)
    lines += [line for array in g.arrays if array.use == "atomic" for line in atomic_on(g, array)]
    if g.choices.chance(60):
        lines += _collective(g)
    for _ in range(g.choices.weighted(((6, 1), (2, 2)))):
        lines += _part(g, shared, counters, depth=2)
    return lines + _results(g, guard, results)


def _shared(g: Context, block_shape: tuple[int, ...], lines: Lines) -> Array:
    element = g.choices.pick((*NUMBERS, *NARROW, *HALVES, "bool"))
    name = g.fresh("sh")
    g.use(f"shared {element}")
    low, high = full(element)
    if element in CHECKED and g.choices.chance(60):
        low, high = (0, 100)
    spelled = "bool" if element == "bool" else f"ig.{element}"
    shape = str(block_shape[0]) if len(block_shape) == 1 else f"({', '.join(map(str, block_shape))})"
    lines.append(f"{name} = ig.shared({spelled}, {shape})")
    own = "t" if len(block_shape) == 1 else ", ".join(("tz", "ty", "tx")[-len(block_shape) :])
    extents = tuple((str(extent), extent, extent) for extent in block_shape)
    return Array(name, element, extents, "own", low, high, writable=True, own=own)


def _shared_counters(g: Context, lines: Lines) -> Array | None:
    """A shared array that only atomics touch until a barrier."""
    if not g.choices.chance(30):
        return None
    element = g.choices.pick(INTEGERS)
    name = g.fresh("count")
    op = g.choices.pick(("add", "add", "max", "or_", "xor", "min", "and_"))
    g.use(f"shared atomic {op}")
    lines.append(f"{name} = ig.shared(ig.{element}, 4)")
    return Array(name, element, (("4", 4, 4),), "atomic", *full(element), readable=False, atomic=op)


def _part(g: Context, shared: list[Array], counters: Array | None, depth: int) -> Lines:
    """A phase, a collective, or either inside uniform control flow."""
    kind = g.choices.weighted(
        ((5, "phase"), (2, "collective"), (1, "loop"), (1, "if"), (1, "return"), (2, "count"), (1, "global"))
    )
    if kind == "loop" and depth > 0:
        g.use("barrier in a loop")
        name = g.fresh("r")
        stop = g.choices.pick(("3", "1", "2"))
        with g.block():
            g.declare(name, "i64", 0, 2).constant = True
            body = _part(g, shared, counters, depth - 1)
            if g.choices.chance(40):
                g.use("uniform break around a barrier")
                body += [f"if {_uniform(g)}:", "    break"]
        return [f"for {name} in range({stop}):", *indented(body)]
    if kind == "if" and depth > 0:
        g.use("barrier under a uniform if")
        with g.block():
            body = _part(g, shared, counters, depth - 1)
        return [f"if {_uniform(g)}:", *indented(body)]
    if kind == "return" and depth == 2:
        g.use("uniform return before a barrier")
        return [f"if {_uniform(g)}:", "    return", *_collective(g)]
    if kind == "count" and counters is not None:
        return _count(g, counters)
    if kind == "phase" and shared:
        return _phase(g, shared)
    return _collective(g)


def _uniform(g: Context) -> str:
    """A condition that is the same for the whole group."""
    scalars = [query for query in g.queries if query.text.startswith("s") and query.type in NUMBERS]
    if scalars and g.choices.chance(60):
        scalar = g.choices.pick(scalars)
        return f"{scalar.text} {g.choices.pick(('>', '<', '!='))} {'0.5' if scalar.type in FLOATS else '1'}"
    return g.choices.pick(("ig.group_id(0) % 2 == 0", "ig.num_groups(0) > 1", "ig.group_id(0) == 0"))


def _phase(g: Context, shared: list[Array]) -> Lines:
    """Write own elements, barrier, read anyone's, barrier."""
    g.use("barrier")
    g.use("shared array")
    array = g.choices.pick(shared)
    value = stored(g, array, 1)
    lines = [f"{array.name}[{array.own}] = {value}"]
    with g.block():
        g.arrays.append(array)
        lines += statement(g, 1)
    lines.append("ig.barrier()")
    result, variable = _read_all(g, array)
    with g.block():
        g.arrays.append(Array(array.name, array.element, array.extents, "phase", array.low, array.high))
        body = statement(g, 1)
    lines += [result, *body, "ig.barrier()"]
    g.declare(variable, array.type, array.low, array.high)
    return lines


def _read_all(g: Context, array: Array) -> tuple[str, str]:
    name = g.fresh("v")
    g.use("shared read of another thread")
    names = array.own.split(", ")
    parts = []
    for part, (_, extent, _) in zip(names, array.extents, strict=True):
        shift = g.choices.between(0, extent)
        parts.append(f"({part} + {shift}) % {extent}" if g.choices.chance(70) else f"{extent - 1} - {part}")
    return f"{name} = {array.name}[{', '.join(parts)}]", name


def _count(g: Context, counters: Array) -> Lines:
    """Shared atomics, a barrier, a read of the totals."""
    g.use("barrier")
    g.use("shared atomic")
    type = counters.type
    if counters.atomic == "add" and type in CHECKED:
        value = expression(g, type, 1).text if g.dare() else bounded(g, type, 2, 0, 100).text
    else:
        value = expression(g, type, 2).text
    where = bounded(g, g.choices.pick(("i64", "i32", "u32")), 2, 0, 3).text
    name = g.fresh("v")
    lines = [f"ig.atomic_{counters.atomic}({counters.name}, {where}, {value})", "ig.barrier()"]
    read = bounded(g, "i64", 1, 0, 3).text
    lines += [f"{name} = {counters.name}[{read}]", "ig.barrier()"]
    g.declare(name, type)
    return lines


def _collective(g: Context) -> Lines:
    op = g.choices.pick(("sum", "min", "max", "scan", "scan exclusive", "any", "all"))
    g.use(f"group {op}")
    name = g.fresh("v")
    if op in ("any", "all"):
        value = expression(g, "bool", 2)
        g.declare(name, "bool")
        return [f"{name} = ig.group_{op}({value.text})"]
    type = g.choices.pick(FLOATS if g.choices.chance(60) else INTEGERS)
    g.use(f"group {op} {type}" if type in FLOATS else f"group {op} integer")
    if op in ("sum", "scan", "scan exclusive") and type in CHECKED and not g.choices.chance(40 if g.hot else 0):
        value = bounded(g, type, 2, 0, 1000)
        low, high = 0, 1000 * 64
    else:
        value = expression(g, type, 2)
        low, high = full(type) if op in ("sum", "scan", "scan exclusive") else (value.low, value.high)
        if type in MODULAR:
            low, high = full(type)
    g.declare(name, type, low, high)
    exclusive = ", exclusive=True" if op == "scan exclusive" else ""
    return [f"{name} = ig.group_{op.split()[0]}({value.text}{exclusive})"]


def _results(g: Context, guard: str, results: list[Array]) -> Lines:
    """Stores of own elements under the guard (left out when daring), and of one value per group."""
    lines: Lines = []
    body: Lines = []
    for array in results:
        if array.use == "leader":
            first = " and ".join(f"ig.lid({axis}) == 0" for axis in range(g.rank))
            lines += [f"if {first}:", f"    {array.name}[{array.own}] = {bounded(g, 'i64', 2, *full('i64')).text}"]
            continue
        with g.block():
            g.arrays.append(array)
            if not array.readable or g.choices.chance(50):
                body += [f"{array.name}[{array.own}] = {stored(g, array, 2)}"]
            else:
                body += statement(g, 1)
                body += [f"{array.name}[{array.own}] = {stored(g, array, 2)}"]
    if not body:
        return lines
    if not guard or g.choices.chance(g.hot):
        g.use("no guard" if guard else "whole groups")
        return [*lines, *body]
    g.use("guard of the padding")
    return [*lines, f"if {guard}:", *indented(body)]


__all__ = ["_text", "grouped_body"]
