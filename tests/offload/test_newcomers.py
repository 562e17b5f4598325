"""Loops as somebody new writes them, with sequential Python as the judge: results are equal whatever the verdict.

`data/newcomers.expected.txt` says what each author reads; a loop that Python and a kernel mean differently is named
below.
"""

import ast
import json
import linecache
import textwrap
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from tests.offload.written import HEAD, PYTHON_HEAD, called, function, words_of

_FOLDER = Path(__file__).parent / "data"
_EXPECTED = _FOLDER / "newcomers.expected.txt"
ALL = {entry["name"]: entry for entry in json.loads((_FOLDER / "newcomers.json").read_text())}

#: Python counts negative indices from the end; here they are out of range.
_NEGATIVE = {"hist_neg_index"}
_DIMS = "".join(f"class N{name}(ig.Dim): pass\n" for name in (*"abcx", "rows", "columns"))
_PARAMETERS = (
    "a: InOut[i64, Na], b: InOut[i64, Nb], c: InOut[i64, Nc], x: InOut[f64, Nx], g: InOut[i64, Nrows, Ncolumns], "
    "n: i64, m: i64, k: i64"
)
_HELPERS = """
@ig.func
def first_above(v, limit):
    for q in range(10):
        if v + q > limit:
            return q
    return -1

@ig.func
def swap(v, i, j):
    t = v[i]
    v[i] = v[j]
    v[j] = t

@ig.func
def setit(v, i, w):
    v[i] = w

@ig.func
def getit(v, i):
    return v[i]

@ig.func
def both(v, w, i):
    return v[i] + w[i + 1]
"""


def typed(name: str) -> FunctionType:
    entry = ALL[name]
    body = textwrap.indent(entry["body"], "    ")
    return function(f"def f({_PARAMETERS}) {entry['returns']}:\n{body}\n", f"loop {name}", HEAD + _DIMS + _HELPERS)


def plain(name: str) -> FunctionType:
    head = PYTHON_HEAD + _HELPERS.replace("@ig.func\n", "")
    body = textwrap.indent(ALL[name]["body"], "    ")
    return function(f"def f(a, b, c, x, g, n, m, k):\n{body}\n", f"plain {name}", head)


def arguments() -> dict[str, Any]:
    random = np.random.default_rng(7)
    arrays = {name: random.integers(0, 8, 12) for name in "abc"}
    grid = random.integers(0, 9, (4, 5))
    return {**arrays, "x": random.integers(0, 9, 12).astype(float), "g": grid, "n": 9, "m": 4, "k": 2}


@pytest.mark.parametrize("name", [name for name in ALL if name not in _NEGATIVE])
def test_results_are_those_of_sequential_python(name: str) -> None:
    f = ig.offload(typed(name))
    try:
        result, after, _, error = called(f.reference, arguments())
    except ig.KernelRefused:
        return  # the words are in the file of expected texts
    assert error is None, error
    expected = arguments()
    returned = plain(name)(**expected)
    assert result == returned
    assert all(np.array_equal(after[array], expected[array]) for array in "abcxg")


class _Shuffle(ast.NodeTransformer):
    """The loops of the function itself, each over its iterations in another order."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for statement in node.body:
            if isinstance(statement, ast.For):
                statement.iter = ast.Call(ast.Name("shuffled", ast.Load()), [statement.iter], [])
        return node


@pytest.mark.parametrize("name", [name for name in ALL if name not in _NEGATIVE])
def test_the_order_of_accepted_iterations_does_not_matter(name: str) -> None:
    if words_of(ig.offload(typed(name))):
        return
    expected = arguments()
    returned = plain(name)(**expected)
    for seed in range(4):
        random = np.random.default_rng(seed)

        def shuffled(trips: Any, random: Any = random) -> list[Any]:
            known = list(trips)
            return [known[number] for number in random.permutation(len(known))]

        twin = plain(name)
        tree = _Shuffle().visit(ast.parse(textwrap.dedent("".join(linecache.getlines(twin.__code__.co_filename)))))
        space = twin.__globals__ | {"shuffled": shuffled}
        exec(compile(ast.fix_missing_locations(tree), "<shuffled>", "exec"), space)
        found = arguments()
        assert space["f"](**found) == returned
        assert all(np.array_equal(found[array], expected[array]) for array in "abcxg")


def test_exact_words(update: bool) -> None:
    lines: list[str] = []
    for name in ALL:
        words = words_of(ig.offload(typed(name)))
        lines.append(f"{name}: {'accepted' if not words else 'not a kernel'}")
        lines += [f"    {text}" for text in words]
    text = "\n".join(lines) + "\n"
    if update:
        _EXPECTED.write_text(text)
    assert text == _EXPECTED.read_text()


def test_words_are_two_sentences_with_names_of_the_author() -> None:
    for line in _EXPECTED.read_text().splitlines():
        if line.startswith("    IG8070: line"):
            assert line.rstrip(".").count(". ") == 1, line
            assert "`" in line and ".1" not in line, line
