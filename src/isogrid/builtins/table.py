"""What a row of a builtin table is. Typing, effects, lowering, meaning, stubs and docs all read these rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar


class Effect(Enum):
    """What evaluating the builtin does besides giving a value."""

    PURE = "pure"
    TRAPS = "may trap"
    BARRIER = "is a barrier"
    ATOMIC = "updates memory atomically"
    LAUNCH = "checked once per launch"


class Variance(Enum):
    """How uniform the result is."""

    ARGUMENTS = "as uniform as its arguments"
    LAUNCH = "the same for the whole launch"
    GROUP = "the same for every thread of a group"
    WARP = "the same for every thread of a warp"
    THREAD = "differs from thread to thread"


@dataclass(frozen=True, slots=True)
class Signature:
    parameters: tuple[Scalar, ...]
    result: Scalar


@dataclass(frozen=True, slots=True)
class Builtin:
    """One function of the language.

    `spellings` are the qualified Python objects that mean it, e.g. ("math.sqrt",) or ("builtins.abs", "isogrid.abs").
    `signatures` list every accepted typing; a literal argument takes whichever type makes one fit, by the rules of
    spec 1.2. `variadic` rows (min, max) fold from left to right. `type_argument` rows (bitcast, saturate) take a dtype
    first: the signature with that result; where several rows share a spelling (saturate), `target` names the dtype that
    this row stands for. `meaning(result_type, *values)` computes the reference result from Python ints, bools and
    NumPy float scalars; it raises `Trapped` (builtins/meaning.py) where the language traps.
    """

    name: str
    spellings: tuple[str, ...]
    parameters: tuple[str, ...]
    signatures: tuple[Signature, ...]
    meaning: Callable[..., Any]
    doc: str
    effect: Effect = Effect.PURE
    variance: Variance = Variance.ARGUMENTS
    variadic: bool = False
    type_argument: bool = False
    target: Scalar | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of the language, by kernel-IR name.

    `kind` is the IR node that it becomes: "unary", "binary" or "compare". `signatures` list operand types and result;
    the amount of a shift and the exponent of an integer power are listed with every integer type. `traps` gives, for
    each type of the first operand, what it may raise; a type that is absent never traps. `refusals` tells an author why
    a type of the first operand is not accepted, and what to write instead. `meaning` is as for `Builtin`.
    """

    name: str
    symbol: str
    kind: str
    signatures: tuple[Signature, ...]
    meaning: Callable[..., Any]
    doc: str
    traps: Mapping[Scalar, tuple[TrapKind, ...]] = field(default_factory=dict[Scalar, tuple[TrapKind, ...]])
    refusals: Mapping[Scalar, str] = field(default_factory=dict[Scalar, str])

    @property
    def types(self) -> tuple[Scalar, ...]:
        """The types accepted for the first operand, each once."""
        return tuple(dict.fromkeys(s.parameters[0] for s in self.signatures))

    def can_trap(self, type: Scalar) -> bool:
        """Whether the operator on a first operand of this type may trap."""
        return bool(self.traps.get(type))


@dataclass(frozen=True, slots=True)
class Conversion:
    """One cell of the conversion table. `meaning(target, value)` as for `Builtin`; `traps` is "" or "value".

    `widens` marks the conversions that happen by themselves beside an i64; `narrows` those at a store.
    """

    source: Scalar
    target: Scalar
    meaning: Callable[..., Any]
    can_trap: bool = False
    widens: bool = False
    narrows: bool = False
