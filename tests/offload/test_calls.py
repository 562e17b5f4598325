"""Calls: what the proof assumed is checked before anything changes, traps restore, warnings come once."""

import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, Real, f32, i32, i64
from isogrid.dims import H, M, N, W
from isogrid.offloading import execute
from isogrid.traps import KernelOverflowError
from tests.offload.written import bits, called, same

DEVICES = ["cpu", "interp", "cuda"]


def floats(n: int) -> Any:
    return np.arange(n, dtype=np.float32)


@ig.offload(parallel="require")
def shifted(x: In[f32, N], y: Out[f32, M], n: i64, off: i64) -> None:
    for i in range(n):
        y[i + off] = x[i]


@ig.offload(parallel="require")
def strided(x: In[f32, N], y: Out[f32, M], n: i64, stride: i64) -> None:
    for i in range(n):
        y[i * stride] = x[i]


@ig.offload(parallel="require")
def picture(image: Out[f32, H, W], n: i64, w: i64) -> None:
    for i in range(n):
        image[i // w, i % w] = f32(i)


@ig.offload(parallel="require")
def pairs(y: InOut[f32, N], n: i64) -> None:
    for i in range(n):
        y[2 * i] = 1.0
        y[2 * i + 1] += 2.0


def refused(f: Any, *arguments: Any) -> str:
    """The text of the error, after showing that no array has changed."""
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    before = [a.copy() for a in arrays]
    with pytest.raises((ig.LaunchError, ig.Trap)) as caught:
        f(*arguments)
    assert all(bits(a) == bits(b) for a, b in zip(arrays, before, strict=True))
    return str(caught.value)


@pytest.mark.parametrize("device", DEVICES)
def test_short_arrays(device: str) -> None:
    f = shifted.on(device)
    line = shifted.definition.span.line + 2
    assert refused(f, floats(8), floats(8), 8, 1) == (
        f"shifted(): argument `y` has 8 elements, and loop 1 writes `y[i + off]` on line {line} at indices 1..8, "
        "for i = 0..7"
    )
    assert (
        f"argument `x` has 3 elements, and loop 1 reads `x[i]` on line {line} at indices 0..3, for i = 0..3"
        in refused(f, floats(3), floats(8), 4, 0)
    )
    assert "at indices -2..5, for i = 0..7" in refused(f, floats(8), floats(8), 8, -2)
    assert "argument `y` has 9 elements" in refused(pairs.on(device), floats(9), 5)
    f(floats(8), floats(9), 8, 1)


@pytest.mark.parametrize("device", DEVICES)
def test_a_coefficient_of_zero(device: str) -> None:
    f = strided.on(device)
    text = refused(f, floats(8), floats(8), 8, 0)
    assert text == "strided(): `stride` is 0, so all iterations of loop 1 would write one element of `y`"
    y = np.zeros(20, np.float32)
    f(floats(8), y, 8, 2)
    assert np.array_equal(y[:16:2], floats(8))
    assert "`stride` is 0" in refused(f, floats(8), floats(8), 8, 0), "the quick call must not take it"
    y[:] = 0
    assert "at indices -7..0" in refused(f, floats(8), y, 8, -1)
    f(floats(8), y, 1, 0)
    f(floats(8), y, 0, 0)


@pytest.mark.parametrize("device", DEVICES)
def test_an_image_of_no_width(device: str) -> None:
    f = picture.on(device)
    image = np.zeros((3, 4), np.float32)
    assert "`w` is 0, and loop 1 divides its rows of `image` by it: it must be above 0" in refused(f, image, 12, 0)
    assert "`w` is -4" in refused(f, image, 12, -4)
    f(image, 12, 4)
    assert np.array_equal(image.reshape(-1), floats(12))
    refused(f, image, 13, 4)


@pytest.mark.parametrize("device", DEVICES)
def test_empty_and_huge_ranges(device: str) -> None:
    f = shifted.on(device)
    y = floats(4)
    for n in (0, -1, -(2**63)):
        f(floats(0), y, n, 0)
    assert np.array_equal(y, floats(4))
    for n in (2**31, 2**62, 2**63 - 1):
        assert f"at indices 0..{n - 1}" in refused(f, floats(4), floats(4), n, 0)


@ig.offload
def between(y: Out[f32, N], low: i64, high: i64) -> None:
    for i in range(low, high):
        if i >= 0 and i < len(y):
            y[i] = 1.0


@pytest.mark.parametrize("device", DEVICES)
def test_guarded_accesses_are_not_held_against_the_call(device: str) -> None:
    y = np.zeros(5, np.float32)
    between.on(device)(y, -3, 9)
    assert y.all()
    assert "2^63 iterations or more" in refused(between.on(device), y, -(2**62) - 1, 2**62 + 1)


# --- views -----------------------------------------------------------------------------------------------------------


@ig.offload(parallel="require")
def neighbours(out: Out[f32, N], src: In[f32, M]) -> None:
    for i in range(len(out) - 1):
        out[i] = src[i + 1]


@pytest.mark.parametrize("device", DEVICES)
def test_views_of_one_buffer(device: str) -> None:
    f = neighbours.on(device)
    base = floats(16)
    for out, src in (
        (base, base),
        (base[:-1], base[1:]),
        (base[1:], base[:-1]),
        (base[::-1], base),
        (base[::2], base[:8]),
        (base[:8], base[7:]),
    ):
        assert "arguments `out` and `src` of neighbours() share memory" in refused(f, out, src)
    f(base[:8], base[8:])
    assert np.array_equal(base[:7], np.arange(9, 16, dtype=np.float32))
    f(base[::2], base[1::2])
    broadcast = np.broadcast_to(np.float32(3), (8,))
    out = floats(8)
    f(out, broadcast)
    assert (out[:7] == 3).all()
    written = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (8,), (0,))
    assert "has elements that share memory" in refused(f, written, floats(8))
    reverse = floats(8)
    f(reverse[::-1], floats(8))
    assert np.array_equal(reverse[::-1][:7], np.arange(1, 8, dtype=np.float32))


@pytest.mark.parametrize("device", DEVICES)
def test_wrong_types_and_counts(device: str) -> None:
    f = shifted.on(device)
    assert "argument `x` of shifted() holds float64" in refused(f, np.zeros(4), floats(4), 4, 0)
    assert "misses `off`" in refused(f, floats(4), floats(4), 4)
    assert "argument `n` of shifted()" in refused(f, floats(4), floats(4), 1.5, 0)
    read_only = floats(4)
    read_only.flags.writeable = False
    assert "read-only" in refused(f, floats(4), read_only, 4, 0)
    assert "has 2 axes" in refused(f, floats(4), np.zeros((2, 4), np.float32)[:, ::2], 4, 0)
    f(n=4, off=0, y=floats(4), x=floats(4))


# --- traps -----------------------------------------------------------------------------------------------------------


@ig.offload
def two_stages(x: In[i32, N], a: InOut[i32, N], b: InOut[i32, N]) -> i32:
    for i in range(len(x)):
        a[i] = x[i] * 2
    for i in range(1, len(x)):
        b[i] = b[i - 1] + 1
    s = 0
    for i in range(len(x)):
        s += a[i] * 100
        b[i] = 7
    return s


@pytest.mark.parametrize("device", DEVICES)
def test_a_trap_restores_what_earlier_loops_wrote(device: str) -> None:
    x, a, b = np.full(5, 3, np.int32), np.arange(5, dtype=np.int32), np.arange(5, dtype=np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        assert two_stages.on(device)(x, a, b) == 3000
    assert (a == 6).all() and (b == 7).all()
    x[3] = 20_000_000
    text = refused(two_stages.on(device), x, a, b)
    assert "40000000 * 100 does not fit i32" in text
    assert "thread 3" in text
    x[:] = 10_000_000
    assert "the total of `s` does not fit i32" in refused(two_stages.on(device), x, a, b)


@ig.offload(parallel="require")
def first_trap(x: In[i32, N], y: Out[i32, N], z: Out[i32, N]) -> None:
    for i in range(len(x)):
        y[i] = 100 // x[i]
    for i in range(len(x)):
        z[i] = x[i] << 30


@pytest.mark.parametrize("device", DEVICES)
def test_the_first_trap_is_that_of_the_earliest_loop_then_the_lowest_iteration(device: str) -> None:
    x, y, z = np.full(300, 1, np.int32), np.zeros(300, np.int32), np.zeros(300, np.int32)
    x[[7, 200]], x[3] = 0, 2
    text = refused(first_trap.on(device), x, y, z)
    assert "100 // 0 is a division by zero" in text
    assert "thread 7" in text
    x[[7, 200]] = 1
    assert "2 << 30" in refused(first_trap.on(device), x, y, z)


@ig.offload
def found(x: In[i32, N], y: InOut[i32, N], wanted: i32) -> i32:
    for i in range(len(x)):
        y[i] = 1
        if x[i] == wanted:
            return i32(i)
    for i in range(len(x)):
        y[i] += 1
    return -1


@pytest.mark.parametrize("device", DEVICES)
def test_a_return_in_a_loop_ends_the_function(device: str) -> None:
    x, y = np.arange(6, dtype=np.int32), np.zeros(6, np.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        assert found.on(device)(x, y, 2) == 2
    assert list(y) == [1, 1, 1, 0, 0, 0]
    assert found.on(device)(x, y, 99) == -1
    assert list(y) == [2] * 6


# --- warnings --------------------------------------------------------------------------------------------------------


def _recurrence() -> Any:
    @ig.offload
    def recurrence(x: InOut[f32, N]) -> None:
        for i in range(1, len(x)):
            x[i] = x[i - 1] + 1.0

    return recurrence


def test_one_warning_per_loop_at_the_loops_own_line() -> None:
    f = _recurrence()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            f(floats(4))
        f.on("interp")(floats(4))
    (said,) = caught
    assert said.category is ig.OffloadWarning
    assert said.filename == __file__
    assert "for i in range(1, len(x))" in Path(__file__).read_text().splitlines()[said.lineno - 1]
    assert str(said.message).count(". ") == 1
    assert str(said.message).startswith("IG8070: line ")


def test_warnings_can_be_errors_or_silenced() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ig.OffloadWarning)
        with pytest.raises(ig.OffloadWarning):
            _recurrence()(floats(4))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=ig.OffloadWarning, module=__name__)
        _recurrence()(floats(4))
    assert not caught


def test_require_turns_a_refusal_into_an_error() -> None:
    @ig.offload(parallel="require")
    def recurrence(x: InOut[f32, N]) -> None:
        for i in range(1, len(x)):
            x[i] = x[i - 1] + 1.0

    x = floats(4)
    with pytest.raises(ig.KernelRefused, match="IG8070"):
        recurrence(x)
    assert np.array_equal(x, floats(4))
    with pytest.raises(ig.OptionError, match="parallel"):
        ig.offload(parallel="maybe")
    with pytest.raises(ig.OptionError, match="did you mean `parallel`"):
        ig.offload(paralel="require")


# --- the value -------------------------------------------------------------------------------------------------------


@ig.offload
def normalise(x: In[Real, N], y: Out[Real, N]) -> Real:
    s = x.dtype(0)
    for i in range(len(x)):
        s += x[i] * x[i]
        y[i] = 2 * x[i]
    return s


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_generic_functions_and_the_quick_call(dtype: Any) -> None:
    for n in (1000, 3, 0, 256, 70000, 1000):
        x = np.random.default_rng(n).normal(0, 1, n).astype(dtype)
        y, other = np.zeros(n, dtype), np.zeros(n, dtype)
        results = {bits(normalise(x, y)) for _ in range(3)}
        assert results == {bits(normalise.reference(x, other))}
        assert bits(y) == bits(other)


def test_python_runs_the_plain_function() -> None:
    @ig.offload
    def scaled(x: In[f32, N], y: Out[f32, N], a: f32) -> None:
        for i in range(len(x)):
            y[i] = a * x[i]

    x, y = floats(4), np.zeros(4, np.float32)
    scaled.python(x, y, 2.0)
    assert np.array_equal(y, 2 * floats(4))
    with pytest.raises(AttributeError, match="immutable"):
        scaled.device = None


def test_use_and_options_reach_the_kernels() -> None:
    x, y = floats(300), np.zeros(300, np.float32)
    with ig.use("interp"):
        shifted(x, y, 300, 0)
    shifted(x, y, 300, 0)
    limited = shifted.options(max_threads=32, unroll=False)
    assert limited.option_values["max_threads"] == 32
    limited(x, y, 300, 0)
    assert np.array_equal(x, y)
    with pytest.raises(ig.OptionError, match="loop 1 reduces in groups of 256 threads, and max_threads=64 allows 64"):
        normalise.options(max_threads=64)(x, y)


@pytest.mark.parametrize("source", ["default", "device", "explicit"])
def test_options_reach_the_kernels_wherever_they_come_from(source: str) -> None:
    f = ig.offload(parallel="require")(shifted.definition.function)
    x, y = floats(300), np.zeros(300, np.float32)
    try:
        for _ in range(3):
            if source == "default":
                ig.default_options(max_threads=64)
                f(x, y, 300, 0)
            elif source == "device":
                f.on(ig.device("cpu").options(max_threads=64))(x, y, 300, 0)
            else:
                f.options(max_threads=64)(x, y, 300, 0)
        assert np.array_equal(x, y)
    finally:
        ig.default_options(max_threads=None)


def test_an_option_that_was_a_default_once_still_counts() -> None:
    """The executor that was made then serves both, so it keeps none of the options to look up again."""
    f = ig.offload(parallel="require")(shifted.definition.function)
    x, y = floats(300), np.zeros(300, np.float32)
    try:
        ig.default_options(unroll=False)
        f(x, y, 300, 0)
    finally:
        ig.default_options(unroll=None)
    f.options(unroll=False)(x, y, 300, 0)
    (executor,) = f.shared.executors.values()
    (ready,) = executor.kernels.values()
    assert [options.values() for _, _, options in ready.kernel.compiled.artifacts] == [{"unroll": False}]


def test_the_interpreter_is_no_device_of_quick_calls() -> None:
    f: Any = ig.offload(parallel="require")(shifted.definition.function)
    x, y = floats(300), np.zeros(300, np.float32)
    f.reference(x, y, 300, 0)
    assert not f.quick


@ig.offload(parallel="require")
def histogram(index: In[i32, N], bins: InOut[i32, M]) -> None:
    for i in range(len(index)):
        bins[index[i]] += 1


@pytest.mark.parametrize("size", [7, 20000])
def test_scatters_under_contention(size: int) -> None:
    for bins in (1, 5, 1000, 3000):
        index = np.random.default_rng(size).integers(0, bins, size).astype(np.int32)
        for _ in range(3):
            found_ = np.full(bins, 3, np.int32)
            histogram(index, found_)
            assert np.array_equal(found_, 3 + np.bincount(index, minlength=bins))


@pytest.mark.parametrize("size", [7, 20000])
def test_a_scatter_traps_on_the_true_total(size: int) -> None:
    index, bins = np.zeros(size, np.int32), np.array([2**31 - size, 0], np.int32)
    text = refused(histogram, index, bins)
    assert "the total of element 0 of `bins` does not fit i32" in text
    bins[0] -= 1
    histogram(index, bins)
    assert bins[0] == 2**31 - 1
    index[-1] = 2
    assert "index 2 is out of range" in refused(histogram, index, np.zeros(2, np.int32))


@ig.offload(parallel="require")
def folded(bins: InOut[i64, N], n: i64, k: i64) -> None:
    for i in range(2, n):
        bins[i // k] += 1


@ig.offload(parallel="require")
def powers(bins: InOut[i64, N], n: i64, k: i64) -> None:
    for i in range(2, n):
        bins[i * i * k] += 1


@pytest.mark.parametrize("device", DEVICES)
def test_the_index_of_an_update_is_computed_with_its_checks(device: str) -> None:
    bins = np.zeros(8, np.int64)
    folded.on(device)(bins, 8, 2)
    assert list(bins) == [0, 2, 2, 2, 0, 0, 0, 0]
    assert "2 // 0 is a division by zero" in refused(folded.on(device), bins, 8, 0)
    powers.on(device)(bins, 3, 1)
    assert bins[4] == 1
    assert "4 * 4611686018427387904 does not fit i64" in refused(powers.on(device), bins, 3, 2**62)


@ig.offload(parallel="require")
def nest(y: Out[f32, N], x: In[f32, M], h: i64, w: i64) -> None:
    for i in range(h):
        for j in range(w):
            y[i * w + j] = x[i] + f32(j)


@pytest.mark.parametrize("shape", [(5, 7), (1, 40), (40, 1), (0, 3), (3, 0), (3, -1)])
def test_a_perfect_nest_is_a_grid_of_two_axes(shape: tuple[int, int]) -> None:
    h, w = shape
    arguments = {"y": floats(200), "x": floats(50), "h": h, "w": w}
    outcome = called(nest.on("cpu"), arguments)
    assert same(outcome, called(nest.reference, arguments))
    expected = floats(200)
    for i in range(h):
        for j in range(w):
            expected[i * w + j] = i + j
    assert np.array_equal(outcome[1]["y"], expected)


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_of_devices_stay_there_and_are_restored(device: str) -> None:
    def held(values: Any) -> Any:
        return ig.array(np.asarray(values, np.int32), device=device)

    x, a, b = held([3] * 5), held(range(5)), held(range(5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        assert two_stages.on(device)(x, a, b) == 3000
        assert list(a.numpy()) == [6] * 5
        x, a, b = held([10_000_000] * 5), held(range(5)), held(range(5))
        with pytest.raises(KernelOverflowError, match="the total of `s` does not fit i32"):
            two_stages.on(device)(x, a, b)
    assert list(a.numpy()) == list(b.numpy()) == list(range(5))


# --- updates through a name ------------------------------------------------------------------------------------------


@ig.offload
def stored_twice(index: In[i32, N], bins: InOut[i32, M]) -> None:
    for i in range(len(index)):
        at = index[i]
        old = bins[at]
        for _j in range(2):
            bins[at] = old + 1


@ig.offload
def lost_in_between(index: In[i32, N], bins: InOut[i32, M]) -> None:
    for i in range(len(index)):
        at = index[i]
        old = bins[at]
        bins[index[i]] += 5
        bins[at] = old + 1


@ig.offload
def elsewhere_by_then(index: In[i32, N], bins: InOut[i32, M]) -> None:
    for i in range(len(index)):
        at = index[i]
        old = bins[at]
        at = at + 1
        bins[at] = old + 1


@ig.offload(parallel="require")
def held_in_between(index: In[i32, N], bins: InOut[i32, M], n: i64) -> None:
    half = n // 2
    for i in range(len(index)):
        for j in range(2):
            old = bins[index[i] + j + half]
            bins[index[i] + j + half] = old + 3


@pytest.mark.parametrize("f", [stored_twice, lost_in_between, elsewhere_by_then])
def test_what_only_looks_like_an_update_is_refused(f: Any) -> None:
    index = np.array([0, 1, 0, 0, 1], np.int32)
    bins, expected = np.zeros(3, np.int32), np.zeros(3, np.int32)
    with pytest.warns(ig.OffloadWarning, match="`bins"):
        f(index, bins)
    f.python(index, expected)
    assert np.array_equal(bins, expected)


@pytest.mark.parametrize("device", DEVICES)
def test_an_update_through_names_is_one(device: str) -> None:
    index = np.array([0, 1, 0, 0, 1], np.int32)
    bins, expected = np.zeros(6, np.int32), np.zeros(6, np.int32)
    held_in_between.on(device)(index, bins, 4)
    held_in_between.python(index, expected, 4)
    assert np.array_equal(bins, expected)


def test_threads_make_each_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    f: Any = ig.offload(parallel="require")(shifted.definition.function)
    f.check()
    made: list[Any] = []
    original = execute.map_program

    def slowly(*arguments: Any) -> Any:
        made.append(arguments)
        time.sleep(0.02)
        return original(*arguments)

    monkeypatch.setattr(execute, "map_program", slowly)
    results = [np.zeros(300, np.float32) for _ in range(4)]
    threads = [threading.Thread(target=f, args=(floats(300), y, 300, 0)) for y in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and all(np.array_equal(y, floats(300)) for y in results)


class Taps(ig.Dim, const=True):
    """How many weights there are, known when the function is compiled."""


@ig.offload(parallel="require")
def weighed(x: In[f32, N], w: In[f32, Taps]) -> tuple[f32, i64]:
    s, n = f32(0), i64(0)
    for i in range(len(x)):
        s += x[i] * w[len(w) - 1]
        n += len(w)
    return s, n


@pytest.mark.parametrize("device", DEVICES)
def test_reductions_with_constant_dimensions(device: str) -> None:
    for count in (3, 5, 3, 5):
        x, w = np.ones(300, np.float32), np.full(count, 2, np.float32)
        assert weighed.on(device)(x, w) == (600, 300 * count)


@ig.offload
def wide(x: In[f32, N]) -> i32:
    n = i64(0)
    for i in range(len(x)):
        n += i64(x[i])
    return n


@ig.offload
def wide_second(x: In[f32, N]) -> tuple[f32, i32]:
    n = i64(0)
    for i in range(len(x)):
        n += i64(x[i])
    return x[0], n


@pytest.mark.parametrize("function", [wide, wide_second], ids=["one", "two"])
def test_a_result_of_another_type_is_refused_in_words(function: Any) -> None:
    with pytest.raises(ig.KernelRefused, match=r"(?s)IG107.*declared i32 and assigned i64.*`i32\(\.\.\.\)`"):
        function(floats(3))
    assert [report.code for report in function.check()] == ["IG107"]


def test_tracebacks_show_the_authors_line_and_one_of_ours() -> None:
    x = floats(300)
    calls: list[Any] = [
        lambda: weighed(x, 3),
        lambda: weighed(w=x, x="x"),
        lambda: weighed(x, np.ones(3)),
        lambda: shifted(x, x, 300, 0),
        lambda: shifted(x, floats(300), off=np.int64(1), n=300),
        lambda: wide(x),
    ]
    for warm in range(2):
        for call in calls:
            with pytest.raises((ig.LaunchError, ig.KernelRefused)) as caught:
                call()
            frames = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
            assert len([file for file in frames if file != __file__]) <= 1, (warm, frames)
        weighed(x, np.ones(3, np.float32))
        shifted(x, floats(300), 300, 0)
