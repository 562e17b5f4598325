"""Kernel IR of each section: one thread for sequential statements, one per iteration for an accepted loop.

All take the function's own parameters, then the scalars that the section needs, then arrays of one element (or, for
reductions, one per block) that bring scalars back.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from isogrid.frontend.definition import ArrayDeclaration, Declaration, Definition, ScalarDeclaration
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space
from isogrid.ir.walk import map_block, map_expr, visit
from isogrid.offloading.rule3_names import combined_operand
from isogrid.offloading.scatter import Update, update_of
from isogrid.offloading.sections import Section
from isogrid.offloading.tree import BLOCK, Part, block_value, combine, entered, identity, level, parts_of
from isogrid.offloading.trips import counter_value, never_checked, trips_of
from isogrid.support.records import dataclass

#: The dimension of the arrays that take one value per block of a reduction.
BLOCKS = "blocks.of.loop"
_LEFT = "left.function"


@dataclass(frozen=True, slots=True)
class Program:
    """A section as a kernel with its definition. `scalars` and `arrays` are what it takes beyond the function's own
    parameters, in order."""

    kernel: k.Kernel
    definition: Definition
    scalars: tuple[k.Local, ...]
    arrays: tuple[tuple[str, Scalar], ...]


def sequential_program(base: k.Kernel, definition: Definition, section: Section, label: str) -> Program:
    """One thread that runs the statements and stores its outputs; `left.function` tells that it returned."""
    outputs = section.outputs
    given = {local.name for local in section.inputs}
    start: list[k.Statement] = [
        k.Assign(local.name, k.ScalarValue(f"{local.name}.in", local.type)) for local in section.inputs
    ]
    start += [k.Assign(o.name, k.Const(0, o.type)) for o in outputs if o.name not in given]
    body = section.statements
    leaves = bool(label) and any(isinstance(n, k.Leave) and n.label == label for n in visit(body))
    if leaves:
        flag = k.Local(_LEFT, Scalar.BOOL)
        outputs = (*outputs, flag)
        start.append(k.Assign(_LEFT, k.Const(0, Scalar.BOOL)))
        left = (k.Assign(_LEFT, k.Const(1, Scalar.BOOL)), k.Leave(label))
        body = map_block(body, on_statement=lambda s: left if s == k.Leave(label) else s)
        body = (k.Scope(label, body),)
    stores = [_store(f"{o.name}.out", k.Const(0, INDEX), o) for o in outputs]
    names = tuple((f"{o.name}.out", o.type) for o in outputs)
    scalars = tuple(k.Local(f"{local.name}.in", local.type) for local in section.inputs)
    geometry = k.Geometry("grid", (k.Const(1, INDEX),), (1,))
    program = _program(base, definition, (*start, *body, *stores), geometry, scalars, names, (k.Const(1, INDEX),))
    # What the author wrote for groups means a group of one thread here.
    return replace(program, kernel=replace(program.kernel, grouped=base.grouped, shared=base.shared))


def map_program(
    base: k.Kernel, definition: Definition, section: Section, requires: tuple[k.Require, ...], block: int
) -> Program:
    """One thread per iteration, for a loop without reductions; per pair of iterations of a nest."""
    loop, inner = section.loop, section.inner
    if inner is None:
        body = _iteration(section, loop, k.Query("gid", None), lambda: k.Return())
        geometry = k.Geometry("grid", (trips_of(loop),), (block,))
    else:
        body = _iteration(section, loop, k.Query("gid", 0), lambda: k.Return(), inner)
        geometry = k.Geometry("grid", (trips_of(loop), trips_of(inner)), (1, block))
    return _program(base, definition, body, geometry, section.inputs, (), (), requires)


def gathering_program(
    base: k.Kernel, definition: Definition, section: Section, requires: tuple[k.Require, ...], dims: Mapping[str, int]
) -> Program:
    """Whole groups for a loop that adds into arrays of few elements, with sizes as constants: a device can then gather
    the sums of many groups before it goes to memory."""
    fixed = {name: k.Const(size, INDEX) for name, size in dims.items()}

    def sized(node: k.Expr) -> k.Expr:
        return fixed.get(node.name, node) if isinstance(node, k.DimValue) else node

    def resized(parameter: k.Parameter) -> k.Parameter:
        if not isinstance(parameter, k.ArrayParameter):
            return parameter
        return replace(parameter, shape=tuple(map_expr(extent, sized) for extent in parameter.shape))

    loop = section.loop
    body = _iteration(section, loop, k.Query("gid", None), lambda: k.Leave("iteration"))
    inside = k.Compare("lt", k.Query("gid", None), never_checked(trips_of(loop)))
    guarded = map_block((k.If(inside, (k.Scope("iteration", body),), span=loop.span),), sized)
    base = replace(base, parameters=tuple(resized(p) for p in base.parameters))
    definition = replace(
        definition,
        parameters=tuple(
            replace(p, shape=tuple(map_expr(extent, sized) for extent in p.shape))
            if isinstance(p, ArrayDeclaration)
            else p
            for p in definition.parameters
        ),
        derived=(),
    )
    requires = tuple(replace(r, condition=map_expr(r.condition, sized)) for r in requires)
    geometry = k.Geometry("grid", (map_expr(trips_of(loop), sized),), (BLOCK,))
    program = _program(base, definition, guarded, geometry, section.inputs, (), (), requires)
    kernel = replace(program.kernel, grouped=True, dims=tuple(d for d in program.kernel.dims if d not in fixed))
    return replace(program, kernel=kernel)


def reducing_program(
    base: k.Kernel, definition: Definition, section: Section, requires: tuple[k.Require, ...]
) -> Program:
    """Whole groups of 256 threads: each thread makes the leaf of its iteration, each group folds its leaves."""
    loop = section.loop
    assert section.accepted is not None
    reductions = section.accepted.reductions
    parts = [part for reduction in reductions.values() for part in parts_of(reduction)]
    gid, lid, group = k.Query("gid", None), k.Query("lid", None), k.Query("group_id", None)
    iteration = _iteration(section, loop, gid, lambda: k.Leave("iteration"))
    start = [k.Assign(part.name, identity(part)) for part in parts]
    guarded = k.If(
        k.Compare("lt", gid, never_checked(trips_of(loop))), (k.Scope("iteration", iteration),), span=loop.span
    )
    folded, shared = level(tuple(parts), lid)
    stores = tuple(_store(f"{part.name}.partial", group, block_value(part)) for part in parts)
    body = (*start, guarded, *folded, k.If(k.Compare("eq", lid, k.Const(0, INDEX)), stores))
    names = tuple((f"{part.name}.partial", part.type) for part in parts)
    geometry = k.Geometry("groups", (k.DimValue(BLOCKS),), (BLOCK,))
    inputs = tuple(local for local in section.inputs if local.name not in reductions)
    shape = (k.DimValue(BLOCKS),)
    return _program(base, definition, body, geometry, inputs, names, shape, requires, shared)


def fold_program(base: k.Kernel, definition: Definition, part: Part) -> Program:
    """One level of the tree over an array of values."""
    gid, lid, group = k.Query("gid", None), k.Query("lid", None), k.Query("group_id", None)
    name = k.Local("value", part.type)
    here = Part("value", part.type, part.op)
    inside = k.Compare("lt", gid, k.DimValue("values"))
    load = k.Load("values.in", (gid,), part.type, Space.GLOBAL, (False,))
    folded, shared = level((here,), lid)
    store = _store("blocks.out", group, block_value(here))
    body = (
        k.Assign(name.name, identity(here)),
        k.If(inside, (k.Assign(name.name, load),)),
        *folded,
        k.If(k.Compare("eq", lid, k.Const(0, INDEX)), (store,)),
    )
    parameters = (
        k.ArrayParameter("values.in", part.type, (k.DimValue("values"),), Access.IN),
        k.ArrayParameter("blocks.out", part.type, (k.DimValue(BLOCKS),), Access.OUT),
    )
    kernel = replace(
        base,
        parameters=parameters,
        dims=("values", BLOCKS),
        geometry=k.Geometry("groups", (k.DimValue(BLOCKS),), (BLOCK,)),
        grouped=True,
        shared=shared,
        tables=(),
        requires=(),
        facts=(),
        body=body,
        deterministic=True,
    )
    return Program(kernel, _definition(replace(definition, parameters=()), kernel, parameters), (), ())


# --- parts -----------------------------------------------------------------------------------------------------------


def _iteration(
    section: Section, loop: k.For, number: k.Expr, end: Callable[[], k.Statement], inner: k.For | None = None
) -> k.Block:
    """The body of one iteration: scalars from outside are parameters, `continue` is `end`, writes are as accepted."""
    accepted = section.accepted
    assert accepted is not None
    facts = accepted.candidate.facts
    given = {local.name for local in section.inputs} - set(accepted.reductions)
    scattered = {name: written.op for name, written in accepted.written.items() if written.kind == "scatter"}

    def expression(node: k.Expr) -> k.Expr:
        if isinstance(node, k.Local) and node.name in given:
            return k.ScalarValue(node.name, node.type, span=node.span)
        return node

    def update(node: k.Statement) -> k.Statement | k.Block:
        match node:
            case k.Store(array=array) if array in scattered:
                return _atomic(node, update_of(node, facts))
            case k.Assign(value=k.Load(array=array)) if array in scattered:
                return ()  # held the old element of an update; nothing else may read the array
            case _:
                return node

    def statement(node: k.Statement) -> k.Statement | k.Block:
        match node:
            case k.Atomic():
                return replace(node, target="")
            case k.Assign(name=name) if name in accepted.reductions:
                return _combines(accepted.reductions[name].name, node, parts_of(accepted.reductions[name]))
            case _:
                return node

    start: tuple[k.Statement, ...] = (k.Assign(loop.counter, counter_value(loop, number), span=loop.span),)
    if inner is not None:
        start += (k.Assign(inner.counter, counter_value(inner, k.Query("gid", 1)), span=inner.span),)
    # The facts are about the statements of the loop itself, so updates come first.
    body = map_block(map_block((inner or loop).body, on_statement=update), expression, statement)
    return (*start, *_with_ends(body, end))


def _with_ends(block: k.Block, end: Callable[[], k.Statement]) -> k.Block:
    """Put `end` in place of every `continue` of the loop itself."""
    found: list[k.Statement] = []
    for node in block:
        match node:
            case k.Continue():
                found.append(replace(end(), span=node.span))
            case k.If(then=then, otherwise=otherwise):
                found.append(replace(node, then=_with_ends(then, end), otherwise=_with_ends(otherwise, end)))
            case k.Scope(body=body):
                found.append(replace(node, body=_with_ends(body, end)))
            case _:
                found.append(node)
    return tuple(found)


def _combines(name: str, assign: k.Assign, parts: tuple[Part, ...]) -> k.Block:
    """`s = s op e` on the parts of the leaf; `e` is evaluated once."""
    operand = combined_operand(name, assign)
    assert operand is not None
    if len(parts) == 1 and parts[0].of == "value":
        part = parts[0]
        return (k.Assign(part.name, combine(part, k.Local(part.name, part.type), operand), span=assign.span),)
    value = k.Local(f"{name}.operand", operand.type)
    found: list[k.Statement] = [k.Assign(value.name, operand, span=assign.span)]
    for part in parts:
        combined = combine(part, k.Local(part.name, part.type), entered(part, value))
        found.append(k.Assign(part.name, combined, span=assign.span))
    return tuple(found)


def _atomic(node: k.Store, update: Update | None) -> k.Atomic:
    assert update is not None and update.load is not None
    type, load = node.element, update.load
    value = update.value if update.value.type is type else k.Cast(update.value, type, span=update.value.span)
    # The load, which goes, has the checks of the index; those of the store would have followed them.
    return k.Atomic(update.op, node.array, load.indices, value, None, type, node.space, load.checked, span=node.span)


def _store(array: str, index: k.Expr, value: k.Local) -> k.Store:
    return k.Store(array, (index,), value, value.type, Space.GLOBAL, (False,), narrow_checked=False)


def _program(
    base: k.Kernel,
    definition: Definition,
    body: k.Block,
    geometry: k.Geometry,
    scalars: tuple[k.Local, ...],
    arrays: tuple[tuple[str, Scalar], ...],
    shape: tuple[k.Expr, ...],
    requires: tuple[k.Require, ...] = (),
    shared: tuple[k.SharedArray, ...] = (),
) -> Program:
    accesses = _accesses(body)
    own = tuple(
        replace(p, access=accesses.get(p.name, Access.IN)) if isinstance(p, k.ArrayParameter) else p
        for p in base.parameters
    )
    more: tuple[k.Parameter, ...] = (
        *(k.ScalarParameter(local.name, local.type) for local in scalars),
        *(k.ArrayParameter(name, type, shape, Access.OUT) for name, type in arrays),
    )
    blocks = (BLOCKS,) if any(isinstance(extent, k.DimValue) for extent in shape) else ()
    kernel = replace(
        base,
        parameters=(*own, *more),
        dims=(*base.dims, *blocks),
        geometry=geometry,
        grouped=geometry.kind == "groups",
        shared=shared,
        tables=_tables_of(base, body),
        requires=(*base.requires, *requires),
        facts=tuple(f for f in base.facts if not accesses.get(f.array, Access.IN).writes),
        body=body,
        deterministic=True,
    )
    return Program(kernel, _definition(definition, kernel, more), scalars, arrays)


def _accesses(body: k.Block) -> dict[str, Access]:
    """How a body touches each global array that it writes."""
    written: set[str] = set()
    read: set[str] = set()
    for node in visit(body):
        match node:
            case k.Store(array=array):
                written.add(array)
            case k.Atomic(array=array):
                written.add(array)
                read.add(array)
            case k.Load(array=array):
                read.add(array)
            case _:
                pass
    return {array: Access.INOUT if array in read else Access.OUT for array in written}


def _tables_of(base: k.Kernel, body: k.Block) -> tuple[k.Table, ...]:
    used = {node.array for node in visit(body) if isinstance(node, k.Load)}
    return tuple(table for table in base.tables if table.name in used)


def _definition(definition: Definition, kernel: k.Kernel, more: Iterable[k.Parameter]) -> Definition:
    """The definition of a section: the function's own parameters as this kernel uses them, then `more`."""
    access = {p.name: p.access for p in kernel.parameters if isinstance(p, k.ArrayParameter)}
    own: list[Declaration] = []
    for parameter in definition.parameters:
        if isinstance(parameter, ArrayDeclaration):
            own.append(replace(parameter, access=access.get(parameter.name, Access.IN)))
        else:
            own.append(parameter)
    extra: list[Declaration] = []
    for parameter in more:
        match parameter:
            case k.ScalarParameter(name=name, type=type):
                extra.append(ScalarDeclaration(name, type))
            case k.ArrayParameter(name=name, element=element, shape=shape, access=mode):
                extra.append(ArrayDeclaration(name, element, shape, mode))
    return replace(
        definition,
        parameters=(*own, *extra),
        kind=kernel.geometry.kind,
        extents=kernel.geometry.extents,
        block=tuple(k.Const(extent, INDEX) for extent in kernel.geometry.block),
        deterministic=True,
        offloaded=False,
        returns=None,
    )
