"""The coefficients and compiled functions in the repository are those that their programs make."""

import pytest
from tools.mathlib import coefficients, compile, tails

from isogrid.mathlib.functions import path_of


def test_coefficients_are_up_to_date() -> None:
    """Making them also checks every error bound."""
    assert coefficients.TARGET.read_text() == coefficients.written(), "run python -m tools.mathlib.coefficients"
    assert tails.TARGET.read_text() == tails.written(), "run python -m tools.mathlib.tails"


@pytest.mark.parametrize("part", range(4))
def test_compiled_functions_are_up_to_date(part: int) -> None:
    stale = [
        name
        for number, (name, helper, parameters, result) in enumerate(compile.public())
        if number % 4 == part and path_of(name).read_text() != compile.compiled(name, helper, parameters, result)
    ]
    assert stale == [], "run python -m tools.mathlib.compile"


def test_nothing_compiled_is_left_over() -> None:
    names = {name for name, *_ in compile.public()}
    assert {path.stem for path in path_of("exp_f32").parent.glob("*.ir")} == names
