"""Proofs of changed kernels, to try a remedy out before it is told. The reports of one kernel share them."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

from isogrid.analysis.symbolic.polynomial import TooLarge
from isogrid.analysis.symbolic.races import RaceProof
from isogrid.analysis.uniformity import divergent_barriers
from isogrid.diagnostics.report import Edit
from isogrid.ir import kernel as k

#: Steps of symbolic execution, of all changed kernels together, after which no further one is begun.
_MOST_STEPS = 2500


class Trials:
    """Proofs of changed kernels: the reports of one kernel often think of the same change."""

    def __init__(self, kernel: k.Kernel, proof: RaceProof) -> None:
        self.kernel = kernel
        self.proof = proof
        self._steps = 0
        self._divergent: dict[Edit, bool] = {}
        self._barriers: dict[Edit, RaceProof | None] = {}
        self._facts: dict[tuple[k.ArrayFact, str], bool] = {}
        self._required: dict[tuple[k.Require, ...], RaceProof | None] = {}

    def diverges(self, edit: Edit, mended: k.Kernel) -> bool:
        """Whether some thread would not reach the barriers of a kernel changed by `edit`."""
        if edit not in self._divergent:
            self._divergent[edit] = bool(divergent_barriers(mended))
        return self._divergent[edit]

    def with_barrier(self, edit: Edit, mended: k.Kernel) -> RaceProof | None:
        """The proof of a kernel changed by `edit`; None where it is too large, or others have taken too long."""
        if edit not in self._barriers:
            self._barriers[edit] = self._proof_of(mended)
        return self._barriers[edit]

    def with_requirements(self, clauses: tuple[k.Require, ...]) -> RaceProof | None:
        """The proof where these preconditions hold too; None where it is too large, or others have taken too long."""
        if clauses not in self._required:
            self._required[clauses] = self._proof_of(replace(self.kernel, requires=(*self.kernel.requires, *clauses)))
        return self._required[clauses]

    def races_given(self, fact: k.ArrayFact, array: str) -> bool:
        """Whether the array would still race if one more precondition held."""
        if (fact, array) not in self._facts:
            self._facts[fact, array] = asked(lambda: self.proof.races_given(fact, array))
        return self._facts[fact, array]

    def _proof_of(self, kernel: k.Kernel) -> RaceProof | None:
        if self._steps >= _MOST_STEPS:
            return None
        proof = proof_of(kernel)
        self._steps += 0 if proof is None else proof.context.steps
        return proof


def proof_of(kernel: k.Kernel) -> RaceProof | None:
    """None where the proof is too large."""
    try:
        return RaceProof(kernel)
    except TooLarge:
        return None


def asked(question: Callable[[], bool]) -> bool:
    """Whether something races; a proof that is too large counts as if it did."""
    try:
        return question()
    except TooLarge:
        return True


def mends(proof: RaceProof | None, array: str) -> TypeGuard[RaceProof]:
    """Whether a proof exists and no two threads meet in the array."""
    return proof is not None and not asked(lambda: proof.races_on(array))
