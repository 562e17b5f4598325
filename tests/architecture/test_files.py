"""Files say what they are, stay small, and do not swallow errors."""

import ast

import pytest
from tests.architecture.source import modules, name_of

#: Lines of one file. The aim is 150 to 500; this is where a file must be split.
MOST_LINES = 600
#: Lines of one function. The aim is 40; tables of cases may be longer.
MOST_FUNCTION_LINES = 90
#: Where anything at all may be raised: a user's module while it is imported or script while it runs, trials of devices.
CATCHES_ALL = {"src/isogrid/cli/load.py", "src/isogrid/cli/run.py", "src/isogrid/cli/doctor.py"}


def test_file_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = sorted(((len(path.read_text().splitlines()), name_of(path)) for path, _ in modules()), reverse=True)
    with capsys.disabled():
        largest = ", ".join(f"{name.removeprefix('src/isogrid/')} {lines}" for lines, name in sizes[:5])
        total = sum(lines for lines, _ in sizes)
        print(f"\n{len(sizes)} source files, {total} lines; the largest: {largest}")
    assert [f"{name}: {lines} lines" for lines, name in sizes if lines > MOST_LINES] == []


def test_functions_are_short() -> None:
    long = []
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno > MOST_FUNCTION_LINES:
                long.append(f"{name_of(path)}:{node.lineno} {node.name}")
    assert long == []


def test_every_file_opens_with_what_it_is() -> None:
    silent = [name_of(path) for path, tree in modules() if not ast.get_docstring(tree)]
    assert silent == []


def test_nothing_swallows_every_exception() -> None:
    found = []
    for path, tree in modules():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ExceptHandler):
                continue
            catches_all = node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception")
            if catches_all and name_of(path) not in CATCHES_ALL:
                found.append(f"{name_of(path)}:{node.lineno}")
    assert found == []
