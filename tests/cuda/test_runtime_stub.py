"""The native launch stub on a simulated GPU: it takes what is usual; what it leaves gets the same errors as ever."""

import gc
import types
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64, u8
from isogrid.dims import H, N, W
from isogrid.launch import dispatch
from tests.arrays import kernels as k
from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu

F32 = np.float32


class Twice(ig.Dim, equals=2 * N):
    """A derived dimension."""


@ig.kernel(grid=N, block=64)
def scaled(a: f64, n: i32, flag: bool, big: i64, x: In[f32, N], y: Out[f32, N]) -> None:
    ig.require(n > 0)
    i = ig.gid()
    y[i] = f32(a * f64(n)) * x[i] if flag else f32(big)


@ig.kernel(grid=(H, W), block=(4, 16))
def shifted(x: In[u8, H, W], y: InOut[u8, H, W], extra: In[u8, H] | None = None) -> None:
    i, j = ig.gids()
    y[i, j] = x[i, j] ^ y[i, j]


@ig.kernel(grid=N, block=32)
def spread(x: In[f32, N], y: Out[f32, Twice]) -> None:
    i = ig.gid()
    y[2 * i] = x[i]
    y[2 * i + 1] = x[i]


@ig.kernel(groups=(H, 2), block=(2, 8))
def counted(y: Out[i64, H, W]) -> None:
    i, j = ig.gids()
    if i < H and j < W:
        y[i, j] = ig.grid_size(0) * 100 + ig.grid_size(1)


@ig.kernel()
def counted_open(y: Out[i64, N]) -> None:
    i = ig.gid()
    if i < N:
        y[i] = ig.grid_size()


@pytest.fixture
def gpu() -> Iterator[FakeDriver]:
    with fake_gpu() as driver:
        yield driver


def warm(kernel: Any, *arguments: Any) -> None:
    for _ in range(2):
        kernel(*arguments)
    assert "builtin" in type(kernel.__call__).__name__


def natively(gpu: FakeDriver, call: Any) -> bool:
    """Whether the call was launched by the stub."""
    before = gpu.native_launches
    call()
    return gpu.native_launches > before


def on_gpu(*shape: int, dtype: Any = F32, value: Any = 1) -> ig.Array:
    return ig.full(shape, value, dtype, device="cuda")


def test_usual_calls_are_native_and_right(gpu: FakeDriver) -> None:
    fresh = ig.kernel(grid=N, block=64)(k.saxpy.definition.function)
    x, y = on_gpu(100, value=2), on_gpu(100)
    warm(fresh, 1.5, x, y)
    for call in (lambda: fresh(1.5, x, y), lambda: fresh(0.5, on_gpu(70), y[10:80].copy())):
        assert natively(gpu, call)
    assert np.array_equal(y.numpy(), np.full(100, 10, F32))


def test_groups_of_kernels_that_have_none_are_threads(gpu: FakeDriver) -> None:
    y = on_gpu(5, 12, dtype=np.int64, value=0)
    warm(counted, y)
    assert natively(gpu, lambda: counted(y)) and (y.numpy() == 1016).all()
    z = on_gpu(40, dtype=np.int64, value=0)
    for groups in (2, 3, 5):
        for _ in range(3):
            counted_open.launch(z, groups=groups, block=4)
        assert np.array_equal(z.numpy()[: 4 * groups], np.full(4 * groups, 4 * groups))
        assert groups == 5 or z.numpy()[4 * groups] != 4 * groups


def test_scalars_dimensions_and_preconditions(gpu: FakeDriver) -> None:
    x, y = on_gpu(100, value=3), on_gpu(100)
    warm(scaled, 0.1, 7, True, 5, x, y)
    assert natively(gpu, lambda: scaled(0.1, 9, True, 5, x, y))
    assert y.numpy()[5] == F32(0.1 * 9) * F32(3)
    assert natively(gpu, lambda: scaled(0.1, 9, False, -7, x, y)) and y.numpy()[5] == -7
    assert natively(gpu, lambda: scaled(np.float64(0.1), np.int32(9), np.True_, 6, x, y))
    assert y.numpy()[5] == F32(0.1 * 9) * F32(3)
    bound = scaled.bind(0.1, 9)
    for _ in range(3):
        bound(True, 5, x, y)
    assert natively(gpu, lambda: bound(False, y=y, x=x, big=-8)) and y.numpy()[5] == -8
    for wrong, error in (
        (lambda: scaled(0.1, 0, True, 5, x, y), ig.RequirementError),
        (lambda: scaled(0.1, 2**31, True, 5, x, y), OverflowError),
        (lambda: scaled(0.1, 2**80, True, 5, x, y), OverflowError),
        (lambda: scaled(0.1, 1, 1, 5, x, y), ig.LaunchTypeError),
        (lambda: scaled("a", 1, True, 5, x, y), ig.LaunchTypeError),
        (lambda: scaled(0.1, 1, True, 5, x), ig.LaunchTypeError),
        (lambda: scaled(0.1, 1, True, 5, x, y, y), ig.LaunchTypeError),
        (lambda: scaled(0.1, 1, True, 5, x, on_gpu(99)), ig.LaunchValueError),
        (lambda: scaled(0.1, 1, True, 5, x, x), ig.LaunchValueError),
        (lambda: scaled(0.1, 1, True, 5, x, x[1:]), ig.LaunchValueError),
        (lambda: scaled(0.1, 1, True, 5, x, on_gpu(100, dtype=np.float64)), ig.LaunchTypeError),
        (lambda: scaled(0.1, 1, True, 5, x, on_gpu(200)[::2]), ig.LaunchValueError),
        (lambda: scaled(0.1, 1, True, 5, x, y.read_only()), ig.LaunchValueError),
        (lambda: scaled(0.1, 1, True, 5, x, ig.ones(100, f32, device="cpu")), ig.LaunchTypeError),
    ):
        launches = gpu.launches
        with pytest.raises(error):
            wrong()
        assert gpu.launches == launches
    assert natively(gpu, lambda: scaled(0.1, 9, True, big=5, x=x, y=y))
    assert natively(gpu, lambda: scaled(0.1, 9, True, 5, x.read_only(), y))


def test_other_shapes(gpu: FakeDriver) -> None:
    x, y = on_gpu(5, 33, dtype=np.uint8, value=6), on_gpu(5, 33, dtype=np.uint8, value=3)
    warm(shifted, x, y, None)
    assert natively(gpu, lambda: shifted(x, y, None)) and (y.numpy() == 3 ^ 6).all()
    big, other = on_gpu(7, 40, dtype=np.uint8), on_gpu(7, 40, dtype=np.uint8)
    assert natively(gpu, lambda: shifted(big, other, None)) and (other.numpy() == 0).all()
    assert not natively(gpu, lambda: shifted(x, y, on_gpu(5, dtype=np.uint8)))
    empty = on_gpu(0, 40, dtype=np.uint8)
    assert not natively(gpu, lambda: shifted(empty, on_gpu(0, 40, dtype=np.uint8), None))
    a, b = on_gpu(20, value=4), on_gpu(40)
    warm(spread, a, b)
    assert natively(gpu, lambda: spread(a, b)) and (b.numpy() == 4).all()
    with pytest.raises(ig.LaunchValueError):
        spread(a, on_gpu(41))
    assert not natively(gpu, lambda: spread(on_gpu(21)[1:], b)), "not at a multiple of 16 bytes"


def test_it_stands_aside_while_something_is_pending(gpu: FakeDriver) -> None:
    fresh = ig.kernel(grid=N, block=64)(k.saxpy.definition.function)
    x, y, z = on_gpu(4), on_gpu(4), on_gpu(4)
    warm(fresh, 1.0, x, y)
    at = ig.array(np.array([0, 9, 0, 0], np.int32), device="cuda")
    k.gather(at, x, z)
    assert not natively(gpu, lambda: fresh(1.0, z, y)), "z is poisoned"
    with pytest.raises(ig.KernelIndexError):
        ig.synchronize()
    assert y.tolist() == [3, 3, 3, 3]
    assert natively(gpu, lambda: fresh(1.0, z, y))
    stream = gpu.create_stream()
    k.copy.launch(x, z, stream=stream)
    assert not natively(gpu, lambda: fresh(1.0, z, y)), "it must wait for the other stream"
    ig.synchronize()
    assert natively(gpu, lambda: fresh(1.0, z, y))
    gpu.fail("launch", "CUDA_ERROR_LAUNCH_FAILED")
    fresh(1.0, z, y)  # the launcher in Python tries again
    assert y.tolist() == [7, 7, 7, 7]


def test_bound_launches(gpu: FakeDriver) -> None:
    x, y = on_gpu(100), on_gpu(100, value=0)
    bound = k.saxpy.bind(2.0, x, y)
    bound()
    bound()
    assert isinstance(bound.__call__, types.BuiltinFunctionType), "it has a callable of its own"
    y.fill(3)
    assert natively(gpu, bound)
    y.fill(5)
    assert natively(gpu, bound) and (y.numpy() == 7).all()
    with pytest.raises(ig.LaunchTypeError):
        bound(1)
    partly = k.saxpy.bind(2.0)
    partly(x, y)
    partly(x, y)
    assert (y.numpy() == 11).all()


def test_values_that_are_bound_and_called_once_go_by_the_kernel_s_own_callable(gpu: FakeDriver) -> None:
    x, y = on_gpu(100), on_gpu(100, value=0)
    warm(k.saxpy, 2.0, x, y)
    y.fill(1)
    assert natively(gpu, k.saxpy.bind(2.0, x, y)) and (y.numpy() == 3).all()
    again = k.saxpy.bind(2.0, x, y)
    assert natively(gpu, again)
    again()
    assert isinstance(again.__call__, types.BuiltinFunctionType)
    with ig.use("cuda"):
        again()
    assert not isinstance(again.__call__, types.BuiltinFunctionType)
    again()
    again()
    assert isinstance(again.__call__, types.BuiltinFunctionType), "as before the block"


def test_kernels_with_a_stub_are_freed(gpu: FakeDriver) -> None:
    fresh = ig.kernel(grid=N, block=64)(k.copy.definition.function)
    x, y = on_gpu(8), on_gpu(8)
    warm(fresh, x, y)
    watched = weakref.ref(fresh)
    del fresh
    gc.collect()
    assert watched() is None


def test_bound_values_with_a_stub_leave_nothing_behind(gpu: FakeDriver) -> None:
    """Their stubs have no launcher in Python behind them."""
    x, y = ig.ones(64, ig.f32, device="cuda"), ig.zeros(64, ig.f32, device="cuda")
    found: list[int] = []
    for number in range(8):
        bound = k.saxpy.bind(float(number))
        for _ in range(3):
            bound(x, y)
        del bound
        gc.collect()
        found.append(sum(isinstance(one, types.BuiltinFunctionType) for one in gc.get_objects()))
    assert found[-1] <= found[1] + 1


def test_defaults_and_scopes_reach_kernels_with_a_stub(gpu: FakeDriver) -> None:
    fresh = ig.kernel(grid=N, block=64)(k.copy.definition.function)
    x, y = on_gpu(8, value=3), on_gpu(8)
    warm(fresh, x, y)
    with ig.use("cpu"), pytest.raises(ig.LaunchTypeError, match="is on cuda, and the launch runs on cpu"):
        fresh(x, y)
    host = np.zeros(8, F32)
    fresh(np.ones(8, F32), host)
    assert (host == 1).all()


@ig.kernel(grid=(H, W), block=(4, 16))
def tripled(x: InOut[i32, H, W], y: Out[i32, H, W]) -> None:
    i, j = ig.gids()
    y[i, j] = x[i, j] * 3
    x[i, j] = 0


def test_kernels_that_may_trap_are_checked_natively_too(gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    host = np.arange(60, dtype=np.int32).reshape(3, 20)
    x, y = ig.array(host, device="cuda"), on_gpu(3, 20, dtype=np.int32)
    warm(tripled, x, y)
    with monkeypatch.context() as patch:
        patch.setattr(dispatch, "launch", lambda *_: pytest.fail("it went the long way"))
        x[...] = host
        tripled(x, y)
        assert np.array_equal(y.numpy(), 3 * host) and (x.numpy() == 0).all()
        host[1, 7] = 2**30
        x[...] = host
        tripled(x, y)
        tripled(x, on_gpu(3, 20, dtype=np.int32))  # waits for the trap of the one before
    with pytest.raises(ig.KernelOverflowError) as caught:
        ig.synchronize()
    assert "1073741824 * 3 does not fit i32" in str(caught.value) and "thread (1, 7)" in str(caught.value)
    assert np.array_equal(x.numpy(), host) and y.numpy()[0, 1] == 3
    ig.synchronize()
    with pytest.raises(ig.LaunchValueError):
        tripled(x, on_gpu(3, 21, dtype=np.int32))
    with pytest.raises(ig.LaunchTypeError):
        tripled(x, 3)
