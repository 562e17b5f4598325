"""Strided arrays go by the native callables, packed; what a launch refuses, it refuses as ever."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32
from isogrid.dims import H, N, W
from isogrid.launch import dispatch
from isogrid.launch.geometry import Given
from isogrid.offloading.function import Offloaded

T = TypeVar("T", f32, f64)
Array = np.ndarray[Any, Any]


@ig.kernel(grid=N, block=32)
def axpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = a * x[i] + y[i]


@ig.kernel(grid=(H, W))
def turned(x: In[T, H, W], y: Out[T, W, H]) -> None:
    i, j = ig.gids()
    y[j, i] = x[i, j]


@ig.kernel(grid=N)
def some(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    if i % 2 == 0:
        y[i] = 100 // x[i]


@ig.kernel(block=32)
def opened(x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    if i < len(x):
        y[i] = x[i] + f32(i)


@ig.offload(parallel="require")
def times(a: f32, x: In[f32, N], y: Out[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        y[i] = a * x[i]
        s += x[i]
    return s


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


def unaligned(array: Array) -> Array:
    raw = np.zeros(array.nbytes + 1, np.uint8)
    found = raw[1:].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def slow_path(*_: Any) -> None:
    pytest.fail("the slow path")


@pytest.fixture
def natively(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """Run a call without the launcher in Python."""

    def run(call: Callable[[], Any]) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(dispatch, "launch", slow_path)
            return call()

    return run


@pytest.fixture(autouse=True)
def warm() -> None:
    axpy(1.0, numbers(4), numbers(4))
    turned(numbers(3, 4), numbers(4, 3))
    some(numbers(4, dtype=np.int32), numbers(4, dtype=np.int32))
    times(1.0, numbers(4), numbers(4))
    opened.launch(numbers(4), numbers(4), grid=32)


VIEWS: dict[str, Callable[[], Array]] = {
    "every third": lambda: numbers(30)[::3],
    "backwards": lambda: numbers(10)[::-1],
    "a column": lambda: numbers(10, 7)[:, 2],
    "a field": lambda: np.array([(1, v) for v in range(10)], [("a", "i4"), ("b", "f4")])["b"],
    "unaligned": lambda: unaligned(numbers(10)),
}


@pytest.mark.parametrize("of_x", VIEWS)
@pytest.mark.parametrize("of_y", VIEWS)
def test_views(of_x: str, of_y: str, natively: Callable[[Callable[[], Any]], Any]) -> None:
    x, y = VIEWS[of_x](), VIEWS[of_y]()
    expected = (np.float32(2) * x + y).tolist()
    around = whole(y).copy()
    natively(lambda: axpy(2.0, x, y))
    assert y.tolist() == expected
    y[...] = (y - 2 * x).tolist()
    assert whole(y).tobytes() == around.tobytes()  # nothing else has changed


def whole(array: Array) -> Array:
    return array if array.base is None else whole(array.base)


def test_two_axes_and_broadcasting(natively: Callable[[Callable[[], Any]], Any]) -> None:
    y = np.zeros((4, 3), np.float32)
    natively(lambda: turned(np.broadcast_to(numbers(4), (3, 4)), y))
    assert y.tolist() == [[v] * 3 for v in (1, 2, 3, 4)]
    x, z = numbers(4, 3).T, np.zeros((3, 4), np.float32).T
    natively(lambda: turned(x, z))
    assert z.tolist() == x.T.tolist()


def test_other_forms_of_launches(natively: Callable[[Callable[[], Any]], Any]) -> None:
    x, y = numbers(20)[::2], numbers(20)[::2]
    natively(lambda: axpy(a=1.0, x=x, y=y))
    assert y.tolist() == (2 * x).tolist()
    bound = axpy.bind(1.0)
    bound(numbers(10), numbers(10))
    natively(lambda: bound(x, y))
    assert y.tolist() == (3 * x).tolist()
    natively(lambda: opened.launch(x, y, grid=32))
    assert y.tolist() == [v + i for i, v in enumerate(x.tolist())]


def test_elements_left_alone_keep_their_value(natively: Callable[[Callable[[], Any]], Any]) -> None:
    y = np.full(12, 7, np.int32)
    natively(lambda: some(numbers(4, dtype=np.int32), y[::3]))
    assert y.tolist() == [100, 7, 7, 7, 7, 7, 33, 7, 7, 7, 7, 7]


def test_offloaded_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = numbers(30)[::3], np.zeros(20, np.float32)
    monkeypatch.setattr(Offloaded, "_run", slow_path)
    assert times(2.0, x, y[::2]) == x.sum()
    assert y[::2].tolist() == (2 * x).tolist()
    assert not y[1::2].any()


def test_a_trap_changes_nothing() -> None:
    x, y = np.array([5, 9, 5, 9, 0, 9], np.int32), np.full(9, 3, np.int32)
    with pytest.raises(ig.KernelZeroDivisionError, match=r"thread 2\n"):
        some(x[::2], y[::3])
    assert (y == 3).all()


def windows(array: Array, length: int) -> Array:
    return np.lib.stride_tricks.as_strided(array, (length,), (2,))


def read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


SHARED = numbers(12)
REFUSED: dict[str, Callable[[], tuple[Any, ...]]] = {
    "overlap": lambda: (1.0, SHARED[:8:2], SHARED[2:10:2]),
    "overlap with a contiguous one": lambda: (1.0, SHARED[:8:2], SHARED[:4]),
    "own overlap": lambda: (1.0, numbers(4), windows(numbers(4), 4)),
    "one element many times": lambda: (1.0, numbers(4), np.lib.stride_tricks.as_strided(numbers(1), (4,), (0,))),
    "read-only": lambda: (1.0, numbers(4), read_only(numbers(8)[::2])),
    "two axes": lambda: (1.0, numbers(4), numbers(4, 4)[:2, :2]),
    "byte order": lambda: (1.0, numbers(8)[::2].astype(">f4"), numbers(4)),
    "other type": lambda: (1.0, numbers(8, dtype=np.float64)[::2], numbers(4)),
    "other length": lambda: (1.0, numbers(8)[::2], numbers(10)[::2]),
    "shared with another kind of array": lambda: (1.0, SHARED[:8:2], memoryview(SHARED.data)[:4]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_those_of_the_slow_path(case: str) -> None:
    before = SHARED.copy()
    arguments = REFUSED[case]()
    kernels: tuple[Any, ...] = (axpy, times)
    for called in kernels:
        with pytest.raises(ig.LaunchError) as found:
            called(*arguments)
        with pytest.raises(ig.LaunchError) as expected:
            if isinstance(called, Offloaded):
                called._run(arguments, {}, None)  # pyright: ignore[reportPrivateUsage]
            else:
                dispatch.launch(called, arguments, {}, Given())
        assert (type(found.value), str(found.value)) == (type(expected.value), str(expected.value))
    assert SHARED.tobytes() == before.tobytes()


def test_interleaved_views_are_no_overlap(natively: Callable[[Callable[[], Any]], Any]) -> None:
    both = numbers(20)
    natively(lambda: axpy(1.0, both[::2], both[1::2]))
    assert both[1::2].tolist() == [4 * n + 3 for n in range(10)]
