"""Kernels and offloaded functions in pickles: by module and name where the other side can import them, else by source
and what it names."""

import ast
import importlib
import linecache
import sys
import types
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any, Protocol, cast

from isogrid.frontend.capture import capture
from isogrid.frontend.constants import lookup
from isogrid.frontend.definition import Definition
from isogrid.frontend.language import Helper
from isogrid.launch.devices import Device
from isogrid.launch.options import Options
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A function as text: its lines with decorators, and the values that its names have."""

    module: str
    qualname: str
    file: str
    first_line: int
    text: str
    names: tuple[tuple[str, Any], ...]
    modules: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """What distinguishes a value from the one that its decorator made."""

    options: Options
    tunables: tuple[tuple[str, int], ...]
    device: Device | None
    fixed: tuple[tuple[str, Any], ...]


class Decorated(Protocol):
    """A value that a decorator made of a function."""

    @property
    def definition(self) -> Definition:
        """What the decorator read."""
        ...

    def with_settings(self, settings: Settings) -> Any:
        """The same with these settings in place of its own."""
        ...


def reduced(value: Decorated, settings: Settings) -> Any:
    """The pickle of a value, for `__reduce__`."""
    function = cast(FunctionType, value.definition.function)
    found = _named(function.__module__, function.__qualname__)
    importable = found is not None and found.definition is value.definition
    # A program's main module may have no file to import on the other side, so its kernels travel with both.
    source = None if importable and function.__module__ != "__main__" else source_of(function)
    return restored, (function.__module__, function.__qualname__, source, settings, importable)


def restored(module: str, qualname: str, source: Source | None, settings: Settings, importable: bool) -> Any:
    """Undo `reduced`."""
    base = _named(module, qualname) if importable else None
    if base is None:
        if source is None:
            raise ImportError(f"{module}.{qualname} cannot be found: its module no longer defines it")
        base = _executed(source)
    return base if settings == Settings(Options(), (), None, ()) else base.with_settings(settings)


def source_of(function: FunctionType) -> Source:
    """The text of a function with the values of the names that it, its decorators and annotations use."""
    captured = capture(function)
    tree = captured.tree
    start = min([tree.lineno, *(d.lineno for d in tree.decorator_list)])
    lines = captured.lines[start - 1 : tree.end_lineno]
    margin = len(lines[0]) - len(lines[0].lstrip())
    text = "".join(line[margin:] if line[:margin].isspace() or not margin else line for line in lines)
    names: dict[str, Any] = {}
    modules: dict[str, str] = {}
    for name in _names_in(tree):
        try:
            value = lookup(function, name)
        except LookupError:
            continue
        if isinstance(value, ModuleType):
            modules[name] = value.__name__
        elif not _is_builtin(name, value):
            names[name] = _helper_source(value) if isinstance(value, Helper) else value
    return Source(
        function.__module__,
        function.__qualname__,
        captured.file,
        start,
        text,
        tuple(sorted(names.items())),
        tuple(sorted(modules.items())),
    )


def _names_in(tree: ast.AST) -> Iterable[str]:
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.setdefault(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # An annotation in quotes.
            try:
                inner = ast.parse(node.value, mode="eval")
            except (SyntaxError, ValueError):
                continue
            found.update(dict.fromkeys(n.id for n in ast.walk(inner) if isinstance(n, ast.Name)))
    return found


def _is_builtin(name: str, value: object) -> bool:
    import builtins

    return getattr(builtins, name, _is_builtin) is value


def _helper_source(helper: Helper) -> Any:
    module = sys.modules.get(helper.function.__module__)
    found: Any = module
    for part in helper.function.__qualname__.split("."):
        found = getattr(found, part, None)
    return helper if found is helper and helper.function.__module__ != "__main__" else source_of(helper.function)


def _named(module: str, qualname: str) -> Decorated | None:
    try:
        found: Any = importlib.import_module(module)
    except ImportError:
        return None
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found if hasattr(found, "with_settings") else None


def _executed(source: Source) -> Any:
    """Define the function again; traps and reports name the file and lines that it came from."""
    space: dict[str, Any] = {"__name__": source.module, "__builtins__": __builtins__}
    for name, module in source.modules:
        space[name] = importlib.import_module(module)
    for name, value in source.names:
        space[name] = _executed(value) if isinstance(value, Source) else value
    file = source.file
    if not linecache.getlines(file):
        lines = ["\n"] * (source.first_line - 1) + source.text.splitlines(keepends=True)
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    elif linecache.getlines(file)[source.first_line - 1 :][: source.text.count("\n")] != _indented(source, file):
        file = f"<kernel {source.module}.{source.qualname}>"
        lines = ["\n"] * (source.first_line - 1) + source.text.splitlines(keepends=True)
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    code = compile("\n" * (source.first_line - 1) + source.text, file, "exec", dont_inherit=True)
    exec(code, space)
    name = source.qualname.rpartition(".")[2]
    value = space[name]
    if isinstance(value, types.FunctionType):
        raise ImportError(f"{source.qualname} was pickled decorated, but its source defines a plain function")
    return value


def _indented(source: Source, file: str) -> list[str]:
    """The lines of the file where the source should be, if they are the same apart from their margin."""
    lines = linecache.getlines(file)[source.first_line - 1 :][: source.text.count("\n")]
    same = [line.strip() for line in lines] == [line.strip() for line in source.text.splitlines()]
    return lines if same else []
