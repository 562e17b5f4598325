"""`min` and `max` of 8 and 16 bits reach ptxas in 32 bits: it takes a narrow one that is compared with 0 for 0."""

import ctypes
import re
from typing import Any

import pytest

from isogrid.backends.cpu.loader import compile_object, load_object
from isogrid.backends.cuda import target
from isogrid.cli.stages import stages_of
from isogrid.cli.text_targets import ptx_text
from tests.conformance.support import kernel

NARROW = re.compile(r"\b(?:min|max)\.[su]16")


@pytest.mark.parametrize("element", ["i8", "i16"])
def test_no_narrow_one_is_in_the_code(element: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of these gave 32 for 106 on an H200 (driver 580.159): a launch of random kernels found it."""
    text = f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.{element}, N], y: ig.Out[ig.i8, N]) -> None:
    i = ig.gid()
    y[i] = ig.ctz(ig.u32(ig.clamp(x[i], 0, 2147483647)))
"""
    stages = stages_of(kernel(text), (), wide=False)
    code = ptx_text(stages)
    assert re.search(r"\bm(?:in|ax)\.[su]32", code) and not NARROW.search(code)
    monkeypatch.setattr(target, "_without_narrow_extremes", lambda module, llvm: module)
    assert NARROW.search(ptx_text(stages)), "LLVM leaves them in 32 bits, and this test shows nothing"


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("operation", ["smin", "smax", "umin", "umax"])
def test_the_wider_one_gives_the_same(operation: str, bits: int) -> None:
    extend = "sext" if operation[0] == "s" else "zext"
    text = f"""
declare i{bits} @llvm.{operation}.i{bits}(i{bits}, i{bits})
define i32 @f(i32 %a, i32 %b) {{
  %1 = trunc i32 %a to i{bits}
  %2 = trunc i32 %b to i{bits}
  %3 = tail call i{bits} @llvm.{operation}.i{bits}(i{bits} %1, i{bits} noundef %2)
  %"a b" = {extend} i{bits} %3 to i32
  ret i32 %"a b"
}}
"""
    import llvmlite.binding as llvm

    module: Any = target._without_narrow_extremes(llvm.parse_assembly(text), llvm)
    module.verify()
    assert f"{operation}.i{bits}(i{bits} %" not in str(module)
    f = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_int32)(
        load_object(compile_object(str(module), "plain"), ("f",))["f"]
    )
    ends = (0, 1, -1, 2, 5, (1 << bits - 1) - 1, -(1 << bits - 1))
    low = 0 if operation[0] == "u" else -(1 << bits - 1)
    for a in ends:
        for b in ends:
            x, y = ((n - low) % (1 << bits) + low for n in (a, b))
            assert f(a, b) == (min if operation.endswith("min") else max)(x, y), (a, b)
