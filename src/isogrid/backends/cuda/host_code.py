"""Machine code for the processor: launch stubs as LLVM text, compiled once, kept on disk, loaded into this process."""

import importlib
import itertools
from typing import Any, Final

from isogrid.support.diskcache import default_cache, digest
from isogrid.support.errors import CompilerBug
from isogrid.support.locks import new_lock

_LOCK: Final = new_lock()
_NUMBERS: Final = itertools.count()
_KEPT: Final[list[Any]] = []
#: Addresses of what is loaded, by the key of the text and the name.
_LOADED: Final[dict[tuple[str, str], int]] = {}


def load_function(text: str, name: str) -> int:
    """The address of a function of this text. It stays loaded until the process ends."""
    with _LOCK:
        llvm, machine, jit = _tools()
        key = digest(("host stub 1", text, machine.triple, llvm.get_host_cpu_name(), str(llvm.llvm_version_info)))
        if (key, name) in _LOADED:
            return _LOADED[key, name]
        code = default_cache().load(key)
        if code is None:
            code = _compiled(llvm, machine, text)
            default_cache().store(key, code)
        builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(name)
        try:
            tracker = builder.link(jit, f"isogrid.stub.{next(_NUMBERS)}")
        except RuntimeError as problem:
            raise CompilerBug(f"a launch stub does not load: {problem}") from problem
        tracker.detach()
        return _LOADED.setdefault((key, name), int(tracker[name]))


def _compiled(llvm: Any, machine: Any, text: str) -> bytes:
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as problem:
        raise CompilerBug(f"LLVM rejects a launch stub: {problem}") from problem
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _tools() -> Any:
    """llvmlite's binding layer, the machine that code is made for, and the linker of this process."""
    if not _KEPT:
        llvm: Any = importlib.import_module("llvmlite.binding")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), opt=2, codemodel="jitdefault", jit=True
        )
        _KEPT.append((llvm, machine, llvm.create_lljit_compiler(machine, suppress_errors=True)))
    return _KEPT[0]
