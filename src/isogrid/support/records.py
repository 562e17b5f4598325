"""`dataclass` that is quick to make: the same classes as `dataclasses.dataclass(slots=True)`, for modules on the way of
every first launch.

The standard decorator compiles half a dozen methods per class, about half a millisecond each time Python starts. Here
equality, hash and text are shared functions over an `attrgetter`, and `__init__` is compiled when it is first called.
`fields`, `replace`, `match`, `copy` and `pickle` work as they do on the standard ones.
"""

import dataclasses
import inspect
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from typing import Any, ClassVar, TypeVar, dataclass_transform

_T = TypeVar("_T")
_ORDINARY: Any = dataclasses._FIELD  # type: ignore[attr-defined]  # pyright: ignore[reportUnknownVariableType]


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(*, slots: bool, frozen: bool = False) -> Callable[[type[_T]], type[_T]]:
    """Decorate a class of annotated fields; `slots=True` is required, other options are the standard defaults."""
    if not slots:
        raise TypeError("this dataclass always has slots")

    def decorate(plain: type[_T]) -> type[_T]:
        own = _own_fields(plain)
        inherited = _inherited_fields(plain)
        cls = _with_slots(plain, [name for name in own if name not in inherited])
        all_fields = inherited | own
        _add_methods(cls, all_fields, frozen)
        return cls

    return decorate


def _own_fields(cls: type) -> "dict[str, Field[Any]]":
    found: dict[str, Field[Any]] = {}
    for name, annotation in _annotations(cls).items():
        if _is_of_the_class(annotation):
            continue
        given = cls.__dict__.get(name, MISSING)
        made: Any = given if isinstance(given, Field) else dataclasses.field(default=given)  # pyright: ignore[reportUnknownVariableType]
        made.name, made.type, made._field_type = name, annotation, _ORDINARY
        if made.kw_only is MISSING:
            made.kw_only = False
        if getattr(type(made.default), "__hash__", None) is None:  # pyright: ignore[reportUnknownArgumentType]
            raise ValueError(f"field `{name}` has a mutable default; use default_factory")
        found[name] = made
    return found


def _is_of_the_class(annotation: Any) -> bool:
    """`ClassVar`, without the text of an annotation: `typing` takes long to write one."""
    if isinstance(annotation, str):
        return "ClassVar" in annotation
    return annotation is ClassVar or getattr(annotation, "__origin__", None) is ClassVar


def _annotations(cls: type) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(cls)


def _inherited_fields(cls: type) -> "dict[str, Field[Any]]":
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= base.__dict__.get("__dataclass_fields__", {})
    return found


def _with_slots(cls: type[_T], names: list[str]) -> type[_T]:
    """The class made again with slots: Python fixes a class's layout when it is made."""
    space = dict(cls.__dict__)
    for name in names:
        space.pop(name, None)
    space.pop("__dict__", None)
    space.pop("__weakref__", None)
    space["__slots__"] = tuple(names)
    made: Any = type(cls)(cls.__name__, cls.__bases__, space)
    made.__qualname__ = cls.__qualname__
    return made


def _add_methods(cls: Any, all_fields: "dict[str, Field[Any]]", frozen: bool) -> None:
    names = tuple(all_fields)
    compared = tuple(f.name for f in all_fields.values() if f.compare)
    shown = tuple(f.name for f in all_fields.values() if f.repr)
    values = _getter(compared)
    cls.__dataclass_fields__ = all_fields
    cls.__match_args__ = tuple(f.name for f in all_fields.values() if f.init and not f.kw_only)

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    def __repr__(self: Any) -> str:  # noqa: N807
        return f"{self.__class__.__qualname__}({', '.join(f'{n}={getattr(self, n)!r}' for n in shown)})"

    def __getstate__(self: Any) -> Any:  # noqa: N807
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: Any) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    for method in (__eq__, __repr__, __getstate__, __setstate__):
        if method.__name__ not in cls.__dict__:
            setattr(cls, method.__name__, method)
    if cls.__dict__.get("__hash__") is None:  # none, or the None that a class with __eq__ gets
        cls.__hash__ = __hash__ if frozen else None
    if frozen:
        cls.__setattr__ = _refuse_set
        cls.__delattr__ = _refuse_delete
    if "__init__" not in cls.__dict__:
        cls.__init__ = _compiled_on_first_call(cls)


def _getter(names: tuple[str, ...]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda record: ()


def _refuse_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _compiled_on_first_call(cls: Any) -> Callable[..., None]:
    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:  # noqa: N807
        compiled = _compiled_init(cls)
        cls.__init__ = compiled
        compiled(self, *arguments, **keywords)

    return __init__


def _compiled_init(cls: Any) -> Callable[..., None]:
    """`def __init__(self, a, b=default, *, span=default)` that puts each value into its slot."""
    space: dict[str, Any] = {"MISSING": MISSING}
    positional: list[str] = []
    keyword: list[str] = []
    body: list[str] = []
    for name, field in cls.__dataclass_fields__.items():
        space[f"set_{name}"] = getattr(cls, name).__set__
        parameter, value = name, name
        if field.default is not MISSING:
            space[f"default_{name}"] = field.default
            parameter = f"{name}=default_{name}"
            value = name if field.init else f"default_{name}"
        elif field.default_factory is not MISSING:
            space[f"make_{name}"] = field.default_factory
            parameter = f"{name}=MISSING"
            value = f"make_{name}() if {name} is MISSING else {name}" if field.init else f"make_{name}()"
        elif not field.init:
            continue
        if field.init:
            (keyword if field.kw_only else positional).append(parameter)
        body.append(f" set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join(["self", *positional, *(["*", *keyword] if keyword else [])])
    exec(f"def __init__({parameters}):\n" + ("\n".join(body) or " pass"), space)
    return space["__init__"]
