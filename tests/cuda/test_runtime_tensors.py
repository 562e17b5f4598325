"""Another library's tensors in native launches: a stand-in for PyTorch with DLPack's exchange interface."""

import ctypes
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.arrays import dlpack
from isogrid.backends.cuda import tensors
from isogrid.dims import N
from tests.arrays import kernels as k
from tests.cuda.fake_driver import FakeDriver
from tests.cuda.fake_gpu import fake_gpu

F32 = np.float32
_DESCRIBE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
_STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)


class Tensor:
    """An array of the GPU that belongs to another library."""

    __module__ = "torch"
    current_stream = 0

    def __init__(self, array: ig.Array, requires_grad: bool = False) -> None:
        self.array, self.requires_grad = array, requires_grad
        self.device = types.SimpleNamespace(index=0)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **wishes: Any) -> Any:
        return self.array.__dlpack__(**wishes)

    def detach(self) -> "Tensor":
        return Tensor(self.array)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__


def describe(tensor: Tensor, out: int) -> int:
    array = tensor.array
    shape = (ctypes.c_int64 * 4)(*array.shape)
    strides = (ctypes.c_int64 * 4)(*(stride // array.itemsize for stride in array.strides))
    tensor.kept = shape, strides  # type: ignore[attr-defined]
    made = dlpack._tensor_of(array, shape, strides)
    ctypes.memmove(out, ctypes.addressof(made), 48)
    return 0


def stream(kind: int, device: int, out: int) -> int:
    ctypes.c_uint64.from_address(out).value = Tensor.current_stream
    return 0


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    functions = _DESCRIBE(describe), _STREAM(stream)
    table = (ctypes.c_uint64 * 7)()
    table[0] = 1 | 3 << 32
    table[5], table[6] = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in functions)
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    name = ctypes.create_string_buffer(b"dlpack_exchange_api")
    capsule = new(ctypes.addressof(table), ctypes.addressof(name), None)
    monkeypatch.setattr(Tensor, "__dlpack_c_exchange_api__", capsule, raising=False)
    torch = types.ModuleType("torch")
    torch.Tensor = Tensor  # type: ignore[attr-defined]
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: Tensor.current_stream)  # type: ignore
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(Tensor, "current_stream", 0)
    before = list(tensors.EXCHANGE)
    tensors.EXCHANGE[:] = [0] * 4
    with fake_gpu() as driver:
        driver.tables = functions, table, name  # type: ignore[attr-defined]
        yield driver
    tensors.EXCHANGE[:] = before


def tensor(value: float, count: int = 100) -> Tensor:
    return Tensor(ig.full(count, value, ig.f32, device="cuda"))


def fresh() -> Any:
    return ig.kernel(grid=N, block=64)(k.saxpy.definition.function)


def natively(gpu: FakeDriver, call: Any) -> bool:
    before = gpu.native_launches
    call()
    return gpu.native_launches > before


def test_tensors_are_launched_natively(gpu: FakeDriver) -> None:
    kernel, x, y = fresh(), tensor(2), tensor(1)
    kernel(3.0, x, y)
    kernel(3.0, x, y)
    assert natively(gpu, lambda: kernel(3.0, x, y)) and y.array.numpy()[7] == 19
    ours = ig.ones(100, ig.f32, device="cuda")
    assert natively(gpu, lambda: kernel(1.0, x, ours)) and ours.numpy()[0] == 3


def test_an_interface_of_another_name_is_left_alone(gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    name = b"another_exchange_api"
    monkeypatch.setattr(Tensor, "__dlpack_c_exchange_api__", new(64, name, None))
    kernel, x, y = fresh(), tensor(2), tensor(1)
    kernel(3.0, x, y)
    assert tensors.EXCHANGE[0] == 0 and y.array.numpy()[7] == 7


def test_a_stub_made_before_the_library_was_loaded_learns_of_it(
    gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = sys.modules["torch"]
    monkeypatch.delitem(sys.modules, "torch")
    kernel, x, y = fresh(), ig.ones(100, ig.f32, device="cuda"), ig.ones(100, ig.f32, device="cuda")
    kernel(1.0, x, y)
    kernel(1.0, x, y)
    assert tensors.EXCHANGE[0] == 0
    monkeypatch.setitem(sys.modules, "torch", torch)
    theirs = tensor(1)
    assert not natively(gpu, lambda: kernel(1.0, x, theirs))
    assert natively(gpu, lambda: kernel(1.0, x, theirs))


def test_what_is_unusual_about_a_tensor_goes_the_long_way(gpu: FakeDriver) -> None:
    kernel, x, y = fresh(), tensor(2), tensor(1)
    kernel(3.0, x, y)
    kernel(3.0, x, y)
    wide = Tensor(ig.zeros(200, ig.f32, device="cuda")[::2])
    for wrong, error in (
        (lambda: kernel(1.0, x, wide), ig.LaunchValueError),
        (lambda: kernel(1.0, x, Tensor(ig.zeros(100, ig.f64, device="cuda"))), ig.LaunchTypeError),
        (lambda: kernel(1.0, x, Tensor(ig.zeros((10, 10, 1), ig.f64, device="cuda"))), ig.LaunchTypeError),
        (lambda: kernel(1.0, x, tensor(1, 99)), ig.LaunchValueError),
        (lambda: kernel(1.0, x, x), ig.LaunchValueError),
        (lambda: kernel(1.0, x, Tensor(y.array, requires_grad=True)), ig.LaunchValueError),
    ):
        launches = gpu.launches
        with pytest.raises(error):
            wrong()
        assert gpu.launches == launches
    assert natively(gpu, lambda: kernel(1.0, Tensor(x.array, requires_grad=True), y))
    assert not natively(gpu, lambda: kernel(1.0, x, Tensor(ig.zeros((10, 10), ig.f32, device="cuda"))))


def test_the_launch_is_in_the_librarys_current_stream(gpu: FakeDriver) -> None:
    kernel, x, y = fresh(), tensor(2), tensor(1)
    kernel(1.0, x, y)
    kernel(1.0, x, y)
    ig.synchronize()
    Tensor.current_stream = gpu.create_stream()
    assert natively(gpu, lambda: kernel(1.0, x, y))
    assert gpu.streams[Tensor.current_stream] and not gpu.streams[0]
    ours = ig.ones(100, ig.f32, device="cuda")
    assert not natively(gpu, lambda: kernel(1.0, x, ours)), "our array and another stream need care"
    gpu.synchronise()
    assert y.array.numpy()[0] == 7


def test_arrays_from_tensors_are_copies(gpu: FakeDriver) -> None:
    theirs = tensor(3)
    ours = ig.array(theirs, device="cuda")
    theirs.array.fill(4)
    assert ours.device == "cuda" and ours.numpy()[0] == 3 and ours.address != theirs.array.address
    assert ig.array(theirs, device="cpu").numpy()[5] == 4
    assert ig.array(theirs, ig.f64, device="cuda").dtype == np.float64


def test_imported_memory_outlives_what_is_queued_on_it(gpu: FakeDriver) -> None:
    before = len(dlpack._EXPORTED)
    theirs = ig.from_dlpack(tensor(3))
    y = ig.zeros(100, ig.f32, device="cuda")
    k.copy(theirs, y)
    del theirs
    assert len(dlpack._EXPORTED) == before + 1, "the launch has not run"
    gpu.synchronise()
    del [ig.from_dlpack(tensor(3))][0]
    last = ig.from_dlpack(tensor(1))
    k.copy(last, y)
    del last
    gpu.synchronise()
    extra = ig.from_dlpack(tensor(1))
    k.copy(extra, y)
    del extra
    assert len(dlpack._EXPORTED) <= before + 1
    assert y.numpy()[0] == 1


def test_arrays_of_jax_are_only_read(gpu: FakeDriver) -> None:
    waited = []
    kind = type(
        "ArrayImpl", (Tensor,), {"__module__": "jaxlib._jax", "block_until_ready": lambda self: waited.append(1)}
    )
    x, y = kind(ig.ones(100, ig.f32, device="cuda")), ig.zeros(100, ig.f32, device="cuda")
    k.copy(x, y)
    assert waited and y.numpy()[0] == 1
    with pytest.raises(ig.LaunchValueError, match="read-only"):
        k.copy(y, x)


class Brain(Tensor):
    """A tensor of bf16, for which PyTorch's CUDA array interface has no name."""

    __module__ = "torch"
    dtype = "torch.bfloat16"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise KeyError(self.dtype)

    def view(self, type: Any) -> Tensor:
        return Tensor(self.array.view(type))


def test_tensors_of_bf16(gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their bits at first, then by the number that DLPack has for them; no other type of 16 bits fits."""

    @ig.kernel(grid=N, block=64)
    def axpy(a: ig.f32, x: ig.In[ig.bf16, N], y: ig.InOut[ig.bf16, N]) -> None:
        i = ig.gid()
        y[i] = ig.bf16(a * x[i] + y[i])

    monkeypatch.setattr(sys.modules["torch"], "int16", np.int16, raising=False)
    monkeypatch.setattr(sys.modules["torch"], "Tensor", Brain)
    x, y = (Brain(ig.full(100, value, ig.bf16, device="cuda")) for value in (2, 1))
    axpy(3.0, x, y)
    axpy(3.0, x, y)
    assert natively(gpu, lambda: axpy(3.0, x, y)) and y.array.tolist() == [19.0] * 100
    ours = ig.ones(100, ig.bf16, device="cuda")
    assert natively(gpu, lambda: axpy(1.0, x, ours)) and ours.tolist() == [3.0] * 100
    halves = Tensor(ig.ones(100, ig.f16, device="cuda"))
    with pytest.raises(ig.LaunchTypeError, match=r"holds float16, and the parameter is InOut\[bf16\]"):
        axpy(1.0, x, halves)


def test_numpy_refuses_an_array_of_a_gpu_in_its_own_words(gpu: FakeDriver) -> None:
    """The capsule is dropped while NumPy's exception is set, which must reach the caller as it is."""
    x = ig.ones(100, ig.f32, device="cuda")
    before = len(dlpack._EXPORTED)
    with pytest.raises((BufferError, RuntimeError), match="device"):
        np.from_dlpack(x)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="mine"):
        failing(x)
    dlpack.sweep()
    assert len(dlpack._EXPORTED) == before


def failing(x: ig.Array) -> None:
    """An importer that fails while it holds the capsule."""
    capsule = [x.__dlpack__()]
    try:
        raise KeyError("mine")
    finally:
        capsule.clear()
