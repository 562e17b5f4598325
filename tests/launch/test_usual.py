"""Calls in other words go by the native callables: keywords, NumPy scalars, bound values, arrays, open geometry."""

import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any, TypeVar

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, u32, w32
from isogrid.dims import N
from isogrid.launch import dispatch
from isogrid.launch.usual import open_form
from isogrid.offloading.function import Offloaded
from isogrid.support.remembered import MOST_REMEMBERED

T = TypeVar("T", f32, f64)


@ig.kernel(grid=N, block=32)
def axpy(a: f32, x: In[f32, N], y: Out[f32, N], k: i32 = 1, on: bool = True) -> None:
    i = ig.gid()
    y[i] = a * x[i] + f32(k) if on else f32(0)


@ig.kernel(grid=N, block=32)
def scaled(a: T, x: In[T, N], y: Out[T, N], z: In[T, N] | None = None) -> None:
    i = ig.gid()
    y[i] = a * x[i] if z is None else a * x[i] + z[i]


@ig.kernel(grid=N, block=32)
def words(a: w32, b: u32, x: In[w32, N], y: Out[w32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * a + w32(b)


@ig.kernel(block=32)
def opened(x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    if i < len(x):
        y[i] = x[i] + f32(i)


@ig.kernel(grid=N)
def open_block(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + f32(ig.lid())


@ig.offload(parallel="require")
def times(a: f32, x: In[f32, N], y: Out[f32, N]) -> None:
    for i in range(len(x)):
        y[i] = a * x[i]


@ig.offload(parallel="require")
def total(x: In[f32, N], a: f64) -> f64:
    s = f64(0)
    for i in range(len(x)):
        s += f64(x[i])
    return s * a


@pytest.fixture
def natively(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run a call twice; the second time the launcher in Python may not take part."""

    def twice(call: Callable[[], object]) -> None:
        call()
        with monkeypatch.context() as patch:
            patch.setattr(dispatch, "launch", lambda *_: pytest.fail("the slow path"))
            patch.setattr(Offloaded, "_run", lambda *_: pytest.fail("the ordinary call"))
            call()

    return twice


X = np.arange(100, dtype=np.float32)

FORMS: dict[str, Callable[[Any, Any], object]] = {
    "usual": lambda k, y: k(2.0, X, y),
    "integer": lambda k, y: k(2, X, y, 1, True),
    "NumPy scalars": lambda k, y: k(np.float32(2), X, y, np.int32(1), np.True_),
    "keywords": lambda k, y: k(y=y, a=2.0, x=X),
    "some keywords": lambda k, y: k(2.0, X, on=True, y=y, k=np.int32(1)),
    "bound": lambda k, y: BOUND(X, y),
    "bound and keywords": lambda k, y: BOUND(y=y, x=X),
    "bound anew": lambda k, y: k.bind(2.0)(X, y),
    "bound anew, with options": lambda k, y: k.bind(2.0).options(unroll=False).bind(k=1)(X, y),
    "all bound anew": lambda k, y: k.bind(2.0, X, y, on=True, k=1)(),
    "all but defaults bound anew": lambda k, y: k.bind(2.0, X, y)(),
    "launch": lambda k, y: k.launch(2.0, X, y),
    "launch with keywords": lambda k, y: k.launch(y=y, x=X, a=2.0),
    "launch on a device": lambda k, y: axpy.launch(2.0, X, y, device="cpu"),
    "launch on another device": lambda k, y: axpy.on("interp").launch(2.0, X, y, device="cpu"),
    "subclass": lambda k, y: k(2.0, X.view(np.recarray), y),
    "read-only": lambda k, y: k(2.0, np.frombuffer(X.tobytes(), np.float32), y),
}
BOUND: Any = axpy.on("cpu").bind(a=2.0, k=1)


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_one_call(form: str, natively: Callable[..., None]) -> None:
    y, kernel = np.zeros_like(X), axpy.on("cpu")

    def call() -> None:
        y[:] = -1
        FORMS[form](kernel, y)
        assert (y == 2 * X + 1).all()

    natively(call)


def test_all_bound(natively: Callable[..., None]) -> None:
    y = np.zeros_like(X)
    everything = axpy.on("cpu").bind(2.0, X, y, on=False)
    natively(everything)
    assert (y == 0).all()


def test_every_order_of_positions_keywords_and_what_is_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each parameter by position, by keyword in any order, bound, or left to its default: all are put in order."""
    given: dict[str, Any] = {"a": 3.0, "x": X, "y": np.zeros_like(X), "k": 2, "on": True}
    kernel = axpy.on("cpu")
    kernel(3.0, X, given["y"])
    monkeypatch.setattr(ig.Kernel, "_launch", lambda *_: pytest.fail("it was not put in order"))
    for shuffle in range(60):
        random = np.random.default_rng(shuffle)
        names = list(given)
        bound = {name: given[name] for name in names if random.random() < 0.3}
        free = [name for name in names if name not in bound]
        count = int(random.integers(0, len(free) + 1))
        by_name = [name for name in free[count:] if name not in ("k", "on") or random.random() < 0.5]
        random.shuffle(by_name)
        value = kernel.bind(**bound)
        given["y"][:] = 0
        value(*[given[n] for n in free[:count]], **{n: given[n] for n in by_name})
        k = 2 if "k" in bound or "k" in free[:count] or "k" in by_name else 1
        assert (given["y"] == 3 * X + k).all(), (bound.keys(), count, by_name)


def test_orders_are_few() -> None:
    """However many forms the calls of a program have, a value keeps some of them."""
    y, kernel = np.zeros_like(X), axpy.on("cpu").bind(on=True)
    for names in itertools.permutations(("a", "x", "y", "k")):
        for left in range(4):
            given = dict(zip(("a", "x", "y", "k"), (2.0, X, y, 1), strict=True))
            head = ("a", "x", "y", "k")[:left]
            kernel(*[given[n] for n in head], **{n: given[n] for n in names if n not in head})
    assert 0 < len(kernel.orders.known) <= MOST_REMEMBERED


def test_type_variables_follow_the_arrays(natively: Callable[..., None]) -> None:
    kernel = scaled.on("cpu")
    for dtype in (np.float32, np.float64):
        x, y = X.astype(dtype), np.zeros(100, dtype)
        natively(lambda x=x, y=y, dtype=dtype: kernel(dtype(0.1), x, y))
        assert (y == dtype(0.1) * x).all()
        natively(lambda x=x, y=y: kernel(0.1, x=x, y=y, z=x))
        assert (y == dtype(0.1) * x + x).all()
    with pytest.raises(ig.LaunchTypeError, match="is a NumPy float64, and the parameter is f32"):
        kernel(np.float64(0.1), X, np.zeros_like(X))


def test_words_and_ends_of_types(natively: Callable[..., None]) -> None:
    x, y = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    kernel = words.on("cpu")
    natively(lambda: kernel(np.uint32(0xFFFFFFFF), np.uint32(7), x, y))
    assert (y == (x * np.uint32(0xFFFFFFFF) + 7).astype(np.uint32)).all()
    for bad in (np.int32(7), np.uint64(7), np.float32(7), np.bool_(True), "7", None, 1 << 32, -1):
        before = y.copy()
        with pytest.raises((TypeError, OverflowError, ValueError)):
            kernel(1, bad, x, y)
        assert (y == before).all()


@pytest.mark.parametrize("value", [np.float32("nan"), np.array(0x7F800001, np.uint32).view(np.float32)[()]])
def test_a_nan_is_passed_as_it_came(value: Any) -> None:
    y, z = np.zeros(64, np.float32), np.zeros(64, np.float32)
    for _ in range(3):
        scaled.on("cpu")(value, X[:64], y)
    scaled.on("interp")(value, X[:64], z)
    assert (y.view(np.uint32) == z.view(np.uint32)).all()


def test_errors_are_those_of_the_slow_path() -> None:
    y, kernel = np.zeros_like(X), axpy.on("cpu")
    kernel(2.0, X, y)
    with_grid = opened.on("cpu")
    with_grid.launch(X, y, grid=5)
    for call, error in {
        lambda: with_grid.bind(X).launch(X, y, grid=5): "takes 1 argument but 2 were given",
        lambda: with_grid.bind(X).launch(y, x=X, grid=5): "bound before",
        lambda: with_grid.launch(X, X, y, grid=5): "takes 2 arguments but 3 were given",
        lambda: BOUND(2.0, X, y, 1, True): "takes 3 arguments but 5 were given",
        lambda: kernel(2.0, X): "misses `y`",
        lambda: kernel(2.0, X, y, 1, True, 5): "takes 5 arguments",
        lambda: kernel(2.0, X, y, b=1): "no parameter `b`",
        lambda: kernel(2.0, X, y, a=1): "given twice",
        lambda: BOUND(X, y, a=1.0): "bound before",
        lambda: kernel(np.float64(2), X, y): "NumPy float64",
        lambda: kernel(2.0, np.ma.masked_array(X), y): "masked array",
        lambda: kernel(2.0, X, X): "share memory",
    }.items():
        with pytest.raises((TypeError, ValueError), match=error):
            call()


def test_open_geometry(natively: Callable[..., None]) -> None:
    kernel = opened.on("cpu")
    for size in (100, 64, 1, 0):
        y = np.zeros_like(X)
        given: Any = {"grid": size}
        natively(lambda y=y, given=given: kernel.launch(X, y, **given))
        assert (y[:size] == 2 * X[:size]).all()
        assert (y[size:] == 0).all()
    y = np.zeros_like(X)
    natively(lambda: kernel.launch(x=X, y=y, groups=(2,)))
    assert (y[:64] == 2 * X[:64]).all()
    assert (y[64:] == 0).all()
    for bad in ({"grid": -1}, {"grid": 1 << 63}, {"grid": 1.5}, {"grid": 5, "groups": 5}, {}):
        with pytest.raises((TypeError, ValueError)):
            kernel.launch(X, y, **bad)


def test_open_block(natively: Callable[..., None]) -> None:
    kernel, y = open_block.on("cpu"), np.zeros_like(X)
    for block in (20, 5, (4,)):
        natively(lambda block=block: kernel.launch(X, y, block=block))
        size = block if isinstance(block, int) else block[0]
        assert (y == X + np.arange(100) % size).all()


def test_what_is_plain_geometry() -> None:
    assert open_form(5, None, None) == (("grid", 1, ()), (5,))
    assert open_form(None, (5, 6), (2, 3)) == (("groups", 2, (2, 3)), (5, 6))
    odd: list[Any] = [(np.int64(5), None, None), ([5], None, None), (True, None, None), (5, 6, None), (None, None, 2.0)]
    for grid, groups, block in odd:
        assert open_form(grid, groups, block)[0] is None


def test_arrays_on_the_host_device(natively: Callable[..., None]) -> None:
    x, y = ig.array(X, device="cpu"), ig.zeros(100, f32, device="cpu")
    natively(lambda: axpy(2.0, x, y))
    natively(lambda: axpy(2.0, X, y))
    assert (y.numpy() == 2 * X + 1).all()
    axpy.on("cpu")(1.0, X, np.zeros_like(X))
    z = ig.zeros(100, f32, device="interp")
    axpy(2.0, X, z)  # not by what the other device has made
    with ig.profile() as found:
        axpy(2.0, X, z)
    assert {entry.device for entry in found.entries} == {"interp"}
    with pytest.raises(ig.LaunchTypeError, match="is on interp, and the launch runs on cpu"):
        axpy(2.0, x, z)


@ig.kernel(grid=N, block=32)
def gather(x: In[f32, N], j: In[i32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[j[i]]


def test_traps_on_the_host_device_still_wait() -> None:
    x, y = ig.array(X, device="cpu"), ig.zeros(100, f32, device="cpu")
    j, wrong = (
        ig.array(np.arange(100, dtype=np.int32), device="cpu"),
        ig.array(np.full(100, 100, np.int32), device="cpu"),
    )
    for _ in range(3):
        gather(x, j, y)
    gather(x, wrong, y)
    gather(x, j, y)  # does nothing: what is behind a trap is not touched
    with pytest.raises(ig.KernelIndexError):
        ig.synchronize("cpu")
    gather(x, j, y)
    assert (y.numpy() == X).all()


@pytest.mark.parametrize("given", ["usual", "keywords", "NumPy scalar", "block"])
def test_offloaded_functions(given: str, natively: Callable[..., None]) -> None:
    y, f, g = np.zeros_like(X), times.on("cpu"), total.on("cpu")
    if given == "block":
        with ig.use("cpu"):
            natively(lambda: times(2.0, X, y))
            natively(lambda: total(X, 2.0))
    elif given == "keywords":
        natively(lambda: f(a=2.0, y=y, x=X))
        natively(lambda: g(a=2.0, x=X))
    else:
        two: Any = np.float32(2) if given == "NumPy scalar" else 2.0
        natively(lambda: f(two, X, y))
        natively(lambda: g(X, np.float64(2) if given == "NumPy scalar" else 2.0))
    assert (y == 2 * X).all()


def test_types_in_turn_of_an_offloaded_function(natively: Callable[..., None]) -> None:
    @ig.offload(parallel="require")
    def both(x: In[T, N], y: Out[T, N]) -> None:
        for i in range(len(x)):
            y[i] = x[i] + x[i]

    pairs = [(X.astype(dtype), np.zeros(100, dtype)) for dtype in (np.float32, np.float64)]
    for x, y in pairs:
        both(x, y)
    for x, y in pairs:
        natively(lambda x=x, y=y: both(x, y))
        assert (y == 2 * x).all()


def test_memory_maps(tmp_path: Path, natively: Callable[..., None]) -> None:
    mapped = np.memmap(tmp_path / "x.bin", np.float32, "w+", shape=100)
    mapped[:] = X
    y = np.memmap(tmp_path / "y.bin", np.float32, "w+", shape=100)
    kernel = axpy.on("cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        natively(lambda: kernel(2.0, mapped, y))
    assert (y == 2 * X + 1).all()


def test_values_made_in_a_loop(natively: Callable[..., None]) -> None:
    y = np.zeros_like(X)
    natively(lambda: axpy.on("cpu")(2.0, X, y))
    natively(lambda: axpy.options(unroll=True).on("cpu")(2.0, X, y))
    natively(lambda: times.on("cpu").options(unroll=True)(2.0, X, y))
    assert axpy.on("cpu") is axpy.on("cpu") is not axpy.on("interp")
    assert axpy.on("cpu").on("interp").device != axpy.on("cpu").device
    values = [axpy.options(max_threads=32 + number) for number in range(200)]
    assert len(axpy.compiled.values) <= 64
    assert values[7].option_values["max_threads"] == 39


def test_bound_values_and_the_one_that_they_come_from_share_callables(natively: Callable[..., None]) -> None:
    """Whichever runs first, the other one finds what it has made; the plain one then also calls it with no frame."""
    y = np.zeros_like(X)
    kernel = axpy.options(max_threads=77).on("cpu")
    kernel.bind(3.0)(X, y)
    natively(lambda: kernel(2.0, X, y, 1, True))
    assert isinstance(kernel.__call__, BuiltinFunctionType)
    kernel.bind(3.0)(X, y)
    assert (y == 3 * X + 1).all()
    ig.default_options(unroll=False)
    try:
        assert not kernel.bind(3.0).natives.by_place
    finally:
        ig.default_options(unroll=None)


def test_values_of_values_are_remembered_with_them() -> None:
    """However a program comes to the same settings, it is the same value, so a loop of them keeps no more and more."""
    for one in (axpy, total):
        first = one.on("cpu").options(unroll=False)
        assert first is one.options(unroll=False).on("cpu") is first.on("cpu")
        assert first is first.on("interp").options(unroll=True).on("cpu").options(unroll=False)
