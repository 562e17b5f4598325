"""Exact values of polynomials and formulas for every thread of a group, once values of the free atoms are chosen."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from isogrid.analysis.symbolic.context import Context
from isogrid.analysis.symbolic.formula import (
    AtLeastZero,
    Both,
    Either,
    Formula,
    IsZero,
    Known,
    NotZero,
    Unknown,
)
from isogrid.analysis.symbolic.polynomial import Polynomial

#: Operations of atoms that `Evaluation` works out.
COMPUTED: Final = frozenset(
    {
        *("cdiv", "floordiv", "mod", "min", "max", "and", "or", "xor", "abs", "shl", "shr", "choice", "bool", "pow"),
        *(f"compare.{op}" for op in ("eq", "ne", "lt", "le", "gt", "ge")),
        # Small whole numbers stay whole in floats.
        *(f"{op}.{type}" for op in ("add", "sub", "mul", "neg", "to") for type in ("f32", "f64")),
    }
)


class Undecided(Exception):
    """A value depends on something that the search does not choose."""


class Evaluation:
    """Exact values for every thread of a group under one choice of the free atoms."""

    def __init__(self, c: Context, values: Mapping[str, int], strict: bool = False) -> None:
        self.strict = strict
        self.context = c
        self.values = values
        self._computed: dict[str, Any] = {}

    def polynomial(self, p: Polynomial) -> Any:
        total: Any = 0
        for m, coefficient in p.terms.items():
            product: Any = coefficient
            for name in m:
                product = product * self.atom(name)
            total = total + product
        return total

    def atom(self, name: str) -> Any:
        value = self.values.get(name)
        if value is not None:
            return value
        value = self._computed.get(name)
        if value is None:
            value = self._computed[name] = self._compute(name)
        return value

    def _compute(self, name: str) -> Any:
        atom = self.context.atoms[name]
        if atom.definition is not None and atom.definition[0] == "float":
            bits, type = atom.definition[1]
            return float(np.array(bits, f"u{type.size}").view(type.numpy))
        if atom.definition is None or atom.definition[0] not in COMPUTED:
            raise Undecided
        operation, arguments = atom.definition
        values = [self.polynomial(x) if isinstance(x, Polynomial) else self.formula(x) for x in arguments]
        return _compute(operation, values)

    def formula(self, f: Formula) -> Any:
        match f:
            case Known(bits):
                return np.frombuffer(bits, np.uint8).astype(bool)
            case AtLeastZero(p):
                return np.asarray(self.polynomial(p)) >= 0
            case IsZero(p):
                return np.asarray(self.polynomial(p)) == 0
            case NotZero(p):
                return np.asarray(self.polynomial(p)) != 0
            case Unknown():
                try:
                    if f.name not in self.context.atoms:
                        raise Undecided
                    return (np.asarray(self.atom(f.name)) != 0) == f.positive
                except Undecided:
                    if self.strict:
                        raise
                    # What nothing is known about may hold; the witness is then not complete.
                    return np.ones(self.context.size, bool)
            case Both(parts):
                held = self.formula(parts[0])
                for part in parts[1:]:
                    held = held & self.formula(part)
                return held
            case Either(parts):
                held = self.formula(parts[0])
                for part in parts[1:]:
                    held = held | self.formula(part)
                return held


def _compute(operation: str, values: list[Any]) -> Any:
    a: Any = np.asarray(values[0])
    b: Any = np.asarray(values[1]) if len(values) > 1 else None
    match operation:
        case "cdiv":
            return -(-a // b)
        case "floordiv" | "mod":
            if (b == 0).any():
                raise Undecided
            return a // b if operation == "floordiv" else a % b
        case "compare.eq":
            return a == b
        case "compare.ne":
            return a != b
        case "compare.lt":
            return a < b
        case "compare.le":
            return a <= b
        case "compare.gt":
            return a > b
        case "compare.ge":
            return a >= b
        case "min":
            return np.minimum(a, b)
        case "max":
            return np.maximum(a, b)
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "abs":
            return abs(a)
        case "shl" | "shr" | "pow":
            if (b < 0).any() or (b > 40).any():
                raise Undecided
            shifted: Any = a << b if operation == "shl" else a >> b if operation == "shr" else a**b
            return shifted
        case "choice":
            return _choose(a, b, values[2])
        case "bool":
            return a.astype(np.int64)
        case _:
            return _compute_float(operation.partition(".")[0], a, b)


def _choose(condition: Any, then: Any, otherwise: Any) -> Any:
    return np.where(condition, then, otherwise)  # pyright: ignore[reportUnknownVariableType]


def _compute_float(operation: str, a: Any, b: Any) -> Any:
    match operation:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "neg":
            return -a
        case "to":
            return a
        case _:
            raise ValueError(operation)
