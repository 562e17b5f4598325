"""What a kernel says, as a key, without reading it: source text of the kernel and its helpers, values of its names.

Every name that the compiled Python function mentions outside itself is resolved, whether or not the kernel's meaning
depends on it. So the key may change without need, but not the meaning without the key. Values that have no faithful
text raise `NotStorable`: such a kernel is compiled anew in each process.
"""

import ast
import struct
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final, cast

import numpy as np

from isogrid.frontend.capture import source_lines
from isogrid.frontend.captures import Captures
from isogrid.frontend.constants import lookup
from isogrid.frontend.definition import ArrayDeclaration, Definition, Specialisation
from isogrid.frontend.dims import DimExpression, DimMeta, TunableValue, dimension_text
from isogrid.frontend.language import ArrayAnnotation, DType, Helper, KernelFunction, Trusted
from isogrid.support.diskcache import content_hash, digest

#: Namespaces whose contents the versions in the key already settle; plain numbers in them are looked at all the same.
_SETTLED: Final = ("isogrid", "numpy", "math", "builtins", "typing", "types", "collections")


class NotStorable(Exception):
    """The kernel depends on something that has no faithful text."""


def source_fingerprint(function: FunctionType, captures: Captures | None = None) -> str:
    """A digest of everything that the body of `function` can mean at this moment, or by the values in `captures`.

    These are kept there for later builds: a kernel found on disk has read its constants like one that was built.
    """
    return digest(_Walker(captures).function(function))


def captured_values_hold(captures: Captures) -> bool:
    """Whether every name that builds have read still has the value that it had then."""
    try:
        for key, value in captures.values.items():
            owner, name = cast(tuple[Any, str], key)
            now = lookup(owner, name) if isinstance(owner, FunctionType) else getattr(owner, name)
            if _text(value) != _text(now):
                return False
    except (NotStorable, LookupError, AttributeError):
        return False
    return True


def _text(value: object) -> list[str]:
    return list(_Walker().value(value, []))


def definition_text(definition: Definition) -> str:
    """Signature, geometry and options of the decorator; defaults of arguments are no part of compiled code."""
    parameters = [
        (type(p).__name__, p.name, p.element, p.shape, p.access, p.optional)
        if isinstance(p, ArrayDeclaration)
        else (type(p).__name__, p.name, p.type)
        for p in definition.parameters
    ]
    return repr(
        (
            definition.name,
            parameters,
            definition.kind,
            definition.extents,
            definition.block,
            definition.constant_dims,
            definition.derived,
            definition.tunables,
            definition.warp,
            definition.races,
            definition.deterministic,
        )
    )


def specialisation_text(specialisation: Specialisation) -> str:
    """The specialisation with its sets in a fixed order."""
    return canonical(
        {
            "types": specialisation.types,
            "constants": specialisation.constants,
            "absent": specialisation.absent,
            "geometry": (specialisation.kind, specialisation.rank, specialisation.block),
        }
    )


def canonical(value: Any) -> str:
    """`repr` with mappings and sets sorted, so that equal values have equal text in every process."""
    match value:
        case Mapping():
            pairs = sorted((canonical(key), canonical(item)) for key, item in value.items())  # pyright: ignore[reportUnknownVariableType]
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        case set() | frozenset():
            return "{" + ", ".join(sorted(canonical(item) for item in value)) + "}"  # pyright: ignore[reportUnknownVariableType]
        case tuple() | list():
            return "(" + ", ".join(canonical(item) for item in value) + ",)"  # pyright: ignore[reportUnknownVariableType]
        case _:
            return repr(value)


class _Walker:
    """Follows references from function to function, each function once."""

    def __init__(self, captures: Captures | None = None) -> None:
        self.captures = Captures() if captures is None else captures
        self.seen: dict[FunctionType, int] = {}
        self.open: set[str] = set()

    def function(self, function: FunctionType) -> Iterator[str]:
        # One `def` makes many functions, which differ in what they close over and in their defaults.
        code = function.__code__
        known = function in self.seen
        number = self.seen.setdefault(function, len(self.seen))
        yield f"function {number} {code.co_filename}:{code.co_firstlineno}"
        if known:
            return
        text = source_text(function)
        yield text
        is_kernel = number == 0  # whose signature the definition tells
        names = sorted({*_names(code), *_annotation_names(text, is_kernel)})
        if not is_kernel:
            yield from self._signature(function, names)
        for name in names:
            try:
                value = self.captures.read(function, name)
            except LookupError:
                continue
            yield f"name {name}"
            yield from self.value(value, names)

    def _signature(self, function: FunctionType, names: list[str]) -> Iterator[str]:
        """What a helper's `def` evaluated when it ran: its text alone does not tell."""
        yield "defaults"
        yield from self.value(function.__defaults__, names)
        for name, value in (function.__kwdefaults__ or {}).items():
            yield f"default {name}"
            yield from self.value(value, names)
        for name, value in function.__annotations__.items():
            yield f"annotation {name}"
            yield from self.value(value, names)

    def value(self, value: object, names: list[str]) -> Iterator[str]:
        match value:
            case np.generic():  # first: float64 is a float too
                yield from self._array(np.asarray(cast(Any, value)))
            case None | bool() | int() | str() | bytes():
                yield f"{type(value).__name__} {value!r}"
            case float():
                yield f"float {struct.pack('<d', value).hex()}"
            case np.ndarray():
                yield from self._array(value)
            case np.dtype():
                yield f"dtype {value.str}"
            case tuple() | list():
                yield f"{type(value).__name__} of {len(value)}"  # pyright: ignore[reportUnknownArgumentType]
                for item in value:  # pyright: ignore[reportUnknownVariableType]
                    yield from self.value(item, names)  # pyright: ignore[reportUnknownArgumentType]
            case Helper():
                yield from self.function(value.function)
            case FunctionType():
                yield from self._plain_function(value)
            case TunableValue():
                yield f"tunable {value.name} {value.values}"
            case DimMeta():
                equals = getattr(value, "equals", None)
                yield f"dimension {value.__name__} {getattr(value, 'is_constant', False)} {dimension_text(equals)}"
            case DimExpression():
                yield f"dimensions {dimension_text(value)}"
            case DType() | KernelFunction() | ArrayAnnotation() | Trusted():
                yield f"{type(value).__name__} {value!r}"
            case typing.TypeVar():
                yield f"variable {value.__name__}"
                yield from self.value(value.__constraints__, names)
            case BuiltinFunctionType():
                yield f"builtin {value.__module__}.{value.__qualname__}"
            case types.GenericAlias() | types.UnionType():
                yield f"type {typing.get_origin(value)}"
                yield from self.value(typing.get_args(value), names)
            case ModuleType():
                yield from self._namespace(value.__name__, value, names)
            case type():
                yield from self._namespace(f"{value.__module__}.{value.__qualname__}", value, names)
            case _:
                raise NotStorable(type(value).__qualname__)

    def _array(self, array: "np.ndarray[Any, Any]") -> Iterator[str]:
        if array.dtype.hasobject:
            raise NotStorable("an array of objects")
        content = content_hash(np.ascontiguousarray(array).tobytes()).hex()
        yield f"array {array.dtype.str} {array.shape} {array.flags.writeable} {content}"

    def _plain_function(self, function: FunctionType) -> Iterator[str]:
        """A function that is no helper: one of the library by name, one of the user's by its text."""
        if function.__module__.split(".")[0] in _SETTLED:
            yield f"library {function.__module__}.{function.__qualname__}"
        else:
            yield from self.function(function)

    def _namespace(self, name: str, owner: ModuleType | type, names: list[str]) -> Iterator[str]:
        """`tiles.SIZE` compiles to the names `tiles` and `SIZE`: what they may pick from a module or class."""
        yield f"namespace {name}"
        if name in self.open:
            return
        self.open.add(name)
        settled = name.split(".")[0] in _SETTLED
        for key in names:
            if key not in vars(owner):
                continue
            value = getattr(owner, key) if settled else self.captures.attribute(owner, key)
            if not settled or isinstance(value, bool | int | float):
                yield f"attribute {key}"
                yield from self.value(value, names)
        self.open.discard(name)


def source_text(function: FunctionType) -> str:
    """The lines of a function with its decorators, as the file has them."""
    _, lines = source_lines(function)
    first = function.__code__.co_firstlineno - 1
    if not lines or first >= len(lines):
        raise NotStorable("a function without source")
    last = max((end for _, end, _, _ in function.__code__.co_positions() if end is not None), default=first + 1)
    margin = _indent(lines[first])
    # What compiles to nothing (a comment, a statement after `return`) may follow the last line that has code.
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > margin):
        last += 1
    return "\n".join(line.rstrip("\n") for line in lines[first:last])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _annotation_names(text: str, is_kernel: bool) -> Iterator[str]:
    """Names in the annotations of locals, which leave no trace in compiled code, and of a helper's parameters, which
    may be strings."""
    kinds = ast.AnnAssign if is_kernel else ast.AnnAssign | ast.arg
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        raise NotStorable("a function that is not read alone") from None
    pending = [node.annotation for node in ast.walk(tree) if isinstance(node, kinds) and node.annotation]
    while pending:
        for node in ast.walk(pending.pop()):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name
                case ast.Constant(value=str() as inner):
                    pending.append(_parsed_annotation(inner))
                case _:
                    pass


def _parsed_annotation(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Constant(None)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
