"""Look for integers that satisfy facts: where some do, no elimination can refute the facts, and none needs to be tried.

facts  i >= 0,  7 - i >= 0,  i - 9 >= -4    and the guess  i = 0    are repaired to    i = 5
"""

from collections.abc import Sequence
from typing import TypeAlias

from isogrid.analysis.linear import Polynomial
from isogrid.analysis.ranges import Atoms

Model: TypeAlias = dict[int, int]

#: Repairs of a guess before it is given up.
_REPAIRS = 12


def find_model(atoms: Atoms, told: Sequence[Polynomial], guess: Model) -> Model | None:
    """Values of the atoms within their ranges that make every polynomial at least 0, or None where the search, which is
    short, found none. `guess` holds values to begin with."""
    model: Model = {}
    table = atoms.table
    for polynomial in told:
        for atom in polynomial.atoms():
            if atom not in model:
                record = table[atom]
                model[atom] = min(max(guess.get(atom, 0), record.low), record.high)
    for _ in range(_REPAIRS):
        for polynomial in told:
            value = _value(polynomial, model)
            if value < 0:
                if not _repaired(atoms, polynomial, value, model):
                    return None
                break
        else:
            return model
    return None


def _value(polynomial: Polynomial, model: Model) -> int:
    value = 0
    for monomial, coefficient in polynomial.terms:
        for atom in monomial:
            coefficient *= model[atom]
        value += coefficient
    return value


def _repaired(atoms: Atoms, polynomial: Polynomial, value: int, model: Model) -> bool:
    """Move one atom so that the polynomial rises from `value` to 0, or as far as it can; False where none rises."""
    best: tuple[int, int, int] | None = None
    for atom in sorted(polynomial.atoms()):
        old = model[atom]
        record = atoms.table[atom]
        model[atom] = old + 1
        slope = _value(polynomial, model) - value
        model[atom] = old
        if not slope:
            continue
        wanted = old + (-(value // slope) if slope > 0 else value // -slope)
        new = min(max(wanted, record.low), record.high)
        if new == old:
            continue
        model[atom] = new
        reached = min(_value(polynomial, model), 0)
        model[atom] = old
        if reached > value and (best is None or reached > best[0]):
            best = reached, atom, new
    if best is None:
        return False
    model[best[1]] = best[2]
    return True
