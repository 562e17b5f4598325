"""Small kernels as IR, and launches of them on both interpreters."""

from typing import Any

import numpy as np

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.interp.device import run_device
from isogrid.backends.interp.launch import Outcome, run
from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Access, Scalar, Space

FILE = "kernels.py"
N = k.DimValue("N")
I32, I64, U8, U32, W32, F32, BOOL = (
    Scalar.I32,
    Scalar.I64,
    Scalar.U8,
    Scalar.U32,
    Scalar.W32,
    Scalar.F32,
    Scalar.BOOL,
)


def at(line: int, column: int = 1) -> Span:
    return Span(FILE, line, column, line, column + 1)


def index(value: int) -> k.Const:
    return k.Const(value, INDEX)


def local(name: str, type: Scalar = INDEX) -> k.Local:
    return k.Local(name, type)


def gid(axis: int | None = 0) -> k.Query:
    return k.Query("gid", axis)


def lid(axis: int | None = 0) -> k.Query:
    return k.Query("lid", axis)


def load(array: str, *indices: k.Expr, type: Scalar, space: Space = Space.GLOBAL, line: int = 1) -> k.Load:
    return k.Load(array, indices, type.computing, space, (True,) * len(indices), span=at(line))


def store(
    array: str, *indices: k.Expr, value: k.Expr, element: Scalar, space: Space = Space.GLOBAL, line: int = 1
) -> k.Store:
    return k.Store(array, indices, value, element, space, (True,) * len(indices), span=at(line))


def atomic(
    op: str, array: str, at_index: k.Expr, value: k.Expr, element: Scalar, space: Space = Space.GLOBAL, line: int = 1
) -> k.Atomic:
    return k.Atomic(op, array, (at_index,), value, None, element, space, (True,), span=at(line))


def array(name: str, element: Scalar, access: Access = Access.INOUT, *shape: k.Expr) -> k.ArrayParameter:
    return k.ArrayParameter(name, element, shape or (N,), access)


def kernel(
    *body: k.Statement,
    parameters: tuple[k.Parameter, ...],
    dims: tuple[str, ...] = ("N",),
    extents: tuple[k.Expr, ...] = (N,),
    block: tuple[int, ...] = (4,),
    kind: str = "grid",
    grouped: bool = False,
    shared: tuple[k.SharedArray, ...] = (),
    tables: tuple[k.Table, ...] = (),
) -> k.Kernel:
    geometry = k.Geometry(kind, extents, block)
    return k.Kernel("sample", parameters, dims, geometry, grouped, shared, tables, (), body)


def bind(arrays: dict[str, Any], extents: tuple[int, ...], scalars: dict[str, Any] | None = None, **dims: int) -> Any:
    from isogrid.runtimes.protocol import BoundLaunch

    return BoundLaunch(arrays, scalars or {}, dims or {"N": extents[0]}, extents)


def launch(program: k.Kernel, bound: Any, **options: Any) -> Outcome:
    """Run on the kernel-IR interpreter; then lower and run the device IR, which must do the same, arrays included."""
    before = {name: a.copy() for name, a in bound.arrays.items()}
    outcome = run(program, bound, **options)
    after = {name: a.copy() for name, a in bound.arrays.items()}
    if outcome.findings:
        return outcome
    for name, a in bound.arrays.items():
        a[...] = before[name]
    lowered = run_device(pipeline.lower(program, LaunchFacts()), bound)
    assert repr(lowered.trap) == repr(outcome.trap)
    for name, a in bound.arrays.items():
        np.testing.assert_array_equal(a, after[name], err_msg=f"device IR differs on {name}")
        if a.dtype.kind == "f":
            assert (np.signbit(a) == np.signbit(after[name]))[~np.isnan(a)].all()
    return outcome


def text(outcome: Outcome) -> str:
    """The message of the trap."""
    assert outcome.trap is not None
    return str(outcome.trap)
