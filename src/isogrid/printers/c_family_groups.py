"""Functions in which the threads of a group combine values, in the fixed pairing of the language.

Each takes the group's slots, of which every thread has filled its own before a barrier, and ends with a barrier.
"""

from isogrid.ir import device as d
from isogrid.ir.types import Scalar
from isogrid.printers.c_family_helpers import function_name
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_text import PRECEDENCE, CType, element_type


def combiner(spelling: Spelling, op: str, scalar: Scalar, needs: set[str]) -> str:
    """How two values are combined, as a template over `a` and `b`."""
    type = element_type(scalar)
    if op in ("sum", "scan") and not scalar.is_float:
        return "{a} + {b}"
    if op in ("sum", "scan"):
        return applied(spelling.operations[f"fadd_{type.suffix}"])
    key = f"{'f' if scalar.is_float else 's' if scalar.is_signed else 'u'}{op}_{type.suffix}"
    needs.add(key)
    word = function_name(spelling, key)
    return applied(word)


def applied(word: str) -> str:
    """A sign or function of two values as a template over `a` and `b`."""
    return f"{{a}} {word} {{b}}" if word in PRECEDENCE else f"{word}({{a}}, {{b}})"


def tree_function(
    spelling: Spelling, op: str, scalar: Scalar, type: CType, threads: int, needs: set[str]
) -> tuple[str, str]:
    """Name and text of a sum, minimum or maximum: slot[t] op slot[t + step] for step = half .. 1."""
    name = f"group_{op}_{scalar.value if type is element_type(scalar) else type.suffix}"
    half = 1 << (max(threads - 1, 1).bit_length() - 1)
    inside = "t < step" if threads == 2 * half else f"t < step && t + step < {threads}"
    combined = combiner(spelling, op, scalar, needs).format(a="slots[t]", b="slots[t + step]")
    text = f"""
{spelling.function}{type.value} {name}({spelling.spaces["shared"]}{type.value}* slots, int t) {{
    for (int step = {half}; step > 0; step >>= 1) {{
        if ({inside}) slots[t] = {combined};
        {spelling.barrier}
    }}
    const {type.value} result = slots[0];
    {spelling.barrier}
    return result;
}}"""
    return name, text


def scan_function(spelling: Spelling, type: CType, threads: int) -> tuple[str, str]:
    """Name and text of the inclusive prefixes, left in the slots: slots[t - step] + slots[t] for step = 1, 2, 4 ..."""
    name = f"group_scan_{type.suffix}"
    added = applied(spelling.operations[f"fadd_{type.suffix}"] if type.is_float else "+")
    added = added.format(a="slots[t - step]", b="value")
    text = f"""
{spelling.function}void {name}({spelling.spaces["shared"]}{type.value}* slots, int t) {{
    for (int step = 1; step < {threads}; step <<= 1) {{
        {type.value} value = slots[t];
        if (t >= step) value = {added};
        {spelling.barrier}
        slots[t] = value;
        {spelling.barrier}
    }}
}}"""
    return name, text


def any_function(spelling: Spelling) -> tuple[str, str]:
    """Name and text of a vote of the group through shared memory."""
    text = f"""
{spelling.function}bool group_any({spelling.spaces["shared"]}int* slots, bool value, int t) {{
    if (t == 0) slots[0] = 0;
    {spelling.barrier}
    if (value) slots[0] = 1;
    {spelling.barrier}
    const bool result = slots[0] != 0;
    {spelling.barrier}
    return result;
}}"""
    return "group_any", text


def wide_type(node: d.Collective | d.WarpCollective) -> CType:
    """The type that holds every partial total of a checked sum or scan of 32-bit values, else that of the values."""
    type = element_type(node.scalar)
    if node.total is None or node.op not in ("sum", "scan") or type.bits == 64:
        return type
    return CType.I64 if type.is_signed else CType.U64
