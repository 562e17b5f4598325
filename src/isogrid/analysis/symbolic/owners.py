"""One look at all accesses of an array: in every interval each element has one thread, where that can be read off
indices of the form `size * group + something common + place`, with a known place for each thread.

c[128 * group + lid], c[128 * group + lid + 64]      places of 0 to 127 fix the group, and within it one thread each
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from isogrid.analysis.symbolic.context import GROUP, LAUNCH, Context
from isogrid.analysis.symbolic.polynomial import Coefficient, Monomial, Polynomial
from isogrid.analysis.symbolic.sides import Side

#: Places along an axis lie at most so far apart.
_MOST_PLACES: Final = 4096
#: Places along so many axes still make a number of 64 bits.
_MOST_AXES: Final = 5
#: Elements up to this number are looked up as they are; beyond, they are ranked.
_MOST_CELLS: Final = 1 << 14

#: The terms of an index that no place of a thread enters.
_Common: TypeAlias = frozenset[tuple[Monomial, int]]


@dataclass(frozen=True, slots=True)
class Owners:
    """Whether no two threads of one group, and no threads of two groups, meet in an element."""

    within: bool
    across: bool


_UNKNOWN: Final = Owners(False, False)


def one_owner_each(c: Context, sides: list[Side]) -> Owners:
    """What one look tells; where it tells nothing, each pair has to be asked."""
    if not sides or any(s.access.kind.startswith("atomic") for s in sides):
        return _UNKNOWN
    places: list[tuple[Coefficient, ...]] = []
    common: tuple[_Common, ...] | None = None
    for s in sides:
        parted = [_parted(p) for p in s.access.indices]
        shapes = tuple(shape for shape, _ in parted if shape is not None)
        if len(shapes) < len(parted) or (common is not None and shapes != common):
            return _UNKNOWN
        common = shapes
        places.append(tuple(place for _, place in parted))
    assert common is not None
    level = max((c.atoms[name].level for shape in common for m, _ in shape for name in m), default=LAUNCH)
    own = [[_own(s, place) for place in index] for s, index in zip(sides, places, strict=True)]
    low = [min(_least(index[axis]) for index in own) for axis in range(len(common))]
    high = [max(_most(index[axis]) for index in own) for axis in range(len(common))]
    return Owners(
        level <= GROUP and _owned_in_every_interval(sides, own, low, high), _groups_fixed(c, common, low, high)
    )


def _parted(p: Polynomial) -> tuple[_Common | None, Coefficient]:
    """The terms with literal factors, and the place; None for the terms where another factor depends on the thread."""
    shape: list[tuple[Monomial, int]] = []
    for m, v in p.terms.items():
        if m:
            if not isinstance(v, int):
                return None, 0
            shape.append((m, v))
    return frozenset(shape), p.constant_term


def _own(s: Side, place: Coefficient) -> Any:
    """The places of the threads that make the access."""
    return place if isinstance(place, int) else place[s.guarded.threads]


def _least(own: Any) -> int:
    return own if isinstance(own, int) else int(own.min())


def _most(own: Any) -> int:
    return own if isinstance(own, int) else int(own.max())


def _groups_fixed(c: Context, common: tuple[_Common, ...], low: list[int], high: list[int]) -> bool:
    """Whether equal elements mean equal groups: along some axis each coordinate has a factor that places stay below."""
    fixed: set[str] = set()
    for shape, least, most in zip(common, low, high, strict=True):
        of_groups = [(m, v) for m, v in shape if any(c.atoms[name].level > LAUNCH for name in m)]
        if len(of_groups) == 1 and len(of_groups[0][0]) == 1 and most - least < abs(of_groups[0][1]):
            fixed.add(of_groups[0][0][0])
    return fixed.issuperset(c.group_atoms)


def _owned_in_every_interval(sides: list[Side], own: list[list[Any]], low: list[int], high: list[int]) -> bool:
    if len(low) > _MOST_AXES or any(most - least >= _MOST_PLACES for least, most in zip(low, high, strict=True)):
        return False
    intervals: dict[int, list[tuple[Side, Any]]] = {}
    for s, index in zip(sides, own, strict=True):
        flat: Any = np.zeros(len(s.guarded.threads), np.int64)
        for place, least in zip(index, low, strict=True):
            flat = flat * _MOST_PLACES + (place - least)
        for number, _ in s.access.intervals:
            intervals.setdefault(number, []).append((s, flat))
    return all(_owned(members) for members in intervals.values())


def _owned(members: list[tuple[Side, Any]]) -> bool:
    """Whether each element that some member writes has one thread."""
    writers = [(s, flat) for s, flat in members if s.access.kind != "read"]
    if not writers:
        return True
    positions = np.concatenate([flat for _, flat in (*writers, *members)])
    count = int(positions.max()) + 1
    if count > _MOST_CELLS:
        cells, positions = np.unique(positions, return_inverse=True)
        count = len(cells)
    owner = np.full(count, -1, np.int64)
    at = 0
    for s, flat in writers:
        owner[positions[at : at + len(flat)]] = s.guarded.threads
        at += len(flat)
    for s, flat in members:
        found = owner[positions[at : at + len(flat)]]
        if ((found != -1) & (found != s.guarded.threads)).any():
            return False
        at += len(flat)
    return True
