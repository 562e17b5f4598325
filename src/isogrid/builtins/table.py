"""What a row of a builtin table is. Typing, effects, lowering, meaning, stubs and docs all read these rows."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

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
    first. `meaning(result_type, *values)` computes the reference result from Python ints, bools and NumPy float
    scalars; it raises `Trapped` (builtins/meaning.py) where the language traps.
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
