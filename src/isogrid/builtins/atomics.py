"""Atomic updates: element types, whether a total is checked, and what one update does to its element."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from isogrid.builtins import floats, integers
from isogrid.builtins.operators import CHECKED, FLOATS, INTEGERS, NUMBERS
from isogrid.ir.types import Scalar


@dataclass(frozen=True, slots=True)
class AtomicRow:
    """One atomic. `elements` are the element types that it accepts.

    `meaning(element, old, value)` is the new element; for an add on a checked type it is the wrapped sum, since the
    trap is about the mathematical total. `cas` takes `(element, old, value, expected)`. `totals` marks the add.
    `needs_one_value` marks those that are accepted only when every value is the same for the whole launch.

    In kernels with `deterministic=False` any values do, every row gives the old value, `relaxed` elements are accepted
    too, and rows with `elements` empty exist.
    """

    name: str
    spelling: str
    elements: tuple[Scalar, ...]
    meaning: Callable[..., Any]
    doc: str
    totals: bool = False
    needs_one_value: bool = False
    relaxed: tuple[Scalar, ...] = ()

    def accepts(self, element: Scalar, deterministic: bool) -> bool:
        """Whether the atomic is defined for these elements in such a kernel."""
        return element in self.elements or (not deterministic and element in self.relaxed)


def _add(element: Scalar, old: Any, value: Any) -> Any:
    return old + value if element.is_float else integers.wrap(element, old + value)


def _load(element: Scalar, old: Any, value: Any) -> Any:
    return old


def _min(element: Scalar, old: Any, value: Any) -> Any:
    return floats.minimum(element, old, value) if element.is_float else min(old, value)


def _max(element: Scalar, old: Any, value: Any) -> Any:
    return floats.maximum(element, old, value) if element.is_float else max(old, value)


def _and(element: Scalar, old: int, value: int) -> int:
    return old & value


def _or(element: Scalar, old: int, value: int) -> int:
    return old | value


def _xor(element: Scalar, old: int, value: int) -> int:
    return old ^ value


def _exchange(element: Scalar, old: Any, value: Any) -> Any:
    return value


def _cas(element: Scalar, old: Any, value: Any, expected: Any) -> Any:
    return value if old == expected else old


ATOMICS: Final[dict[str, AtomicRow]] = {
    row.name: row
    for row in (
        AtomicRow(
            "add",
            "isogrid.atomic_add",
            INTEGERS,
            _add,
            "Adds; a checked total traps.",
            totals=True,
            relaxed=FLOATS,
        ),
        AtomicRow("min", "isogrid.atomic_min", INTEGERS + FLOATS, _min, "The smaller of element and value."),
        AtomicRow("max", "isogrid.atomic_max", INTEGERS + FLOATS, _max, "The larger of element and value."),
        AtomicRow("and", "isogrid.atomic_and_", INTEGERS, _and, "Bitwise and."),
        AtomicRow("or", "isogrid.atomic_or_", INTEGERS, _or, "Bitwise or."),
        AtomicRow("xor", "isogrid.atomic_xor", INTEGERS, _xor, "Bitwise exclusive or."),
        AtomicRow(
            "exchange",
            "isogrid.atomic_exchange",
            INTEGERS,
            _exchange,
            "Sets the element; every value of the launch must be the same.",
            needs_one_value=True,
            relaxed=FLOATS,
        ),
        AtomicRow(
            "cas",
            "isogrid.atomic_cas",
            INTEGERS,
            _cas,
            "Sets the element where it equals `expected`; the values of the launch must be the same.",
            needs_one_value=True,
        ),
        AtomicRow(
            "load", "isogrid.atomic_load", (), _load, "The element; compatible with any atomic.", relaxed=NUMBERS
        ),
        AtomicRow(
            "store",
            "isogrid.atomic_store",
            (),
            _exchange,
            "Sets the element; compatible with any atomic.",
            relaxed=NUMBERS,
        ),
    )
}
#: Other names that authors may use, by spelling.
ATOMIC_SPELLINGS: Final[dict[str, str]] = {row.spelling: row.name for row in ATOMICS.values()}

#: Element types whose totals trap.
TOTALLED: Final = CHECKED
