"""Words that do not belong: names of targets in the part that knows none, paths of one machine, hosts of registries."""

import ast
import re

import pytest
from tests.architecture.source import PACKAGE, docstrings_in, modules, name_of, tracked_files

TARGETS = re.compile(
    r"\b(?:llvm\w*|ptx|nvptx|cuda|amdgcn|hip|spir_?v|opencl|metal|wgsl|glsl|vulkan|x86|avx\w*)\b", re.IGNORECASE
)
#: The folders that every target shares.
SHARED = ("frontend", "checks", "passes", "lowering", "analysis", "builtins", "ir", "diagnostics", "runtimes")
#: Tables of driver calls, which each name their own target.
DRIVERS = ("runtimes/cuda_driver.py",)
#: Spelt in parts, so that this file does not contain them.
FORBIDDEN = re.compile(
    "|".join(
        (
            r"(?<![\w.])/" + "work/",
            r"(?<![\w.])/" + "root/",
            r"(?<![\w.])/" + r"home/\w",
            "pypi" + r"\.org",
            "python" + r"hosted\.org",
            "registry" + r"\.npm",
            r"\b" + "AI " + r"agents?\b",
            r"\b" + "Clau" + "de",
        )
    )
)


@pytest.mark.parametrize("folder", SHARED)
def test_no_target_is_named_where_all_targets_share(folder: str) -> None:
    found = []
    for path, tree in modules():
        if not path.is_relative_to(PACKAGE / folder) or path.relative_to(PACKAGE).as_posix() in DRIVERS:
            continue
        prose = docstrings_in(tree)
        for node in ast.walk(tree):
            words = _words(node) if id(node) not in prose else ""
            if TARGETS.search(words):
                found.append(f"{name_of(path)}:{getattr(node, 'lineno', 0)}: {words}")
    assert found == []


def _words(node: ast.AST) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name.replace("_", " ")
        case ast.Attribute(attr=name):
            return name.replace("_", " ")
        case _:
            return ""


def test_no_path_or_host_of_one_machine_is_in_the_repository() -> None:
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = FORBIDDEN.search(line)
            if match:
                found.append(f"{name_of(path)}:{number}: {match.group()}")
    assert found == []
