"""Conditions on one thread as formulas over polynomials: comparisons, unknown booleans, and their combinations."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from isogrid.analysis.symbolic.polynomial import Coefficient, Polynomial

#: Per thread of the group: 1 true, 0 false, -1 unknown. An int where it is the same for all.
Truth: TypeAlias = int | npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Known:
    """A condition decided for every thread of the group; the bytes hold one 0 or 1 per thread, or one for all."""

    bits: bytes


@dataclass(frozen=True, slots=True)
class AtLeastZero:
    polynomial: Polynomial


@dataclass(frozen=True, slots=True)
class IsZero:
    polynomial: Polynomial


@dataclass(frozen=True, slots=True)
class NotZero:
    polynomial: Polynomial


@dataclass(frozen=True, slots=True)
class Unknown:
    """A boolean nothing is known about but its level (0 launch, 1 group, 2 warp, 3 thread); `positive` is its sign."""

    name: str
    level: int
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Both:
    parts: tuple["Formula", ...]
    #: Formulas share their parts and are looked up all the time, so the hash is worked out once.
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(("both", self.parts)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple["Formula", ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(("either", self.parts)))

    def __hash__(self) -> int:
        return self._hash


Formula: TypeAlias = Known | AtLeastZero | IsZero | NotZero | Unknown | Both | Either

TRUE: Final = Known(b"\x01")
FALSE: Final = Known(b"\x00")
_FLIPPED: Final = bytes.maketrans(b"\x00\x01", b"\x01\x00")


def known(truth: "npt.NDArray[np.bool_] | bool") -> Known:
    """A decided condition."""
    if isinstance(truth, bool):
        return TRUE if truth else FALSE
    if truth.all():
        return TRUE
    if not truth.any():
        return FALSE
    return Known(truth.astype(np.uint8).tobytes())


def at_least_zero(p: Polynomial) -> Formula:
    c = p.as_constant
    return AtLeastZero(p) if c is None else known(c >= 0)


def is_zero(p: Polynomial) -> Formula:
    c = p.as_constant
    return IsZero(p) if c is None else known(c == 0)


def not_zero(p: Polynomial) -> Formula:
    c = p.as_constant
    return NotZero(p) if c is None else known(c != 0)


def compare(op: str, a: Polynomial, b: Polynomial) -> Formula:
    """The comparison of two integers."""
    match op:
        case "eq":
            return is_zero(a - b)
        case "ne":
            return not_zero(a - b)
        case "lt":
            return at_least_zero((b - a).shift(-1))
        case "le":
            return at_least_zero(b - a)
        case "gt":
            return at_least_zero((a - b).shift(-1))
        case "ge":
            return at_least_zero(a - b)
        case _:
            raise ValueError(op)


def negate(f: Formula) -> Formula:
    if f is TRUE or f is FALSE:
        return FALSE if f is TRUE else TRUE
    match f:
        case Known(bits):
            return Known(bits.translate(_FLIPPED))
        case AtLeastZero(p):
            return at_least_zero(p.complement())
        case IsZero(p):
            return NotZero(p)
        case NotZero(p):
            return IsZero(p)
        case Unknown(name, level, positive):
            return Unknown(name, level, not positive)
        case Both(parts):
            return Either(tuple(negate(x) for x in parts))
        case Either(parts):
            return Both(tuple(negate(x) for x in parts))
        case _:
            assert_never(f)


def both(*parts: Formula) -> Formula:
    flat: list[Formula] = []
    for p in parts:
        if isinstance(p, Known):
            if p.bits == b"\x01":
                continue
            if p.bits == b"\x00":
                return FALSE
        flat.extend(p.parts if isinstance(p, Both) else (p,))
    if not flat:
        return TRUE
    return flat[0] if len(flat) == 1 else Both(tuple(dict.fromkeys(flat)))


def either(*parts: Formula) -> Formula:
    flat: list[Formula] = []
    for p in parts:
        if isinstance(p, Known):
            if p.bits == b"\x00":
                continue
            if p.bits == b"\x01":
                return TRUE
        flat.extend(p.parts if isinstance(p, Either) else (p,))
    if not flat:
        return FALSE
    return flat[0] if len(flat) == 1 else Either(tuple(dict.fromkeys(flat)))


def _vector(c: Coefficient, test: str) -> Truth:
    if isinstance(c, int):
        return int(c >= 0) if test == "ge" else int(c == 0)
    return (c >= 0 if test == "ge" else c == 0).astype(np.int8)


@lru_cache(maxsize=4096)
def truth(f: Formula) -> Truth:
    """What is certain for each thread of the group, whatever the atoms are."""
    match f:
        case Known(bits):
            return bits[0] if len(bits) == 1 else np.frombuffer(bits, np.uint8).astype(np.int8)
        case AtLeastZero(p):
            c = p.as_constant
            return -1 if c is None else _vector(c, "ge")
        case IsZero(p):
            c = p.as_constant
            return -1 if c is None else _vector(c, "eq")
        case NotZero(p):
            c = p.as_constant
            return -1 if c is None else _invert(_vector(c, "eq"))
        case Unknown():
            return -1
        case Both(parts):
            result: Truth = 1
            for part in parts:
                result = _and(result, truth(part))
                if isinstance(result, int) and result == 0:
                    return 0
            return result
        case Either(parts):
            result = 0
            for part in parts:
                result = _invert(_and(_invert(result), _invert(truth(part))))
                if isinstance(result, int) and result == 1:
                    return 1
            return result
        case _:
            assert_never(f)


def _invert(t: Truth) -> Truth:
    if isinstance(t, int):
        return t if t < 0 else 1 - t
    return np.where(t < 0, -1, 1 - t).astype(np.int8)


def _and(a: Truth, b: Truth) -> Truth:
    if isinstance(a, int):
        if a == 1:
            return b
        if a == 0:
            return 0
    if isinstance(b, int):
        if b == 1:
            return a
        if b == 0:
            return 0
    if isinstance(a, int) and isinstance(b, int):
        return -1
    x, y = np.asarray(a), np.asarray(b)
    return np.where((x == 0) | (y == 0), 0, np.where((x < 0) | (y < 0), -1, 1)).astype(np.int8)


def conjuncts(formulas: "tuple[Formula, ...] | list[Formula]") -> list[Formula]:
    """The parts that hold one by one when all formulas hold."""
    out: list[Formula] = []
    for f in formulas:
        out.extend(conjuncts(f.parts) if isinstance(f, Both) else (f,))
    return out
