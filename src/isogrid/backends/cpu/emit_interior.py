"""The interior of a lane range: the lanes for which comparisons with the lane's coordinate are known beforehand.

`left = j - 1 if 0 < j else W - 1` is `j - 1` for every lane from 1 on. The interior runs a body in which such
comparisons are constants, so that its loads are adjacent; the few lanes outside run the body as it is.
"""

from dataclasses import dataclass, replace
from typing import assert_never

from isogrid.backends.cpu.emit_guards import Bound, LaneFacts, bounds_of, is_outside, resolved
from isogrid.backends.cpu.emit_levels import LANE
from isogrid.backends.cpu.emit_normal import negated
from isogrid.ir import device as d
from isogrid.ir.device import Machine

_TRUE, _FALSE = d.Literal(1, Machine.I1), d.Literal(0, Machine.I1)


@dataclass(frozen=True, slots=True)
class Interior:
    """`body` is right for the lanes within all `bounds`."""

    bounds: tuple[Bound, ...]
    body: d.Block


@dataclass(slots=True)
class _Search:
    facts: LaneFacts
    defined: dict[str, d.Expr]
    inside: frozenset[str]
    bounds: list[Bound]
    constants: dict[str, d.Literal]


def find_interior(body: d.Block, facts: LaneFacts) -> Interior | None:
    """The interior of a thread body, None where no comparison depends on the lane's coordinate alone."""
    search = _Search(replace(facts, dynamic=True), {}, _assigned(body), [], {})
    inner = _block(search, body)
    return Interior(tuple(dict.fromkeys(search.bounds)), inner) if search.bounds else None


def _assigned(body: d.Block) -> frozenset[str]:
    names: set[str] = set()
    for node in body:
        match node:
            case d.Let() | d.Set():
                names.add(node.name)
            case d.If():
                names |= _assigned(node.then) | _assigned(node.otherwise)
            case d.For():
                names |= {node.counter} | _assigned(node.body)
            case d.Loop() | d.Scope():
                names |= _assigned(node.body)
            case _:
                continue
    return frozenset(names)


def _block(search: _Search, body: d.Block) -> d.Block:
    result: list[d.Statement] = []
    for node in body:
        match node:
            case d.Let():
                value = _expression(search, node.value)
                search.defined[node.name] = value
                if isinstance(value, d.Literal):
                    search.constants[node.name] = value
                result.append(replace(node, value=value))
            case d.Set():
                result.append(replace(node, value=_expression(search, node.value)))
            case d.Store():
                index, value = _expression(search, node.index), _expression(search, node.value)
                result.append(replace(node, index=index, value=value))
            case d.If():
                condition = _expression(search, node.condition)
                if isinstance(condition, d.Literal):
                    result.extend(_block(search, node.then if condition.bits else node.otherwise))
                    continue
                then, otherwise = _block(search, node.then), _block(search, node.otherwise)
                result.append(replace(node, condition=condition, then=then, otherwise=otherwise))
            case d.For() | d.Loop() | d.Scope() | d.Check() | d.Atomic():
                # Loops keep their identity, by which divergence is known; what is checked or atomic stays as it is.
                result.append(node)
            case d.Leave() | d.Break() | d.Continue() | d.Return() | d.Fill():
                result.append(node)
            case d.Barrier() | d.Collective() | d.WarpBarrier() | d.WarpCollective() | d.Agree():
                result.append(node)
            case _:
                assert_never(node)
    return tuple(result)


def _expression(search: _Search, node: d.Expr) -> d.Expr:
    match node:
        case d.Value():
            return search.constants.get(node.name, node)
        case d.Load():
            return replace(node, index=_expression(search, node.index))
        case d.Op():
            # Inside out: what a minimum holds may itself be decided, as in `clamp`.
            inner = _folded(replace(node, arguments=tuple(_expression(search, a) for a in node.arguments)))
            known = _decided(search, inner) if isinstance(inner, d.Op) else None
            return inner if known is None else known
        case d.Literal() | d.Argument() | d.Special():
            return node
        case _:
            assert_never(node)


def _folded(node: d.Op) -> d.Expr:
    first = node.arguments[0]
    match node.op:
        case "select" if isinstance(first, d.Literal):
            return node.arguments[1] if first.bits else node.arguments[2]
        case "inot" if isinstance(first, d.Literal) and node.type is Machine.I1:
            return _FALSE if first.bits else _TRUE
        case "iand" | "ior" if node.type is Machine.I1:
            for one, other in (node.arguments, node.arguments[::-1]):
                if isinstance(one, d.Literal):
                    return other if bool(one.bits) == (node.op == "iand") else one
            return node
        case _:
            return node


def _decided(search: _Search, node: d.Op) -> d.Expr | None:
    """What a comparison, a minimum or a maximum is in the interior."""
    match node.op:
        case "slt" | "sle":
            for test, value in ((node, _TRUE), (negated(node), _FALSE)):
                if isinstance(test, d.Op) and _assume(search, test):
                    return value
            return None
        case "smax" | "smin":
            for lane, limit in (node.arguments, node.arguments[::-1]):
                order = (limit, lane) if node.op == "smax" else (lane, limit)
                if _assume(search, d.Op("sle", order, Machine.I1)):
                    return lane
            return None
        case _:
            return None


def _assume(search: _Search, test: d.Op) -> bool:
    """Take a comparison to hold, if that bounds the lane on the side on which few lanes lie outside."""
    whole = resolved(test, search.defined)
    if not isinstance(whole, d.Op) or search.facts.level(whole) < LANE:
        return False
    bounds = bounds_of(whole, search.facts, {})
    if bounds is None or len(bounds) != 1:
        return False
    bound = bounds[0]
    parts = [bound.limit] if bound.offset is None else [bound.limit, bound.offset]
    if not all(is_outside(p, dict.fromkeys(search.inside, p), search.facts.hidden) for p in parts):
        return False
    # `j < 2` holds at an edge only: the interior is where it does not.
    if bound.upper == isinstance(bound.limit, d.Literal):
        return False
    search.bounds.append(bound)
    return True
