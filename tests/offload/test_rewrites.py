"""Rewrites of the handed examples: those that keep the meaning keep verdict and words, one that breaks it flips it."""

import ast
import re

import pytest

import isogrid as ig
from tests.offload.examples import Example, examples
from tests.offload.written import words_of

_ALL = [e for e in examples() if not e.outside]
_RENAMED = {"i": "trip", "x": "column", "t": "held", "j": "inner", "s": "acc"}
_KEYWORDS_OF_BODY = re.compile(r"\b(" + "|".join(_RENAMED) + r")\b")


def _words(example: Example, body: str | None = None) -> list[str]:
    return words_of(ig.offload(example.typed(body)))


def _renamed(text: str) -> str:
    return _KEYWORDS_OF_BODY.sub(lambda match: _RENAMED[match[1]], text)


@pytest.mark.parametrize("example", _ALL, ids=lambda e: e.id)
def test_renamed_variables_change_the_names_alone(example: Example) -> None:
    expected = [_renamed(text) for text in _words(example)]
    found = _words(example, _renamed(example.body))
    assert [_renamed(text) for text in found] == [_renamed(text) for text in expected]
    assert len(found) == len(expected)


@pytest.mark.parametrize("example", [e for e in _ALL if "range(n)" in e.body], ids=lambda e: e.id)
def test_the_bound_from_another_arrays_length(example: Example) -> None:
    assert _words(example, example.body.replace("range(n)", "range(len(dst))")) == _words(example)


def _unfolded(body: str) -> list[str]:
    """The body with each simple statement on a line of its own, as `ast` writes it."""
    return ast.unparse(ast.parse(body)).splitlines()


@pytest.mark.parametrize("example", _ALL, ids=lambda e: e.id)
def test_an_independent_statement_changes_nothing(example: Example) -> None:
    """A statement of the iteration's own at the end of each loop."""
    lines = _unfolded(example.body)
    added: list[str] = []
    for number, line in enumerate(lines):
        added.append(line)
        last = number + 1 == len(lines) or not lines[number + 1].startswith(" ")
        ends = line.strip().startswith(("continue", "break", "return", "raise"))
        if line.startswith("    ") and last and not ends:
            added.append("    unused_here = 1.0 + 2.0")
    found = [re.sub(r"line \d+", "line", text) for text in _words(example, "\n".join(added))]
    assert found == [re.sub(r"line \d+", "line", text) for text in _words(example, "\n".join(lines))]


#: But for the one whose local has the helper's name.
_VALUE = [e for e in _ALL if re.search(r"= src\[i\]$", e.body, flags=re.M) and not re.search(r"\bat\b", e.body)]


@pytest.mark.parametrize("example", _VALUE, ids=lambda e: e.id)
def test_the_value_through_a_helper_or_a_name(example: Example) -> None:
    helped = re.sub(r"= src\[i\]$", "= at(src, i)", example.body, flags=re.M)
    assert _words(example, helped) == _words(example)
    lines = _unfolded(example.body)
    named: list[str] = []
    for line in lines:
        match = re.match(r"( +)(.*) = src\[i\]$", line)
        named += [line] if match is None else [f"{match[1]}{match[2]} = 0.0 + src[i] * 1.0"]
    assert _words(example, "\n".join(named)) == _words(example, "\n".join(lines))


_GATHERS = [e for e in _ALL if e.verdict == "ok" and re.search(r"for i in range\(n\): out\[i\] = ", e.body)]


@pytest.mark.parametrize("example", _GATHERS, ids=lambda e: e.id)
def test_a_read_of_the_next_element_flips_the_verdict(example: Example) -> None:
    flipped = re.sub(r"(out\[i\] = .*)$", r"\1 + out[i + 1]", example.body, flags=re.M)
    (said,) = _words(example, flipped)
    assert "reads `out[i + 1]`, which another iteration may write" in said


def test_there_are_enough_of_each() -> None:
    assert len(_VALUE) >= 8
    assert len(_GATHERS) >= 8
