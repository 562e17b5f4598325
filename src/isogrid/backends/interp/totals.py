"""Exact totals of atomic adds: memory holds wrapped sums, and a count per element says how often they left the type.

The mathematical total of an element leaves its type exactly when its count is not 0. Shared memory is settled at each
barrier and at the end of its group; a global element that a plain access (or another atomic) touches too, at each
barrier; any other at the end of the launch. Whether an element is touched may be known only later, so a count that is
not 0 at a barrier is kept as a suspect until then.
"""

from isogrid.ir.traps import TrapSite
from isogrid.support.errors import CompilerBug


class Totals:
    """The counts of one array during a launch (shared: during a group)."""

    __slots__ = ("array", "counts", "order", "proved", "shared", "site", "suspects", "touched")

    def __init__(self, array: str, order: int, site: TrapSite, shared: bool, proved: bool) -> None:
        self.array = array
        self.order = order
        self.site = site
        self.shared = shared
        self.proved = proved
        self.counts: dict[int, int] = {}
        self.touched: set[int] = set()
        self.suspects: dict[int, tuple[int, int]] = {}

    def wrapped(self, element: int, by: int) -> None:
        """The element's sum left the type `by` times 2^n; back in range, the count is 0 again."""
        if self.proved:
            raise CompilerBug(f"the total of `{self.array}` was proved to fit its type, but element {element} wraps")
        count = self.counts.pop(element, 0) + by
        if count:
            self.counts[element] = count

    def at_barrier(self, group: int, interval: int) -> list[tuple[int, int, int]]:
        """The elements whose total has now left the type for good, as (group, interval, element)."""
        if self.shared:
            return [(group, interval, element) for element in self.counts]
        for element in self.counts:
            self.suspects.setdefault(element, (group, interval))
        return self.settled()

    def settled(self) -> list[tuple[int, int, int]]:
        """The suspects that a plain access has touched, as (group, interval, element)."""
        return [(*where, element) for element, where in self.suspects.items() if element in self.touched]
