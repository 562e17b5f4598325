"""Addresses as sums: the constant part of an index stands last, so that neighbours share all but it.

`x[i * W + j - 1]` and `x[i * W + j + 1]` become one address and two constant offsets, and the four neighbours that one
thread takes of a row are four offsets of one address, which LLVM then loads at once.
"""

from dataclasses import dataclass

from isogrid.ir import device as d
from isogrid.ir.device import Machine

_WORD = 1 << 64


@dataclass(frozen=True, slots=True)
class Linear:
    """A sum modulo 2^64: each atom, an i64 operand of LLVM, times its coefficient, and a constant."""

    terms: tuple[tuple[str, int], ...]
    constant: int = 0

    @property
    def atom(self) -> str:
        """The only atom, where the sum is nothing else; else ""."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and not self.constant:
            return self.terms[0][0]
        return ""

    def plus(self, other: "Linear", sign: int = 1) -> "Linear":
        terms = dict(self.terms)
        for atom, coefficient in other.terms:
            terms[atom] = terms.get(atom, 0) + sign * coefficient
        kept = tuple((atom, coefficient) for atom, coefficient in terms.items() if coefficient % _WORD)
        return Linear(kept, self.constant + sign * other.constant)

    def times(self, factor: int) -> "Linear":
        if not factor % _WORD:
            return Linear(())
        return Linear(tuple((atom, coefficient * factor) for atom, coefficient in self.terms), self.constant * factor)


def signed(bits: int) -> int:
    return bits - _WORD if bits >> 63 else bits


def constant(value: int) -> Linear:
    return Linear((), value)


def is_linear(node: d.Expr) -> bool:
    """Whether an expression is worth looking into as a sum."""
    return isinstance(node, d.Op) and node.type is Machine.I64 and node.op in ("iadd", "isub", "imul", "shl", "ineg")
