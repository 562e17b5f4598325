"""Loops over arrays around functions of the C library, which LLVM compiles here: no C compiler is needed."""

import ctypes
from collections.abc import Callable


def compiled(text: str, pointers: int) -> Callable[..., None]:
    """The function `loop` of this LLVM text: addresses of so many arrays, then the number of elements."""
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.load_library_permanently("libm.so.6")
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers, ctypes.c_int64)(engine.get_function_address("loop"))

    def run(*arguments: int, kept: object = engine) -> None:
        loop(*arguments)

    return run
