"""Lower one kernel from kernel IR to device IR: flat buffers, machine arithmetic, explicit checks.

`y[i] = a * x[i]` on f32 becomes `check ult(i, N)`, `let x.1 = load x[i]`, `store y[i] = fmul(arg.a, x.1)`.
"""

from isogrid.analysis.facts import LaunchFacts
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.device import Machine
from isogrid.ir.lacking import NOTHING, Lacking
from isogrid.ir.types import Access, Scalar, Space
from isogrid.lowering.builder import Array, Builder
from isogrid.lowering.expressions import lower_expression
from isogrid.lowering.locals import local_uses
from isogrid.lowering.machine import MACHINE, is_atom, literal
from isogrid.lowering.statements import lower_statement
from isogrid.support.errors import KernelRefused


def lower_kernel(
    kernel: k.Kernel,
    facts: LaunchFacts,
    nonnegative: frozenset[int] = frozenset(),
    bounded: frozenset[int] = frozenset(),
    build: str = "",
    lacking: Lacking = NOTHING,
) -> d.Kernel:
    """Device IR that does what `kernel` does. `nonnegative` and `bounded` hold `id`s of nodes of this very kernel;
    `build` names the builds of elementary functions that are taken where there are some; those that need what the
    target is `lacking` are refused."""
    uses = local_uses(kernel)
    builder = Builder(
        kernel=kernel,
        arrays={},
        fixed=uses.fixed,
        taken=_names(kernel) | set(uses.types),
        total_sites=sites.total_sites(kernel),
        pure_counters=uses.pure_counters,
        nonnegative=nonnegative,
        bounded=bounded,
        build=build,
        lacking=lacking,
    )
    for name, type in uses.types.items():
        if name not in uses.fixed and name not in uses.pure_counters:
            builder.variables[name] = MACHINE[type]
    _declare_parameters(builder)
    _declare_shared_and_tables(builder)
    for statement in kernel.body:
        lower_statement(builder, statement)
    if builder.refused:
        raise KernelRefused(list(builder.refused.values()))
    return d.Kernel(
        name=kernel.name,
        parameters=kernel.parameters,
        dims=kernel.dims,
        geometry=kernel.geometry,
        grouped=kernel.grouped,
        buffers=tuple(builder.buffers),
        variables=tuple(builder.variables.items()),
        requires=kernel.requires,
        sites=tuple(builder.sites),
        body=tuple(builder.blocks[0]),
        warp=kernel.warp,
        deterministic=kernel.deterministic,
        races=kernel.races,
        reason=kernel.reason,
        exact=builder.exact,
        span=kernel.span,
    )


def _names(kernel: k.Kernel) -> set[str]:
    names = {parameter.name for parameter in kernel.parameters} | set(kernel.dims)
    names |= {array.name for array in kernel.shared} | {table.name for table in kernel.tables}
    return names


def _declare_parameters(builder: Builder) -> None:
    """Buffers of the array parameters. An extent that is no plain dimension is computed once, at the start."""
    for parameter in builder.kernel.parameters:
        match parameter:
            case k.ScalarParameter():
                pass
            case k.ArrayParameter():
                extents = tuple([_extent(builder, extent) for extent in parameter.shape])
                name = parameter.name
                builder.arrays[name] = Array(name, parameter.element, Space.GLOBAL, extents)
                builder.buffers.append(d.Buffer(name, parameter.element, Space.GLOBAL, access=parameter.access))


def _extent(builder: Builder, extent: k.Expr) -> d.Expr:
    """The launcher has evaluated every extent exactly, so nothing needs a check here."""
    value = lower_expression(builder, _unchecked(extent))
    return value if is_atom(value) else builder.let(value, "extent")


def _unchecked(node: k.Expr) -> k.Expr:
    match node:
        case k.Binary():
            return k.Binary(
                node.op, _unchecked(node.left), _unchecked(node.right), node.type, checked=False, span=node.span
            )
        case k.Unary():
            return k.Unary(node.op, _unchecked(node.operand), node.type, checked=False, span=node.span)
        case k.Cast():
            return k.Cast(_unchecked(node.value), node.type, checked=False, span=node.span)
        case (
            k.Const()
            | k.Local()
            | k.ScalarValue()
            | k.DimValue()
            | k.Query()
            | k.Compare()
            | k.Logical()
            | k.Choose()
            | k.Call()
            | k.Load()
        ):
            return node


def _declare_shared_and_tables(builder: Builder) -> None:
    for array in builder.kernel.shared:
        _declare(builder, array.name, array.element, Space.SHARED, array.shape)
        count = _count(array.shape)
        builder.buffers.append(
            d.Buffer(array.name, array.element, Space.SHARED, count, access=Access.INOUT, zeroed=array.zeroed)
        )
    for table in builder.kernel.tables:
        _declare(builder, table.name, table.element, Space.TABLE, table.shape)
        builder.buffers.append(
            d.Buffer(table.name, table.element, Space.TABLE, _count(table.shape), access=Access.IN, data=table.data)
        )


def _declare(builder: Builder, name: str, element: Scalar, space: Space, shape: tuple[int, ...]) -> None:
    extents = tuple(literal(extent, Machine.I64) for extent in shape)
    builder.arrays[name] = Array(name, element, space, extents)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
