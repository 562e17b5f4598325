"""Break a kernel in one place: each mutation is a way in which an author gets an index, a guard or a barrier wrong.

kind, mutant = mutate(kernel, random.Random(7))      None where this choice of place gives no kernel
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space
from isogrid.ir.verify import verify
from isogrid.ir.walk import expressions, map_kernel, visit
from isogrid.support.errors import CompilerBug

Mutant = k.Kernel | None


def mutate(kernel: k.Kernel, rng: random.Random) -> tuple[str, k.Kernel] | None:
    """One mutation of a kind and at a place drawn from `rng`; None where it gives no other well-formed kernel."""
    kind = rng.choice(NAMES)
    mutant = MUTATIONS[kind](kernel, rng)
    if mutant is None or mutant == kernel:
        return None
    mutant = _consistent(mutant)
    try:
        verify(mutant, kind)
    except CompilerBug:
        return None
    return (kind, mutant) if assigned_before_read(mutant) else None


def _checked(node: Any) -> Any:
    match node:
        case k.Load() | k.Store() | k.Atomic():
            every = (True,) * len(node.indices)
            return node if node.checked == every else replace(node, checked=every)
        case k.For():
            return replace(node, step_checked=True)
        case _:
            return node


def assigned_before_read(kernel: k.Kernel) -> bool:
    """Whether every read of a local follows an assignment on every path, as the front end demands."""
    try:
        _assigned(kernel.body, frozenset(), {})
    except KeyError:
        return False
    return True


_Names = frozenset[str]


def _assigned(block: k.Block, before: _Names, left: dict[str, list[_Names]]) -> _Names | None:
    """What is assigned at the end of a block, None where its end is not reached; KeyError for a read too early."""
    now: _Names | None = before
    for s in block:
        if now is None:
            return None
        for e in expressions(s):
            if not isinstance(s, k.While):
                _read(e, now)
        match s:
            case k.Assign(name, _) | k.Collective(_, name):
                now |= {name}
            case k.If():
                ends = [x for x in (_assigned(s.then, now, left), _assigned(s.otherwise, now, left)) if x is not None]
                now = frozenset.intersection(*ends) if ends else None
            case k.For():
                _assigned(s.body, now | {s.counter}, left)
            case k.While():
                now = _assigned(s.prelude, now, left)
                if now is not None:
                    _read(s.condition, now)
                    _assigned(s.body, now, left)
            case k.Scope():
                left[s.label] = []
                end = _assigned(s.body, now, left)
                ends = [*left.pop(s.label), *([] if end is None else [end])]
                now = frozenset.intersection(*ends) if ends else None
            case k.Leave():
                left.setdefault(s.label, []).append(now)
                return None
            case k.Break() | k.Continue() | k.Return():
                return None
            case _:
                pass
    return now


def _read(e: k.Expr, now: _Names) -> None:
    for node in visit(e):
        if isinstance(node, k.Local) and node.name not in now:
            raise KeyError(node.name)


def _consistent(kernel: k.Kernel) -> k.Kernel:
    """Parameters that may be used as the body uses them, and no check left out that the front end knew needless."""
    kernel = map_kernel(kernel, on_expr=_checked, on_statement=_checked)
    written = {s.array for s in visit(kernel.body) if isinstance(s, k.Store | k.Atomic)}
    parameters = tuple(
        replace(p, access=Access.INOUT if p.name in written else Access.IN) if isinstance(p, k.ArrayParameter) else p
        for p in kernel.parameters
    )
    return replace(kernel, parameters=parameters, grouped=kernel.grouped or _needs_group(kernel.body))


def _needs_group(body: k.Block) -> bool:
    return any(
        isinstance(n, k.Barrier | k.Collective) or (isinstance(n, k.Query) and n.kind not in ("gid", "grid_size"))
        for n in visit(body)
    )


# --- places ----------------------------------------------------------------------------------------------------------


def blocks(block: k.Block) -> Iterator[k.Block]:
    """The block and every block inside it."""
    yield block
    for s in block:
        match s:
            case k.If():
                yield from blocks(s.then)
                yield from blocks(s.otherwise)
            case k.For() | k.Scope():
                yield from blocks(s.body)
            case k.While():
                yield from blocks(s.prelude)
                yield from blocks(s.body)
            case _:
                pass


def with_block(kernel: k.Kernel, old: k.Block, new: k.Block) -> k.Kernel:
    """The kernel with one block, found by identity, replaced."""

    def rebuilt(block: k.Block) -> k.Block:
        if block is old:
            return new
        out: list[k.Statement] = []
        for s in block:
            match s:
                case k.If():
                    out.append(replace(s, then=rebuilt(s.then), otherwise=rebuilt(s.otherwise)))
                case k.For() | k.Scope():
                    out.append(replace(s, body=rebuilt(s.body)))
                case k.While():
                    out.append(replace(s, prelude=rebuilt(s.prelude), body=rebuilt(s.body)))
                case _:
                    out.append(s)
        return tuple(out)

    return replace(kernel, body=rebuilt(kernel.body))


def _statement_place(
    kernel: k.Kernel, rng: random.Random, wanted: Callable[[k.Statement], bool]
) -> tuple[k.Block, int] | None:
    places = [(b, at) for b in blocks(kernel.body) for at, s in enumerate(b) if wanted(s)]
    return rng.choice(places) if places else None


def _replace_statement(
    kernel: k.Kernel,
    rng: random.Random,
    wanted: Callable[[k.Statement], bool],
    change: Callable[[Any], k.Block | None],
) -> Mutant:
    place = _statement_place(kernel, rng, wanted)
    if place is None:
        return None
    block, at = place
    new = change(block[at])
    return None if new is None else with_block(kernel, block, (*block[:at], *new, *block[at + 1 :]))


def _replace_expression(
    kernel: k.Kernel,
    rng: random.Random,
    wanted: Callable[[k.Expr], bool],
    change: Callable[[Any], k.Expr | None],
) -> Mutant:
    found = [e for e in visit(kernel.body) if isinstance(e, k.Expr) and wanted(e)]
    if not found:
        return None
    target = rng.choice(found)
    new = change(target)
    if new is None:
        return None

    def swap(e: k.Expr) -> k.Expr:
        return new if e is target else e

    return map_kernel(kernel, on_expr=swap)


def _accesses(kernel: k.Kernel) -> list[k.Load | k.Store | k.Atomic]:
    return [
        n
        for n in visit(kernel.body)
        if isinstance(n, k.Load | k.Store | k.Atomic) and n.space in (Space.GLOBAL, Space.SHARED)
    ]


def _replace_access(kernel: k.Kernel, target: Any, new: Any) -> k.Kernel:
    if isinstance(target, k.Load):
        return map_kernel(kernel, on_expr=lambda e: new if e is target else e)
    return map_kernel(kernel, on_statement=lambda s: new if s is target else s)


# --- barriers --------------------------------------------------------------------------------------------------------


def _is_barrier(s: k.Statement) -> bool:
    return isinstance(s, k.Barrier)


def drop_barrier(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_statement(kernel, rng, _is_barrier, lambda _: ())


def insert_barrier(kernel: k.Kernel, rng: random.Random) -> Mutant:
    if not kernel.grouped:
        return None
    block = rng.choice(list(blocks(kernel.body)))
    at = rng.randint(0, len(block))
    return with_block(kernel, block, (*block[:at], k.Barrier(), *block[at:]))


def move_barrier(kernel: k.Kernel, rng: random.Random) -> Mutant:
    dropped = drop_barrier(kernel, rng)
    return None if dropped is None else insert_barrier(dropped, rng)


def swap_with_barrier(kernel: k.Kernel, rng: random.Random) -> Mutant:
    """Move a barrier over its neighbour."""
    place = _statement_place(kernel, rng, _is_barrier)
    if place is None:
        return None
    block, at = place
    other = at + rng.choice((-1, 1))
    if not 0 <= other < len(block):
        return None
    changed = list(block)
    changed[at], changed[other] = changed[other], changed[at]
    return with_block(kernel, block, tuple(changed))


# --- indices ---------------------------------------------------------------------------------------------------------


def _shifted(e: k.Expr, amount: int) -> k.Expr:
    return k.Binary("add" if amount > 0 else "sub", e, k.Const(abs(amount), e.type), e.type)


def shift_index(kernel: k.Kernel, rng: random.Random) -> Mutant:
    places = [(n, axis) for n in _accesses(kernel) for axis in range(len(n.indices))]
    if not places:
        return None
    node, axis = rng.choice(places)
    amount = rng.choice((1, -1, 2, kernel.geometry.block[-1], -kernel.geometry.block[-1]))
    indices = list(node.indices)
    if not indices[axis].type.is_signed:
        return None
    indices[axis] = _shifted(indices[axis], amount)
    return _replace_access(kernel, node, replace(node, indices=tuple(indices)))


def add_place(kernel: k.Kernel, rng: random.Random) -> Mutant:
    """Add the place of the thread, or half of it, to an index, or take it away."""
    places = [(n, axis) for n in _accesses(kernel) for axis in range(len(n.indices))]
    if not places:
        return None
    node, axis = rng.choice(places)
    indices = list(node.indices)
    if not indices[axis].type.is_signed:
        return None
    place: k.Expr = k.Query("lid" if kernel.grouped else "gid", rng.randrange(kernel.geometry.rank))
    if rng.random() < 0.5:
        place = k.Binary("floordiv", place, k.Const(2, INDEX), INDEX)
    if rng.random() < 0.4:
        place = k.Binary("sub", k.Const(4, INDEX), place, INDEX)
    indices[axis] = k.Binary("add", k.Cast(indices[axis], INDEX), place, INDEX)
    return _replace_access(kernel, node, replace(node, indices=tuple(indices)))


def scale_index(kernel: k.Kernel, rng: random.Random) -> Mutant:
    """Multiply, divide, or reduce an index by a small number."""
    places = [(n, axis) for n in _accesses(kernel) for axis in range(len(n.indices))]
    if not places:
        return None
    node, axis = rng.choice(places)
    indices = list(node.indices)
    e = indices[axis]
    op = rng.choice(("mul", "floordiv", "mod", "and", "xor"))
    indices[axis] = k.Binary(op, e, k.Const(rng.choice((1, 2, 3, 4)), e.type), e.type)
    return _replace_access(kernel, node, replace(node, indices=tuple(indices)))


def swap_indices(kernel: k.Kernel, rng: random.Random) -> Mutant:
    places = [n for n in _accesses(kernel) if len(n.indices) > 1]
    if not places:
        return None
    node = rng.choice(places)
    a, b = rng.sample(range(len(node.indices)), 2)
    indices = list(node.indices)
    indices[a], indices[b] = indices[b], indices[a]
    return _replace_access(kernel, node, replace(node, indices=tuple(indices)))


def constant_index(kernel: k.Kernel, rng: random.Random) -> Mutant:
    places = [(n, axis) for n in _accesses(kernel) for axis in range(len(n.indices))]
    if not places:
        return None
    node, axis = rng.choice(places)
    indices = list(node.indices)
    indices[axis] = rng.choice((k.Const(0, INDEX), k.Query("group_id", 0), k.Query("lid", 0), k.Query("gid", 0)))
    return _replace_access(kernel, node, replace(node, indices=tuple(indices)))


def change_literal(kernel: k.Kernel, rng: random.Random) -> Mutant:
    def change(e: k.Const) -> k.Expr | None:
        value = rng.choice((e.value + 1, e.value - 1, e.value * 2, e.value // 2, 0, 1, -e.value))
        return replace(e, value=value) if e.type.holds(value) else None

    return _replace_expression(kernel, rng, lambda e: isinstance(e, k.Const) and e.type.is_integer, change)


_OPERATORS: Final = {
    "add": ("sub", "mul"),
    "sub": ("add",),
    "mul": ("add", "floordiv"),
    "floordiv": ("mod", "mul"),
    "mod": ("floordiv",),
    "xor": ("or", "and", "add"),
    "and": ("or",),
    "shr": ("shl",),
    "min": ("max",),
    "max": ("min",),
}


def change_operator(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_expression(
        kernel,
        rng,
        lambda e: isinstance(e, k.Binary) and e.op in _OPERATORS and e.type.is_checked,
        lambda e: replace(e, op=rng.choice(_OPERATORS[e.op]), checked=True),
    )


def swap_operands(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_expression(
        kernel,
        rng,
        lambda e: isinstance(e, k.Binary) and e.left.type == e.right.type and not e.type.is_float,
        lambda e: replace(e, left=e.right, right=e.left),
    )


def drop_operand(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_expression(
        kernel,
        rng,
        lambda e: isinstance(e, k.Binary) and not e.type.is_float,
        lambda e: rng.choice([x for x in (e.left, e.right) if x.type == e.type] or [None]),
    )


def change_query(kernel: k.Kernel, rng: random.Random) -> Mutant:
    def change(e: k.Query) -> k.Expr | None:
        rank = kernel.geometry.rank
        kinds = ("gid", "lid", "group_id", "group_size", "num_groups", "grid_size")
        if not kernel.grouped:
            return replace(e, axis=rng.randrange(rank)) if e.kind == "gid" else None
        if rng.random() < 0.3 and rank > 1:
            return replace(e, axis=rng.randrange(rank))
        kind = rng.choice(kinds)
        return replace(e, kind=kind, axis=rng.randrange(rank) if e.axis is None and kind == "gid" else e.axis)

    return _replace_expression(kernel, rng, lambda e: isinstance(e, k.Query), change)


def change_variable(kernel: k.Kernel, rng: random.Random) -> Mutant:
    types = {e.name: e.type for e in visit(kernel.body) if isinstance(e, k.Local)}

    def change(e: k.Local) -> k.Expr | None:
        others = sorted(n for n, t in types.items() if t == e.type and n != e.name)
        return replace(e, name=rng.choice(others)) if others else None

    return _replace_expression(kernel, rng, lambda e: isinstance(e, k.Local), change)


def rename_target(kernel: k.Kernel, rng: random.Random) -> Mutant:
    """Assign another variable."""
    types = {s.name: s.value.type for s in visit(kernel.body) if isinstance(s, k.Assign)}

    def change(s: k.Assign) -> k.Block | None:
        others = sorted(n for n, t in types.items() if t == s.value.type and n != s.name)
        return (replace(s, name=rng.choice(others)),) if others else None

    return _replace_statement(kernel, rng, lambda s: isinstance(s, k.Assign), change)


def alias(kernel: k.Kernel, rng: random.Random) -> Mutant:
    """Another array of the same element and rank; a shared array for a global one too."""
    arrays = {p.name: (p.element, len(p.shape), Space.GLOBAL) for p in kernel.parameters if hasattr(p, "shape")}
    arrays |= {s.name: (s.element, len(s.shape), Space.SHARED) for s in kernel.shared}
    accesses = _accesses(kernel)
    if not accesses:
        return None
    node = rng.choice(accesses)
    element, rank, _ = arrays[node.array]
    others = sorted(n for n, (e, r, _) in arrays.items() if e == element and r == rank and n != node.array)
    if not others:
        return None
    name = rng.choice(others)
    return _replace_access(kernel, node, replace(node, array=name, space=arrays[name][2]))


# --- guards and control flow -----------------------------------------------------------------------------------------

_WEAKER: Final = {
    "lt": ("le", "ne"),
    "gt": ("ge", "ne"),
    "le": ("lt",),
    "ge": ("gt",),
    "eq": ("ne", "le"),
    "ne": ("eq",),
}


def weaken_comparison(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_expression(
        kernel,
        rng,
        lambda e: isinstance(e, k.Compare) and e.left.type is not Scalar.BOOL,
        lambda e: replace(e, op=rng.choice(_WEAKER[e.op])),
    )


def drop_conjunct(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_expression(kernel, rng, lambda e: isinstance(e, k.Logical), lambda e: rng.choice((e.left, e.right)))


def change_logic(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_expression(
        kernel, rng, lambda e: isinstance(e, k.Logical), lambda e: replace(e, op="or" if e.op == "and" else "and")
    )


def drop_guard(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_statement(
        kernel,
        rng,
        lambda s: isinstance(s, k.If),
        lambda s: rng.choice((s.then, s.otherwise)) if s.otherwise else s.then,
    )


def negate_condition(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_statement(
        kernel,
        rng,
        lambda s: isinstance(s, k.If),
        lambda s: (replace(s, condition=k.Unary("not", s.condition, Scalar.BOOL, False)),),
    )


def swap_arms(kernel: k.Kernel, rng: random.Random) -> Mutant:
    return _replace_statement(
        kernel,
        rng,
        lambda s: isinstance(s, k.If) and bool(s.otherwise),
        lambda s: (replace(s, then=s.otherwise, otherwise=s.then),),
    )


def widen_loop(kernel: k.Kernel, rng: random.Random) -> Mutant:
    def change(s: k.For) -> k.Block:
        match rng.randrange(4):
            case 0:
                return (replace(s, start=_shifted(s.start, -1)),)
            case 1:
                return (replace(s, step=_shifted(s.step, 1), step_checked=True),)
            case 2:
                return (replace(s, stop=_shifted(s.stop, -1)),)
            case _:
                return (replace(s, stop=_shifted(s.stop, 1)),)

    return _replace_statement(kernel, rng, lambda s: isinstance(s, k.For) and s.type.is_signed, change)


def drop_statement(kernel: k.Kernel, rng: random.Random) -> Mutant:
    """An early return, an assignment, an update, a whole `if`."""
    return _replace_statement(kernel, rng, lambda s: not isinstance(s, k.Barrier | k.While), lambda _: ())


def swap_statements(kernel: k.Kernel, rng: random.Random) -> Mutant:
    block = rng.choice(list(blocks(kernel.body)))
    if len(block) < 2:
        return None
    at = rng.randrange(len(block) - 1)
    return with_block(kernel, block, (*block[:at], block[at + 1], block[at], *block[at + 2 :]))


def _leaver(rng: random.Random, kernel: k.Kernel) -> k.Statement:
    labels = [s.label for s in visit(kernel.body) if isinstance(s, k.Scope)]
    if labels and rng.random() < 0.5:
        return k.Leave(rng.choice(labels))
    return k.Break() if rng.random() < 0.5 else k.Continue() if rng.random() < 0.5 else k.Return()


def insert_exit(kernel: k.Kernel, rng: random.Random) -> Mutant:
    """A conditional return, break or continue."""
    block = rng.choice(list(blocks(kernel.body)))
    at = rng.randint(0, len(block))
    lid: k.Expr = k.Query("lid" if kernel.grouped else "gid", 0)
    locals_ = sorted(
        {(e.name, e.type.value) for e in visit(kernel.body) if isinstance(e, k.Local) and e.type.is_signed}
    )
    subject = lid
    if locals_ and rng.random() < 0.5:
        name, type = rng.choice(locals_)
        subject = k.Local(name, Scalar(type))
    if rng.random() < 0.2:
        subject = k.Query("group_id", 0) if kernel.grouped else subject
    op = rng.choice(("eq", "gt", "ge", "lt"))
    condition = k.Compare(op, subject, k.Const(rng.choice((0, 1, 2, 3)), subject.type))
    return with_block(kernel, block, (*block[:at], k.If(condition, (_leaver(rng, kernel),)), *block[at:]))


def atomic_to_plain(kernel: k.Kernel, rng: random.Random) -> Mutant:
    def change(s: k.Atomic) -> k.Block:
        return (k.Store(s.array, s.indices, s.value, s.element, s.space, s.checked, span=s.span),)

    return _replace_statement(kernel, rng, lambda s: isinstance(s, k.Atomic) and s.expected is None, change)


def plain_to_atomic(kernel: k.Kernel, rng: random.Random) -> Mutant:
    def change(s: k.Store) -> k.Block | None:
        if s.element.computing is not s.element or s.value.type is not s.element:
            return None
        op = rng.choice(("add", "max"))
        return (k.Atomic(op, s.array, s.indices, s.value, None, s.element, s.space, s.checked, span=s.span),)

    return _replace_statement(
        kernel, rng, lambda s: isinstance(s, k.Store) and s.space is not Space.LOCAL and s.element.is_integer, change
    )


MUTATIONS: Final[dict[str, Callable[[k.Kernel, random.Random], Mutant]]] = {
    f.__name__: f
    for f in (
        drop_barrier,
        insert_barrier,
        move_barrier,
        swap_with_barrier,
        shift_index,
        add_place,
        scale_index,
        swap_indices,
        constant_index,
        change_literal,
        change_operator,
        swap_operands,
        drop_operand,
        change_query,
        change_variable,
        rename_target,
        alias,
        weaken_comparison,
        drop_conjunct,
        change_logic,
        drop_guard,
        negate_condition,
        swap_arms,
        widen_loop,
        drop_statement,
        swap_statements,
        insert_exit,
        atomic_to_plain,
        plain_to_atomic,
    )
}
NAMES: Final = tuple(MUTATIONS)
