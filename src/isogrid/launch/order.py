"""Calls whose arguments stand in another order than the parameters: keywords, defaults, and what is bound.

`k(y=y, x=x)` of `k(x, y, n=3)` becomes the row (y, x, 3) and, by an order that is made once, (x, y, 3).
"""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, Final, TypeAlias

from isogrid.frontend.definition import Definition
from isogrid.launch.usual import UsualForm
from isogrid.support.remembered import remembered

Order: TypeAlias = Callable[[tuple[Any, ...]], tuple[Any, ...]]


def _no_order(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Stands for arguments that do not fit."""
    return row


_NO_ORDER: Final[Order] = _no_order


class Orders:
    """What puts the arguments of the calls of a kernel value in the order of the parameters."""

    __slots__ = ("behind", "fixed", "known", "usual")

    def __init__(self, definition: Definition, usual: UsualForm, fixed: Mapping[str, Any]) -> None:
        self.usual = usual
        self.fixed = fixed
        #: What stands behind the arguments of each call: what is bound, and the defaults.
        self.behind: Final = (*fixed.values(), *(p.default for p in definition.parameters))
        #: Orders by the number of positions and the keywords.
        self.known: dict[Any, Order] = {}

    def arranged(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...] | None:
        """The arguments of a call as the parameters stand, None where they do not fit."""
        if not keywords and not self.fixed and len(arguments) == len(self.usual.defaults):
            return arguments
        key = (len(arguments), *keywords)
        order = self.known.get(key) or remembered(self.known, key, lambda key=key: self._order(key))
        return None if order is _NO_ORDER else order((*arguments, *keywords.values(), *self.behind))

    def _order(self, key: tuple[Any, ...]) -> Order:
        places = self.usual.order(self.fixed, key[0], key[1:])
        if places is None:
            return _NO_ORDER
        if len(places) > 1:
            return itemgetter(*places)
        return lambda row: tuple(row[place] for place in places)
