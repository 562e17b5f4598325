"""Remove statements that do nothing: values nobody reads, empty branches, what follows a jump.

An unused value that may trap is still evaluated; atomics stay, since the first one in the text names its total.
"""

from dataclasses import replace

from isogrid.ir import kernel as k
from isogrid.ir.walk import visit
from isogrid.passes.effects import may_trap, read_locals


def remove_dead(kernel: k.Kernel) -> k.Kernel:
    while True:
        body = _block(kernel.body, read_locals(kernel.body))
        if body == kernel.body:
            return kernel
        kernel = replace(kernel, body=body)


def _block(block: k.Block, read: set[str]) -> k.Block:
    result: list[k.Statement] = []
    for position, statement in enumerate(block):
        result.extend(_statement(statement, read))
        jumps = isinstance(statement, k.Return | k.Break | k.Continue | k.Leave)
        if jumps and not _holds_atomic(block[position + 1 :]):
            break
    return tuple(result)


def _holds_atomic(block: k.Block) -> bool:
    return any(isinstance(node, k.Atomic) for node in visit(block))


def _statement(statement: k.Statement, read: set[str]) -> k.Block:
    match statement:
        case k.Assign():
            if isinstance(statement.value, k.Local) and statement.value.name == statement.name:
                return ()
            if statement.name in read:
                return (statement,)
            return _evaluated(statement.value, statement)
        case k.Evaluate():
            return _evaluated(statement.value, statement)
        case k.If():
            then, otherwise = _block(statement.then, read), _block(statement.otherwise, read)
            if not then and not otherwise:
                return _evaluated(statement.condition, statement)
            return (replace(statement, then=then, otherwise=otherwise),)
        case k.For():
            body = _block(statement.body, read)
            parts = (statement.start, statement.stop, statement.step)
            if not body and not statement.step_checked and statement.counter not in read:
                return tuple(part for value in parts for part in _evaluated(value, statement))
            return (replace(statement, body=body),)
        case k.While():
            return (replace(statement, prelude=_block(statement.prelude, read), body=_block(statement.body, read)),)
        case k.Scope():
            body = _block(statement.body, read)
            if body and isinstance(body[-1], k.Leave) and body[-1].label == statement.label:
                body = body[:-1]
            leaves = any(isinstance(node, k.Leave) and node.label == statement.label for node in visit(body))
            return (replace(statement, body=body),) if leaves else body
        case k.Atomic() if statement.target and statement.target not in read:
            return (replace(statement, target=""),)
        case (
            k.Store()
            | k.Atomic()
            | k.Barrier()
            | k.Collective()
            | k.WarpBarrier()
            | k.WarpCollective()
            | k.Leave()
            | k.Break()
            | k.Continue()
            | k.Return()
            | k.Assert()
            | k.DeclareLocal()
        ):
            return (statement,)


def _evaluated(value: k.Expr, at: k.Statement) -> k.Block:
    """The value for its traps alone; nothing where it has none."""
    return (k.Evaluate(value, span=at.span),) if may_trap(value) else ()
