"""NVRTC by ctypes: CUDA C to PTX or to a cubin, where the library is installed. No driver is needed."""

import ctypes
import functools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

#: Names under which systems have the library, the newest first.
_NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "nvrtc64_130_0.dll", "nvrtc64_120_0.dll")


class NvrtcError(Exception):
    """NVRTC is not installed, or refused a text; the message holds its log."""


@functools.cache
def nvrtc_version() -> tuple[int, int] | None:
    """The version of the library, None where it is not installed."""
    library = _library()
    if library is None:
        return None
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(library, library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion")
    return major.value, minor.value


def compile_nvrtc(text: str, arch: str, options: Sequence[str] = ()) -> bytes:
    """Code for `arch`: a cubin for "sm_90", PTX for "compute_90". Raises `NvrtcError` with the compiler's log."""
    library = _library()
    if library is None:
        raise NvrtcError("NVRTC is not installed: pip install nvidia-cuda-nvrtc, or drop codegen='nvrtc'")
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    _check(library, made, "nvrtcCreateProgram")
    try:
        flags = [f"--gpu-architecture={arch}".encode(), *(option.encode() for option in options)]
        result = library.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
        if result:
            raise NvrtcError(_output(library, program, "ProgramLog").rstrip(b"\0").decode(errors="replace"))
        return _output(library, program, "CUBIN" if arch.startswith("sm_") else "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _output(library: Any, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(library, library[f"nvrtcGet{what}Size"](program, ctypes.byref(size)), f"nvrtcGet{what}Size")
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, library[f"nvrtcGet{what}"](program, buffer), f"nvrtcGet{what}")
    return buffer.raw


def _check(library: Any, result: int, call: str) -> None:
    if result:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise NvrtcError(f"{call}: {library.nvrtcGetErrorString(result).decode()}")


@functools.cache
def _library() -> Any:
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def _places() -> Iterator[str]:
    """Files to try: those of pip packages, then what the system finds by name."""
    for folder in sys.path:
        packages = Path(folder) / "nvidia"
        if packages.is_dir():
            for name in _NAMES:
                yield from (str(path) for path in sorted(packages.glob(f"**/{name}")))
    yield from _NAMES
