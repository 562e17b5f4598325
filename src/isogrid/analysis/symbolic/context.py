"""What the symbolic execution knows at one point of a kernel: atoms, facts, guards, intervals, accesses so far."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeAlias

import numpy as np

from isogrid.analysis.liveness import live_after_branches
from isogrid.analysis.symbolic.formula import AtLeastZero, Both, Either, Formula, IsZero, Known, NotZero, Unknown, truth
from isogrid.analysis.symbolic.polynomial import Coefficient, Polynomial, TooLarge, Vector
from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k

#: Levels: how far a value is the same. Launch, group, warp, thread.
LAUNCH: Final = 0
GROUP: Final = 1
WARP: Final = 2
THREAD: Final = 3

#: A set of barrier intervals. Each has a number and tags (branch, side): the same number with opposite tags of one
#: branch can never be together, because all threads of a group take the same side.
Intervals: TypeAlias = frozenset[tuple[int, frozenset[tuple[int, int]]]]

#: A value: integers as polynomials, booleans as formulas, floats as one opaque atom.
Value: TypeAlias = Polynomial | Formula


@dataclass(slots=True)
class Atom:
    """An unknown. `definition` says which operation on which polynomials it is, where it is one."""

    name: str
    level: int
    nonnegative: bool = False
    definition: tuple[str, tuple[Any, ...]] | None = None
    is_float: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """One access of a shared or global array, by every thread that satisfies `guards`."""

    array: str
    kind: str
    indices: tuple[Polynomial, ...]
    guards: tuple[Formula, ...]
    intervals: Intervals
    warp_intervals: Intervals
    span: Span
    order: int
    carried: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Scan:
    """The sum of the values of all threads of a group that come before, or of the whole group (`total`), where no value
    is negative."""

    result: Polynomial
    value: Polynomial
    total: bool


@dataclass(frozen=True, slots=True)
class Exit:
    """A way out of a block before its end: `kind` is return, break, continue or leave (with the scope's label).

    `condition` holds for the threads that take it, given that they reached the block and took no earlier exit of the
    same list.
    """

    kind: str
    label: str
    condition: Formula
    environment: dict[str, Value]
    intervals: Intervals
    warp_intervals: Intervals


@dataclass(slots=True)
class Context:
    """Mutable state of one symbolic execution."""

    kernel: k.Kernel
    size: int
    warp: int
    lids: tuple[Vector, ...]
    atoms: dict[str, Atom] = field(default_factory=dict[str, Atom])
    facts: list[Polynomial] = field(default_factory=list[Polynomial])
    environment: dict[str, Value] = field(default_factory=dict[str, Value])
    guards: list[Formula] = field(default_factory=list[Formula])
    control: list[int] = field(default_factory=list[int])
    intervals: Intervals = frozenset({(0, frozenset[tuple[int, int]]())})
    warp_intervals: Intervals = frozenset({(0, frozenset[tuple[int, int]]())})
    accesses: list[Access] = field(default_factory=list[Access])
    opaque: dict[Any, str] = field(default_factory=dict[Any, str])
    #: Least and greatest value of atoms that stand for a choice between literals.
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    numbers: "count[int]" = field(default_factory=lambda: count(1))
    written: frozenset[str] = frozenset()
    #: Least value, and one above the greatest, of arrays with a precondition `all_in_range`.
    element_bounds: dict[str, tuple[Polynomial, Polynomial]] = field(
        default_factory=dict[str, tuple[Polynomial, Polynomial]]
    )
    #: Arrays that may have been written by the time of this point.
    changed: set[str] = field(default_factory=set[str])
    scans: list[Scan] = field(default_factory=list[Scan])
    #: Facts about them, apart: they are many in unrolled loops, and only both threads together need them.
    scan_facts: list[Polynomial] = field(default_factory=list[Polynomial])
    #: Conditions that scans and sums count, by the atom that is 1 where they hold.
    flags: dict[str, Formula] = field(default_factory=dict[str, Formula])
    group_atoms: tuple[str, ...] = ()
    unroll_limit: int = 64
    #: The level of every value asked about, by its identity; the value is kept, so that no other gets its identity.
    levels: dict[int, tuple[Value, int]] = field(default_factory=dict[int, tuple[Value, int]])
    #: Atoms of one value for two threads, by the question and the number of atoms when it was asked.
    uniform: dict[tuple[bool, int], frozenset[str]] = field(default_factory=dict[tuple[bool, int], frozenset[str]])
    #: Dividends and what is 0 of each with its quotient and remainder, once they were asked for.
    divisions: list[tuple[Polynomial, Polynomial]] | None = None
    #: Whether some loop of known trips was not unrolled for their number.
    curtailed: bool = False
    #: How many loops of unknown trips are around this point.
    unknown_trips: int = 0
    steps: int = 0
    #: The same for the cases of accesses, which are counted apart.
    case_steps: int = 0
    #: And for indices written in another way.
    further_steps: int = 0
    #: Facts with the thread's place as a symbol, by side and what is common; None where they are not linear in it.
    equations: dict[tuple[Polynomial, int, frozenset[str]], dict[tuple[str, ...], int] | None] = field(
        default_factory=dict[tuple[Polynomial, int, frozenset[str]], dict[tuple[str, ...], int] | None]
    )
    #: Questions so far about the inequalities of both threads at once.
    joint_questions: int = 0
    #: Whether floats are rounded as written, so that the same computation at two places gives the same value.
    exact: bool = True
    #: What `live_after` found, once it was asked.
    live: dict[int, frozenset[str]] | None = None
    run_block: "Callable[[Context, k.Block], tuple[list[Exit], bool]]" = field(default=lambda c, block: ([], True))

    def atom(self, name: str, level: int, nonnegative: bool = False) -> Polynomial:
        self.atoms[name] = Atom(name, level, nonnegative)
        return Polynomial.atom(name)

    def fresh(self, prefix: str, level: int, nonnegative: bool = False) -> Polynomial:
        return self.atom(f"{prefix}#{next(self.numbers)}", level, nonnegative)

    def named(self, operation: str, arguments: tuple[Any, ...], level: int, nonnegative: bool = False) -> Polynomial:
        """The atom that stands for this operation on these values: equal operations are one atom."""
        key = (operation, *(a.key if isinstance(a, Polynomial) else a for a in arguments))
        name = self.opaque.get(key)
        if name is None:
            name = f"{operation}#{next(self.numbers)}"
            self.opaque[key] = name
            self.atoms[name] = Atom(name, level, nonnegative, (operation, arguments))
        return Polynomial.atom(name)

    def level_of_coefficient(self, c: Coefficient) -> int:
        """Thread level where it differs inside a warp, warp level where only between warps."""
        if isinstance(c, int):
            return LAUNCH
        warps = len(c) // self.warp
        if warps * self.warp == len(c) and warps > 1:
            rows = c.reshape(warps, self.warp)
            if (rows == rows[:, :1]).all():
                return WARP
        return THREAD

    def level(self, value: Value) -> int:
        """How far the value is the same, over all threads of the group, whatever the guards in force."""
        known = self.levels.get(id(value))
        if known is None:
            known = self.levels[id(value)] = value, self._level(value)
        return known[1]

    def _level(self, value: Value) -> int:
        match value:
            case Polynomial():
                found = LAUNCH
                for m, c in value.terms.items():
                    if found < THREAD and not isinstance(c, int):
                        found = max(found, self.level_of_coefficient(c))
                    for name in m:
                        found = max(found, self.atoms[name].level)
                return found
            case Known(bits):
                first = bits[:1]
                if bits == first * len(bits):
                    return LAUNCH
                return self.level_of_coefficient(np.frombuffer(bits, np.uint8).astype(np.int64))
            case AtLeastZero(p) | IsZero(p) | NotZero(p):
                return self.level(p)
            case Unknown(_, level, _):
                return level
            case Both(parts) | Either(parts):
                t = truth(value)
                if isinstance(t, int) and t >= 0:
                    return LAUNCH
                return max(self.level(p) for p in parts)

    def live_after(self, branch: k.If) -> frozenset[str]:
        """The locals that may be read behind a branch."""
        if self.live is None:
            self.live = live_after_branches(self.kernel.body)
        return self.live.get(id(branch), frozenset())

    def mask(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """The threads of a group that may be here."""
        live = np.ones(self.size, bool)
        for g in self.guards:
            held = truth(g)
            if not isinstance(held, int):
                live &= held != 0
            elif held == 0:
                live[:] = False
        return live

    def truth_here(self, f: Formula) -> int:
        """1 or 0 where the condition is decided for every thread that may be here, -1 otherwise."""
        t = truth(f)
        if isinstance(t, int):
            return t
        seen = t[self.mask()]
        if len(seen) == 0:
            return 1
        if (seen == 1).all():
            return 1
        return 0 if (seen == 0).all() else -1

    def spend(self, amount: int = 1) -> None:
        """Count one unit of work against the fixed budget."""
        self.steps += amount
        if self.steps > 3_000:
            raise TooLarge("the proof of this kernel needs more steps than the fixed budget")


def tagged(intervals: Intervals, branch: int, side: int) -> Intervals:
    if len(intervals) > 8:
        return intervals
    return frozenset((i, tags | {(branch, side)}) for i, tags in intervals)


def may_meet(a: Intervals, b: Intervals) -> bool:
    """Whether two accesses can be in one interval of one group."""
    for i, tags in a:
        for j, others in b:
            if i == j and not any((branch, 1 - side) in others for branch, side in tags):
                return True
    return False
