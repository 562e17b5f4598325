"""Exits at the end of what they leave become structure: `if c: return` and the rest becomes `if not c: rest`.

The lane loop can then take its bounds from `c`, and barrier regions need no masks for early returns.
"""

from dataclasses import replace

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import map_block


def normalise(body: d.Block) -> d.Block:
    """The same thread body with exits turned into structure where their target follows at once."""
    return _block(body, frozenset({"return"}))


def flag_returns(body: d.Block) -> tuple[d.Block, tuple[tuple[str, Machine], ...]]:
    """Returns from inside loops of a grouped kernel, with more to follow, as a flag that guards what follows.

    Regions can then be cut behind the loop: a thread that returned skips each of them.
    """
    for place, node in enumerate(body):
        rest = body[place + 1 :]
        if not rest or not _has_return((node,)):
            continue
        name = f"returned.{place}"
        flag = d.Value(name, Machine.I1)
        inner = _flagged((node,), name)
        rest, more = flag_returns(rest)
        guarded = d.If(d.Op("inot", (flag,), Machine.I1), rest)
        start = d.Set(name, d.Literal(0, Machine.I1))
        return (*body[:place], start, d.Scope(name, inner), guarded), ((name, Machine.I1), *more)
    return body, ()


def _has_return(body: d.Block) -> bool:
    for node in body:
        match node:
            case d.Return():
                return True
            case d.If():
                if _has_return(node.then) or _has_return(node.otherwise):
                    return True
            case d.For() | d.Loop() | d.Scope():
                if _has_return(node.body):
                    return True
            case _:
                continue
    return False


def _flagged(body: d.Block, name: str) -> d.Block:
    exit_ = (d.Set(name, d.Literal(1, Machine.I1)), d.Leave(name))
    return map_block(body, on_statement=lambda node: exit_ if isinstance(node, d.Return) else node)


def _block(body: d.Block, ends: frozenset[str]) -> d.Block:
    """`ends` names the exits that mean the end of this block: "return", "continue" or a scope's label with a colon."""
    result: list[d.Statement] = []
    for place, node in enumerate(body):
        if _ends(node, ends):
            break
        if not isinstance(node, d.If):
            last = place + 1 == len(body)
            result.extend(_inside(node, ends if last else frozenset()))
            continue
        rest = body[place + 1 :]
        if rest and node.then and _ends(node.then[-1], ends):
            then, otherwise = node.then[:-1], node.otherwise + rest
        elif rest and node.otherwise and _ends(node.otherwise[-1], ends):
            then, otherwise = node.then + rest, node.otherwise[:-1]
        else:
            result.append(_if(node, node.then, node.otherwise, frozenset() if rest else ends))
            continue
        result.append(_if(node, then, otherwise, ends))
        break
    return tuple(result)


def _ends(node: d.Statement, ends: frozenset[str]) -> bool:
    match node:
        case d.Return():
            return "return" in ends
        case d.Continue():
            return "continue" in ends
        case d.Leave():
            return f":{node.label}" in ends
        case _:
            return False


def _if(node: d.If, then: d.Block, otherwise: d.Block, ends: frozenset[str]) -> d.If:
    then, otherwise = _block(then, ends), _block(otherwise, ends)
    if then or not otherwise:
        return replace(node, then=then, otherwise=otherwise)
    return replace(node, condition=negated(node.condition), then=otherwise, otherwise=())


def negated(condition: d.Expr) -> d.Expr:
    """The opposite of an i1."""
    if isinstance(condition, d.Op):
        if condition.op == "inot":
            return condition.arguments[0]
        if condition.op in ("slt", "sle", "ult", "ule"):
            left, right = condition.arguments
            other = {"slt": "sle", "sle": "slt", "ult": "ule", "ule": "ult"}[condition.op]
            return d.Op(other, (right, left), Machine.I1, span=condition.span)
        if condition.op == "ior":
            left, right = condition.arguments
            return d.Op("iand", (negated(left), negated(right)), Machine.I1, span=condition.span)
    return d.Op("inot", (condition,), Machine.I1, span=condition.span)


def _inside(node: d.Statement, ends: frozenset[str]) -> d.Block:
    match node:
        case d.Scope():
            body = _block(node.body, ends | {f":{node.label}"})
            return (replace(node, body=body),) if _leaves(body, node.label) else body
        case d.For() | d.Loop():
            return (replace(node, body=_block(node.body, frozenset({"continue"}))),)
        case _:
            return (node,)


def _leaves(body: d.Block, label: str) -> bool:
    for node in body:
        match node:
            case d.Leave():
                if node.label == label:
                    return True
            case d.If():
                if _leaves(node.then, label) or _leaves(node.otherwise, label):
                    return True
            case d.For() | d.Loop() | d.Scope():
                if _leaves(node.body, label):
                    return True
            case _:
                continue
    return False
