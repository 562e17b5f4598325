"""Group operations: types, identities and the fixed pairing of spec 1.6, which makes results the same everywhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from isogrid.builtins import floats, integers
from isogrid.builtins.meaning import Trapped
from isogrid.builtins.operators import NUMBERS
from isogrid.builtins.table import Variance
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One group operation; `op` is the kernel-IR name. `totals` marks those that trap by a mathematical total.

    `meaning(type, values, exclusive)` gives one result per thread from the values by linear thread index.
    """

    op: str
    spelling: str
    types: tuple[Scalar, ...]
    meaning: Callable[[Scalar, Sequence[Any], bool], list[Any]]
    variance: Variance
    doc: str
    totals: bool = False


def identity(op: str, type: Scalar) -> Any:
    """What pads the slots to a power of two: combining with it gives the other operand, bit for bit."""
    if op == "sum":
        return floats.number(type, -0.0) if type.is_float else 0
    infinity = floats.number(type, float("inf")) if type.is_float else None
    if op == "min":
        return type.maximum if infinity is None else infinity
    return type.minimum if infinity is None else -infinity


def tree(type: Scalar, op: str, values: Sequence[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """slot[t] op slot[t + s] for s = half .. 1 over the values, padded with the identity to a power of two."""
    size = 1 << (len(values) - 1).bit_length()
    slots = [*values, *[identity(op, type)] * (size - len(values))]
    step = size // 2
    while step:
        for t in range(step):
            slots[t] = combine(slots[t], slots[t + step])
        step //= 2
    return slots[0]


def _sum(type: Scalar, values: Sequence[Any], exclusive: bool) -> list[Any]:
    """The sum in every thread. Integers: exact, wrapped for w-types, a trap (of thread 0) where it leaves the type."""
    if type.is_float:
        total = tree(type, "sum", values, lambda a, b: a + b)
    else:
        total = _total(type, sum(values), 0)
    return [total] * len(values)


def _total(type: Scalar, exact: int, thread: int) -> int:
    if type.holds(exact):
        return exact
    if type.is_modular:
        return integers.wrap(type, exact)
    raise Trapped(TrapKind.TOTAL, thread)


def _scan(type: Scalar, values: Sequence[Any], exclusive: bool) -> list[Any]:
    """Inclusive prefixes: v[t - d] op v[t] for d = 1, 2, 4...; exclusive shifts them by one thread behind a zero.

    A checked scan traps at the lowest thread whose own result leaves the type; `Trapped.operands` holds that thread.
    """
    if type.is_float:
        prefixes = list(values)
        distance = 1
        while distance < len(prefixes):
            prefixes = [prefixes[t - distance] + value if t >= distance else value for t, value in enumerate(prefixes)]
            distance *= 2
        return [floats.number(type, 0.0), *prefixes[:-1]] if exclusive else prefixes
    results: list[Any] = []
    exact = 0
    for thread, value in enumerate(values):
        before, exact = exact, exact + value
        results.append(_total(type, before if exclusive else exact, thread))
    return results


def _min(type: Scalar, values: Sequence[Any], exclusive: bool) -> list[Any]:
    if type.is_float:
        return [tree(type, "min", values, lambda a, b: floats.minimum(type, a, b))] * len(values)
    return [min(values)] * len(values)


def _max(type: Scalar, values: Sequence[Any], exclusive: bool) -> list[Any]:
    if type.is_float:
        return [tree(type, "max", values, lambda a, b: floats.maximum(type, a, b))] * len(values)
    return [max(values)] * len(values)


def _any(type: Scalar, values: Sequence[Any], exclusive: bool) -> list[Any]:
    return [any(values)] * len(values)


def _all(type: Scalar, values: Sequence[Any], exclusive: bool) -> list[Any]:
    return [all(values)] * len(values)


_GROUP: Final = Variance.GROUP
_THREAD: Final = Variance.THREAD
_BOOL: Final = (Scalar.BOOL,)

COLLECTIVES: Final[dict[str, CollectiveRow]] = {
    row.op: row
    for row in (
        CollectiveRow("sum", "isogrid.group_sum", NUMBERS, _sum, _GROUP, "Sum of the group's values.", totals=True),
        CollectiveRow("min", "isogrid.group_min", NUMBERS, _min, _GROUP, "Smallest of the group's values."),
        CollectiveRow("max", "isogrid.group_max", NUMBERS, _max, _GROUP, "Largest of the group's values."),
        CollectiveRow(
            "scan",
            "isogrid.group_scan",
            NUMBERS,
            _scan,
            _THREAD,
            "Sum of the values up to this thread's; `exclusive=True` leaves its own out.",
            totals=True,
        ),
        CollectiveRow("any", "isogrid.group_any", _BOOL, _any, _GROUP, "Whether some thread's value is True."),
        CollectiveRow("all", "isogrid.group_all", _BOOL, _all, _GROUP, "Whether every thread's value is True."),
    )
}
COLLECTIVE_SPELLINGS: Final[dict[str, str]] = {row.spelling: row.op for row in COLLECTIVES.values()}
