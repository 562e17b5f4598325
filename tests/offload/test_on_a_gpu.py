"""Offloaded functions on a GPU: arrays stay, calls are queued where nobody waits, traps restore, refused loops run on
the CPU."""

import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64, w32
from isogrid.backends.cuda.machine import machine
from isogrid.dims import M, N
from isogrid.offloading import far_call
from isogrid.offloading.function import Offloaded
from isogrid.traps import KernelIndexError, KernelOverflowError
from tests.cuda.test_runtime_tensors import Tensor

ON_EACH = pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])


@pytest.fixture
def driver() -> Any:
    """The driver, where it is the simulated one that counts its calls."""
    found: Any = machine().driver
    if found.is_real:
        pytest.skip("looks at the calls of the simulated driver")
    ig.synchronize()
    found.calls.clear()
    return found


def held(values: Any, device: str = "cuda") -> ig.Array:
    return ig.array(np.asarray(values), device=device)


def copies(f: Offloaded) -> dict[str, set[str]]:
    """Per program of a function that has run, the devices that it was compiled for."""
    found: dict[str, set[str]] = {}
    for executor in f.shared.executors.values():
        for key, ready in executor.kernels.items():
            found.setdefault(str(key[0]), set()).update(a[1] for a in ready.kernel.compiled.artifacts)
    return found


# --- where things are ------------------------------------------------------------------------------------------------


@ig.offload(parallel="require")
def moments(x: In[f32, N]) -> tuple[f32, f32]:
    s = 0.0
    t = 0.0
    for i in range(len(x)):
        s += x[i]
        t += x[i] * x[i]
    return s, t


@pytest.mark.parametrize("n", [1, 257])
def test_partial_results_stay_on_the_gpu(driver: Any, n: int) -> None:
    values = np.random.default_rng(n).normal(0, 1, n).astype(np.float32)
    x = held(values)
    assert moments(x) == moments(x) == moments.on("cpu")(values)
    driver.calls.clear()
    native = driver.native_launches
    assert moments(x) == moments.on("cpu")(values)
    assert driver.calls.count("copy_out") == 0, "the last launches write to the host"
    assert "copy_in" not in driver.calls
    assert driver.native_launches > native, "the quick call"


def test_many_calls_at_once_have_a_place_each(driver: Any) -> None:
    """What a launch writes to is pinned memory of its own, also when more calls run than places were made for."""
    fold: Any = None  # one block needs no fold
    kept = far_call._Kept("cuda", [np.dtype(np.float32)], [fold])
    taken = [kept.take(1) for _ in range(40)]
    places = {between.values[0].ctypes.data for between in taken}
    assert len(places) == 40
    assert places <= set().union(*(range(at, at + room.size) for at, room in driver.pinned.items()))
    for between in taken:
        kept.give_back(1, between)
    again = [kept.take(1) for _ in range(40)]
    assert {between.values[0].ctypes.data for between in again} == places


def test_sizes_do_not_meet_in_partial_results() -> None:
    sizes = (3, 300, 600, 900, 1200, 1500, 300)  # more than are kept
    arrays = [np.random.default_rng(n).normal(0, 1, n).astype(np.float32) for n in sizes]
    expected = [moments.on("cpu")(values) for values in arrays]
    kept = [held(values) for values in arrays]
    for _ in range(3):
        assert [moments(x) for x in kept] == expected


def test_arrays_decide_the_device() -> None:
    x = held(np.arange(300, dtype=np.float32))
    assert moments(x) == moments.reference(x.numpy())
    assert moments(np.ones(3, np.float32)) == (3.0, 3.0)
    with pytest.raises(ig.LaunchTypeError, match="is on cuda, and the launch runs on cpu"):
        moments.on("cpu")(x)


@ig.offload
def sums_then_scan(x: In[f32, N], y: InOut[f32, N]) -> f32:
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    for i in range(1, len(y)):
        y[i] = y[i - 1] + x[i]
    return s + y[0]


def test_a_refused_loop_runs_on_the_cpu() -> None:
    values = np.arange(40, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        for make in (held, np.copy):
            x, y = make(values), make(values + 2)
            assert sums_then_scan.on("cuda")(x, y) == values.sum() + 2
            found = y.numpy() if isinstance(y, ig.Array) else y
            assert np.array_equal(found, np.cumsum(values) + 2)
    assert copies(sums_then_scan)["parallel"] == {"cuda"}


@ig.offload
def running(y: InOut[f32, N]) -> None:
    for i in range(1, len(y)):
        y[i] = y[i - 1] + y[i]


def test_a_refused_loop_never_runs_on_the_gpu() -> None:
    y = held(np.ones(40, np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        running(y)
    assert np.array_equal(y.numpy(), np.arange(1, 41))
    assert copies(running)["sequential"] == {"cpu"}


@ig.offload(parallel="require")
def from_an_element(index: In[i64, M], y: Out[f32, N]) -> None:
    for i in range(index[0], index[1]):
        y[i] = 1.0


def test_statements_on_elements_of_the_gpu_run_there(driver: Any) -> None:
    index, y = held(np.array([2, 5] + [0] * 998)), ig.zeros(10, ig.f32, device="cuda")
    from_an_element(index, y)
    assert list(y.numpy()) == [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]
    assert copies(from_an_element)["sequential"] == {"cuda"}


# --- the queue -------------------------------------------------------------------------------------------------------


@ig.offload(parallel="require")
def two_maps(x: In[f32, N], y: InOut[f32, N], z: Out[f32, N]) -> None:
    a = 2.0 * 3.0
    for i in range(len(x)):
        y[i] = a * x[i]
    for i in range(len(x)):
        z[i] = y[i] + 1.0


@ig.offload(parallel="require")
def gather(at: In[i32, N], x: In[f32, M], y: Out[f32, N]) -> None:
    a = 2.0 * 3.0
    for i in range(len(at)):
        y[i] = a * x[at[i]]


def test_loops_that_cannot_trap_are_queued(driver: Any) -> None:
    x, y, z = (held(np.full(500, v, np.float32)) for v in (1, 0, 0))
    two_maps(x, y, z)
    ig.synchronize()
    driver.calls.clear()
    two_maps(x, y, z)
    assert not {"synchronise", "synchronise_stream", "copy_within", "copy_out"} & set(driver.calls)
    assert (z.numpy() == 7).all()


@ON_EACH
def test_the_trap_of_a_queued_call_comes_with_the_next_use(device: str) -> None:
    at, x = held(np.array([0, 1, 5000], np.int32), device), held(np.ones(10, np.float32), device)
    y = held(np.full(3, 9, np.float32), device)
    for _ in range(2):
        gather(at, x, y)
        with pytest.raises(KernelIndexError, match="index 5000 is out of range"):
            y.numpy()
        assert (y.numpy() == 9).all()


@ON_EACH
def test_a_call_that_returns_scalars_raises_what_is_pending_first(device: str) -> None:
    at, x = held(np.array([5000], np.int32), device), held(np.ones(10, np.float32), device)
    y = held(np.full(1, 9, np.float32), device)
    gather(at, x, y)
    with pytest.raises(KernelIndexError):
        moments(x)
    assert moments(x) == (10, 10)


@ig.offload(parallel="require")
def filled(y: Out[f32, N]) -> i64:
    for i in range(len(y)):
        y[i] = 1.0
    return len(y)


@ig.offload(parallel="require")
def ends(y: Out[f32, N], n: i64) -> i64:
    for i in range(n):
        y[i] = 1.0
    return n


@ON_EACH
def test_what_is_pending_comes_before_the_checks_of_the_call(device: str) -> None:
    at, x = held(np.array([5000], np.int32), device), held(np.ones(10, np.float32), device)
    y, other = held(np.full(1, 9, np.float32), device), held(np.full(1, 9, np.float32), device)
    gather(at, x, y)
    with pytest.raises(KernelIndexError):
        ends(other, 5)
    with pytest.raises(ig.LaunchValueError, match=r"at indices 0\.\.4"):
        ends(other, 5)


@ON_EACH
def test_what_is_pending_is_raised_before_anything_changes(device: str) -> None:
    at, x = held(np.array([5000], np.int32), device), held(np.ones(10, np.float32), device)
    y, other = held(np.full(1, 9, np.float32), device), held(np.full(1, 9, np.float32), device)
    gather(at, x, y)
    with pytest.raises(KernelIndexError):
        filled(other)
    assert other.numpy()[0] == 9
    assert filled(other) == 1
    assert other.numpy()[0] == 1


@ig.offload(parallel="require")
def fails_late(x: In[i32, N], y: InOut[i32, N], z: Out[i32, N]) -> None:
    for i in range(len(x)):
        y[i] = 100 // x[i]
    for i in range(len(x)):
        z[i] = x[i] << 28


@ON_EACH
def test_a_trap_of_a_later_loop_restores_what_an_earlier_one_wrote(device: str) -> None:
    def call(values: list[int]) -> tuple[Any, Any]:
        y, z = held(np.full(4, 7, np.int32), device), held(np.full(4, 8, np.int32), device)
        try:
            fails_late(held(np.array(values, np.int32), device), y, z)
        except ig.Trap as trap:
            assert (y.numpy() == 7).all() and (z.numpy() == 8).all()
            return type(trap).__name__, str(trap).splitlines()[0]
        return y.numpy().tolist(), z.numpy().tolist()

    assert call([1, 2, 3, 4]) == ([100, 50, 33, 25], [1 << 28, 2 << 28, 3 << 28, 4 << 28])
    assert call([1, 2, 8, 4])[0] == "KernelOverflowError"
    assert call([1, 8, 0, 4])[0] == "KernelZeroDivisionError", "the earlier loop comes first"
    ig.synchronize()


@ig.offload(parallel="require")
def tally(index: In[i32, N], bins: InOut[i32, M], y: Out[i32, N]) -> i32:
    s = i32(0)
    for i in range(len(index)):
        bins[index[i]] += 1
        y[i] = 1
        s += 1
    return s


@ON_EACH
def test_totals_of_scatters(device: str) -> None:
    index, y = held(np.zeros(300, np.int32), device), held(np.zeros(300, np.int32), device)
    bins = held(np.array([2**31 - 301, 4], np.int32), device)
    assert tally(index, bins, y) == 300
    assert bins.numpy().tolist() == [2**31 - 1, 4]
    with pytest.raises(KernelOverflowError, match="the total of element 0 of `bins` does not fit i32"):
        tally(index, bins, y)
    assert bins.numpy().tolist() == [2**31 - 1, 4]


@ON_EACH
def test_facts_about_arrays_are_looked_at_where_they_are(device: str) -> None:
    @ig.offload
    def inverse(p: In[i32, N], y: Out[i32, N]) -> None:
        ig.require(ig.distinct(p))
        for i in range(len(p)):
            y[i] = p[i]

    y = ig.zeros(3, ig.i32, device=device)
    inverse(held(np.array([2, 0, 1], np.int32), device), y)
    assert y.numpy().tolist() == [2, 0, 1]
    with pytest.raises(ig.RequirementError, match=r"p\[2\] is 2, and p\[0\] is 2"):
        inverse(held(np.array([2, 0, 2], np.int32), device), y)


# --- arrays of other libraries ---------------------------------------------------------------------------------------


@pytest.fixture
def torch(driver: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module: Any = types.ModuleType("torch")
    module.Tensor = Tensor
    module._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: Tensor.current_stream)
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setattr(Tensor, "current_stream", driver.create_stream())
    return module


def queued_fill(driver: Any, tensor: Tensor, value: float) -> None:
    """Work of the other library in its own stream."""
    array = tensor.array
    bits = int(np.float32(value).view(np.uint32))
    driver.fill_words(array.address, bits, array.size, Tensor.current_stream)


def test_tensors_in_a_stream_of_their_own(driver: Any, torch: Any) -> None:
    x, y, z = (Tensor(ig.zeros(600, ig.f32, device="cuda")) for _ in range(3))
    ig.synchronize()
    queued_fill(driver, x, 3.0)
    two_maps(x, y, z)
    assert moments(z) == (600 * 19, 600 * 361)
    queued_fill(driver, x, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        assert sums_then_scan(x, y) == 618
    assert y.array.numpy()[599] == 18 + 599
    queued_fill(driver, x, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        running(x)
    assert x.array.numpy()[599] == 1200


def test_copies_of_tensors_are_in_order_with_their_stream(driver: Any, torch: Any) -> None:
    x = Tensor(ig.zeros(600, ig.f32, device="cuda"))
    ig.synchronize()
    queued_fill(driver, x, 3.0)
    ours = ig.array(x, device="cuda")
    queued_fill(driver, x, 5.0)
    driver.synchronise_stream(Tensor.current_stream)
    assert (ours.numpy() == 3).all()


def test_a_trap_restores_tensors(driver: Any, torch: Any) -> None:
    x, y, z = (Tensor(ig.full(600, v, ig.i32, device="cuda")) for v in (8, 7, 9))
    ig.synchronize()
    with pytest.raises(KernelOverflowError):
        fails_late(x, y, z)
    assert (y.array.numpy() == 7).all() and (z.array.numpy() == 9).all()


@ig.offload(parallel="require")
def wrapped(x: In[w32, N]) -> w32:
    s = w32(0)
    for v in x:
        s += v
    return s


def test_modular_sums() -> None:
    values = np.random.default_rng(0).integers(0, 2**32, 5000, dtype=np.uint32)
    assert wrapped(held(values)) == int(values.sum(dtype=np.uint32))


@ig.offload(parallel="require")
def one_map(x: In[f32, N], y: Out[f32, N], z: Out[f32, N]) -> None:
    for i in range(len(x)):
        y[i] = x[i]


@ig.offload(parallel="require")
def one_sum(x: In[f32, N], y: Out[f32, N], z: Out[f32, N]) -> f32:
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


@pytest.mark.parametrize("function", [one_map, one_sum], ids=lambda f: f.definition.name)
@ON_EACH
def test_arrays_that_no_loop_writes_are_apart_in_every_call(function: Any, device: str) -> None:
    x, y, z = (held(np.ones(300, np.float32), device) for _ in range(3))
    for _ in range(4):
        function(x, y, z)
        with pytest.raises(ig.LaunchValueError, match="arguments `x` and `z`"):
            function(x, y, x)
