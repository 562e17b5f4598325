"""Several trips of a loop at once: a check with an exit in an inner loop costs three times the loop.

Eight trips run statement by statement. Their checks are asked together; where all hold the accesses follow unchecked,
and where one fails nothing was written yet, and the loop goes on trip by trip and traps at the right one. Trips that
call elementary functions ask once for all of their slow paths. Quotients and roots of floats have slow paths that
the assembler adds, and it unrolls no loop with one: eight trips share wide loads, and one's latency hides another's.
"""

from collections import Counter
from collections.abc import Iterable

from isogrid.backends.cuda.emit_address import Linear
from isogrid.backends.cuda.emit_code import Code, Variable, assuming
from isogrid.backends.cuda.emit_lockstep import Copy, together
from isogrid.backends.cuda.emit_quotients import emit_quotients, is_quick, with_quotients_apart
from isogrid.backends.cuda.plan_copies import usual_nodes
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import type_text

#: Trips of one batch: with checks or quotients and roots, and with elementary functions where their bodies are long.
_TRIPS, _LONG_TRIPS = 8, 4
#: Expressions of all trips, and of those with elementary functions, which need few registers at a time.
_MOST_NODES, _MOST_CALLING = 1200, 2400


def batch_of(kernel: d.Kernel, node: d.For) -> int:
    """How many trips of a loop can run side by side up to their effects, 0 if none can: checks come before anything is
    written, what is written is not read, and a variable that lasts is used in one statement only, which then runs trip
    after trip."""
    count = _wanted(node)
    if node.unroll == 1 or not count:
        return 0
    written: set[str] = set()
    effects = False
    for statement in node.body:
        match statement:
            case d.Let() | d.Set():
                pass
            case d.Check():
                if effects:
                    return 0
            case d.Store(buffer=buffer) | d.Atomic(buffer=buffer):
                written.add(buffer)
                effects = True
            case d.If():
                inside = list(visit((*statement.then, *statement.otherwise)))
                if any(isinstance(n, d.Statement) and not isinstance(n, d.Let | d.Set | d.If) for n in inside):
                    return 0
            case _:
                return 0
    read = {n.buffer for n in visit(node.body) if isinstance(n, d.Load)}
    atomics = sum(isinstance(s, d.Store | d.Atomic) for s in node.body)
    return count if not (read & written) and atomics <= 1 and not _crosses(kernel, node) else 0


def _wanted(node: d.For) -> int:
    """How many trips side by side are worth their code."""
    nodes = usual_nodes(node.body)
    if any(isinstance(s, d.If) and s.rare for s in node.body) and not any(isinstance(s, d.Check) for s in node.body):
        return next((trips for trips in (_TRIPS, _LONG_TRIPS) if nodes * trips <= _MOST_CALLING), 0)
    pays = any(isinstance(s, d.Check) for s in node.body) or _divides_apart(node)
    return _TRIPS if pays and nodes * _TRIPS <= _MOST_NODES else 0


def _divides_apart(node: d.For) -> bool:
    """Whether a trip has a quotient or a root of floats that needs nothing of the trip before."""
    behind = {s.name for s in visit(node.body) if isinstance(s, d.Set)}
    for statement in node.body:
        near = statement.value if isinstance(statement, d.Let) and statement.start else None
        for part in visit(statement):
            divides = isinstance(part, d.Op) and part.op in ("fdiv", "fsqrt") and part is not near
            if divides and behind.isdisjoint(_names(part)):
                return True
        if isinstance(statement, d.Let) and not behind.isdisjoint(_names(statement)):
            behind.add(statement.name)
    return False


def _crosses(kernel: d.Kernel, node: d.For) -> bool:
    """Whether some variable is set, and used in more than one statement of this trip or in another one."""
    body = node.body
    sets = {n.name for n in visit(body) if isinstance(n, d.Set)}
    sets |= {n.target for n in visit(body) if isinstance(n, d.Atomic) and n.target}
    sets -= _of_one_trip(kernel, node)
    uses: dict[str, int] = {}
    for statement in body:
        for name in set(_names(statement)):
            uses[name] = uses.get(name, 0) + 1
    return any(uses[name] > 1 for name in sets)


def _of_one_trip(kernel: d.Kernel, node: d.For) -> set[str]:
    """Results of elementary functions: set before a slow path that may set them again, and used in this loop alone."""
    found: set[str] = set()
    first: dict[str, d.Statement] = {}
    for statement in node.body:
        if isinstance(statement, d.If) and statement.rare:
            found |= {n.name for n in visit(statement.then) if isinstance(n, d.Set)}
        for name in _names(statement):
            first.setdefault(name, statement)
    found = {name for name in found if isinstance(first[name], d.Set)}
    if not found:
        return found
    inside, everywhere = Counter(_names(node)), Counter(_names(kernel.body))
    return {name for name in found if inside[name] == everywhere[name]}


def _names(statement: d.Node | d.Block) -> Iterable[str]:
    for node in visit(statement):
        match node:
            case d.Value(name=name) | d.Set(name=name):
                yield name
            case d.Atomic(target=target) if target:
                yield target
            case _:
                continue


def emit_batches(code: Code, node: d.For, count: int, trip: str, ends: tuple[str, str, str, str], scalar: str) -> None:
    """Run batches of `count` trips while so many are left, from the number in the variable `trip` on; then go to
    `scalar`. `ends` are start, step, trips and the type that trips are counted in."""
    w, (start, step, trips, size) = code.w, ends
    head, body = w.block("batch"), w.block("batch.body")
    w.place(head)
    number = w.emit(f"load {size}, ptr {trip}")
    left = w.emit(f"sub nuw {size} {trips}, {number}")
    w.branch(w.emit(f"icmp uge {size} {left}, {count}"), body, scalar)
    w.place(body)
    outer = (code.specials, code.sums, code.variables, code.env)
    trips_here = [w.emit(f"add nuw {size} {number}, {later}") if later else number for later in range(count)]
    counters = [counter_of(code, node, start, step, here, size) for here in trips_here]
    own = _of_one_trip(code.kernel, node)
    copies = [_copy(code, node, counters, later, own) for later in range(count)]
    with assuming(code, None, True):
        _side_by_side(code, copies, node.body, scalar)
    code.specials, code.sums, code.variables, code.env = outer
    w.do(f"store {size} {w.emit(f'add nuw {size} {number}, {count}')}, ptr {trip}")
    w.jump(head)


def _side_by_side(code: Code, copies: list[Copy], body: d.Block, scalar: str) -> None:
    """The trips statement by statement, and their quotients and roots with one question for all."""
    if not code.divides_quickly or code.flags:
        together(code, copies, body, scalar, set(), [True])
        return
    run: list[d.Statement] = []
    for statement in with_quotients_apart(body):
        if not (isinstance(statement, d.Let) and is_quick(statement.value) and not statement.start):
            run.append(statement)
            continue
        together(code, copies, tuple(run), scalar, set(), [True])
        run.clear()
        emit_quotients(code, copies, statement)
    together(code, copies, tuple(run), scalar, set(), [True])


def counter_of(code: Code, node: d.For, start: str, step: str, count: str, size: str) -> str:
    """The counter of trip number `count`."""
    w, text = code.w, type_text(node.type)
    if node.type is Machine.I64 and size == "i32" and code.ranges is not None:
        low, high = code.ranges.of(d.Value(node.counter, node.type))
        if low >= -(1 << 31) and high < 1 << 31:
            first, by = (w.emit(f"trunc i64 {number} to i32") for number in (start, step))
            number = w.emit(f"add i32 {first}, {w.emit(f'mul i32 {count}, {by}')}")
            return w.emit(f"{'zext nneg' if low >= 0 else 'sext'} i32 {number} to i64")
    index = count
    if size != text:
        index = w.emit(f"zext nneg i32 {count} to i64" if size == "i32" else f"trunc i64 {count} to {text}")
    return w.emit(f"add {text} {start}, {w.emit(f'mul {text} {index}, {step}')}")


def _copy(code: Code, node: d.For, counters: list[str], number: int, own: set[str]) -> Copy:
    """One trip of the batch: names of its own, the loop's variables but for those that no other trip knows."""
    sums = dict(code.sums)
    if node.type is Machine.I64 and isinstance(node.step, d.Literal):
        by = node.step.bits - (1 << 64) if node.step.bits >> 63 else node.step.bits
        sums[node.counter] = Linear(((counters[0], 1),), by * number)
    declared = [(name, type) for name, type in code.kernel.variables if name in own]
    new = {name: Variable(code.w.alloca(type_text(type), "var"), type) for name, type in declared}
    return Copy(code.specials, sums, {**code.variables, **new}, {**code.env, node.counter: counters[number]})
