"""Every machine operation on corner values: scalar code, vectors, masked vectors and the walker of device IR agree."""

from itertools import product

import numpy as np
import pytest
from tests.cpu.harness import Launch, compile_kernel

from isogrid.backends.interp.device import run_device
from isogrid.ir import device as d
from isogrid.ir.device import OPERATIONS, Machine
from isogrid.ir.kernel import ArrayParameter, DimValue, Geometry
from isogrid.ir.operations import STORED_FLOATS
from isogrid.ir.types import Access, Scalar, Space
from isogrid.runtimes.protocol import BoundLaunch

_ELEMENTS = {
    Machine.I1: Scalar.BOOL,
    Machine.I16: Scalar.U16,
    Machine.I32: Scalar.W32,
    Machine.I64: Scalar.W64,
    Machine.F32: Scalar.F32,
    Machine.F64: Scalar.F64,
}
_COMPARISONS = {"ieq", "ine", "slt", "sle", "ult", "ule", "feq", "fne", "flt", "fle", "fisnan"}
_CASTS = {
    "trunc": [(Machine.I64, Machine.I32)],
    "sext": [(Machine.I32, Machine.I64)],
    "zext": [(Machine.I32, Machine.I64), (Machine.I1, Machine.I32)],
    "sitofp": [(Machine.I32, Machine.F32), (Machine.I64, Machine.F32), (Machine.I64, Machine.F64)],
    "uitofp": [(Machine.I32, Machine.F32), (Machine.I64, Machine.F32), (Machine.I64, Machine.F64)],
    "fptosi": [(Machine.F32, Machine.I32), (Machine.F64, Machine.I64), (Machine.F64, Machine.I32)],
    "fptoui": [(Machine.F32, Machine.I32), (Machine.F64, Machine.I64)],
    "fpext": [(Machine.F32, Machine.F64)],
    "fptrunc": [(Machine.F64, Machine.F32)],
    "bits": [(Machine.F32, Machine.I32), (Machine.I64, Machine.F64)],
    **{op: [types] for op, types in STORED_FLOATS.items()},
}


def _operand_types(op: str) -> list[tuple[Machine, Machine]]:
    """Pairs of operand and result type to try."""
    if op in _CASTS:
        return _CASTS[op]
    floats = (op[0] == "f" and op != "fma") or op == "fma"
    types = [Machine.F32, Machine.F64] if floats else [Machine.I32, Machine.I64]
    boolean = op in _COMPARISONS or op.endswith("_overflows")
    return [(t, Machine.I1 if boolean else t) for t in types]


def _corners(type: Machine) -> np.ndarray:
    if type is Machine.I1:
        return np.array([False, True])
    if type.is_float:
        dtype = np.float32 if type is Machine.F32 else np.float64
        tiny, big = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
        values = [0.0, -0.0, 1.0, -1.5, 2.5, 0.5, -0.5, 3.7, 1e10, tiny, -tiny, big, -big, np.inf, -np.inf, np.nan, 0.1]
        return np.array(values, dtype)
    bits = type.bits
    if type is Machine.I16:
        words = [0, 1, 0x3FF, 0x400, 0x3555, 0x3C00, 0x7BFF, 0x7C00, 0x7E00, 0x7F80, 0x7FC0]
        return np.array([*words, *(w | 0x8000 for w in words)], np.uint16)
    values = [0, 1, 2, 3, 7, 100, 1 << 16, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1, (1 << bits) - 7]
    return np.array([*values, (1 << bits) - 100, 0x12345678], np.uint32 if bits == 32 else np.uint64)


def _defined(op: str, operands: list[np.ndarray], type: Machine, result: Machine) -> np.ndarray:
    """Which of the combinations the operation is defined for."""
    a = operands[0]
    good = np.ones(len(a), bool)
    if op in ("sdiv", "srem", "udiv", "urem"):
        good &= operands[1] != 0
    if op in ("sdiv", "srem"):
        good &= ~((a == 1 << (type.bits - 1)) & (operands[1] == (1 << type.bits) - 1))
    if op in ("shl", "lshr", "ashr"):
        good &= operands[1] < type.bits
    if op in ("fptosi", "fptoui"):
        low, high = (
            (-(2.0 ** (result.bits - 1)), 2.0 ** (result.bits - 1)) if op == "fptosi" else (-0.9, 2.0**result.bits)
        )
        good &= np.isfinite(a) & (np.trunc(np.nan_to_num(a)) >= low) & (a < high)
    return good


def _kernel(op: str, type: Machine, result: Machine, guarded: bool) -> d.Kernel:
    n, i = DimValue("N"), d.Value("i", Machine.I64)
    count = OPERATIONS[op][0]
    names = ["a", "b", "c"][:count]
    types = [Machine.I1, type, type] if op == "select" else [type] * count
    value = d.Op(op, tuple(d.Load(x, i, t) for x, t in zip(names, types, strict=True)), result)
    store: d.Block = (d.Store("out", i, value),)
    if guarded:
        on = d.Op("ine", (d.Load("on", i, Machine.I8), d.Literal(0, Machine.I8)), Machine.I1)
        store = (d.If(on, store),)
    arrays = [(x, _ELEMENTS[t], Access.IN) for x, t in zip(names, types, strict=True)]
    arrays += [("on", Scalar.U8, Access.IN), ("out", _ELEMENTS[result], Access.INOUT)]
    return d.Kernel(
        name="operation",
        parameters=tuple(ArrayParameter(x, e, (n,), access) for x, e, access in arrays),
        dims=("N",),
        geometry=Geometry("grid", (n,), (64,)),
        grouped=False,
        buffers=tuple(d.Buffer(x, e, Space.GLOBAL, access=access) for x, e, access in arrays),
        variables=(),
        requires=(),
        sites=(),
        body=(d.Let("i", d.Special("thread", 0)), *store),
    )


CASES = [(op, *types) for op in OPERATIONS for types in _operand_types(op)]


@pytest.mark.parametrize(("op", "type", "result"), CASES, ids=lambda v: v if isinstance(v, str) else v.value)
def test_operation(op: str, type: Machine, result: Machine) -> None:
    count = OPERATIONS[op][0]
    types = [Machine.I1, type, type] if op == "select" else [type] * count
    columns = list(zip(*product(*(_corners(t) for t in types)), strict=True))
    operands = [np.array(c, _corners(t).dtype) for c, t in zip(columns, types, strict=True)]
    if op in ("shl", "lshr", "ashr"):
        operands[1] %= operands[1].dtype.type(type.bits)
    good = _defined(op, operands, type, result)
    kept = [np.ascontiguousarray(o[good]) for o in operands]
    _compare(_kernel(op, type, result, False), kept, np.ones(int(good.sum()), np.uint8), result, (1, 16))
    # Undefined combinations in lanes that are off must harm nothing.
    _compare(_kernel(op, type, result, True), operands, good.astype(np.uint8), result, (16,))


def _compare(
    kernel: d.Kernel, operands: list[np.ndarray], on: np.ndarray, result: Machine, widths: tuple[int, ...]
) -> None:
    n = len(on)
    arrays = dict(zip("abc", operands, strict=False)) | {"on": on}
    expected = arrays | {"out": np.zeros(n, _ELEMENTS[result].numpy)}
    bound = BoundLaunch(expected, {}, {"N": n}, (n,))
    assert run_device(kernel, bound).trap is None
    for width in widths:
        found = arrays | {"out": np.zeros(n, _ELEMENTS[result].numpy)}
        assert Launch(kernel, found, {"N": n}, (n,))(compile_kernel(kernel, width).run, 0, n) == 0
        want, got = expected["out"], found["out"]
        same = want.view(np.uint8).reshape(n, -1) == got.view(np.uint8).reshape(n, -1)
        equal = same.all(axis=1)
        if result.is_float:
            equal |= np.isnan(want) & np.isnan(got)
        assert equal.all(), (width, [o[~equal][:3] for o in operands], want[~equal][:3], got[~equal][:3])
