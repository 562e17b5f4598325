"""Pairs of accesses that no proof separates, per array, in the order of the text."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isogrid.analysis.symbolic.context import Access, Context, may_meet
from isogrid.analysis.symbolic.decide import Side, conflict, prepare
from isogrid.analysis.symbolic.execute import execute
from isogrid.analysis.symbolic.polynomial import TooLarge
from isogrid.ir import kernel as k


@dataclass(frozen=True, slots=True)
class Unproved:
    """Two accesses that may meet in one element: by threads of one group, or of two."""

    first: Access
    second: Access
    across: bool
    reason: str


def unproved_pairs(kernel: k.Kernel, exact: bool = True) -> tuple[Context, list[Unproved]]:
    """All pairs without a proof, at most one per pair of places. Loops are unrolled further on a second try."""
    first: tuple[Context, list[Unproved]] | None = None
    try:
        first = _attempt(kernel, 16, exact)
        if not first[1]:
            return first
        return _attempt(kernel, 1024, exact)
    except TooLarge:
        if first is None:
            raise
        return first


def _attempt(kernel: k.Kernel, unroll_limit: int, exact: bool) -> tuple[Context, list[Unproved]]:
    c = execute(kernel, unroll_limit, exact)
    return c, _pairs(c)


def _pairs(c: Context) -> list[Unproved]:
    shared = {s.name for s in c.kernel.shared}
    by_array: dict[str, list[Access]] = {}
    for a in c.accesses:
        by_array.setdefault(a.array, []).append(a)
    found: list[Unproved] = []
    for array, accesses in by_array.items():
        if all(a.kind == "read" for a in accesses):
            continue
        found += _array_pairs(c, accesses, array not in shared)
    return found


def _array_pairs(c: Context, accesses: list[Access], everywhere: bool) -> list[Unproved]:
    sides = [s for a in accesses if (s := prepare(c, a)).reachable]
    one_owner = _one_owner(c, sides)
    if one_owner and not (everywhere and c.group_atoms):
        return []
    found: list[Unproved] = []
    answers: dict[Any, str | None] = {}
    seen: set[Any] = set()
    for x, a in enumerate(sides):
        for b in sides[x:]:
            if _compatible(a.access.kind, b.access.kind, c.kernel.deterministic):
                continue
            for across in (False, True):
                if across and (not everywhere or not c.group_atoms):
                    continue
                if not across and (c.size == 1 or one_owner or not may_meet(a.access.intervals, b.access.intervals)):
                    continue
                c.spend()
                places = (a.access.span, b.access.span, across)
                if places in seen:
                    continue
                key = (across, _key(a), _key(b), may_meet(a.access.warp_intervals, b.access.warp_intervals))
                if key not in answers:
                    answers[key] = conflict(c, a, b, across)
                reason = answers[key]
                if reason is not None:
                    seen.add(places)
                    found.append(Unproved(a.access, b.access, across, reason))
    return found


def _compatible(a: str, b: str, deterministic: bool) -> bool:
    """Reads, and one atomic operation, may meet; in a kernel whose result may depend on the order, any two atomics."""
    if a.startswith("atomic") and b.startswith("atomic"):
        return a == b or not deterministic
    return a == b == "read"


def _key(s: Side) -> Any:
    return (s.access.indices, s.mask.tobytes(), s.access.guards)


def _one_owner(c: Context, sides: list[Side]) -> bool:
    """Fast proof for known indices: in every interval each element has one thread that touches it."""
    intervals: dict[int, list[tuple[Side, tuple[Any, ...]]]] = {}
    for s in sides:
        index = tuple(p.as_constant for p in s.access.indices)
        if any(p is None for p in index) or s.access.kind.startswith("atomic"):
            return False
        for number, _ in s.access.intervals:
            intervals.setdefault(number, []).append((s, index))
    return all(_owned(c, members) for members in intervals.values())


def _owned(c: Context, members: list[tuple[Side, tuple[Any, ...]]]) -> bool:
    if all(s.access.kind == "read" for s, _ in members):
        return True
    flats: list[tuple[Side, Any]] = []
    for s, index in members:
        flat: Any = np.zeros(c.size, np.int64)
        for p in index:
            if (isinstance(p, int) and not 0 <= p < 4096) or (
                not isinstance(p, int) and (int(p[s.mask].min()) < 0 or int(p[s.mask].max()) >= 4096)
            ):
                return False
            flat = flat * 4096 + p
        flats.append((s, flat[s.mask]))
    cells, positions = np.unique(np.concatenate([f for _, f in flats]), return_inverse=True)
    owner = np.full(len(cells), -1, np.int64)
    threads = np.arange(c.size)
    at = 0
    slices: list[tuple[Side, Any]] = []
    for s, f in flats:
        where = positions[at : at + len(f)]
        at += len(f)
        slices.append((s, where))
        if s.access.kind == "read":
            continue
        mine = threads[s.mask]
        previous = owner[where]
        if ((previous != -1) & (previous != mine)).any():
            return False
        owner[where] = mine
        if (owner[where] != mine).any():
            return False
    for s, where in slices:
        if s.access.kind == "read":
            previous = owner[where]
            if ((previous != -1) & (previous != threads[s.mask])).any():
                return False
    return True
