"""Counterexamples: the smallest values found under which two threads touch one element.

Values of sizes, scalars, group coordinates, trips and data are tried in order of growing total; index and guards are
then evaluated exactly for every thread of a group. There is no witness where an index or guard depends on an unknown of
the proof, for it could not be replayed: such a pair is only "not proved". Where unknowns decide guards alone, a
`possible_meeting` says what happens if those let both threads through.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isogrid.analysis.symbolic.context import GROUP, LAUNCH, Access, Context
from isogrid.analysis.symbolic.evaluation import COMPUTED, Evaluation, Undecided
from isogrid.analysis.symbolic.formula import (
    AtLeastZero,
    Both,
    Either,
    Formula,
    IsZero,
    Known,
    NotZero,
    Unknown,
    conjuncts,
)
from isogrid.analysis.symbolic.polynomial import Polynomial, Vector
from isogrid.ir.types import Scalar

_SIZES = (1, 2, 3, 4, 5, 8, 16, 0)
_VALUES = (0, 1, 2, 3, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Witness:
    """`launch` values hold for both threads; `own` ones differ. `lids` are linear, `groups` one value per axis.

    `data` says what elements of arrays must hold that the kernel only reads: array, index, value.
    """

    launch: tuple[tuple[str, int], ...]
    own: tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]
    lids: tuple[int, int]
    groups: tuple[tuple[int, ...], tuple[int, ...]]
    index: tuple[int, ...]
    data: tuple[tuple[str, tuple[int, ...], int], ...] = ()


def find_witness(
    c: Context,
    a: Access,
    b: Access,
    across: bool,
    shapes: Mapping[str, tuple[Polynomial, ...]],
    budget: int,
) -> Witness | None:
    """Two threads of one group (`across`: of two groups) that touch one element, or None: none within `budget` choices
    of values, or the pair depends on an unknown of the proof, so that values for it could not be replayed.

    `shapes` holds the extents of every shared and global array.
    """
    extents = shapes[a.array]
    bases: list[set[str]] = []
    complete = True
    for access in (a, b):
        names: set[str] = set()
        for p in (*access.indices, *extents):
            complete &= _bases(c, p, names)
        for g in access.guards:
            complete &= _formula_bases(c, g, names)
        bases.append(names | set(c.group_atoms))
    if not complete:
        return None
    everything = bases[0] | bases[1]
    limit = LAUNCH if across else GROUP
    facts = [f for f in c.facts if _fact_applies(c, f, everything, limit)]
    for f in facts:
        _bases(c, f, everything)
    shared = sorted(n for n in everything if c.atoms[n].level <= limit)
    private = [sorted(n for n in names if c.atoms[n].level > limit) for names in bases]
    slots = [(n, 2) for n in shared] + [(n, 0) for n in private[0]] + [(n, 1) for n in private[1]]
    hints: dict[str, list[int]] = {}
    for g in (*a.guards, *b.guards):
        _hints(g, hints)
    first, second = (_Side(c, access, slots, side, facts, extents) for side, access in enumerate((a, b)))
    for values in _assignments(c, slots, hints, budget):
        if across and first.group(values) == second.group(values):
            continue
        x, y = first.at(values), second.at(values)
        if x is None or y is None or (hit := _lowest_pair(x, y, across)) is None:
            continue
        lids, index = hit
        data = _data(c, (x.values, y.values), lids)
        if data is None or any(_traps_before(c, side, z.values, shapes) for side, z in ((a, x), (b, y))):
            continue
        return Witness(
            tuple((n, x.values[n]) for n in shared),
            (
                tuple((n, x.values[n]) for n in private[0]),
                tuple((n, y.values[n]) for n in private[1]),
            ),
            lids,
            (first.group(values), second.group(values)),
            index,
            data,
        )
    return None


def possible_meeting(
    c: Context,
    a: Access,
    b: Access,
    across: bool,
    shapes: Mapping[str, tuple[Polynomial, ...]],
    budget: int,
) -> Witness | None:
    """What `find_witness` finds when conditions that depend on an unknown of the proof are taken to hold."""
    return find_witness(c, _without_unknowns(c, a), _without_unknowns(c, b), across, shapes, budget)


def _without_unknowns(c: Context, access: Access) -> Access:
    return replace(access, guards=tuple(g for g in conjuncts(access.guards) if _formula_bases(c, g, set())))


def _traps_before(
    c: Context, access: Access, values: Mapping[str, int], shapes: Mapping[str, tuple[Polynomial, ...]]
) -> bool:
    """Whether some thread of the group leaves an array before this access, as far as these values tell: the group
    would then not get here."""
    evaluation = Evaluation(c, values, strict=True)
    for earlier in c.accesses[: access.order]:
        try:
            live: Any = np.ones(c.size, bool)
            for g in earlier.guards:
                live = live & evaluation.formula(g)
            if not live.any():
                continue
            for p, extent in zip(earlier.indices, shapes[earlier.array], strict=True):
                index = np.broadcast_to(evaluation.polynomial(p), (c.size,))[live]
                if (index < 0).any() or (index >= evaluation.polynomial(extent)).any():
                    return True
        except Undecided:
            continue
    return False


def _data(
    c: Context, sides: tuple[Mapping[str, int], Mapping[str, int]], lids: tuple[int, int]
) -> tuple[tuple[str, tuple[int, ...], int], ...] | None:
    """The elements that both threads load, None where one element would have to hold two values."""
    found: dict[tuple[str, tuple[int, ...]], int] = {}
    for values, lid in zip(sides, lids, strict=True):
        evaluation = Evaluation(c, values)
        for name, value in values.items():
            definition = c.atoms[name].definition
            if definition is None or not definition[0].startswith("load "):
                continue
            try:
                place = tuple(int(np.broadcast_to(evaluation.polynomial(p), (c.size,))[lid]) for p in definition[1])
            except Undecided:
                return None
            if found.setdefault((definition[0][5:], place), value) != value:
                return None
    return tuple((array, place, value) for (array, place), value in found.items())


def _fact_applies(c: Context, fact: Polynomial, names: set[str], limit: int) -> bool:
    """Whether a fact bounds what is chosen. One that needs values of a thread which the accesses do not depend on only
    defines something that is computed from them."""
    found: set[str] = set()
    complete = _bases(c, fact, found)
    return complete and bool(found & names) and all(n in names or c.atoms[n].level <= limit for n in found)


def _bases(c: Context, p: Polynomial, into: set[str], done: dict[str, bool] | None = None) -> bool:
    """Collect the atoms that the search chooses; False where p also depends on an unknown of the proof. `done` says
    which atoms were looked at: one that others share at every level of a long chain is followed once."""
    done = {} if done is None else done
    complete = True
    for name in p.atoms():
        if name not in done:
            done[name] = _atom_bases(c, name, into, done)
        complete &= done[name]
    return complete


def _atom_bases(c: Context, name: str, into: set[str], done: dict[str, bool]) -> bool:
    atom = c.atoms[name]
    if atom.definition is None:
        into.add(name)
        return name.split("#")[0] in ("@trip", "@gap") or "#" not in name
    operation, arguments = atom.definition
    if operation.startswith("load "):
        into.add(name)
        known = [_bases(c, x, into, done) for x in arguments]
        return all(known)
    if operation == "float":
        return isinstance(arguments[1], Scalar) and arguments[1] in (Scalar.F32, Scalar.F64)
    if operation not in COMPUTED:
        into.add(name)
        return False
    complete = True
    for x in arguments:
        complete &= _bases(c, x, into, done) if isinstance(x, Polynomial) else _formula_bases(c, x, into, done)
    return complete


def _formula_bases(c: Context, f: Formula, into: set[str], done: dict[str, bool] | None = None) -> bool:
    done = {} if done is None else done
    match f:
        case Known():
            return True
        case AtLeastZero(p) | IsZero(p) | NotZero(p):
            return _bases(c, p, into, done)
        case Unknown():
            if f.name not in c.atoms:
                return False
            if f.name not in done:
                done[f.name] = _atom_bases(c, f.name, into, done)
            return done[f.name]
        case Both(parts) | Either(parts):
            return all(_formula_bases(c, p, into, done) for p in parts)


def _hints(f: Formula, into: dict[str, list[int]]) -> None:
    """Values of single atoms at which a comparison with a literal turns: `x > 3` is tried with 4 first."""
    match f:
        case AtLeastZero(p) | IsZero(p):
            single = [(m, v) for m, v in p.terms.items() if m]
            constant = p.constant_term
            if len(single) == 1 and len(single[0][0]) == 1 and isinstance(constant, int):
                (name,), factor = single[0]
                if isinstance(factor, int) and abs(factor) == 1 and abs(constant) < 1 << 20:
                    into.setdefault(name, []).append(-constant * factor)
        case Both(parts) | Either(parts):
            for part in parts:
                _hints(part, into)
        case _:
            pass


def _assignments(
    c: Context, slots: list[tuple[str, int]], hints: Mapping[str, list[int]], budget: int
) -> Iterator[tuple[int, ...]]:
    """Values for all slots in order of growing total rank."""
    block = c.kernel.geometry.block
    # One group and a little more is where most sizes begin to matter.
    around = tuple(s for b in dict.fromkeys(block) for s in (b + 1, 2 * b)) if c.size > 1 else ()
    sizes = (*_SIZES[:2], *around, *_SIZES[2:])
    domains = [
        tuple(
            dict.fromkeys(
                (
                    *(v for v in hints.get(n, ()) if v >= 0 or not c.atoms[n].nonnegative),
                    *(sizes if _is_size(c, n) else _VALUES),
                )
            )
        )
        for n, _ in slots
    ]
    tried = 0
    for total in range(16):
        for ranks in _compositions([len(d) for d in domains], total):
            tried += 1
            if tried > budget:
                return
            yield tuple(d[r] for d, r in zip(domains, ranks, strict=True))


def _is_size(c: Context, name: str) -> bool:
    return c.atoms[name].level == LAUNCH and not name.startswith("$")


def _compositions(limits: list[int], total: int) -> Iterator[tuple[int, ...]]:
    if not limits:
        if total == 0:
            yield ()
        return
    for first in range(min(total, limits[0] - 1) + 1):
        for rest in _compositions(limits[1:], total - first):
            yield (first, *rest)


@dataclass(frozen=True, slots=True)
class _Reached:
    """The threads that make an access under some values, and the index of each along every axis."""

    values: dict[str, int]
    live: Any
    index: list[Any]


class _Side:
    """One access under values of the atoms that it depends on. Each condition and index is worked out once for each
    choice of what it depends on itself."""

    def __init__(
        self,
        c: Context,
        access: Access,
        slots: list[tuple[str, int]],
        side: int,
        facts: list[Polynomial],
        extents: tuple[Polynomial, ...],
    ) -> None:
        self._context = c
        own = [(at, name) for at, (name, where) in enumerate(slots) if where in (side, 2)]
        self._names = [name for _, name in own]
        self._places = [at for at, _ in own]
        places = {name: at for at, name in own}
        self._groups = [places[g] for g in c.group_atoms]
        self._reached: dict[tuple[int, ...], _Reached | None] = {}
        size = c.size
        self._conditions = [
            *(self._kept(lambda e, f=f: _for_all(np.asarray(e.polynomial(f)) >= 0), f) for f in facts),
            *(self._kept(lambda e, g=g: _for_all(e.formula(g)), g) for g in access.guards),
            *(
                self._kept(lambda e, p=p, x=x: _for_all(_within(e.polynomial(p), e.polynomial(x))), p, x)
                for p, x in zip(access.indices, extents, strict=False)
            ),
        ]
        self._index = [self._kept(lambda e, p=p: np.broadcast_to(e.polynomial(p), (size,)), p) for p in access.indices]

    def _kept(self, work_out: Callable[[Evaluation], Any], *parts: Polynomial | Formula) -> "_Kept":
        names: set[str] = set()
        for part in parts:
            if isinstance(part, Polynomial):
                _bases(self._context, part, names)
            else:
                _formula_bases(self._context, part, names)
        return _Kept([at for at, name in zip(self._places, self._names, strict=True) if name in names], work_out)

    def group(self, values: tuple[int, ...]) -> tuple[int, ...]:
        """The coordinates of the thread's group."""
        return tuple([values[at] for at in self._groups])

    def at(self, values: tuple[int, ...]) -> _Reached | None:
        """What the access is under these values of all slots; None where no thread makes it, or an unknown decides."""
        own = tuple([values[at] for at in self._places])
        if own not in self._reached:
            self._reached[own] = self._work_out(values, dict(zip(self._names, own, strict=True)))
        return self._reached[own]

    def _work_out(self, values: tuple[int, ...], own: dict[str, int]) -> _Reached | None:
        evaluation = Evaluation(self._context, own)
        live: Any = True
        try:
            for condition in self._conditions:
                held = condition.at(values, evaluation)
                if held is False:
                    return None
                if held is not True:
                    live = held if live is True else live & held
            index = [p.at(values, evaluation) for p in self._index]
        except Undecided:
            return None
        live = np.broadcast_to(live, (self._context.size,))
        return _Reached(own, live, index) if live.any() else None


class _Kept:
    """A value for each choice of the slots that it depends on."""

    def __init__(self, places: list[int], work_out: Callable[[Evaluation], Any]) -> None:
        self._places, self._work_out = places, work_out
        self._known: dict[tuple[int, ...], Any] = {}

    def at(self, values: tuple[int, ...], evaluation: Evaluation) -> Any:
        key = tuple([values[at] for at in self._places])
        found = self._known.get(key)
        if found is None:
            try:
                found = self._work_out(evaluation)
            except Undecided:
                found = Undecided
            self._known[key] = found
        if found is Undecided:
            raise Undecided
        return found


def _for_all(held: Any) -> Any:
    """One truth value where all threads agree."""
    if held.all():
        return True
    return held if held.any() else False


def _within(index: Any, extent: Any) -> Any:
    return (np.asarray(index) >= 0) & (np.asarray(index) < extent)


def _lowest_pair(x: _Reached, y: _Reached, across: bool) -> tuple[tuple[int, int], tuple[int, ...]] | None:
    """The lowest pair of threads that touch one element."""
    owners: dict[tuple[int, ...], list[int]] = {}
    for lid, cell in _cells(x):
        owners.setdefault(cell, []).append(lid)
    best: tuple[tuple[int, int], tuple[int, ...]] | None = None
    for lid, cell in _cells(y):
        for other in owners.get(cell, ()):
            if across or other != lid:
                if best is None or other + lid < sum(best[0]):
                    best = ((other, lid), cell)
                break
    return best


def _cells(reached: _Reached) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Thread and element of every access, in the order of threads."""
    lids = np.nonzero(reached.live)[0]
    return zip(lids.tolist(), zip(*(p[lids].tolist() for p in reached.index), strict=True), strict=True)


__all__ = ["Vector", "Witness", "find_witness", "possible_meeting"]
