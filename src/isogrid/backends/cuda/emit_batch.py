"""Checks of eight trips of a loop at once: a check with an exit in an inner loop costs three times the loop.

Eight trips run statement by statement. Their checks are asked together; where all hold the accesses follow unchecked,
and where one fails nothing was written yet, and the loop goes on trip by trip and traps at the right one.
"""

from collections.abc import Iterable

from isogrid.backends.cuda.emit_address import Linear
from isogrid.backends.cuda.emit_code import Code, assuming
from isogrid.backends.cuda.emit_lockstep import Copy, together
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import type_text

#: Trips of one batch.
BATCH = 8
_MOST_NODES = 1200


def can_batch(node: d.For) -> bool:
    """Whether trips of a loop can run side by side up to their effects: checks come before anything is written, what
    is written is not read, and a variable is used in one statement only, which then runs trip after trip."""
    if node.unroll == 1 or len(list(visit(node.body))) * BATCH > _MOST_NODES:
        return False
    if not any(isinstance(s, d.Check) for s in node.body):
        return False
    written: set[str] = set()
    effects = False
    for statement in node.body:
        match statement:
            case d.Let() | d.Set():
                pass
            case d.Check():
                if effects:
                    return False
            case d.Store(buffer=buffer) | d.Atomic(buffer=buffer):
                written.add(buffer)
                effects = True
            case d.If():
                inside = list(visit((*statement.then, *statement.otherwise)))
                if any(isinstance(n, d.Statement) and not isinstance(n, d.Let | d.Set | d.If) for n in inside):
                    return False
            case _:
                return False
    read = {n.buffer for n in visit(node.body) if isinstance(n, d.Load)}
    atomics = sum(isinstance(s, d.Store | d.Atomic) for s in node.body)
    return not (read & written) and atomics <= 1 and not _crosses(node.body)


def _crosses(body: d.Block) -> bool:
    """Whether some variable is set, and used in more than one statement."""
    sets = {n.name for n in visit(body) if isinstance(n, d.Set)}
    sets |= {n.target for n in visit(body) if isinstance(n, d.Atomic) and n.target}
    uses: dict[str, int] = {}
    for statement in body:
        for name in set(_names(statement)):
            uses[name] = uses.get(name, 0) + 1
    return any(uses[name] > 1 for name in sets)


def _names(statement: d.Statement) -> Iterable[str]:
    for node in visit(statement):
        match node:
            case d.Value(name=name) | d.Set(name=name):
                yield name
            case d.Atomic(target=target) if target:
                yield target
            case _:
                continue


def emit_batches(code: Code, node: d.For, trip: str, start: str, step: str, trips: str, scalar: str) -> None:
    """Run batches while eight trips are left, from the number in the variable `trip` on; then go to `scalar`."""
    w = code.w
    head, body = w.block("batch"), w.block("batch.body")
    w.place(head)
    count = w.emit(f"load i64, ptr {trip}")
    left = w.emit(f"sub nuw i64 {trips}, {count}")
    w.branch(w.emit(f"icmp uge i64 {left}, {BATCH}"), body, scalar)
    w.place(body)
    outer = (code.specials, code.sums, code.variables, code.env)
    copies = [_copy(code, node, count, start, step, number) for number in range(BATCH)]
    with assuming(code, None, True):
        together(code, copies, node.body, scalar, set(), [True])
    code.specials, code.sums, code.variables, code.env = outer
    w.do(f"store i64 {w.emit(f'add nuw i64 {count}, {BATCH}')}, ptr {trip}")
    w.jump(head)


def _copy(code: Code, node: d.For, count: str, start: str, step: str, number: int) -> Copy:
    """One trip of the batch: names of its own, the loop's variables."""
    w, text = code.w, type_text(node.type)
    index = count if node.type is Machine.I64 else w.emit(f"trunc i64 {count} to {text}")
    first = w.emit(f"add {text} {start}, {w.emit(f'mul {text} {index}, {step}')}")
    counter, sums = first, dict(code.sums)
    if number:
        offset = w.emit(f"mul {text} {step}, {number}")
        counter = w.emit(f"add {text} {first}, {offset}")
    if node.type is Machine.I64 and isinstance(node.step, d.Literal):
        by = node.step.bits - (1 << 64) if node.step.bits >> 63 else node.step.bits
        sums[node.counter] = Linear(((first, 1),), by * number)
    return Copy(code.specials, sums, code.variables, {**code.env, node.counter: counter})
