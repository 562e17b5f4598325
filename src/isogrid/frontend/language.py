"""The kernel language as Python objects: dtypes, array annotations and functions that only a kernel can call.

They carry names and nothing else. The front end finds them by identity; the builtin tables say what they mean. What a
type checker sees is in `isogrid/__init__.pyi`.
"""

import functools
import typing
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, cast

from isogrid.frontend.capture import source_lines
from isogrid.frontend.dims import cdiv, tunable
from isogrid.frontend.host_meaning import HOST_MEANING
from isogrid.ir.types import Access, Scalar
from isogrid.support.errors import OutsideKernelError


class DType:
    """A scalar type of the language: `f32` in annotations, `f32(x)` and `ig.shared(f32, 256)` in kernels."""

    __slots__ = ("scalar",)

    def __init__(self, scalar: Scalar) -> None:
        self.scalar: Final = scalar

    def __repr__(self) -> str:
        return self.scalar.value

    def __reduce__(self) -> Any:
        return _dtype_named, (self.scalar.value,)

    def __or__(self, other: Any) -> Any:
        return typing.Union[self, other]  # noqa: UP007 - built here so that define can refuse it with a caret

    def __ror__(self, other: Any) -> Any:
        return typing.Union[other, self]  # noqa: UP007

    def __call__(self, value: Any = None) -> Any:
        meaning = HOST_MEANING.get()
        if meaning is not None:
            return meaning.convert(self.scalar, value)
        raise OutsideKernelError(
            f"ig.{self!r}(...) converts inside kernels only; on the host write {self.scalar.numpy_name}(...)"
        )


class ArrayAnnotation:
    """`In[f32, H, W]` at run time: the arguments as written, judged when a kernel is decorated."""

    __slots__ = ("access", "arguments")

    def __init__(self, access: Access, arguments: tuple[Any, ...]) -> None:
        self.access: Final = access
        self.arguments: Final = arguments

    def __repr__(self) -> str:
        return f"{self.access.value}[{', '.join(map(repr, self.arguments))}]"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayAnnotation):
            return NotImplemented
        return self.access is other.access and self.arguments == other.arguments

    def __hash__(self) -> int:
        return hash((self.access, self.arguments))

    def __or__(self, other: Any) -> Any:
        return typing.Union[self, other]  # noqa: UP007 - the operator of this very class

    def __ror__(self, other: Any) -> Any:
        return typing.Union[other, self]  # noqa: UP007

    def __call__(self) -> Any:
        # `typing` of Python 3.11 accepts only callables as members of a union.
        raise OutsideKernelError(f"`{self!r}` describes an array parameter; it makes no array")


class _ArrayKind:
    """Base of In, Out and InOut: subscription records, instantiation is refused."""

    access: Access

    def __class_getitem__(cls, arguments: Any) -> ArrayAnnotation:
        given = cast(tuple[Any, ...], arguments) if isinstance(arguments, tuple) else (arguments,)
        return ArrayAnnotation(cls.access, given)

    def __new__(cls) -> Any:
        raise OutsideKernelError(f"ig.{cls.__name__} annotates kernel parameters: write `x: {cls.__name__}[f32, N]`")


class In(_ArrayKind):
    """An array that the kernel only reads: `x: In[f32, N]`."""

    access = Access.IN


class Out(_ArrayKind):
    """An array that the kernel only writes; elements it leaves alone keep their value."""

    access = Access.OUT


class InOut(_ArrayKind):
    """An array that the kernel reads and writes."""

    access = Access.INOUT


class KernelFunction:
    """A function of the language. It has a meaning in kernels and helpers only."""

    def __init__(self, name: str, doc: str) -> None:
        self.name: Final = name
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"isogrid.{self.name}"

    def __reduce__(self) -> Any:
        return _function_named, (self.name,)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        meaning = HOST_MEANING.get()
        if meaning is not None:
            return meaning.call(self.name, arguments, keywords)
        raise OutsideKernelError(
            f"ig.{self.name}() has a meaning only inside a function decorated with @ig.kernel or @ig.func"
        )


class Helper:
    """A function that kernels inline, made by `@ig.func`."""

    __isogrid_helper__ = True

    def __init__(self, function: FunctionType) -> None:
        self.function: Final = function
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<isogrid helper {self.function.__qualname__}>"

    def __reduce__(self) -> str:
        return self.function.__qualname__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        meaning = HOST_MEANING.get()
        if meaning is not None:
            return meaning.helper(self.function, arguments, keywords)
        raise OutsideKernelError(
            f"helper `{self.function.__name__}` is called from kernels; its plain Python form is "
            f"`{self.function.__name__}.function`"
        )


class Trusted:
    """`ig.trust("reason")`: the author's word that threads do not race."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason: Final = reason

    def __repr__(self) -> str:
        return f"ig.trust({self.reason!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trusted) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash(("trust", self.reason))

    def __reduce__(self) -> Any:
        return Trusted, (self.reason,)


def func(function: Callable[..., Any]) -> Helper:
    """Decorate a function that kernels and other helpers may call; it is inlined and typed at each call."""
    if isinstance(function, Helper):
        return function
    if not isinstance(function, FunctionType):
        raise TypeError(f"@ig.func decorates a plain function, not {function!r}")
    source_lines(function)
    return Helper(function)


def trust(reason: str) -> Trusted:
    """`races=ig.trust("pos is a permutation")` takes the author's word for race freedom; the reason is printed."""
    if not isinstance(reason, str) or not reason.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("ig.trust needs the reason, in words, why threads do not race")
    return Trusted(reason)


def spelling(value: object) -> str | None:
    """The qualified name of a function of the language ("isogrid.gid"), None for anything else."""
    if isinstance(value, KernelFunction):
        return f"isogrid.{value.name}"
    if value is cdiv:
        return "isogrid.cdiv"
    return None


def scalar_of(value: object) -> Scalar | None:
    """The scalar type that a dtype object stands for; Python's `bool` is one."""
    if isinstance(value, DType):
        return value.scalar
    return Scalar.BOOL if value is bool else None


def _function_named(name: str) -> KernelFunction:
    return FUNCTIONS[name]


def _dtype_named(name: str) -> DType:
    return DTYPES[name]


i8: Final = DType(Scalar.I8)
i16: Final = DType(Scalar.I16)
i32: Final = DType(Scalar.I32)
i64: Final = DType(Scalar.I64)
u8: Final = DType(Scalar.U8)
u16: Final = DType(Scalar.U16)
u32: Final = DType(Scalar.U32)
u64: Final = DType(Scalar.U64)
w32: Final = DType(Scalar.W32)
w64: Final = DType(Scalar.W64)
f16: Final = DType(Scalar.F16)
bf16: Final = DType(Scalar.BF16)
f32: Final = DType(Scalar.F32)
f64: Final = DType(Scalar.F64)

DTYPES: Final = {str(t): t for t in (i8, i16, i32, i64, u8, u16, u32, u64, w32, w64, f16, bf16, f32, f64)}

#: Ready-made type variables: each kernel that uses one is instantiated per launch.
_type_variable: Any = typing.TypeVar  # the constraints are objects, which only the stub shows as types
Real: Final = _type_variable("Real", f32, f64)
Int: Final = _type_variable("Int", i32, i64, u32, u64)

_DOCS: Final = {
    "gid": "Index of this thread in the grid; linear in C order, or along `axis`.",
    "lid": "Index of this thread in its group; linear, or along `axis`.",
    "group_id": "Index of this thread's group; linear, or along `axis`.",
    "group_size": "Threads per group; in all, or along `axis`.",
    "num_groups": "Number of groups; in all, or along `axis`.",
    "grid_size": "Number of threads of the launch (those of whole groups in a grouped kernel); or along `axis`.",
    "gids": "Index of this thread along every axis of the grid.",
    "lids": "Index of this thread in its group along every axis.",
    "group_ids": "Index of this thread's group along every axis.",
    "lane_id": "Index of this thread in its warp.",
    "warp_id": "Index of this thread's warp in its group.",
    "warp_size": "Threads per warp, a constant.",
    "barrier": "Every thread of the group arrives before any leaves; orders all accesses of the group.",
    "warp_barrier": "Every thread of the warp arrives before any leaves; orders the accesses of the warp.",
    "shared": "An array of the group, zero before its first thread runs.",
    "local": "An array of this thread, zero each time the statement runs.",
    "atomic_add": "Add to an element; the order of updates cannot be observed.",
    "atomic_min": "Lower an element to `value`.",
    "atomic_max": "Raise an element to `value`.",
    "atomic_and_": "Combine an element with `value` by bitwise and.",
    "atomic_or_": "Combine an element with `value` by bitwise or.",
    "atomic_xor": "Combine an element with `value` by bitwise exclusive or.",
    "atomic_exchange": "Set an element atomically.",
    "atomic_cas": "Set an element to `value` if it equals `expected`.",
    "atomic_load": "Read an element atomically (needs `deterministic=False`).",
    "atomic_store": "Write an element atomically (needs `deterministic=False`).",
    "group_sum": "Sum over the group, in the fixed pairing, for every thread.",
    "group_min": "Least value of the group, for every thread.",
    "group_max": "Greatest value of the group, for every thread.",
    "group_scan": "Running sum over the group up to this thread; `exclusive=True` leaves its own value out.",
    "group_any": "Whether any thread of the group has a true value.",
    "group_all": "Whether every thread of the group has a true value.",
    "warp_sum": "Sum over the warp, for every thread.",
    "warp_min": "Least value of the warp, for every thread.",
    "warp_max": "Greatest value of the warp, for every thread.",
    "warp_scan": "Running sum over the warp up to this thread.",
    "warp_any": "Whether any thread of the warp has a true value.",
    "warp_all": "Whether every thread of the warp has a true value.",
    "shuffle": "The value of lane `lane`, modulo the width.",
    "shuffle_up": "The value of the lane `d` below, or the own value.",
    "shuffle_down": "The value of the lane `d` above, or the own value.",
    "shuffle_xor": "The value of the lane whose number differs by the bits `m`, or the own value.",
    "ballot": "One bit per lane of the warp: whether its value is true.",
    "require": "A precondition, checked once per launch before any thread runs.",
    "is_power_of_two": "Whether a size or scalar is a power of two.",
    "distinct": "Precondition: no two elements are equal.",
    "is_sorted": "Precondition: the elements do not decrease.",
    "all_in_range": "Precondition: every element v has lo <= v < hi.",
    "all_finite": "Precondition: no element is infinite or NaN.",
    "unroll": "Unroll this loop by the factor given; 1 forbids, none lets the backend choose.",
    "fma": "a * b + c, rounded once.",
    "exp10": "10 to the power x.",
    "sinpi": "Sine of pi times x.",
    "cospi": "Cosine of pi times x.",
    "sincos": "Sine and cosine of x in radians, as a pair.",
    "round_away": "Nearest integral value, halves away from zero.",
    "frexp_mantissa": "The first part of `math.frexp(x)`.",
    "frexp_exponent": "The second part of `math.frexp(x)`, an i32.",
    "rsqrt": "1 / sqrt(x), correctly rounded.",
    "clamp": "x brought into the range lo to hi.",
    "saturate": "Convert after clamping to the range of the type; NaN gives 0.",
    "select": "`a` where the condition holds, else `b`; both are evaluated.",
    "bitcast": "The bits of `x` as another type of equal size.",
    "popcount": "Number of bits set.",
    "clz": "Number of leading zero bits.",
    "ctz": "Number of trailing zero bits.",
    "mulhi": "Upper half of the full product.",
    "rotate": "Bits rotated to the left.",
    "signbit": "Whether the sign bit is set.",
    "limits": "`ig.limits(i32).max`, `.min`: the range of a type.",
}

FUNCTIONS: Final = {name: KernelFunction(name, doc) for name, doc in _DOCS.items()}

__all__ = [
    "DTYPES",
    "FUNCTIONS",
    "ArrayAnnotation",
    "DType",
    "Helper",
    "In",
    "InOut",
    "Int",
    "KernelFunction",
    "Out",
    "Real",
    "Trusted",
    "cdiv",
    "func",
    "scalar_of",
    "spelling",
    "trust",
    "tunable",
]
