"""How many low bits of an index are surely zero: where an element starts a run of 16 bytes, LLVM reads four at once."""

from collections.abc import Mapping

from isogrid.ir import device as d

#: All bits of a number that is nothing but zero.
_ALL = 64


def zero_bits(known: Mapping[str, int], node: d.Expr) -> int:
    """Low bits of an integer expression that are zero; `known` are those of names, and of dimensions as `dim N`."""
    match node:
        case d.Literal(bits=bits):
            return (bits & -bits).bit_length() - 1 if bits else _ALL
        case d.Value(name=name):
            return known.get(name, 0)
        case d.Argument(kind=kind, name=name):
            return known.get(f"{kind} {name}", 0)
        case d.Special() | d.Load():
            return 0
        case d.Op():
            return _of_operation(node, [zero_bits(known, argument) for argument in node.arguments])


def _of_operation(node: d.Op, parts: list[int]) -> int:
    match node.op:
        case "iadd" | "isub" | "ior" | "ixor" | "smin" | "smax" | "umin" | "umax":
            return min(parts)
        case "select":
            return min(parts[1:])
        case "ineg" | "sext" | "zext" | "trunc":
            return parts[0]
        case "imul":
            return min(sum(parts), _ALL)
        case "iand":
            return max(parts)
        case "shl" if isinstance(node.arguments[1], d.Literal):
            return min(parts[0] + node.arguments[1].bits, _ALL)
        case "urem" | "srem":
            # What is left of a multiple of 8 by 12 is a multiple of 4.
            return min(parts)
        case "udiv" | "sdiv" | "lshr" | "ashr":
            return max(parts[0] - _shift(node), 0) if _shift(node) >= 0 else 0
        case _:
            return 0


def _shift(node: d.Op) -> int:
    """By how many bits a division by a power of two shifts; -1 for another."""
    by = node.arguments[1]
    if not isinstance(by, d.Literal) or by.bits == 0:
        return -1
    if node.op in ("lshr", "ashr"):
        return by.bits
    return by.bits.bit_length() - 1 if by.bits & (by.bits - 1) == 0 else -1
