"""`f.python(...)`: the undecorated function run by Python, with the names of the language meaning what they mean there.

Elements and scalars come as numbers of their types, so that only the order of reductions, overflow, NaN in Python's own
`min` and `max`, and what `math` raises differ.
"""

from collections.abc import Mapping, Sequence
from types import FunctionType, SimpleNamespace
from typing import Any, Final, cast

import numpy as np

from isogrid.builtins import floats
from isogrid.builtins.atomics import ATOMIC_SPELLINGS, ATOMICS
from isogrid.builtins.collectives import COLLECTIVE_SPELLINGS, COLLECTIVES
from isogrid.builtins.conversions import STORAGE, STORED_FLOATS, conversion, refusal, store_conversion
from isogrid.builtins.index import builtins_spelled
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.queries import QUERIES
from isogrid.builtins.table import Builtin, Signature
from isogrid.frontend.definition import Definition, ScalarDeclaration
from isogrid.frontend.dims import Dim, DimMeta, TunableValue, computed, dimension_text, is_dimension_like
from isogrid.frontend.host_meaning import HOST_MEANING
from isogrid.frontend.language import DTYPES, ArrayAnnotation, DType
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar
from isogrid.launch.arguments import match_arguments, type_arguments
from isogrid.launch.arrays import as_array, device_of
from isogrid.launch.bind import bind_arrays
from isogrid.launch.errors import RequirementError
from isogrid.offloading.host_numbers import host_number, python_number, type_of
from isogrid.support.errors import OutsideKernelError

#: What one thread, the only one, is told.
_QUERIES: Final = {**dict.fromkeys(QUERIES, 0), "group_size": 1, "num_groups": 1, "grid_size": 1, "warp_size": 32}


def run_plain(
    definition: Definition, arguments: Sequence[Any], keywords: Mapping[str, Any], constants: Mapping[str, int]
) -> Any:
    """Call the plain function with what a call of the offloaded one takes. `constants` are the values of tunables."""
    values = match_arguments(definition, {}, arguments, keywords)
    far = {n: as_array(v, d) for n, v in values.items() if (d := device_of(v)) is not None}
    near = {name: array.numpy() for name, array in cast(dict[str, Any], far).items()}
    typed = type_arguments(definition, values | near, "interp")
    dims = bind_arrays(definition, typed, constants)
    given: list[Any] = []
    for parameter in definition.parameters:
        name = parameter.name
        if isinstance(parameter, ScalarDeclaration):
            kind = parameter.type if isinstance(parameter.type, Scalar) else typed.types[parameter.type.name]
            given.append(host_number(kind, typed.scalars[name]))
        else:
            array = typed.arrays.get(name)
            given.append(None if array is None else PlainArray.of(typed.elements[name], cast(Any, array)))
    token = HOST_MEANING.set(_Meaning(definition.name, dims))
    try:
        with quiet():
            result = python_number(_without_dimensions(definition.function(*given)))
    finally:
        HOST_MEANING.reset(token)
    for parameter in definition.parameters:
        if parameter.name in near and not isinstance(parameter, ScalarDeclaration) and parameter.access.writes:
            cast(Any, far[parameter.name])[...] = near[parameter.name]
    return result


def _without_dimensions(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_without_dimensions, cast(tuple[Any, ...], value)))
    return int(value) if is_dimension_like(value) else value


class PlainArray(np.ndarray[Any, Any]):
    """Memory of an array whose elements are read as numbers of the language."""

    element: Scalar

    @classmethod
    def of(cls, element: Scalar, array: "np.ndarray[Any, Any]") -> "PlainArray":
        made = array.view(cls)
        made.element = element
        return made

    def __array_finalize__(self, obj: Any) -> None:
        self.element = getattr(obj, "element", Scalar.F64)

    @property
    def dtype(self) -> Any:
        """The type as a value: `x.dtype(0)`."""
        return DTYPES[self.element.value] if self.element is not Scalar.BOOL else bool

    def __getitem__(self, index: Any) -> Any:
        found: Any = super().__getitem__(index)
        return host_number(self.element, found) if isinstance(found, np.generic) else found

    def __iter__(self) -> Any:
        return (self[number] for number in range(len(self)))


class _Meaning:
    """The meaning of the language's names during one call. `sizes` are those of the function, or of the helper that
    runs."""

    def __init__(self, function: str, sizes: Mapping[str, int]) -> None:
        self.function: Final = function
        self.sizes = dict(sizes)

    def size(self, dimension: Any) -> int:
        match dimension:
            case TunableValue(name=str() as name) if name in self.sizes:
                return self.sizes[name]
            case DimMeta() if dimension.__name__ in self.sizes:
                return self.sizes[dimension.__name__]
            case DimMeta() if issubclass(dimension, Dim) and dimension.equals is not None:
                return self.size(dimension.equals)
            case int():
                return dimension
            case _ if hasattr(dimension, "operands"):
                return computed(dimension.op, *map(self.size, dimension.operands))
            case _:
                raise OutsideKernelError(f"`{dimension_text(dimension)}` has no value in {self.function}.python()")

    def helper(self, function: FunctionType, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Run a helper, whose dimensions are its own."""
        known = self.sizes
        self.sizes = known | _sizes_of(function, arguments, keywords)
        try:
            return function(*arguments, **keywords)
        finally:
            self.sizes = known

    # --- conversions -------------------------------------------------------------------------------------------------

    def convert(self, type: Scalar, value: Any) -> Any:
        value = self.size(value) if is_dimension_like(value) else value
        source = _known(value)
        row = conversion(source, type)
        if row is None and type in (*STORAGE, *STORED_FLOATS):
            row = store_conversion(source, type)
        if row is None:
            raise TypeError(refusal(source, type))
        return host_number(type, _judged(f"{type.value}({value!r})", row.meaning, type, value))

    # --- functions ---------------------------------------------------------------------------------------------------

    def call(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        given = [self.size(value) if is_dimension_like(value) else value for value in arguments]
        spelling = f"isogrid.{name}"
        if name == "sincos":
            return tuple(self._builtin(f"math.{part}", list(given)) for part in ("sin", "cos"))
        if rows := builtins_spelled(spelling):
            return self._builtin(spelling, [*given, *_ordered(keywords, rows[0].parameters)])
        if spelling in ATOMIC_SPELLINGS:
            return _updated(ATOMIC_SPELLINGS[spelling], given, keywords)
        if spelling in COLLECTIVE_SPELLINGS:
            row, value = COLLECTIVES[COLLECTIVE_SPELLINGS[spelling]], given[0]
            type = _known(value)
            return host_number(type, row.meaning(type, [value], bool(keywords.get("exclusive", False)))[0])
        if name in QUERIES:
            return (_QUERIES[name],) if QUERIES[name].tuple_of else _QUERIES[name]
        return self._other(name, given, keywords)

    def _builtin(self, spelling: str, given: list[Any]) -> Any:
        target = given.pop(0).scalar if isinstance(given[0], DType) else None
        found = _signature(spelling, given, target)
        if found is None:
            raise TypeError(f"{spelling}() takes no {', '.join(_known(value).value for value in given)}")
        row, signature = found
        plain = [_entered(type, value) for type, value in zip(signature.parameters, given, strict=True)]
        result = _judged(f"{spelling}(...)", row.meaning, target or signature.result, *plain)
        literal = target is None and all(type_of(value) in (None, Scalar.BOOL) for value in given)
        number = host_number(signature.result, result)
        return python_number(number) if literal else number

    def _other(self, name: str, given: list[Any], keywords: Mapping[str, Any]) -> Any:
        match name, given:
            case (("local" | "shared"), [type, shape]):
                scalar = type.scalar if isinstance(type, DType) else Scalar.BOOL
                return PlainArray.of(scalar, np.zeros(shape, cast(Any, scalar.numpy)))
            case "unroll", [looped, *_]:
                return looped
            case (("barrier" | "warp_barrier"), []):
                return None
            case "limits", [DType(scalar=scalar)]:
                return _limits(scalar)
            case "is_power_of_two", [int() as number]:
                return number > 0 and number & (number - 1) == 0
            case "require", [holds]:
                if not holds:
                    raise RequirementError(f"{self.function}() has a precondition that does not hold")
                return None
            case (("distinct" | "is_sorted" | "all_in_range" | "all_finite"), [PlainArray() as array, *bounds]):
                return _holds(name, array, *bounds, **keywords)
            case _:
                raise OutsideKernelError(f"ig.{name}() needs other threads, and {self.function}.python() is one thread")


def _known(value: Any) -> Scalar:
    """The type of a number; plain ones have the widest."""
    return type_of(value) or (Scalar.F64 if isinstance(value, float) else Scalar.I64)


def _judged(what: str, meaning: Any, *arguments: Any) -> Any:
    try:
        return meaning(*arguments)
    except Trapped as trap:
        error = {TrapKind.OVERFLOW: OverflowError, TrapKind.ZERO_DIVISION: ZeroDivisionError}.get(trap.kind, ValueError)
        raise error(f"{what} has no value in its type: {', '.join(map(repr, trap.operands))}") from None


def _signature(spelling: str, given: list[Any], target: Scalar | None) -> tuple[Builtin, Signature] | None:
    """The typing of a call: plain numbers take whichever type makes one fit, the widest first."""
    best: tuple[int, Builtin, Signature] | None = None
    for row in builtins_spelled(spelling):
        if row.type_argument is not (target is not None) or (row.target is not None and row.target is not target):
            continue
        for signature in row.signatures:
            score = _score(signature, given)
            fits = target is None or row.target is not None or signature.result is target
            if score is not None and fits and (best is None or score > best[0]):
                best = score, row, signature
    return None if best is None else best[1:]


def _score(signature: Signature, given: list[Any]) -> int | None:
    """How many of the plain numbers get the widest type; None where the call does not have this typing."""
    if len(signature.parameters) != len(given):
        return None
    score = 0
    for type, value in zip(signature.parameters, given, strict=True):
        known = type_of(value)
        if known is not None and known is not type:
            return None
        if known is None and (type is Scalar.BOOL or (isinstance(value, float) and not type.is_float)):
            return None
        score += type is _known(value)
    return score


def _entered(type: Scalar, value: Any) -> Any:
    return floats.number(type, value) if type.is_float else bool(value) if type is Scalar.BOOL else int(value)


def _ordered(keywords: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Arguments given by name, in the order of the parameters."""
    return [keywords[name] for name in names if name in keywords]


def _updated(op: str, given: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """One atomic update, and what the element held."""
    array, index, *values = (*given, *_ordered(keywords, ("array", "index", "expected", "value", "new")))
    old = array[index]
    numbers = [_entered(array.element, value) for value in values]
    if op == "cas":
        numbers.reverse()
    if op != "load":
        array[index] = ATOMICS[op].meaning(array.element, _entered(array.element, old), *numbers)
    return old


def _limits(scalar: Scalar) -> SimpleNamespace:
    if scalar in STORED_FLOATS:
        most = floats.LARGEST[scalar]
        return SimpleNamespace(min=host_number(scalar, -most), max=host_number(scalar, most))
    least: Any = scalar.minimum
    most: Any = scalar.maximum
    if scalar.is_float:
        info = np.finfo(cast(Any, scalar.numpy))
        least, most = info.min, info.max
    return SimpleNamespace(min=host_number(scalar, least), max=host_number(scalar, most))


def _holds(name: str, array: PlainArray, *bounds: Any, where: PlainArray | None = None) -> bool:
    """A fact about an array."""
    values: Any = np.asarray(array).reshape(-1)
    values = values if where is None else values[np.asarray(where).reshape(-1)]
    match name:
        case "distinct":
            return len(np.unique(values)) == len(values)
        case "is_sorted":
            return bool((values[1:] >= values[:-1]).all())
        case "all_finite":
            return bool(np.isfinite(values).all())
        case _:
            return all(bounds[0] <= value < bounds[1] for value in values.tolist())


def _sizes_of(function: FunctionType, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, int]:
    """The dimensions that the annotations of a helper name, from what it is given."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = dict(zip(names, arguments, strict=False)) | dict(keywords)
    found: dict[str, int] = {}
    for name, annotation in function.__annotations__.items():
        if isinstance(annotation, str):
            annotation = eval(annotation, function.__globals__)  # the author's own text, as `typing` reads it
        value = given.get(name)
        if isinstance(annotation, ArrayAnnotation) and isinstance(value, PlainArray):
            for extent, size in zip(annotation.arguments[1:], value.shape, strict=False):
                if isinstance(extent, DimMeta):
                    found.setdefault(extent.__name__, int(size))
    return found
