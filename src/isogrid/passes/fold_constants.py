"""Evaluate operations on literals by the builtin tables, and follow what that decides. `2 * 3 + i` becomes `6 + i`.

An operation that would trap stays, so that it traps where it stands. Locals that hold a literal are replaced by it.
"""

from dataclasses import replace
from typing import Any

from isogrid.builtins import floats
from isogrid.builtins.conversions import CONVERSIONS
from isogrid.builtins.index import all_builtins
from isogrid.builtins.meaning import Trapped, quiet
from isogrid.builtins.operators import OPERATORS
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import map_expr, visit
from isogrid.passes.effects import assigned_locals

_FUNCTIONS = {row.name: row for row in all_builtins()}


def fold_constants(kernel: k.Kernel) -> k.Kernel:
    with quiet():
        return replace(kernel, body=_block(kernel.body, {}))


# --- statements: which locals hold a literal --------------------------------------------------------------------------


def _block(block: k.Block, known: dict[str, k.Const]) -> k.Block:
    """Fold a block; `known` is kept up to date with what holds after each statement."""
    result: list[k.Statement] = []
    for statement in block:
        result.extend(_statement(statement, known))
    return tuple(result)


def _statement(statement: k.Statement, known: dict[str, k.Const]) -> k.Block:
    match statement:
        case k.Assign():
            value = _fold(statement.value, known)
            known.pop(statement.name, None)
            if isinstance(value, k.Const):
                known[statement.name] = value
            return (replace(statement, value=value),)
        case k.If():
            return _if(statement, known)
        case k.For():
            start, stop, step = (_fold(part, known) for part in (statement.start, statement.stop, statement.step))
            if _never_runs(start, stop, step) and not _holds_atomic(statement.body):
                return ()
            _forget(known, statement)
            body = _block(statement.body, dict(known))
            return (replace(statement, start=start, stop=stop, step=step, body=body),)
        case k.While():
            _forget(known, statement)
            inside = dict(known)
            prelude = _block(statement.prelude, inside)
            condition = _fold(statement.condition, inside)
            if isinstance(condition, k.Const) and not condition.value and not _holds_atomic(statement.body):
                return prelude
            return (replace(statement, prelude=prelude, condition=condition, body=_block(statement.body, inside)),)
        case k.Scope():
            inside = dict(known)
            _forget(known, statement)
            return (replace(statement, body=_block(statement.body, inside)),)
        case k.Collective():
            known.pop(statement.target, None)
            return (replace(statement, value=_fold(statement.value, known)),)
        case k.WarpCollective():
            value = _fold(statement.value, known)
            lane = None if statement.lane is None else _fold(statement.lane, known)
            known.pop(statement.target, None)
            return (replace(statement, value=value, lane=lane),)
        case k.Store():
            value = _fold(statement.value, known)
            return (replace(statement, value=value, indices=tuple(_fold(i, known) for i in statement.indices)),)
        case k.Atomic():
            folded = replace(
                statement,
                indices=tuple(_fold(i, known) for i in statement.indices),
                expected=None if statement.expected is None else _fold(statement.expected, known),
                value=_fold(statement.value, known),
            )
            known.pop(statement.target, None)
            return (folded,)
        case k.Evaluate():
            return (replace(statement, value=_fold(statement.value, known)),)
        case k.Assert():
            return (replace(statement, condition=_fold(statement.condition, known)),)
        case k.Barrier() | k.WarpBarrier() | k.Leave() | k.Break() | k.Continue() | k.Return() | k.DeclareLocal():
            return (statement,)


def _if(statement: k.If, known: dict[str, k.Const]) -> k.Block:
    """A decided branch stands alone, unless the other holds an atomic: the first one in the text names its total."""
    condition = _fold(statement.condition, known)
    if isinstance(condition, k.Const):
        taken, dropped = statement.then, statement.otherwise
        if not condition.value:
            taken, dropped = dropped, taken
        if not _holds_atomic(dropped):
            return _block(taken, known)
    inside, outside = dict(known), dict(known)
    then, otherwise = _block(statement.then, inside), _block(statement.otherwise, outside)
    _forget(known, statement)
    return (replace(statement, condition=condition, then=then, otherwise=otherwise),)


def _never_runs(start: k.Expr, stop: k.Expr, step: k.Expr) -> bool:
    """Whether a loop from literals has no trip, as the last copies of triangular loops that are unrolled."""
    match start, stop, step:
        case k.Const(first), k.Const(end), k.Const(by):
            return by != 0 and (first >= end if by > 0 else first <= end)
        case _:
            return False


def _holds_atomic(block: k.Block) -> bool:
    return any(isinstance(node, k.Atomic) for node in visit(block))


def _forget(known: dict[str, k.Const], statement: k.Statement) -> None:
    for name in assigned_locals((statement,)):
        known.pop(name, None)


# --- expressions ------------------------------------------------------------------------------------------------------


def _fold(node: k.Expr, known: dict[str, k.Const]) -> k.Expr:
    return map_expr(node, lambda part: _folded(part, known))


def _folded(node: k.Expr, known: dict[str, k.Const]) -> k.Expr:
    match node:
        case k.Local():
            return replace(known[node.name], span=node.span) if node.name in known else node
        case k.Unary(operand=k.Const() as operand):
            return _meant(node, OPERATORS[node.op].meaning, operand)
        case k.Binary(left=k.Const() as left, right=k.Const() as right):
            return _meant(node, OPERATORS[node.op].meaning, left, right)
        case k.Compare(left=k.Const() as left, right=k.Const() as right):
            return _meant(node, OPERATORS[node.op].meaning, left, right)
        case k.Cast(value=k.Const() as value):
            return _meant(node, CONVERSIONS[value.type, node.type].meaning, value)
        case k.Call() if node.name in _FUNCTIONS:
            constants = [argument for argument in node.arguments if isinstance(argument, k.Const)]
            if len(constants) == len(node.arguments):
                return _meant(node, _FUNCTIONS[node.name].meaning, *constants)
            return node
        case k.Logical(left=k.Const() as left):
            decided = bool(left.value) != (node.op == "and")
            return left if decided else node.right
        case k.Choose(condition=k.Const() as condition):
            return node.then if condition.value else node.otherwise
        case _:
            return node


def _meant(node: k.Expr, meaning: Any, *operands: k.Const) -> k.Expr:
    """The literal that the table gives, or the node itself where it traps."""
    first = operands[0].type if isinstance(node, k.Compare) else node.type
    try:
        value = meaning(first, *(value_of(operand) for operand in operands))
    except Trapped:
        return node
    return literal_of(node, value)


def value_of(constant: k.Const) -> Any:
    """A literal as the value that the tables compute with."""
    if constant.type is Scalar.BOOL:
        return bool(constant.value)
    if constant.type.is_float:
        return floats.from_bits(constant.type, constant.value)
    return constant.value


def literal_of(node: k.Expr, value: Any) -> k.Const:
    bits = floats.to_bits(node.type, value) if node.type.is_float else int(value)
    return k.Const(bits, node.type, span=node.span)
