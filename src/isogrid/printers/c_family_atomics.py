"""Atomic updates: the language's own, others by comparing and swapping, and adds whose total is watched."""

from isogrid.ir import device as d
from isogrid.ir.types import Scalar, Space
from isogrid.printers.c_family_groups import combiner
from isogrid.printers.c_family_helpers import function_name
from isogrid.printers.c_family_meetings import Together
from isogrid.printers.c_family_statements import Body
from isogrid.printers.c_family_text import CType, Text, element_type, unsigned
from isogrid.printers.c_family_traps import wrapped_function
from isogrid.support.errors import KnownLimit


def atomic_update(together: Together, body: Body, node: d.Atomic) -> None:
    type = element_type(node.element)
    place = body.element(node.buffer, node.index)
    space = "shared" if together.spaces[node.buffer] is Space.SHARED else "global"
    word = together.spelling.spaces[space]
    if node.op == "load":
        body.give(node.target, Text(together.spelling.atomic_load.format(p=f"&{place}", t=type.value, s=word), type))
        return
    value = body.expressions.converted(node.value, type)
    if node.op == "store":
        body.line(together.spelling.atomic_store.format(p=f"&{place}", t=type.value, s=word, v=value.text) + ";")
        return
    expected = None if node.expected is None else body.expressions.converted(node.expected, type)
    if node.total is not None:
        _counted_add(together, body, node, type, value, word)
        return
    text = _update(together, body, node.op, type, f"&{place}", value, expected, space)
    if node.target:
        body.give(node.target, Text(text, type))
    else:
        body.line(f"{text};")


def _update(
    together: Together, body: Body, op: str, type: CType, place: str, value: Text, expected: Text | None, space: str
) -> str:
    key = f"{op}_{type.suffix}"
    word = together.spelling.spaces[space]
    found = together.spelling.atomics.get(key)
    if found is not None:
        return found.format(p=place, v=value.text, e=expected.text if expected else "", s=word)
    name, text = _loop_function(together, body, op, type, space)
    together.functions[name] = text
    return f"{name}({place}, {value.text})"


def _loop_function(together: Together, body: Body, op: str, type: CType, space: str) -> tuple[str, str]:
    """An atomic that the language lacks, by comparing and swapping the bits of the element."""
    bits = unsigned(type.bits)
    swap = together.spelling.atomics.get(f"cas_{bits.suffix}")
    if swap is None:
        raise KnownLimit(f"{together.spelling.language} has no atomic {op} of {type.suffix} elements here")
    word = together.spelling.spaces[space]
    scalar = {CType.F32: Scalar.F32, CType.F64: Scalar.F64}.get(type)
    if scalar is None or op not in ("min", "max", "add", "exchange"):
        raise KnownLimit(f"{together.spelling.language} has no atomic {op} of {type.suffix} elements here")
    combined = (
        "value"
        if op == "exchange"
        else combiner(together.spelling, "sum" if op == "add" else op, scalar, body.expressions.needs).format(
            a="old", b="value"
        )
    )
    there, back = (
        function_name(together.spelling, k) for k in (f"{type.suffix}_{bits.suffix}", f"{bits.suffix}_{type.suffix}")
    )
    name = f"atomic_{op}_{type.suffix}" + ("" if not word else f"_{space}")
    swapped = swap.format(p=f"({word}{bits.value}*)place", e="seen", v=f"{there}({combined})", s=word)
    text = f"""
{together.spelling.function}{type.value} {name}({word}{type.value}* place, {type.value} value) {{
    {bits.value} seen = *(volatile {word}{bits.value}*)place;
    while (true) {{
        const {type.value} old = {back}(seen);
        const {bits.value} now = {swapped};
        if (now == seen) return old;
        seen = now;
    }}
}}"""
    return name, text


def _counted_add(together: Together, body: Body, node: d.Atomic, type: CType, value: Text, word: str) -> None:
    """An add whose sum may leave its type: a wrap is noted, and what it means is seen when all have added."""
    index = body.expressions.index(node.index)
    buffer = body.names.give("buffer", node.buffer)
    shared = together.spaces[node.buffer] is Space.SHARED
    body.opened("{")
    body.line(f"const {index.type.value} at = {index.text};")
    body.line(f"const {type.value} more = {value.text};")
    update = _update(
        together, body, "add", type, f"&{buffer}[at]", Text("more", type), None, "shared" if shared else "global"
    )
    body.line(f"const {type.value} old = {update};")
    if node.target:
        body.give(node.target, Text("old", type))
    key = f"{'s' if type.is_signed else 'u'}add_overflows_{type.suffix}"
    body.expressions.needs.add(key)
    body.opened(f"if ({function_name(together.spelling, key)}(old, more)) {{")
    down = "more < 0 ? 1 : 0" if type.is_signed else "0"
    if shared:
        sign = "more < 0 ? -1 : 1" if type.is_signed else "1"
        count = together.spelling.atomics["add_i32"].format(p=f"&{together.counters(node.buffer)}[at]", v=sign, s=word)
        body.line(f"{count};")
        body.line("sum_wrapped = true;")
    else:
        number = next(k for k, p in enumerate(together.kernel.parameters) if p.name == node.buffer)
        name, text = wrapped_function(together.spelling)
        together.functions[name] = text
        event = f"{2 * number} + ({down})" if type.is_signed else f"{2 * number}"
        body.line(f"{name}(watch, {event}, ({together.spelling.key_type})at);")
    body.closed()
    body.closed()
