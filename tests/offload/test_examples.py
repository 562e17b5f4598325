"""All 166 examples of the rules: verdict, exact words, and results equal to plain Python's, on every tier."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.launch.errors import LaunchError
from tests.offload.examples import OUTSIDE, Example, arguments, examples
from tests.offload.written import called, same, words_of

_ALL = examples()
_EXPECTED = Path(__file__).parent / "data" / "examples.expected.txt"
#: Where Python itself fails on the data: an index runs out of the array.
_FAILS = {"R3-scaled/coefficient-written-in-loop"}


def test_every_handed_example_is_here() -> None:
    assert len(_ALL) == 166
    assert len({example.id for example in _ALL}) == 166
    assert {example.id for example in _ALL} >= OUTSIDE


@pytest.mark.parametrize("example", [e for e in _ALL if not e.outside], ids=lambda e: e.id)
def test_verdict_and_results(example: Example) -> None:
    f = ig.offload(example.typed())
    outcome = called(f.on("cpu"), arguments())
    assert _verdict(outcome[2]) == example.verdict, outcome[2]
    assert same(outcome, called(f.reference, arguments()))
    assert same(outcome, called(f.on("cuda"), arguments()))
    _compare_with_python(example, outcome)


@pytest.mark.parametrize("example", [e for e in _ALL if e.outside], ids=lambda e: e.id)
def test_outside_the_language(example: Example) -> None:
    with pytest.raises(ig.KernelRefused) as refused:
        ig.offload(example.typed())(**arguments())
    assert any(report.code != "IG8070" for report in refused.value.reports)


def test_exact_words(update: bool) -> None:
    """One line per example: the warnings, or the codes of what the language says."""
    lines: list[str] = []
    for example in _ALL:
        lines.append(f"{example.id}: {example.verdict}")
        lines += [f"    {text}" for text in words_of(ig.offload(example.typed()))]
    text = "\n".join(lines) + "\n"
    if update:
        _EXPECTED.write_text(text)
    assert text == _EXPECTED.read_text()


def _verdict(said: list[str]) -> str:
    if not said:
        return "ok"
    return "cpu" if "runs in sequence on the CPU" in said[0] else "no"


def _compare_with_python(example: Example, outcome: Any) -> None:
    result, after, _, error = outcome
    expected = arguments()
    with np.errstate(all="ignore"):
        try:
            returned = example.plain()(**expected)
        except IndexError:
            assert isinstance(error, IndexError | LaunchError)
            assert all(np.array_equal(after[n], v) for n, v in arguments().items())
            return
    assert error is None, error
    for name, value in expected.items():
        assert np.allclose(after[name], value, rtol=1e-5, atol=1e-4), name
    if returned is not None:
        assert np.allclose(result, returned, rtol=1e-4), (result, returned)
