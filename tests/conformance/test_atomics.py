"""Every atomic on every element type, global and shared; totals that leave their type trap, passing ones do not."""

import numpy as np
import pytest

from isogrid.builtins.atomics import ATOMICS, AtomicRow
from isogrid.ir.types import Scalar

from .support import agree, column, corners, kernel, name_of

PAIRS = [(row, element) for row in ATOMICS.values() for element in row.elements]


def pair_id(value: AtomicRow | Scalar) -> str:
    return value.name if isinstance(value, AtomicRow) else value.value


def call(row: AtomicRow, array: str, index: str, value: str) -> str:
    name = row.spelling.replace("isogrid.", "ig.")
    if row.name == "cas":
        return f"{name}({array}, {index}, 0, 5)"
    return f"{name}({array}, {index}, {'5' if row.needs_one_value else value})"


@pytest.mark.parametrize(("row", "element"), PAIRS, ids=pair_id)
def test_global(row: AtomicRow, element: Scalar, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[{name_of(element)}, N], z: ig.InOut[{name_of(element)}, M]) -> None:
    i = ig.gid()
    {call(row, "z", "i % len(z)", "x[i]")}
""")
    values = [value for value in corners(element) if row.name != "add" or abs(float(value)) < 1000]
    agree(made, device, column(values * 3, element), column([1, 0, 3], element))


@pytest.mark.parametrize(("row", "element"), [p for p in PAIRS if not p[0].needs_one_value], ids=pair_id)
def test_shared(row: AtomicRow, element: Scalar, device: str) -> None:
    made = kernel(f"""
@ig.kernel(grid=N, block=32)
def k(x: ig.In[{name_of(element)}, N], z: ig.Out[{name_of(element)}, N]) -> None:
    s = ig.shared({name_of(element)}, (2, 2))
    i = ig.gid()
    if i < len(x):
        {call(row, "s", "(i % 2, i // 2 % 2)", "x[i]")}
    ig.barrier()
    if i < len(z):
        z[i] = s[i // 2 % 2, i % 2]
""")
    values = [value for value in corners(element) if row.name != "add" or abs(float(value)) < 1000]
    agree(made, device, column((values * 5)[:75], element), column([0] * len((values * 5)[:75]), element))


ADD = """
@ig.kernel(grid=N)
def k(x: ig.In[{type}, N], z: ig.InOut[{type}, M]) -> None:
    i = ig.gid()
    ig.atomic_add(z, i % len(z), x[i])
"""


@pytest.mark.parametrize("element", [Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64], ids=lambda type: type.value)
def test_totals(element: Scalar, device: str) -> None:
    """Only the mathematical total counts: passing beyond the type and coming back is no trap."""
    made = kernel(ADD.format(type=name_of(element)))
    top = element.maximum
    text, _ = agree(made, device, column([top, 0, 1, 0], element), column([0, 0], element))
    assert "KernelOverflowError" in text
    assert "element 0 of `z`" in text
    assert "thread" not in text
    text, _ = agree(made, device, column([top - 5, top], element), column([5, 1], element))
    assert "element 1 of `z`" in text
    text, _ = agree(made, device, column([top - 5, top - 1], element), column([5, 1], element))
    assert not text
    if element.is_signed:
        text, _ = agree(made, device, column([top, 0, top, 0, -top, 0, -top, 0], element), column([0, 0], element))
        assert not text
        text, _ = agree(made, device, column([element.minimum, 0, -1, 0], element), column([0, 0], element))
        assert "KernelOverflowError" in text


def test_totals_wrap_for_w_types(device: str) -> None:
    made = kernel(ADD.format(type="ig.w32"))
    text, arrays = agree(made, device, np.array([2**32 - 1, 7, 9], np.uint32), np.array([3, 5], np.uint32))
    assert not text
    assert arrays[1].tolist() == [11, 12]


def test_a_thread_traps_before_a_total(device: str) -> None:
    made = kernel("""
@ig.kernel(grid=N)
def k(x: ig.In[ig.i32, N], z: ig.InOut[ig.i32, M]) -> None:
    i = ig.gid()
    ig.atomic_add(z, i % 2, x[i])
    assert x[i] != 7, "seven"
""")
    text, _ = agree(made, device, np.array([2**31 - 1, 0, 5, 7], np.int32), np.zeros(2, np.int32))
    assert "KernelAssertionError" in text
    assert ", thread 3" in text


def test_index_of_an_atomic(device: str) -> None:
    made = kernel("""
@ig.kernel(grid=N)
def k(x: ig.In[ig.i32, N], z: ig.InOut[ig.i32, M]) -> None:
    ig.atomic_add(z, x[ig.gid()], 1)
""")
    assert "index 3" in agree(made, device, np.array([0, 2, 3, -1], np.int32), np.zeros(3, np.int32))[0]
    assert "index -1" in agree(made, device, np.array([0, -1, 3], np.int32), np.zeros(3, np.int32))[0]
