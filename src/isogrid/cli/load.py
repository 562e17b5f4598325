"""Import a user's file and find its kernels; pick kernels by `FILE::name`."""

import contextlib
import importlib.util
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING

from isogrid.diagnostics.report import Report
from isogrid.support.errors import KernelRefused

if TYPE_CHECKING:
    from isogrid.launch.kernel_value import Kernel
    from isogrid.offloading.function import Offloaded


def no_file(path: Path) -> str:
    """Why this path cannot be read."""
    return f"{path} is a folder; name the files in it" if path.is_dir() else f"there is no file {path}"


class CannotLoad(Exception):
    """The file is missing, does not import, or has no such kernel; the text is for the user."""


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file's own kernels by name, in the order of its text; `refused` holds what stopped the import, if a kernel's
    signature did."""

    path: Path
    kernels: tuple[tuple[str, "Kernel"], ...]
    refused: tuple[Report, ...] = ()
    offloaded: "tuple[tuple[str, Offloaded], ...]" = ()


def load_file(path: Path) -> LoadedFile:
    """Import the file as a module of its own. Raises `CannotLoad`."""
    if not path.is_file():
        raise CannotLoad(no_file(path))
    name = f"isogrid_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CannotLoad(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        # What the file prints is no part of what the command prints, which may be JSON or code.
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except KernelRefused as refusal:
        return LoadedFile(path, own_kernels(module), refusal.reports, own_offloaded(module))
    except SystemExit as ended:
        how = "" if ended.code is None else f" ({ended.code})"
        raise CannotLoad(
            f"{path} ends the program while it is imported{how}, so its kernels cannot be looked at; "
            'put what is to run under `if __name__ == "__main__":`'
        ) from None
    except Exception as problem:  # the user's module may raise anything at all
        raise CannotLoad(f"{path} does not import:\n{user_traceback(problem, path)}") from problem
    return LoadedFile(path, own_kernels(module), (), own_offloaded(module))


def own_kernels(module: ModuleType) -> tuple[tuple[str, "Kernel"], ...]:
    """The kernels that the module defines itself, each once, by place."""
    from isogrid.launch.kernel_value import Kernel

    found: dict[int, tuple[str, Kernel]] = {}
    for name, value in vars(module).items():
        if isinstance(value, Kernel) and value.definition.function.__module__ == module.__name__:
            found.setdefault(id(value.definition), (name, value))
    return tuple(sorted(found.values(), key=lambda item: item[1].definition.span.line))


def own_offloaded(module: ModuleType) -> "tuple[tuple[str, Offloaded], ...]":
    """The offloaded functions that the module defines itself, each once, by place."""
    if "isogrid.offloading.function" not in sys.modules:
        return ()  # nothing has used the decorator
    from isogrid.offloading.function import Offloaded

    found: dict[int, tuple[str, Offloaded]] = {}
    for name, value in vars(module).items():
        if isinstance(value, Offloaded) and value.definition.function.__module__ == module.__name__:
            found.setdefault(id(value.definition), (name, value))
    return tuple(sorted(found.values(), key=lambda item: item[1].definition.span.line))


def split_target(target: str) -> tuple[Path, str | None]:
    """`FILE::kernel` or `FILE`."""
    file, separator, kernel = target.partition("::")
    return Path(file), kernel if separator else None


def pick(target: str) -> "list[tuple[str, Kernel | Offloaded]]":
    """The kernels and offloaded functions that `FILE::name` or `FILE` means. Raises `CannotLoad`, or `KernelRefused`
    for a bad signature."""
    path, wanted = split_target(target)
    loaded = load_file(path)
    if loaded.refused:
        raise KernelRefused(loaded.refused)
    known: list[tuple[str, Kernel | Offloaded]] = [*loaded.kernels, *loaded.offloaded]
    if not known:
        raise CannotLoad(f"{path} has no kernel")
    if wanted is None:
        return known
    for name, one in known:
        if wanted in (name, one.definition.name):
            return [(name, one)]
    raise CannotLoad(f"{path} has no kernel {wanted!r}; it has {', '.join(name for name, _ in known)}")


def pick_kernels(target: str) -> "list[tuple[str, Kernel]]":
    """The kernels among what `pick` finds."""
    from isogrid.launch.kernel_value import Kernel

    return [(name, one) for name, one in pick(target) if isinstance(one, Kernel)]


def user_traceback(problem: BaseException, path: Path) -> str:
    """The traceback from the user's file on, without the frames of this program and of the import machinery."""
    file = str(path.resolve())
    frame: TracebackType | None = problem.__traceback__
    while frame is not None and Path(frame.tb_frame.f_code.co_filename).resolve() != Path(file):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(problem), problem, frame)).rstrip()
