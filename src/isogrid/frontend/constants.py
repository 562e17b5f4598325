"""What names mean to a kernel: closure, globals, builtins; and the tunables that a kernel and its helpers reach."""

import builtins
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

from isogrid.frontend.dims import TunableValue
from isogrid.frontend.language import Helper


def lookup(function: FunctionType, name: str) -> object:
    """The value that `name` has in `function` when it is no local; raises `LookupError` if it has none."""
    code = function.__code__
    if name in code.co_freevars and function.__closure__ is not None:
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            raise LookupError(name) from None
    if name in function.__globals__:
        return function.__globals__[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    raise LookupError(name)


def reached_tunables(function: FunctionType) -> tuple[TunableValue, ...]:
    """Tunables that the function or a helper it reaches refers to by name, each once; gives them their names."""
    found: dict[int, TunableValue] = {}
    seen: set[int] = set()
    pending = [function]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        for name, value in _referenced(current):
            match value:
                case TunableValue():
                    name_tunable(value, name)
                    found.setdefault(id(value), value)
                case Helper():
                    pending.append(value.function)
                case _:
                    pass
    return tuple(found.values())


def name_tunable(value: TunableValue, name: str) -> None:
    """Give a tunable the name that it is found under; the first name stays."""
    if value.name is None:
        value.name = name


def name_tunables_of(function: FunctionType, scope: dict[str, object] | None = None) -> None:
    """Name every tunable that is a variable where `function` was defined, so that its geometry can mention them."""
    for space in (scope or {}, _closure(function), function.__globals__):
        for name, value in list(space.items()):
            if isinstance(value, TunableValue):
                name_tunable(value, name)


def _closure(function: FunctionType) -> dict[str, object]:
    cells: dict[str, object] = {}
    for name in function.__code__.co_freevars:
        try:
            cells[name] = lookup(function, name)
        except LookupError:
            continue
    return cells


def _referenced(function: FunctionType) -> Iterator[tuple[str, object]]:
    names = list(_names(function.__code__))
    modules: list[ModuleType] = []
    for name in names:
        try:
            value = lookup(function, name)
        except LookupError:
            continue
        if isinstance(value, ModuleType):
            modules.append(value)
        yield name, value
    # `tiles.SIZE` compiles to the two names `tiles` and `SIZE`.
    for module in modules:
        for name in names:
            value = getattr(module, name, None)
            if isinstance(value, TunableValue | Helper):
                yield name, value


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
