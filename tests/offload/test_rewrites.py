"""Rewrites of every recorded loop: those that keep the meaning keep verdict and words, those that break it flip it."""

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

import pytest

import isogrid as ig
from tests.offload import test_loops
from tests.offload.examples import examples
from tests.offload.rewrites import BREAKING, KEEPING, Lines, Rewritten, locals_of, parsed, silenced
from tests.offload.written import words_of

_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class Recorded:
    """One loop as text, and how a function is made of a text like it."""

    id: str
    accepted: bool
    text: str
    make: Callable[[str], FunctionType]
    #: Lines of the file above the function.
    above: int = 0

    def words(self, text: str) -> list[str]:
        return words_of(ig.offload(self.make(text)))


def _recorded() -> list[Recorded]:
    found: list[Recorded] = []
    for example in examples():
        if not example.outside:
            text = f"def f():\n{textwrap.indent(example.body, '    ')}"
            made = lambda text, e=example: e.typed(textwrap.dedent(text.partition("\n")[2]))  # noqa: E731
            found.append(Recorded(example.id, example.verdict == "ok", text, made))
    for entry in test_loops.ALL:
        if entry["id"] not in test_loops.OUTSIDE:
            accepted = entry["expect"] == "parallel" or entry["id"] in {**test_loops.STRONGER, **test_loops.AT_THE_CALL}
            text = test_loops.function_text(entry)
            made = lambda text, e=entry: test_loops.function_of(e, text)  # noqa: E731
            above = entry["source"].partition("def f(")[0].count("\n")
            above += entry["source"].partition("def f(")[0].count("def ")  # each gets a decorator
            found.append(Recorded(entry["id"], accepted, text, made, above))
    return found


_ALL = _recorded()

#: Both of the swapped statements are refused, and the first in the text is told.
_TWO_REASONS = {"R3-names/argmin-pair", "X098_argmax_first"}


@pytest.mark.parametrize("loop", _ALL, ids=lambda loop: loop.id)
def test_rewrites_that_keep_the_meaning(loop: Recorded) -> None:
    node = parsed(loop.text)
    plain = ast.unparse(node)
    expected = loop.words(plain)
    assert bool(expected) != loop.accepted, expected
    for name, rewrite in KEEPING.items():
        rewritten = rewrite(node)
        if rewritten is None or (name == "swapped" and loop.id in _TWO_REASONS):
            continue
        found = loop.words(rewritten.text)
        if name == "renamed":
            found = [_back(text, {own.swapcase(): own for own in locals_of(node)}) for text in found]
        assert _compared(found, name) == _compared([_moved(text, rewritten, loop.above) for text in expected], name), (
            f"{name}\n{rewritten.text}"
        )


@pytest.mark.parametrize("loop", [loop for loop in _ALL if loop.accepted], ids=lambda loop: loop.id)
def test_rewrites_that_break_the_meaning(loop: Recorded) -> None:
    for name, rewrite in BREAKING.items():
        rewritten = rewrite(parsed(loop.text))
        if rewritten is not None:
            said = loop.words(rewritten.text)
            # An Out array that is read is refused by the language.
            told = any(f"{name}_here" in text or "[0" in text or "IG117" in text for text in said)
            assert told, f"{said}\n{rewritten.text}"


@pytest.mark.parametrize("loop", [loop for loop in _ALL if not loop.accepted], ids=lambda loop: loop.id)
def test_without_the_line_that_is_named_the_reason_is_gone(loop: Recorded) -> None:
    node = parsed(loop.text)
    said = loop.words(ast.unparse(node))
    named = _LINE.search(said[0])
    if named is None:
        return  # an error of the language, which points at its place
    without = silenced(node, int(named[1]) - loop.above)
    assert without is not None
    assert said[0] not in loop.words(without.text)


def test_each_rewrite_is_made_of_many_loops() -> None:
    """Of accepted and of refused ones."""
    made = Counter(
        (name, loop.accepted)
        for loop in _ALL
        for name, rewrite in {**KEEPING, **BREAKING}.items()
        if rewrite(parsed(loop.text)) is not None
    )
    least = {"swapped": (7, 3), "named": (80, 60), "helped": (60, 50), "bounded": (100, 100), "stolen": (100, 100)}
    for name in (*KEEPING, *BREAKING):
        accepted, refused = least.get(name, (120, 110))
        assert made[name, True] >= accepted, (name, made)
        assert made[name, False] >= refused, (name, made)


def _moved(text: str, rewritten: Rewritten, above: int) -> str:
    lines: Lines | None = rewritten.lines
    if lines is None:
        return text
    return _LINE.sub(lambda match: f"line {lines[int(match[1]) - above] + above}", text)


def _compared(texts: list[str], name: str) -> list[str]:
    """Where a rewrite splits lines or quotes other words, what stays of the texts."""
    if name == "named":
        return [_LINE.sub("line", text) for text in texts]
    return texts


def _back(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\b(" + "|".join(sorted(names)) + r")\b", lambda match: names[match[1]], text)
