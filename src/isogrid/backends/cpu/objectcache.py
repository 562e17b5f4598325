"""Object code by the text that it was compiled from: the second level of the cache, below whole kernels.

It serves the native support code (pool, launcher), which is the same for every kernel, and kernels whose source text
moved without changing what they compile to.
"""

import functools
import importlib

from isogrid.backends.cpu.loader import Pipeline, compile_object
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.support.diskcache import DiskCache, default_cache, digest


def cached_object(text: str, pipeline: Pipeline, cache: DiskCache | None = None) -> bytes:
    """`compile_object(text, pipeline)` for this machine, from the disk where it was compiled before."""
    store = cache or default_cache()
    key = digest(("object", text, pipeline, *machine_facts()))
    found = store.load(key)
    if found is not None:
        return found
    code = compile_object(text, pipeline)
    store.store(key, code)
    return code


def machine_facts(target: HostTarget | None = None) -> tuple[str, ...]:
    """What object code depends on besides its text: processor, its features, LLVM and llvmlite."""
    host = target or host_target()
    return (host.triple, host.cpu, host.features, host.data_layout, llvmlite_version())


@functools.cache
def llvmlite_version() -> str:
    """llvmlite's version in words."""
    return f"llvmlite {importlib.import_module('llvmlite').__version__}"
