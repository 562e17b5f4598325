"""Models of facts: what the search finds satisfies them, and a solver with it decides as one without it."""

import random

import pytest

from isogrid.analysis import solve
from isogrid.analysis.linear import Polynomial, number_polynomial
from isogrid.analysis.models import find_model
from isogrid.analysis.ranges import Atoms
from isogrid.analysis.solve import Solver


def test_a_guess_is_repaired() -> None:
    atoms = Atoms()
    i, n = atoms.fresh(0, 100), atoms.fresh(0, 50)
    told = [i - n.scaled(2), n.plus(-3), (i * n).plus(-40)]
    model = find_model(atoms, told, {})
    assert model is not None
    assert all(value_of(polynomial, model) >= 0 for polynomial in told)
    assert find_model(atoms, [*told, number_polynomial(5) - i], {}) is None


def test_models_change_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    with_models = [verdict(seed) for seed in range(150)]
    monkeypatch.setattr(solve, "find_model", lambda atoms, told, guess: None)
    assert [verdict(seed) for seed in range(150)] == with_models
    assert 20 < sum(with_models) < 130


def verdict(seed: int) -> bool:
    draw = random.Random(seed)
    atoms = Atoms()
    values = [atoms.fresh(draw.randint(-5, 0), draw.randint(0, 9)) for _ in range(4)]

    def polynomial() -> Polynomial:
        total = number_polynomial(draw.randint(-6, 12))
        for _ in range(draw.randint(1, 3)):
            value = draw.choice(values)
            total = total + (value * draw.choice(values) if draw.random() < 0.2 else value).scaled(draw.randint(-3, 3))
        return total

    facts = tuple(polynomial() for _ in range(draw.randint(1, 5)))
    return Solver(atoms).proves(polynomial(), facts)


def value_of(polynomial: Polynomial, model: dict[int, int]) -> int:
    total = 0
    for monomial, coefficient in polynomial.terms:
        for atom in monomial:
            coefficient *= model[atom]
        total += coefficient
    return total
