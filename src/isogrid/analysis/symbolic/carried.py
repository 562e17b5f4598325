"""What stays true of variables that a loop only makes larger, or only smaller, by literal factors.

while d > 0:        offset starts at 1 and stays at least 1; d starts at n // 2 and stays between 0 and that
    offset *= 2
    d >>= 1
"""

from typing import Literal, TypeAlias

from isogrid.analysis.symbolic.context import Context, Value
from isogrid.analysis.symbolic.linear import prove
from isogrid.analysis.symbolic.paths import unknown_like
from isogrid.analysis.symbolic.polynomial import Polynomial
from isogrid.ir import kernel as k
from isogrid.ir.walk import assigned_local, visit

_Way: TypeAlias = Literal["larger", "smaller"]


def scaled_names(block: k.Block) -> dict[str, frozenset[_Way]]:
    """Variables that every assignment in the block scales, and in which ways. What is not negative stays so."""
    ways: dict[str, set[_Way | None]] = {}
    for node in visit(block):
        assigned = assigned_local(node)
        if assigned is not None:
            ways.setdefault(assigned[0], set()).add(_scaled(node) if isinstance(node, k.Assign) else None)
    return {name: frozenset(way for way in found if way) for name, found in ways.items() if None not in found}


def _scaled(s: k.Assign) -> _Way | None:
    if not s.value.type.is_checked:
        return None
    match s.value:
        case k.Binary("mul" | "add" | "shl" as op, k.Local(name, _), k.Const(amount, _)) if name == s.name:
            return "larger" if amount >= (op == "mul") else None
        case k.Binary("mul" | "add" as op, k.Const(amount, _), k.Local(name, _)) if name == s.name:
            return "larger" if amount >= (op == "mul") else None
        case k.Binary("floordiv" | "shr" as op, k.Local(name, _), k.Const(amount, _)) if name == s.name:
            return "smaller" if amount >= (op == "floordiv") else None
        case _:
            return None


def carried(
    c: Context, prefix: str, level: int, sample: Value, at_entry: Value | None, ways: frozenset[_Way] | None
) -> Value:
    """A fresh value of the kind of `sample` for a variable that had the value `at_entry` before the loop."""
    value = unknown_like(c, prefix, level, sample)
    if not ways or not isinstance(value, Polynomial) or not isinstance(at_entry, Polynomial):
        return value
    if prove(c, at_entry, c.facts, None, 2):
        c.atoms[next(iter(value.terms))[0]].nonnegative = True
        if "smaller" not in ways:
            c.facts.append(value - at_entry)
        if "larger" not in ways:
            c.facts.append(at_entry - value)
    return value
