"""Small kernels of both IRs, built by hand, that tests of the IR share."""

from isogrid.diagnostics.span import Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.ir.types import Access, Scalar, Space

F32, I64, BOOL = Scalar.F32, Scalar.I64, Scalar.BOOL


def local(name: str, type: Scalar = I64) -> k.Local:
    return k.Local(name, type)


def saxpy() -> k.Kernel:
    i = local("i")
    load_x = k.Load("x", (i,), F32, Space.GLOBAL, (True,))
    load_y = k.Load("y", (i,), F32, Space.GLOBAL, (True,))
    product = k.Binary("mul", k.ScalarValue("a", F32), load_x, F32, False)
    total = k.Binary("add", product, load_y, F32, False)
    n = k.DimValue("N")
    return k.Kernel(
        "saxpy",
        (
            k.ScalarParameter("a", F32),
            k.ArrayParameter("x", F32, (n,), Access.IN),
            k.ArrayParameter("y", F32, (n,), Access.INOUT),
        ),
        ("N",),
        k.Geometry("grid", (n,), (256,)),
        False,
        (),
        (),
        (),
        (k.Assign("i", k.Query("gid", 0)), k.Store("y", (i,), total, F32, Space.GLOBAL, (True,), False)),
    )


def device_saxpy() -> d.Kernel:
    i = d.Value("i", d.Machine.I64)
    site = TrapSite(TrapKind.INDEX, Span("saxpy.py", 9, 7, 9, 8), "x", "0", (I64, I64))
    size = d.Argument("dim", "N", d.Machine.I64)
    inside = d.Op("ult", (i, size), d.Machine.I1)
    product = d.Op("fmul", (d.Argument("scalar", "a", d.Machine.F32), d.Load("x", i, d.Machine.F32)), d.Machine.F32)
    kernel = saxpy()
    return d.Kernel(
        "saxpy",
        (
            k.ScalarParameter("a", F32),
            k.ArrayParameter("x", F32, (k.DimValue("N"),), Access.IN),
            k.ArrayParameter("y", F32, (k.DimValue("N"),), Access.INOUT),
        ),
        ("N",),
        kernel.geometry,
        False,
        (
            d.Buffer("x", F32, Space.GLOBAL, access=Access.IN),
            d.Buffer("y", F32, Space.GLOBAL),
        ),
        (),
        (),
        (site,),
        (
            d.Let("i", d.Special("thread", 0)),
            d.Check(inside, 0, (i, size)),
            d.Let("t", product),
            d.Store("y", i, d.Op("fadd", (d.Value("t", d.Machine.F32), d.Load("y", i, d.Machine.F32)), d.Machine.F32)),
        ),
    )
