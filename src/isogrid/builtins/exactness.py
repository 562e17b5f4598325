"""Every operation of the language by what makes it exact: kinds that share a reason, and the three kinds of reasons.

A device gives each operation one `Reason`. Only what its target's specification promises, and sequences of such
operations, count as guaranteed; what stands on measurements is said to do so.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Final

from isogrid.builtins.atomics import ATOMICS
from isogrid.builtins.collectives import COLLECTIVES
from isogrid.builtins.conversions import CONVERSIONS
from isogrid.builtins.elementary import ELEMENTARY, compiled_of
from isogrid.builtins.index import all_builtins
from isogrid.builtins.operators import OPERATORS
from isogrid.builtins.warps import WARP_OPERATIONS
from isogrid.ir.types import Scalar
from isogrid.support.records import dataclass


class Basis(Enum):
    """What an exact result stands on."""

    PROMISED = "a"
    SEQUENCE = "b"
    MEASURED = "c"

    @property
    def is_guaranteed(self) -> bool:
        """Whether it holds by the target's specification alone."""
        return self is not Basis.MEASURED

    @property
    def words(self) -> str:
        """For people."""
        return _WORDS[self]


_WORDS: Final = {
    Basis.PROMISED: "the target's specification and flags promise it",
    Basis.SEQUENCE: "a sequence of integer or promised operations whose result is proved",
    Basis.MEASURED: "measured, with the compiler and driver that are named",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an operation is exact on a device. `measured` says with what, where that is the basis."""

    basis: Basis
    text: str
    measured: str = ""


class Kind(Enum):
    """Operations that a device makes exact in one way."""

    INTEGER = "integers and bools"
    SELECTION = "floats compared, chosen, with another sign, or as bits"
    SUM = "sums and products of floats"
    FUSED = "fused multiply-add"
    QUOTIENT = "quotients of floats"
    ROOT = "square roots"
    REMAINDER = "remainders of floats"
    INTEGRAL = "floats rounded to integral values"
    CONVERSION = "conversions from and to floats"
    STORED = "f16 and bf16 elements"
    EXACT = "functions whose results are exact"
    FUNCTION = "elementary functions"
    COMBINED = "sums of floats over a group or warp"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as authors write it, on one type. `function` names the compiled function that computes it."""

    name: str
    type: Scalar
    kind: Kind
    function: str = ""


@dataclass(frozen=True, slots=True)
class Exactness:
    """The reasons of one device. `made_with` names what they are about: processor, driver, compiler."""

    made_with: str
    reasons: tuple[tuple[Operation, Reason], ...]


def exactness_of(made_with: str, reason: Callable[[Operation], Reason]) -> Exactness:
    """The reasons of a device that gives them one by one."""
    return Exactness(made_with, tuple((one, reason(one)) for one in operations()))


#: The kind of what the tables have for floats, by the name of its row.
_FLOAT_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(("add", "sub", "mul"), Kind.SUM),
    "div": Kind.QUOTIENT,
    **dict.fromkeys(("floordiv", "mod", "fmod"), Kind.REMAINDER),
    "sqrt": Kind.ROOT,
    "fma": Kind.FUSED,
    **dict.fromkeys(("floor", "ceil", "trunc", "round"), Kind.INTEGRAL),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "min", "max", "neg", "abs"), Kind.SELECTION),
    **dict.fromkeys(("copysign", "signbit", "isnan", "isinf", "isfinite"), Kind.SELECTION),
    **dict.fromkeys(("select", "clamp", "bitcast"), Kind.SELECTION),
    **dict.fromkeys((f"saturate_{t}" for t in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")), Kind.CONVERSION),
}
#: Compiled functions that take floats apart and put them together, or count as far as a remainder.
_EXACT: Final = ("remainder", "nextafter", "round_away", "ldexp", "frexp_mantissa", "frexp_exponent")
#: Operations of groups and warps that add floats; the others choose among them.
_ADDING: Final = ("sum", "scan")


def operations() -> Iterator[Operation]:
    """Every operation of every type once, in the order of the reference."""
    found = (*_operators(), *_functions(), *_conversions(), *_together())
    yield from dict.fromkeys(found)


def _operators() -> Iterator[Operation]:
    for row in OPERATORS.values():
        for type in row.types:
            if row.name == "pow" and type.is_float:
                yield Operation(row.symbol, type, Kind.FUNCTION, f"pow_{type.value}")
            else:
                yield Operation(row.symbol, type, _kind(row.name, type))


def _functions() -> Iterator[Operation]:
    elementary = {row.name for row in ELEMENTARY}
    for row in all_builtins():
        name = _written(row.spellings[0])
        for signature in row.signatures:
            type = signature.parameters[-1 if row.name == "select" else 0]
            if row.name in elementary:
                kind = Kind.EXACT if row.name.removesuffix(f"_{type.value}") in _EXACT else Kind.FUNCTION
                yield Operation(name, type, kind, compiled_of(row.name, type))
            else:
                yield Operation(name, type, _kind(row.name, type))


def _conversions() -> Iterator[Operation]:
    for source, target in CONVERSIONS:
        if source is target:
            continue
        if target in (Scalar.F16, Scalar.BF16):
            kind = Kind.STORED
        elif source.is_float or target.is_float:
            kind = Kind.CONVERSION
        else:
            kind = Kind.INTEGER
        yield Operation(f"{target.value}(x)", source, kind)


def _together() -> Iterator[Operation]:
    tables: Sequence[tuple[str, str, Sequence[Scalar]]] = [
        *((op, row.spelling, row.types) for op, row in COLLECTIVES.items()),
        *((row.op, row.spelling, row.types) for row in WARP_OPERATIONS.values()),
        *((row.name, row.spelling, row.elements) for row in ATOMICS.values()),
    ]
    for op, spelling, types in tables:
        for type in types:
            adds = Kind.COMBINED if op in _ADDING else Kind.SELECTION
            yield Operation(_written(spelling), type, adds if type.is_float else Kind.INTEGER)


def _kind(row: str, type: Scalar) -> Kind:
    return _FLOAT_KINDS[row] if type.is_float else Kind.INTEGER


def _written(spelling: str) -> str:
    return spelling.replace("isogrid.", "ig.").replace("builtins.", "")
