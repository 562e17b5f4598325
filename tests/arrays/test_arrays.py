"""Arrays on devices behave as NumPy's do: shapes, dtypes, slices, fills, copies, exchange."""

import gc
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isogrid as ig
from isogrid.arrays import dlpack, shapes

F32 = np.float32


def test_the_byte_order_of_another_machine_is_named() -> None:
    with pytest.raises(TypeError, match=r"not this machine's byte order; convert them with \.astype\(np\.float32\)"):
        ig.array(np.ones(3, ">f4"), device="cpu")


def test_creation_has_numpys_shapes_and_dtypes(device: str) -> None:
    assert ig.zeros(3, device=device).dtype == np.float64
    assert ig.zeros((2, 3), ig.f32, device=device).shape == (2, 3)
    for made, expected in (
        (ig.zeros((2, 3), "int16", device=device), np.zeros((2, 3), np.int16)),
        (ig.ones(4, bool, device=device), np.ones(4, bool)),
        (ig.full((2, 2), 7, device=device), np.full((2, 2), 7)),
        (ig.full(3, 0.1, ig.f32, device=device), np.full(3, 0.1, F32)),
        (ig.array([[1, 2], [3, 4]], device=device), np.array([[1, 2], [3, 4]])),
        (ig.array(3.5, device=device), np.array(3.5)),
        (ig.array([1, 2], np.float16, device=device), np.array([1, 2], np.float16)),
        (ig.array([], device=device), np.array([])),
        (ig.array(np.arange(6).reshape(2, 3)[:, ::2], device=device), np.arange(6).reshape(2, 3)[:, ::2]),
    ):
        assert made.device == device and made.shape == expected.shape and made.dtype == expected.dtype
        assert np.array_equal(made.numpy(), expected) and made.nbytes == expected.nbytes
    like = ig.zeros_like(ig.ones((2, 5), ig.i32, device=device))
    assert like.shape == (2, 5) and like.dtype == np.int32 and like.device == device
    assert ig.empty_like(np.zeros(3, F32), device=device).shape == (3,)


SUBSCRIPTS = st.one_of(
    st.integers(-5, 5),
    st.slices(5),
    st.just(Ellipsis),
    st.just(None),
    st.tuples(st.one_of(st.integers(-4, 3), st.slices(4), st.just(None)), st.one_of(st.slices(6), st.just(Ellipsis))),
)


@settings(max_examples=150, deadline=None)
@given(SUBSCRIPTS)
def test_subscripts_are_numpys(subscript: Any) -> None:
    host = np.arange(24, dtype=np.int32).reshape(4, 6)
    x = ig.array(host, device="interp")
    try:
        expected = host[subscript]
    except IndexError:
        with pytest.raises(IndexError):
            x[subscript]
        return
    part = x[subscript]
    assert part.shape == np.shape(expected) and np.array_equal(part.numpy(), expected)
    assert part.is_packed == np.asarray(expected).flags.c_contiguous or part.size <= 1
    if part.size:
        part[...] = 99
        host[subscript] = 99
        assert np.array_equal(x.numpy(), host)


def test_what_numpy_allows_and_devices_do_not(device: str) -> None:
    x = ig.zeros((2, 3), ig.i32, device=device)
    for wrong, error in (
        (lambda: x[[0, 1]], IndexError),
        (lambda: x[True], IndexError),
        (lambda: x[0, 0, 0], IndexError),
        (lambda: x[..., ...], IndexError),
        (lambda: np.asarray(x), TypeError),
        (lambda: bool(x), TypeError),
        (lambda: x == x, TypeError),
        (lambda: pickle.dumps(x), TypeError),
        (lambda: x.fill(2**31), OverflowError),
        (lambda: x.fill(1.5), TypeError),
        (lambda: x.__setitem__(..., np.zeros(3, F32)), TypeError),
        (lambda: x.__setitem__(..., np.zeros(4, np.int32)), ValueError),
        (lambda: x.reshape(4), ValueError),
        (lambda: x[:, ::2].reshape(4), ValueError),
        (lambda: x.view(np.int64), ValueError),
        (lambda: x.item(), ValueError),
        (lambda: ig.zeros(-1, device=device), ValueError),
        (lambda: ig.zeros(2, "complex64", device=device), TypeError),
        (lambda: ig.array(["a"], device=device), TypeError),
        (lambda: ig.empty((2**40, 2**40), device=device), ValueError),
    ):
        with pytest.raises(error):
            wrong()
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_views_share_and_copies_do_not(device: str) -> None:
    x = ig.array(np.arange(12, dtype=F32).reshape(3, 4), device=device)
    row, column = x[1], x[:, 2]
    assert row.is_packed and not column.is_packed
    row[...] = [9, 8, 7, 6]
    column[...] = ig.array(np.array([-1, -2, -3], F32), device=device)
    duplicate, packed = x.copy(), column.copy()
    x.reshape(12)[0] = 100
    assert x.ravel().tolist() == [100, 1, -1, 3, 9, 8, -2, 6, 8, 9, -3, 11]
    assert duplicate.numpy()[0, 0] == 0 and packed.tolist() == [-1, -2, -3] and packed.is_packed
    assert x.view(np.uint32).numpy()[0, 1] == 0x3F800000
    assert [r.shape for r in x] == [(4,)] * 3 and len(x) == 3


class Wrapped:
    """An object that gives away a capsule made before."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **wishes: object) -> object:
        return self.capsule


@pytest.mark.parametrize("on", ["cpu", "interp"])
def test_dlpack_and_numpy_share_memory_on_host_devices(on: str) -> None:
    before = len(dlpack._EXPORTED)
    x = ig.array(np.arange(6, dtype=F32).reshape(2, 3), device=on)
    host = np.from_dlpack(x[:, 1:])
    assert len(dlpack._EXPORTED) == before + 1
    host[0, 0] = 50
    again = ig.from_dlpack(host)
    again[1, 1] = 60
    assert x.tolist() == [[0, 50, 2], [3, 4, 60]] and again.device == "cpu"
    del host, again
    gc.collect()
    assert len(dlpack._EXPORTED) == before
    unused = x.__dlpack__()
    assert len(dlpack._EXPORTED) == before + 1
    dlpack.sweep()
    assert len(dlpack._EXPORTED) == before + 1  # somebody may yet import it
    del unused
    gc.collect()
    assert len(dlpack._EXPORTED) == before
    del x
    assert not hasattr(ig.ones(3, device=on), "__cuda_array_interface__")
    unused = ig.ones(3, device=on).__dlpack__()
    taken = np.from_dlpack(Wrapped(unused))
    del unused
    gc.collect()
    assert taken.tolist() == [1, 1, 1] and len(dlpack._EXPORTED) == before + 1
    del taken
    assert len(dlpack._EXPORTED) == before
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    assert not ig.from_dlpack(read_only).writeable


def test_memory_is_counted_and_returned(device: str) -> None:
    gc.collect()
    start = ig.memory_statistics(device)["used"]
    x = ig.zeros(1 << 16, ig.f32, device=device)
    view = x[100:]
    del x
    gc.collect()
    assert ig.memory_statistics(device)["used"] >= start + (1 << 18)
    del view
    gc.collect()
    assert ig.memory_statistics(device)["used"] == start
    assert ig.memory_statistics(device)["most_used"] >= start + (1 << 18)


@pytest.mark.parametrize(("shape", "strides", "packed"), [((2, 1, 3), (12, 99, 4), True), ((0, 5), (1, 1), True)])
def test_packed(shape: tuple[int, ...], strides: tuple[int, ...], packed: bool) -> None:
    assert shapes.is_packed(shape, strides, 4) is packed
