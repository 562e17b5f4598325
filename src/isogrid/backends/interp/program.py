"""A kernel compiled for the interpreter: closures and the layout of their frames, made once and run by any launch."""

from dataclasses import dataclass

from isogrid.backends.interp.control import Plain, Waiter
from isogrid.backends.interp.expressions import Evaluator, Expressions
from isogrid.backends.interp.layout import Layout, layout_of
from isogrid.backends.interp.statements import Statements, meets
from isogrid.ir import kernel as k
from isogrid.ir.walk import visit
from isogrid.support.errors import KnownLimit


@dataclass(frozen=True, slots=True)
class Program:
    """`body` runs a thread to its end; `meeting` is the body instead where threads wait for each other.

    `warps` says whether threads of a warp meet somewhere. `extents` are the closures of each array parameter's extents,
    over the dimensions in a frame.
    """

    kernel: k.Kernel
    layout: Layout
    body: Plain | None
    meeting: Waiter | None
    extents: dict[str, tuple[Evaluator, ...]]
    races: bool
    warps: bool = False


def compile_program(kernel: k.Kernel, detect_races: bool) -> Program:
    """Compile a verified kernel; with `detect_races` its accesses tell the race detector.

    Raises `KnownLimit` for expressions that are nested deeper than Python's own stack allows.
    """
    try:
        return _compile(kernel, detect_races or kernel.races == "check")
    except RecursionError:
        raise KnownLimit(f"kernel `{kernel.name}` nests expressions or statements too deeply to be compiled") from None


def _compile(kernel: k.Kernel, detect_races: bool) -> Program:
    layout = layout_of(kernel)
    for parameter in kernel.parameters:
        if isinstance(parameter, k.ArrayParameter):
            layout.place("memory", parameter.name)
        else:
            layout.place("scalar", parameter.name)
    statements = Statements(layout, detect_races)
    expressions = Expressions(layout, detect_races)
    extents = {
        parameter.name: tuple(expressions.compile(extent) for extent in parameter.shape)
        for parameter in kernel.parameters
        if isinstance(parameter, k.ArrayParameter)
    }
    if any(meets(statement) for statement in kernel.body):
        warps = any(isinstance(n, k.WarpBarrier | k.WarpCollective) for n in visit(kernel.body))
        return Program(kernel, layout, None, statements.meeting_block(kernel.body), extents, detect_races, warps)
    return Program(kernel, layout, statements.block(kernel.body), None, extents, detect_races)
