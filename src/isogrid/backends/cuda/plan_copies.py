"""How many threads of an ungrouped kernel one thread of the GPU takes, and which ones.

A kernel that streams is as fast as memory only with several accesses in flight per thread. Bodies without loops are
taken: neighbours that make 16 bytes of each array's row where accesses are contiguous along the last axis, of stencils
two rows, which share what they read. Elsewhere threads a whole block apart, so that those of a warp stay side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.ir.walk import visit
from isogrid.printers.llvm_text import element_type

#: A sum of products of names, each with its coefficient.
Polynomial: TypeAlias = dict[tuple[str, ...], int]

#: Bytes of each array that one thread takes.
_BYTES = 16
#: Expressions of a body, times copies; more would cost registers and time to compile.
_MOST_NODES = 1200
_MOST_ITEMS = 16
#: Threads a block apart that one thread takes, and expressions of a body of that kind times copies.
_APART = 4
_WARP = 32
_MOST_NODES_APART = 600
#: Expressions of slow paths cost time to compile alone, once for all copies: this many count as one.
_RARE_SHARE = 16


@dataclass(slots=True)
class _Facts:
    """What the body is, as far as it has been looked at. `varying` are names of values that differ between threads in
    a way that is not a polynomial of coordinates; `data` those that depend on what was loaded."""

    kernel: d.Kernel
    names: dict[str, Polynomial] = field(default_factory=dict[str, Polynomial])
    values: dict[str, d.Expr] = field(default_factory=dict[str, d.Expr])
    data: set[str] = field(default_factory=set[str])
    accesses: list[tuple[str, Polynomial, bool]] = field(default_factory=list[tuple[str, Polynomial, bool]])
    #: Whether an element that was read says where another one is: such accesses wait for two lines in a row.
    follows: bool = False
    #: Conditions that all copies are asked together.
    guards: list[d.Expr] = field(default_factory=list[d.Expr])

    @property
    def tables(self) -> frozenset[str]:
        """Constant arrays: small, and always near."""
        return frozenset(b.name for b in self.kernel.buffers if b.space is Space.TABLE)


def plan_copies(kernel: d.Kernel) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Threads that one thread takes along each axis, and how far apart; ones where that does not pay or is not
    understood."""
    rank = kernel.geometry.rank
    alone = (1,) * rank
    if kernel.grouped or kernel.races != "prove" or any(b.space is Space.LOCAL for b in kernel.buffers):
        return alone, alone
    facts = _Facts(kernel, data={name for name, _ in kernel.variables})
    if not _is_lockstep(facts, kernel.body):
        return alone, alone
    nodes = max(usual_nodes(kernel.body), sum(1 for _ in visit(kernel.body)) // _RARE_SHARE)
    items = 1 if _alternates(facts, rank - 1, 1) else _items(facts)
    while items > 1 and items * nodes > _MOST_NODES:
        items //= 2
    if items == 1:
        return _apart(facts, nodes), (*kernel.geometry.block[:1], *alone[1:])
    if rank == 1:
        return (items,), alone
    rows = 2 if _shares_rows(facts) and 2 * items * nodes <= _MOST_NODES else 1
    return (*alone[:-2], rows, items), alone


def usual_nodes(body: d.Block) -> int:
    """Expressions that run as a rule: not those of slow paths."""
    total = 0
    for node in body:
        inside = (*node.then, *node.otherwise) if isinstance(node, d.If) else ()
        total += sum(1 for _ in visit(node)) - sum(1 for _ in visit(inside))
        if isinstance(node, d.If) and not node.rare:
            total += usual_nodes(inside)
    return total


def _apart(facts: _Facts, nodes: int) -> tuple[int, ...]:
    """Copies a block apart along the first axis: so many that about four lines of memory are on their way at once."""
    geometry = facts.kernel.geometry
    read = {(name, _line(form, geometry.rank)) for name, form, writes in facts.accesses if not writes}
    items = _APART if facts.follows else _APART // max(len(read), 1)
    few = not facts.accesses or nodes * items > _MOST_NODES_APART
    if items < 2 or few or geometry.block[-1] < _WARP or _alternates(facts, 0, geometry.block[0]):
        return (1,) * geometry.rank
    return (items, *(1,) * (geometry.rank - 1))


def _line(form: Polynomial, rank: int) -> tuple[tuple[str, ...], ...]:
    """What tells the lines of an array apart: neighbouring columns, and rows of a plane, come from the cache."""
    parts = (m for m in form if m and (rank == 1 or any(p.startswith(("?", "thread.")) for p in m)))
    return tuple(sorted(parts))


def _alternates(facts: _Facts, axis: int, step: int) -> bool:
    """Whether threads that far apart along an axis come to different answers by turns, as those of two colours do."""
    return any(_turns(facts, node, f"thread.{axis}", step) for node in facts.guards)


def _turns(facts: _Facts, guard: d.Expr, name: str, step: int) -> bool:
    for node in visit(guard):
        if isinstance(node, d.Value) and node.name in facts.values:
            if _turns(facts, facts.values[node.name], name, step):
                return True
        elif (
            isinstance(node, d.Op) and node.op in ("srem", "urem", "iand") and isinstance(node.arguments[1], d.Literal)
        ):
            moved = _moves_by(polynomial(facts.names, node.arguments[0]), name)
            cycle = node.arguments[1].bits + (node.op == "iand")
            if moved is None or (moved and (set(moved) != {()} or not cycle or moved[()] * step % cycle)):
                return node.type is not Machine.I1
    return False


# --- the shape of the body --------------------------------------------------------------------------------------------


def _is_lockstep(facts: _Facts, body: d.Block) -> bool:
    """Whether copies of the body can run statement by statement: no loop, and no check behind an effect."""
    return _walk(facts, body, [False])


def _walk(facts: _Facts, body: d.Block, effects: list[bool]) -> bool:
    for node in body:
        match node:
            case d.Let():
                _note(facts, node.value)
                facts.names[node.name] = polynomial(facts.names, node.value)
                facts.values[node.name] = node.value
                if depends_on_data(facts.data, node.value):
                    facts.data.add(node.name)
            case d.Set():
                _note(facts, node.value)
            case d.Store():
                _note(facts, node.index)
                _note(facts, node.value)
                facts.accesses.append((node.buffer, polynomial(facts.names, node.index), True))
                effects[0] = True
            case d.Atomic():
                _note(facts, node.index)
                _note(facts, node.value)
                effects[0] = True
            case d.Check():
                if effects[0]:
                    return False
                _note(facts, node.ok)
            case d.If():
                if not _walk_if(facts, node, effects):
                    return False
            case _:
                return False
    return True


def _walk_if(facts: _Facts, node: d.If, effects: list[bool]) -> bool:
    _note(facts, node.condition)
    if is_guard(facts.data, node, effects[0]):
        facts.guards.append(node.condition)
        return is_early_return(node) or _walk(facts, node.then, effects)
    inside = [*node.then, *node.otherwise]
    if any(isinstance(s, d.Check | d.Return | d.For | d.Loop | d.Scope | d.Fill) for s in visit(tuple(inside))):
        return False
    again = [effects[0]]
    if not _walk(facts, node.then, again) or not _walk(facts, node.otherwise, again):
        return False
    effects[0] |= again[0]
    return True


def is_guard(data: set[str], node: d.If, effects: bool) -> bool:
    """Whether the copies ask this together: coordinates alone decide it, and nothing has been written yet."""
    return not effects and not depends_on_data(data, node.condition)


def is_early_return(node: d.If) -> bool:
    return not node.otherwise and len(node.then) == 1 and isinstance(node.then[0], d.Return)


def depends_on_data(data: set[str], node: d.Expr) -> bool:
    """Whether a value depends on what was loaded, or on a variable."""
    return any(isinstance(n, d.Load) or (isinstance(n, d.Value) and n.name in data) for n in visit(node))


def _note(facts: _Facts, node: d.Expr) -> None:
    for part in _loads(node):
        if part.buffer in facts.tables:
            continue
        facts.follows |= depends_on_data(facts.data, part.index)
        facts.accesses.append((part.buffer, polynomial(facts.names, part.index), False))


def _loads(node: d.Expr) -> Iterator[d.Load]:
    for part in visit(node):
        if isinstance(part, d.Load):
            yield part


# --- what its accesses are --------------------------------------------------------------------------------------------


def polynomial(names: dict[str, Polynomial], node: d.Expr) -> Polynomial:
    """An i64 expression over coordinates and sizes; what is none is a name of its own, marked as varying."""
    match node:
        case d.Literal():
            value = node.bits - (1 << 64) if node.bits >> 63 else node.bits
            return {(): value} if value else {}
        case d.Value():
            return names.get(node.name, {(f"?{node.name}",): 1})
        case d.Argument():
            return {(f"{node.kind}.{node.name}",): 1}
        case d.Special():
            return {(f"{node.kind}.{node.axis}",): 1}
        case d.Op() if node.type is Machine.I64 and node.op in ("iadd", "isub", "imul", "shl", "ineg"):
            parts = [polynomial(names, argument) for argument in node.arguments]
            return _combined(node.op, parts)
        case d.Op() if not any(_varies(polynomial(names, a)) for a in node.arguments):
            return {(f"uniform {node!r}",): 1}
        case d.Op() | d.Load():
            return {(f"?{node!r}",): 1}


def _combined(op: str, parts: list[Polynomial]) -> Polynomial:
    if op == "ineg":
        return _product(parts[0], {(): -1})
    first, second = parts
    match op:
        case "iadd":
            return _sum(first, second)
        case "isub":
            return _sum(first, _product(second, {(): -1}))
        case "imul":
            return _product(first, second)
        case _:
            if list(second) not in ([()], []):
                return {(f"?{first} << {second}",): 1}
            return _product(first, {(): 1 << (second.get((), 0) & 63)})


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    result = dict(a)
    for monomial, coefficient in b.items():
        result[monomial] = result.get(monomial, 0) + coefficient
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            result = _sum(result, {tuple(sorted((*left, *right))): x * y})
    return result


def _varies(form: Polynomial) -> bool:
    return any(name.startswith(("?", "thread.")) for monomial in form for name in monomial)


def _moves_by(form: Polynomial, name: str) -> Polynomial | None:
    """By how much an index grows with one more of a coordinate; None if that is not clear."""
    result: Polynomial = {}
    for monomial, coefficient in form.items():
        if any(part.startswith("?") for part in monomial) or monomial.count(name) > 1:
            return None
        if name in monomial:
            rest = list(monomial)
            rest.remove(name)
            result = _sum(result, {tuple(rest): coefficient})
    return result


def _items(facts: _Facts) -> int:
    """Sixteen bytes of the widest array that is walked along the last axis, or twice that; 1 if none is."""
    last = f"thread.{facts.kernel.geometry.rank - 1}"
    sizes = {b.name: element_type(b.element).bits // 8 for b in facts.kernel.buffers}
    walked = [sizes[name] for name, form, _ in facts.accesses if _moves_by(form, last) == {(): 1}]
    stored = any(_moves_by(form, last) == {(): 1} for _, form, writes in facts.accesses if writes)
    strided = any(_moves_by(form, last) not in ({(): 1}, {}, None) for _, form, _ in facts.accesses)
    if not walked or strided or not (stored or not any(writes for _, _, writes in facts.accesses)):
        return 1
    # What only reads, such as the checks of a kernel, has nothing else on its way meanwhile.
    reads = not any(isinstance(node, d.Store | d.Atomic) for node in visit(facts.kernel.body))
    return min((2 * _BYTES if reads else _BYTES) // max(walked), _MOST_ITEMS)


def _shares_rows(facts: _Facts) -> bool:
    """Whether the next row reads again, but for a few columns, what this row reads."""
    row = f"thread.{facts.kernel.geometry.rank - 2}"
    reads = [(name, form) for name, form, writes in facts.accesses if not writes]
    for name, form in reads:
        step = _moves_by(form, row)
        if not step:
            continue
        below = _sum(form, step)
        for other, other_form in reads:
            if other == name:
                apart = _sum(below, _product(other_form, {(): -1}))
                if set(apart) <= {()} and abs(apart.get((), 0)) <= 2:
                    return True
    return False
