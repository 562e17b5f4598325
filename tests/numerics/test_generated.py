"""The coefficients and compiled functions in the repository are those that their programs make."""

import pytest
from tools.mathlib import coefficients, compile, tails

from isogrid.mathlib.functions import path_of


def test_coefficients_are_up_to_date() -> None:
    """Making them also checks every error bound."""
    for path, text in coefficients.written().items():
        assert path.read_text() == text, "run python -m tools.mathlib.coefficients"
    for path, text in tails.written().items():
        assert path.read_text() == text, "run python -m tools.mathlib.tails"


@pytest.mark.parametrize("part", range(4))
def test_compiled_functions_are_up_to_date(part: int) -> None:
    stale = [
        source.path.stem
        for number, source in enumerate(compile.public())
        if number % 4 == part and source.path.read_text() != source.text()
    ]
    assert stale == [], "run python -m tools.mathlib.compile"


def test_nothing_compiled_is_left_over() -> None:
    paths = {source.path for source in compile.public()}
    assert set(path_of("exp_f32").parent.glob("*.ir")) == paths
