"""LLVM IR text to object bytes, and object bytes to code in this process.

Two pipelines. "vectorise" is LLVM's O2 with the loop and SLP vectorisers, for scalar lane loops. "plain" only cleans
up: code that is already written with vectors, or is not hot, runs as fast with it and compiles in half the time.
"""

import itertools
from typing import Any, Final, Literal, TypeAlias

from isogrid.backends.cpu.target import HostTarget, host_target, llvm_binding, target_machine
from isogrid.support.errors import CompilerBug
from isogrid.support.locks import new_lock
from isogrid.support.records import dataclass

Pipeline: TypeAlias = Literal["vectorise", "plain"]


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """Code in memory: `addresses` of the functions asked for. It stays loaded until the process ends."""

    addresses: dict[str, int]

    def __getitem__(self, name: str) -> int:
        return self.addresses[name]


def compile_object(text: str, pipeline: Pipeline, target: HostTarget | None = None) -> bytes:
    """Native object code of one LLVM module. Raises `CompilerBug` when LLVM rejects the text."""
    module, machine = _optimised(text, pipeline, target or host_target())
    return bytes(machine.emit_object(module))


def compile_text(text: str, pipeline: Pipeline, *, assembly: bool, target: HostTarget | None = None) -> str:
    """The optimised LLVM IR, or the assembly, of one module: what `isogrid emit` and `explain` print."""
    module, machine = _optimised(text, pipeline, target or host_target())
    return str(machine.emit_assembly(module)) if assembly else str(module)


def load_object(code: bytes, names: tuple[str, ...]) -> LoadedCode:
    """Map object code into this process and resolve it against the process's own symbols.

    LLVM ends the process when the bytes are damaged, so callers pass only what `compile_object` made in this process or
    what a verified cache entry holds.
    """
    builder = llvm_binding().JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in names:
        builder.export_symbol(name)
    with _LOCK:
        try:
            tracker = builder.link(_jit(), f"isogrid.{next(_NUMBERS)}")
        except RuntimeError as problem:
            raise CompilerBug(f"the object code of {', '.join(names)} does not load: {problem}") from problem
    # A tracker unloads its code when it is dropped; a worker or a launcher may be executing that code until the end.
    tracker.detach()
    return LoadedCode({name: int(tracker[name]) for name in names})


def _optimised(text: str, pipeline: Pipeline, target: HostTarget) -> tuple[Any, Any]:
    llvm = llvm_binding()
    machine = target_machine(target)
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as problem:
        raise CompilerBug(f"LLVM rejects a generated module: {problem}") from problem
    module.triple = target.triple
    module.data_layout = target.data_layout
    # LLVM's own names for the tuning options; loops are unrolled by isogrid's passes, interleaved by the vectoriser.
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    vectorise = pipeline == "vectorise"
    tuning.loop_vectorization = tuning.loop_interleaving = tuning.slp_vectorization = vectorise
    tuning.loop_unrolling = vectorise
    builder = llvm.create_pass_builder(machine, tuning)
    if vectorise:
        builder.getModulePassManager().run(module, builder)
    else:
        _plain_passes(llvm).run(module, builder)
    return module, machine


def _plain_passes(llvm: Any) -> Any:
    """Clean up only; measured as enough for code that is already written with vectors."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_loop_rotate_pass()
    passes.add_aggressive_dce_pass()
    return passes


_LOCK: Final = new_lock()
_NUMBERS: Final = itertools.count()
_JITS: Final[list[Any]] = []


def _jit() -> Any:
    """The one linker of this process, made at first use and never closed."""
    if not _JITS:
        _JITS.append(llvm_binding().create_lljit_compiler(target_machine(host_target()), suppress_errors=True))
    return _JITS[0]
