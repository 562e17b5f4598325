"""Calls of reducing functions that go through one native callable: the same numbers and errors as the ordinary call."""

import types
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64, u32, u64, w32, w64
from isogrid.backends.cpu import pool
from isogrid.dims import N
from isogrid.offloading.function import Offloaded

native = pytest.mark.skipif(not pool.is_supported(), reason="this platform has no native callable")

#: The values of 65,537 elements are folded in two levels above their blocks.
SIZES = [0, 1, 255, 256, 257, 1024, 65_536, 65_537, 300_001]


@ig.offload(parallel="require")
def floats(x: In[f32, N], y: In[f64, N]) -> tuple[f64, f32, f32, f64]:
    s, low, high, p = f32(0.5), f32(100), f32(-100), f64(1)
    for i in range(len(x)):
        s += x[i]
        low = min(low, x[i])
        high = max(high, x[i])
        p *= y[i]
    return p, s, high, f64(low)


@ig.offload(parallel="require")
def doubles(x: In[f32, N], y: In[f64, N]) -> tuple[f64, f64, f64, f32]:
    s, low, high, p = f64(-0.0), f64(100), f64(-100), f32(1)
    for i in range(len(x)):
        s += y[i]
        low = min(low, y[i])
        high = max(high, y[i])
        p *= x[i]
    return s, high, low, p


@ig.offload(parallel="require")
def integers(x: In[i32, N], y: In[u32, N]) -> tuple[i32, u32, i32, u32, i32, u32, i32]:
    s, t, low, high, both, either, odd = i32(-7), u32(9), i32(5), u32(3), i32(-1), u32(0), i32(0)
    for i in range(len(x)):
        s += x[i] // 65536
        t += y[i] >> 20
        low = min(low, x[i])
        high = max(high, y[i])
        both &= x[i] | 1
        either |= y[i]
        odd ^= x[i]
    return s, t, low, high, both, either, odd


@ig.offload(parallel="require")
def modular(x: In[w32, N], y: In[w64, N]) -> tuple[w32, w64, w32]:
    s, p, odd = w32(1), w64(3), w32(0)
    for i in range(len(x)):
        s += x[i]
        p *= y[i] | w64(1)
        odd ^= x[i]
    return s, p, odd


@ig.offload(parallel="require")
def signed_long(x: In[i64, N]) -> i64:
    s = i64(-3)
    for i in range(len(x)):
        s += x[i]
    return s


@ig.offload(parallel="require")
def unsigned_long(x: In[u64, N]) -> u64:
    s = u64(3)
    for i in range(len(x)):
        s += x[i]
    return s


@ig.offload(parallel="require")
def count(x: In[i32, N]) -> i32:
    s = 1
    for i in range(len(x)):
        s += x[i]
    return s


@ig.offload(parallel="require")
def truths(x: In[i32, N]) -> tuple[bool, bool]:
    every, some = True, False
    for i in range(len(x)):
        every &= x[i] > -2000000000
        some |= x[i] > 2100000000
    return every, some


@ig.offload(parallel="require")
def mean(x: In[f32, N]) -> f32:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    return s / f32(len(x))


@ig.offload(parallel="require")
def concluded(x: In[f32, N], a: f64, k: i32) -> tuple[f32, f64, f32, f64, f32]:
    """Quotients by zero, a constant, scalars and sizes; what plain numbers cannot say included."""
    s, low, fixed = f32(0.1), f64(5), f32(0.3)
    for i in range(len(x)):
        s += x[i]
        low = min(low, f64(x[i]))
    spread = (s - fixed) * (s + 1.7) / f32(len(x))
    return spread, low * a - f64(k), -(s / (s - s)), f64(s) / 3.0, fixed


@ig.offload(parallel="require")
def whole(x: In[i32, N], k: i32) -> tuple[i32, i64]:
    s = 0
    for i in range(len(x)):
        s += x[i] % 8
    return s // k, i64(s) * i64(k)


@ig.offload(parallel="require")
def divided(x: In[f32, N], a: f32, flag: bool) -> tuple[f32, bool]:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    return s / a, flag


@ig.offload(parallel="require")
def scaled(x: In[f32, N], y: Out[f32, N], a: f32, first: i32) -> tuple[f32, w32]:
    s, n = f32(0), w32(0)
    for i in range(first, len(x)):
        value = a * x[i]
        y[i] = value
        if x[i] > 0.0:
            s += value
            n += w32(1)
    return s, n


def arrays(size: int) -> dict[str, Any]:
    random = np.random.default_rng(size)
    words = random.integers(0, 1 << 32, size, np.uint32)
    longs = random.integers(0, 1 << 63, size, np.uint64) * 2
    floats = random.standard_normal(size).astype(np.float32)
    return {
        "floats": (floats, np.float64(1) + floats / 1000),
        "doubles": (1 + floats / 1000, floats * np.float64(1.1)),
        "integers": (words.view(np.int32), words),
        "modular": (words, longs),
        "signed_long": (longs.view(np.int64) >> 20,),
        "unsigned_long": (longs >> 20,),
        "truths": (words.view(np.int32),),
        "mean": (floats,),
        "concluded": (floats, 2.5, 3),
        "whole": (words.view(np.int32), 7),
        "scaled": (floats, np.zeros_like(floats), 1.5, min(1, size)),
    }


FUNCTIONS = [floats, doubles, integers, modular, signed_long, unsigned_long, truths, mean, concluded, whole, scaled]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_every_type_and_operator(function: Any) -> None:
    call: Any = function.on("cpu")
    for size in SIZES:
        given = arrays(size)[function.__name__]
        if function in (mean, concluded) and size == 0:
            continue
        expected = call.reference(*given) if size <= 257 else call._call(*given)
        for _ in range(3):
            # Texts, since NaN is unequal to itself.
            assert repr(call(*given)) == repr(expected)


@native
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_native(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    call: Any = function.on("cpu")
    for _ in range(2):
        call(*arrays(300)[function.__name__])
    assert isinstance(call.__call__, types.BuiltinFunctionType)
    monkeypatch.setattr(Offloaded, "_run", lambda *_: pytest.fail("the ordinary call"))
    for size in (2, 256, 257, 65_537, 300_001):
        call(*arrays(size)[function.__name__])


@native
def test_values_of_blocks_fold_in_as_many_levels_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.resize(np.arange(-500, 501, dtype=np.int32), (1 << 24) + 257)
    call: Any = whole.on("cpu")
    call(x[:10], 1)
    monkeypatch.setattr(Offloaded, "_run", lambda *_: pytest.fail("the ordinary call"))
    total = int((x % 8).sum(dtype=np.int64))
    assert call(x, 3) == (total // 3, total * 3)


@native
def test_large_calls_keep_no_memory() -> None:
    call: Any = concluded.on("cpu")
    x = np.ones(1 << 20, np.float32)
    call(x, 2.5, 3)

    def held() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    for _ in range(20):
        call(x, 2.5, 3)
    before = held()
    for _ in range(1000):  # 64 KiB of values each
        call(x, 2.5, 3)
    assert held() - before < 8 << 20


def test_totals_that_leave_their_type_raise_as_the_ordinary_call_does() -> None:
    for function, given in (
        (signed_long, (np.full(600, 1 << 62, np.int64),)),
        (unsigned_long, (np.full(600, 1 << 62, np.uint64),)),
        (count, (np.full(600, -(1 << 22), np.int32),)),
    ):
        call: Any = function.on("cpu")
        for _ in range(2):
            call(given[0] >> 40 if given[0].itemsize == 8 else given[0] >> 20)
        with pytest.raises(ig.KernelOverflowError) as native_error:
            call(*given)
        with pytest.raises(ig.KernelOverflowError) as ordinary:
            call._call(*given)
        assert str(native_error.value) == str(ordinary.value)


def test_totals_at_the_ends_of_their_types() -> None:
    call: Any = signed_long.on("cpu")
    for _ in range(2):
        call(np.ones(300, np.int64))
    most, least = (1 << 63) - 1, -(1 << 63)
    assert call(np.array([most, 3], np.int64)) == most
    assert call(np.array([least, 3], np.int64)) == least
    with pytest.raises(ig.KernelOverflowError):
        call(np.array([most, 4], np.int64))
    whole: Any = unsigned_long.on("cpu")
    for _ in range(2):
        whole(np.ones(300, np.uint64))
    assert whole(np.array([(1 << 64) - 4], np.uint64)) == (1 << 64) - 1
    with pytest.raises(ig.KernelOverflowError):
        whole(np.array([(1 << 64) - 4, 1], np.uint64))


def test_statements_behind_the_loop_raise_as_the_ordinary_call_does() -> None:
    call: Any = whole.on("cpu")
    x = np.arange(300, dtype=np.int32)
    for _ in range(2):
        call(x, 3)
    with pytest.raises(ig.KernelZeroDivisionError) as native_error:
        call(x, 0)
    with pytest.raises(ig.KernelZeroDivisionError) as ordinary:
        call._call(x, 0)
    assert str(native_error.value) == str(ordinary.value)


def test_bad_input_is_refused_as_by_the_ordinary_call() -> None:
    call: Any = scaled.on("cpu")
    x = np.arange(512, dtype=np.float32)
    for _ in range(2):
        call(x, np.zeros_like(x), 2.0, 0)
    bad: list[tuple[Any, ...]] = [
        (x, np.zeros_like(x), 2.0),
        (x, np.zeros_like(x), "2", 0),
        (x.astype(np.float64), np.zeros_like(x), 2.0, 0),
        (x, np.zeros(100, np.float32), 2.0, 0),
        (x, x, 2.0, 0),
        (x, np.zeros_like(x), 2.0, -1),
        (list(x), np.zeros_like(x), 2.0, 0),
    ]
    for given in bad:
        before: list[Any] = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
        with pytest.raises(Exception) as native_error:
            call(*given)
        with pytest.raises(Exception) as ordinary:
            call._call(*given)
        assert type(native_error.value) is type(ordinary.value)
        assert str(native_error.value) == str(ordinary.value)
        assert all((a == b).all() for a, b in zip(given, before, strict=True) if isinstance(b, np.ndarray))


def test_unusual_calls_give_the_usual_results() -> None:
    call: Any = scaled.on("cpu")
    x, y = np.arange(512, dtype=np.float32), np.zeros(512, np.float32)
    expected = call(x, y, 2.0, 0)
    assert call(x, y, a=2.0, first=0) == expected
    assert call(x.astype(">f4").astype("<f4"), y, np.float32(2), np.int32(0)) == expected
    spaced = np.zeros(1024, np.float32)[::2]
    spaced[...] = x
    assert call(spaced, y, 2, 0) == expected


def test_scalars_of_numpy_are_plain_numbers_behind_the_loop() -> None:
    """No arithmetic of theirs, which wraps, and no result of their types."""
    x, ones = np.arange(300, dtype=np.int32), np.ones(300, np.float32)
    for function, given in (
        (whole, [(x, np.int32(3)), (x, np.int32(2**31 - 1)), (x, np.int32(0))]),
        (concluded, [(ones, np.float64(2.5), np.int32(3)), (ones, 2, np.int32(-(2**31)))]),
        (divided, [(ones, np.float32(3), np.bool_(True)), (ones, np.float32(0.1), False), (ones, 3, True)]),
    ):
        call: Any = function.on("cpu")
        for _ in range(2):
            call(*(a.item() if isinstance(a, np.generic) else a for a in given[0]))
        for one in given:
            assert outcome(call, one) == outcome(function.on("cpu").reference, one)


def outcome(call: Any, given: Any) -> str:
    try:
        return repr(call(*given))
    except ig.KernelZeroDivisionError as error:
        return str(error)


@ig.offload(parallel="require")
def added(x: In[f32, N], y: InOut[f32, N]) -> tuple[f32, f64]:
    s, t = f32(0), f64(0)
    for i in range(len(x)):
        y[i] += x[i]
        s += x[i]
        t += f64(x[i])
    return s, t


@native
def test_a_loop_that_has_run_does_not_run_again_without_memory() -> None:
    """Wherever memory ends, the arrays have changed once at most, and only an error or the result tells of it."""
    import _testcapi

    call, x, y = cast(Any, added.on("cpu")), np.ones(300, np.float32), np.zeros(300, np.float32)
    for _ in range(2):
        call(x, y)
    kept, ended = [], 0
    for start in range(4):
        for _ in range(100):  # freed floats are kept for later ones: there must be none left
            kept.append([number + 0.5 for number in range(200)])
            y[:] = 0
            result = None
            _testcapi.set_nomemory(start, start + 1)
            try:
                result = call(x, y)
            except MemoryError:
                ended += 1
            finally:
                _testcapi.remove_mem_hooks()
            assert (y == 1).all() or (result is None and (y == 0).all())
            assert result in (None, (300.0, 300.0))
    assert ended


@native
def test_no_references_are_lost() -> None:
    import sys

    call: Any = scaled.on("cpu")
    x, y = np.arange(512, dtype=np.float32), np.zeros(512, np.float32)
    for _ in range(3):
        call(x, y, 2.0, 0)
    counts = sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(None)
    for _ in range(500):
        call(x, y, 2.0, 0)
        with pytest.raises(TypeError):
            call(x, y, "2", 0)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == counts[:2]
    assert abs(sys.getrefcount(None) - counts[2]) < 250
