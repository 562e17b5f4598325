"""Emitted code against NumPy, on device IR written by hand."""

import numpy as np
import pytest
from tests.cpu.harness import Launch, compile_kernel

from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.kernel import ArrayParameter, DimValue, Geometry, ScalarParameter
from isogrid.ir.types import Access, Scalar, Space

N = DimValue("N")
GID = d.Special("thread", 0)


def f32(*arguments: d.Expr, op: str) -> d.Op:
    return d.Op(op, arguments, Machine.F32)


def saxpy() -> d.Kernel:
    x, y = d.Load("x", d.Value("i", Machine.I64), Machine.F32), d.Load("y", d.Value("i", Machine.I64), Machine.F32)
    body = (
        d.Let("i", GID),
        d.Let("t", f32(d.Argument("scalar", "a", Machine.F32), x, op="fmul")),
        d.Store("y", d.Value("i", Machine.I64), f32(d.Value("t", Machine.F32), y, op="fadd")),
    )
    return d.Kernel(
        name="saxpy",
        parameters=(
            ScalarParameter("a", Scalar.F32),
            ArrayParameter("x", Scalar.F32, (N,), Access.IN),
            ArrayParameter("y", Scalar.F32, (N,), Access.INOUT),
        ),
        dims=("N",),
        geometry=Geometry("grid", (N,), (256,)),
        grouped=False,
        buffers=(
            d.Buffer("x", Scalar.F32, Space.GLOBAL, access=Access.IN),
            d.Buffer("y", Scalar.F32, Space.GLOBAL),
        ),
        variables=(),
        requires=(),
        sites=(),
        body=body,
    )


@pytest.mark.parametrize("width", [None, 1, 4, 16, 64])
@pytest.mark.parametrize("n", [0, 1, 15, 16, 100])
def test_saxpy(width: int | None, n: int) -> None:
    kernel = saxpy()
    code = compile_kernel(kernel, width)
    x, y = np.arange(n, dtype=np.float32), np.full(n + 1, 7, np.float32)
    expected = np.append(np.float32(1.5) * x + y[:n], np.float32(7))
    assert Launch(kernel, {"a": 1.5, "x": x, "y": y}, {"N": n}, (n,))(code.run, 0, n) == 0
    assert np.array_equal(y, expected)
