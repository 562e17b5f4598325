"""What can be read off a loop body without running it: whether it synchronises, leaves early, and what it assigns."""

from isogrid.ir import kernel as k
from isogrid.ir.types import Space
from isogrid.ir.walk import visit


def synchronises(block: k.Block) -> bool:
    """Whether a barrier or group operation occurs anywhere in the block."""
    return any(_synchronises(s) for s in block)


def _synchronises(s: k.Statement) -> bool:
    match s:
        case k.Barrier() | k.Collective():
            return True
        case k.If(_, then, otherwise):
            return synchronises(then) or synchronises(otherwise)
        case k.For() | k.Scope():
            return synchronises(s.body)
        case k.While():
            return synchronises(s.prelude) or synchronises(s.body)
        case _:
            return False


def always_synchronises(block: k.Block) -> bool:
    """Whether every way through the block meets a barrier."""
    for s in block:
        match s:
            case k.Barrier() | k.Collective():
                return True
            case k.If(_, then, otherwise) if always_synchronises(then) and always_synchronises(otherwise):
                return True
            case k.Scope(_, body) if always_synchronises(body) and not leaves(body, 0):
                return True
            case k.For(_, k.Const(lo, _), k.Const(hi, _), k.Const(step, _), body):
                if step and (hi - lo) * step > 0 and always_synchronises(body) and not leaves(body, 0):
                    return True
            case _:
                pass
    return False


def leaves(block: k.Block, depth: int) -> bool:
    """Whether some thread may leave this loop body early (a `Leave` counts, wherever its scope ends)."""
    for s in block:
        match s:
            case k.Break() | k.Continue():
                if depth == 0:
                    return True
            case k.Return() | k.Leave():
                return True
            case k.If(_, then, otherwise):
                if leaves(then, depth) or leaves(otherwise, depth):
                    return True
            case k.Scope(_, body):
                if leaves(body, depth):
                    return True
            case k.For() | k.While():
                if leaves(s.body, depth + 1):
                    return True
            case _:
                pass
    return False


def continues(block: k.Block) -> bool:
    """Whether a `continue` of this loop occurs."""
    for s in block:
        match s:
            case k.Continue():
                return True
            case k.If(_, then, otherwise):
                if continues(then) or continues(otherwise):
                    return True
            case k.Scope(_, body):
                if continues(body):
                    return True
            case _:
                pass
    return False


def stored_arrays(block: k.Block) -> set[str]:
    """Arrays that the block stores to or updates."""
    return {s.array for s in visit(block) if isinstance(s, k.Store | k.Atomic)}


def assigned_names(block: k.Block) -> list[str]:
    names: list[str] = []
    for s in block:
        match s:
            case k.Assign(name, _) | k.Collective(_, name) | k.WarpCollective(_, name):
                names.append(name)
            case k.Atomic() if s.target:
                names.append(s.target)
            case k.If(_, then, otherwise):
                names += assigned_names(then) + assigned_names(otherwise)
            case k.For():
                names += [s.counter, *assigned_names(s.body)]
            case k.While():
                names += assigned_names(s.prelude) + assigned_names(s.body)
            case k.Scope(_, body):
                names += assigned_names(body)
            case _:
                pass
    return names


def invariant(e: k.Expr, assigned: "set[str | None]") -> bool:
    match e:
        case k.Const() | k.ScalarValue() | k.DimValue() | k.Query():
            return True
        case k.Local(name, _):
            return name not in assigned
        case k.Binary(_, left, right):
            return invariant(left, assigned) and invariant(right, assigned)
        case k.Unary(_, operand):
            return invariant(operand, assigned)
        case k.Cast(value, _):
            return invariant(value, assigned)
        case _:
            return False


def small_moduli(block: k.Block, names: set[str]) -> set[int]:
    """Small literal moduli applied to the counter: `t % 2` makes even and odd trips two known cases."""
    found: set[int] = set()
    for node in visit(block):
        match node:
            case k.Binary("mod" | "and" as op, left, k.Const(value, _)):
                modulus = value + (op == "and")
                if 1 < modulus <= 8 and _mentions(left, names):
                    found.add(modulus)
            case _:
                pass
    return found


def _mentions(e: k.Expr, names: set[str]) -> bool:
    return any(isinstance(node, k.Local) and node.name in names for node in visit(e))


def is_private(block: k.Block) -> bool:
    """Whether a body only moves numbers between arrays of the thread itself, which no proof of races asks about."""
    simple = all(isinstance(s, k.Store | k.For) for s in block)
    spaces = (n.space for n in visit(block) if isinstance(n, k.Load | k.Store))
    inner = (s.body for s in block if isinstance(s, k.For))
    return simple and all(space is Space.LOCAL for space in spaces) and all(map(is_private, inner))
