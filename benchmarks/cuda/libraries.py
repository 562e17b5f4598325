"""The same program in installed libraries: PyTorch and CuPy by expressions, Triton and Numba by kernels."""

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any, Final

from benchmarks.cuda.work import Work

#: Libraries whose kernels are written out: what to import to see that the library is there, and its programs.
WRITTEN: Final = {
    "triton": ("triton", "benchmarks.cuda.peers_triton"),
    "numba": ("numba.cuda", "benchmarks.cuda.peers_numba"),
}


def sides(work: Work, arrays: Mapping[str, Any]) -> dict[str, Callable[[], None]]:
    """A run per library that has the program."""
    found: dict[str, Callable[[], None]] = {}
    for library, expression in (("torch", work.torch), ("cupy", work.cupy)):
        if expression is not None and (module := installed(library)) is not None:
            theirs = {name: module.from_dlpack(array) for name, array in arrays.items()}
            found[library] = partial(expression, module, theirs)
    for library, (needs, where) in WRITTEN.items():
        if installed(needs) is not None:
            prepare = importlib.import_module(where).PROGRAMS.get(work.name)
            if prepare is not None:
                found[library] = prepare(arrays)
    return found


def failing(name: str, found: Mapping[str, Callable[[], None]]) -> set[str]:
    """The libraries that cannot compile or run here what they were given, after a line that says so."""
    failed: set[str] = set()
    for library in WRITTEN.keys() & found.keys():
        try:
            found[library]()
        except Exception as failure:  # a peer that does not run here must not cost the row
            print(f"{name:16} {library} left out: {type(failure).__name__}: {str(failure)[:200]}", flush=True)
            failed.add(library)
    return failed


def installed(name: str) -> ModuleType | None:
    """The module, or None where it is absent."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
