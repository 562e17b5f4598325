"""Pages whose examples are whole kernels tell the truth: the first is refused with that code, the second accepted."""

import linecache

import pytest

from isogrid.diagnostics.codes import all_pages
from isogrid.launch.kernel_value import Kernel
from isogrid.offloading.function import Offloaded
from isogrid.pipeline import CHECKS
from isogrid.support.errors import KernelRefused

PRELUDE = """\
import numpy as np
import isogrid as ig
from typing import Any, Literal, TypeVar
from isogrid import *
from isogrid.dims import H, K, M, N, W
"""
PAGES = all_pages()
#: Pages of checks that do not run yet.
OF_A_CHECK = {"IG201": "races", "IG202": "races", "IG203": "races"}
RUNNING = {name for name, *_ in CHECKS}
#: Examples that show how text reaches the compiler and not a kernel.
ABOUT_TEXT = {"IG170"}


def codes_of(text: str, name: str) -> set[str]:
    source = PRELUDE + text + "\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, object] = {"__name__": "page"}
    try:
        exec(compile(source, name, "exec"), namespace)
    except KernelRefused as refusal:
        return {report.code for report in refusal.reports}
    kernels = [value for value in namespace.values() if isinstance(value, Kernel | Offloaded)]
    assert kernels, text
    return {report.code for kernel in kernels for report in kernel.check()}


def whole(text: str) -> bool:
    return "@ig.kernel" in text or "ig.kernel(" in text or "@ig.offload" in text


def due(code: str) -> bool:
    return OF_A_CHECK.get(code) in (None, *RUNNING) and code not in ABOUT_TEXT


@pytest.mark.parametrize("code", [c for c, page in PAGES.items() if whole(page.example_bad) and due(c)])
def test_the_bad_example_is_refused_with_the_code(code: str) -> None:
    assert codes_of(PAGES[code].example_bad, f"<{code} bad>") == {code}


@pytest.mark.parametrize("code", [c for c, page in PAGES.items() if whole(page.example_good) and due(c)])
def test_the_good_example_is_accepted(code: str) -> None:
    assert codes_of(PAGES[code].example_good, f"<{code} good>") == set()
