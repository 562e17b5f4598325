"""The value of a reduction from its folded parts: exact for integers, with a trap when the total leaves the type."""

from collections.abc import Mapping, Sequence
from typing import Any

from isogrid.builtins.meaning import quiet
from isogrid.builtins.operators import OPERATORS
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.offloading.context import author_name
from isogrid.offloading.rule3_names import Reduction
from isogrid.offloading.tree import Part
from isogrid.traps import trap_exception


def finished(function: str, reduction: Reduction, start: Any, folded: Mapping[str, Any], parts: Sequence[Part]) -> Any:
    """`start op folded`. Raises `KernelOverflowError` where an exact integer total does not fit."""
    if len(parts) == 1 and parts[0].of == "value":
        with quiet():
            return OPERATORS[reduction.op].meaning(reduction.type, start, folded[parts[0].name])
    values = {part.of: folded[part.name] for part in parts}
    if "wide" in values:
        total = start + values["wide"]
    elif "low" in values:
        total = start + values["low"] + (values["high"] << 32)
    else:
        total = start * _product(values)
    if not reduction.type.holds(total):
        site = TrapSite(TrapKind.TOTAL, reduction.span, author_name(reduction.name), reduction.type.value)
        raise trap_exception(site, function, None, ())
    return total


def _product(values: Mapping[str, Any]) -> int:
    """The product of integers from its value modulo 2^64, its float value and the number of zeros among them.

    The float is exact below 2^53 and has the right sign and magnitude beyond; where it is far outside every type the
    product need not be known exactly.
    """
    if values["zero"]:
        return 0
    size, modulo = float(values["size"]), int(values["nonzero"])
    if abs(size) >= 2.0**66:
        return 1 << 66
    turns = round((size - modulo) / 2.0**64)
    return min((modulo + (turns + t << 64) for t in (-1, 0, 1)), key=lambda candidate: abs(candidate - int(size)))
