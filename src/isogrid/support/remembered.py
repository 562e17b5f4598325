"""Values that are made once for each key and kept while there are few of them."""

from collections.abc import Callable, Hashable
from typing import Final, TypeVar

_V = TypeVar("_V")
#: Most values that one table keeps; with more keys than that it starts anew.
MOST_REMEMBERED: Final = 64


def remembered(table: dict[Hashable, _V], key: Hashable, make: Callable[[], _V]) -> _V:
    """The value of a key, made if it is not in the table. Two threads may each make one; both get the one kept."""
    found = table.get(key)
    if found is None:
        if len(table) >= MOST_REMEMBERED:
            table.clear()
        found = table.setdefault(key, make())
    return found
