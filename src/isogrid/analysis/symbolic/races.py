"""Pairs of accesses that no proof separates, per array, in the order of the text.

proof = RaceProof(kernel)
proof.races_on("tile")      # stops at the first pair without a proof
proof.pairs()               # all of them
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from isogrid.analysis.symbolic.context import Access, Context, may_meet
from isogrid.analysis.symbolic.decide import conflict
from isogrid.analysis.symbolic.execute import execute
from isogrid.analysis.symbolic.owners import one_owner_each
from isogrid.analysis.symbolic.polynomial import TooLarge
from isogrid.analysis.symbolic.sides import Side, Sides
from isogrid.ir import kernel as k

#: Known trips up to which loops are unrolled: at first, where that left a pair without a proof, where it was too much.
_UNROLL: Final = 16
_UNROLL_FURTHER: Final = 1024
_UNROLL_LESS: Final = 2
#: Steps that all questions about cases of one kernel may take.
_MOST_CASE_STEPS: Final = 1500

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Unproved:
    """Two accesses that may meet in one element: by threads of one group, or of two."""

    first: Access
    second: Access
    across: bool
    reason: str


class RaceProof:
    """The pairs of one kernel, asked about array by array and no further than somebody wants to know. Raises `TooLarge`
    where the fixed budget does not suffice.

    Where loops could be unrolled further and some pair has no proof, a second attempt does so; it then counts, unless
    it exceeds the budget. Where already the first one does, an attempt that takes most loops as they are counts if it
    proves every pair.
    """

    def __init__(self, kernel: k.Kernel, exact: bool = True) -> None:
        self._kernel = kernel
        self._exact = exact
        self._second: _Attempt | None = None
        self._coarse: _Attempt | None = None
        try:
            self._first = self._attempt(_UNROLL)
        except TooLarge as limit:
            self._first = self._coarse = self._coarsely(limit)
        self._may_go_further = self._first.context.curtailed

    @property
    def context(self) -> Context:
        """The symbolic execution that the pairs are of."""
        return (self._coarse or self._second or self._first).context

    def races_on(self, array: str) -> bool:
        """Whether some pair of the array has no proof."""
        return self._ask(lambda attempt: attempt.races_on(array))

    def races_anywhere(self) -> bool:
        return self._ask(lambda attempt: attempt.races_anywhere())

    def pairs(self) -> list[Unproved]:
        """All pairs without a proof, at most one per pair of places."""
        if not self.races_anywhere():
            return []
        return self._ask(lambda attempt: [pair for array in attempt.arrays for pair in attempt.unproved(array)])

    def races_given(self, fact: k.ArrayFact, array: str) -> bool:
        """Whether some pair of the array would have no proof either if one more precondition held."""
        return (self._second or self._first).given(fact).races_on(array)

    def _attempt(self, unroll: int) -> "_Attempt":
        return _Attempt(execute(self._kernel, unroll, self._exact))

    def _coarsely(self, limit: TooLarge) -> "_Attempt":
        """An attempt that proves every pair, in place of one beyond the budget."""
        try:
            attempt = self._attempt(_UNROLL_LESS)
            if not attempt.races_anywhere():
                return attempt
        except TooLarge:
            pass
        raise limit

    def _ask(self, question: "Callable[[_Attempt], _Answer]") -> _Answer:
        if self._coarse is None:
            try:
                return self._ask_closely(question)
            except TooLarge as limit:
                self._coarse = self._coarsely(limit)
        return question(self._coarse)

    def _ask_closely(self, question: "Callable[[_Attempt], _Answer]") -> _Answer:
        if self._second is None:
            answer = question(self._first)
            if not answer or not self._may_go_further:
                return answer
        try:
            self._second = self._second or self._attempt(_UNROLL_FURTHER)
            return question(self._second)
        except TooLarge:
            self._second, self._may_go_further = None, False
            return question(self._first)


class _Attempt:
    """The pairs of one symbolic execution. Answers are kept."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._steps = context.steps
        self._shared = {s.name for s in context.kernel.shared}
        self._accesses: dict[str, list[Access]] = {}
        for a in context.accesses:
            self._accesses.setdefault(a.array, []).append(a)
        self.arrays = [name for name, found in self._accesses.items() if any(a.kind != "read" for a in found)]
        self._prepared = Sides(context)
        self._sides: dict[str, list[Side]] = {}
        self._answers: dict[str, dict[Hashable, str | None]] = {}
        self._found: dict[str, list[Unproved]] = {}
        self._rest: dict[str, Iterator[Unproved]] = {}

    def races_on(self, array: str) -> bool:
        if array not in self.arrays:
            return False
        return bool(self._found.get(array)) or self._next(array)

    def races_anywhere(self) -> bool:
        return any(self.races_on(array) for array in self.arrays)

    def unproved(self, array: str) -> list[Unproved]:
        while self._next(array):
            pass
        return self._found[array]

    def given(self, fact: k.ArrayFact) -> "_Attempt":
        """The same with one more precondition, for which no pair needs to be asked again that has a proof without."""
        c = self.context
        kernel = replace(c.kernel, facts=(*c.kernel.facts, fact))
        attempt = _Attempt(replace(c, kernel=kernel, steps=self._steps, case_steps=0, joint_questions=0))
        attempt._prepared, attempt._sides = self._prepared, self._sides
        attempt._answers = {
            array: {key: None for key, reason in answers.items() if reason is None}
            for array, answers in self._answers.items()
        }
        return attempt

    def _next(self, array: str) -> bool:
        """Look for one more pair of an array without a proof."""
        if array not in self._rest:
            self._found[array] = []
            self._rest[array] = self._pairs(array)
        pair = next(self._rest[array], None)
        if pair is not None:
            self._found[array].append(pair)
        return pair is not None

    def _pairs(self, array: str) -> Iterator[Unproved]:
        c, everywhere = self.context, array not in self._shared
        if array not in self._sides:
            self._sides[array] = [s for a in self._accesses[array] if (s := self._prepared.of(a)).guarded.reachable]
        sides = self._sides[array]
        owners = one_owner_each(c, sides)
        if owners.within and (owners.across or not (everywhere and c.group_atoms)):
            return
        answers = self._answers.setdefault(array, {})
        keys = _numbered(sides)
        seen: set[Hashable] = set()
        for x, a in enumerate(sides):
            for y, b in enumerate(sides[x:], x):
                if _compatible(a.access.kind, b.access.kind, c.kernel.deterministic):
                    continue
                for across in (False, True):
                    if across and (not everywhere or not c.group_atoms or owners.across):
                        continue
                    if not across and (
                        c.size == 1 or owners.within or not may_meet(a.access.intervals, b.access.intervals)
                    ):
                        continue
                    c.spend()
                    places = (a.access.span, b.access.span, across)
                    if places in seen:
                        continue
                    together = may_meet(a.access.warp_intervals, b.access.warp_intervals)
                    key = (across, keys[x], keys[y], together)
                    if key not in answers:
                        answers[key] = self._conflict(a, b, across)
                    reason = answers[key]
                    if reason is not None:
                        seen.add(places)
                        yield Unproved(a.access, b.access, across, reason)

    def _conflict(self, a: Side, b: Side, across: bool) -> str | None:
        """The question for two accesses, and where it is open, for each of the cases that they are made of. These have
        a budget of their own: no kernel gets beyond that of the proof because of them."""
        c = self.context
        reason = conflict(c, a, b, across)
        if reason is None or c.case_steps >= _MOST_CASE_STEPS:
            return reason
        first, second = self._prepared.cases(a), self._prepared.cases(b)
        if len(first) == len(second) == 1:
            return reason
        steps, questions = c.steps, c.joint_questions
        try:
            c.steps = c.case_steps
            apart = all(conflict(c, one, other, across) is None for one in first for other in second)
        except TooLarge:
            apart = False
        finally:
            c.case_steps, c.steps, c.joint_questions = c.steps, steps, questions
        return None if apart else reason


def _numbered(sides: list[Side]) -> list[int]:
    """A number for each side, the same for sides that no question tells apart."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault((s.access.indices, s.guarded.number), len(numbers)) for s in sides]


def _compatible(a: str, b: str, deterministic: bool) -> bool:
    """Reads, and one atomic operation, may meet; in a kernel whose result may depend on the order, any two atomics."""
    if a.startswith("atomic") and b.startswith("atomic"):
        return a == b or not deterministic
    return a == b == "read"
