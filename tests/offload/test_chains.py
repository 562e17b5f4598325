"""Functions of several loops go through one native callable per loop: the same numbers, errors and restored arrays as
the ordinary call."""

from typing import Any

import numpy as np
import pytest
from benchmarks.offload_programs import sum_and_map, two_maps

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64, u32, w32
from isogrid.backends.cpu import pool
from isogrid.dims import M, N
from isogrid.offloading.function import Offloaded
from tests.offload.written import bits

native = pytest.mark.skipif(not pool.is_supported(), reason="this platform has no native callable")

SIZES = [1024, 0, 1, 255, 257, 65_536, 65_537]


@ig.offload(parallel="require")
def moments(x: In[f32, N], y: In[f64, N], k: i32) -> tuple[f32, f64, f64]:
    s, low, p = f32(0.5), f64(100), f64(1)
    for i in range(len(x)):
        s += x[i]
    for i in range(len(y)):
        low = min(low, y[i])
        p *= y[i] * 0.5 + 1.0
    mean = f64(s) / 3.0
    return s, mean * low + f64(k), p


@ig.offload(parallel="require")
def counted(x: In[i32, N], y: InOut[i32, N], z: InOut[i32, N]) -> tuple[i32, i64]:
    s, t = i32(1), i64(0)
    for i in range(len(x)):
        y[i] += x[i]
    for i in range(len(x)):
        z[i] = y[i] * 3
        s += y[i] % 1000
    for i in range(len(x)):
        t += i64(z[i])
    return s // 2, t


@ig.offload(parallel="require")
def scattered(index: In[i32, N], bins: InOut[i32, M], y: Out[w32, N]) -> None:
    seven = w32(7)
    for i in range(len(index)):
        bins[index[i]] += 1
    for i in range(len(index)):
        y[i] = w32(index[i]) * seven


@ig.offload(parallel="require")
def tiles(x: In[f32, N], y: Out[f32, M], h: i64, w: i64) -> f32:
    top = f32(-1e30)
    for i in range(h):
        for j in range(w):
            y[i * w + j] = x[i] * f32(j)
    for i in range(h):
        top = max(top, x[i])
    return top


@ig.offload(parallel="require")
def one_loop(x: In[i32, N], y: InOut[i32, N]) -> i32:
    """Changes an array, and its total may fail."""
    s = i32(0)
    for i in range(len(x)):
        y[i] += 1
        s += x[i]
    return s


@ig.offload(parallel="require")
def scaled(x: In[f32, N], y: Out[f32, N]) -> f32:
    """A constant goes into the loop, and a result that no loop makes comes out."""
    g = f32(0.3) * 2.0
    for i in range(len(x)):
        y[i] = g * x[i]
    return g


@ig.offload(parallel="require")
def prepared(x: In[f32, N], y: InOut[f32, N], a: f32, n: i64) -> tuple[f32, f32, i64]:
    """Scalars from the arguments go into the loops."""
    g = 2.0 * a
    half = n // 2
    for i in range(half):
        y[i] = g * x[i]
    s = f32(1)
    h = g * f32(half)
    for i in range(len(x)):
        s += x[i] * h
    last = s - g
    return last, g, half


@ig.offload(parallel="require")
def damped(x: InOut[f64, N], k: f64, n: i64) -> None:
    factor = 1.0 / (1.0 + k)
    for i in range(n):
        x[i] = x[i] * factor


def arguments(size: int) -> dict[str, tuple[Any, ...]]:
    random = np.random.default_rng(size)
    x = random.standard_normal(size).astype(np.float32)
    whole = random.integers(-5000, 5000, size).astype(np.int32)
    side = int(size**0.5)
    return {
        "two_maps": (x, np.zeros_like(x), np.zeros_like(x)),
        "sum_and_map": (x, np.zeros_like(x)),
        "moments": (x, x.astype(np.float64) / 2, 3),
        "counted": (whole, whole * 2, np.zeros_like(whole)),
        "scattered": (abs(whole) % 7, np.zeros(7, np.int32), np.zeros(size, np.uint32)),
        "tiles": (x[:side].copy(), np.zeros(side * side, np.float32), side, side),
        "one_loop": (whole, whole + 1),
        "scaled": (x, np.zeros_like(x)),
        "prepared": (x, np.zeros_like(x), 0.1, size),
        "damped": (x.astype(np.float64), 0.25, size),
    }


FUNCTIONS = [two_maps, sum_and_map, moments, counted, scattered, tiles, one_loop, scaled, prepared, damped]
NAMES = [f.__name__ for f in FUNCTIONS]


def outcome(call: Any, given: tuple[Any, ...]) -> Any:
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
    try:
        result = call(*copies)
    except (ig.LaunchError, ig.Trap, TypeError) as error:
        return type(error), str(error), [bits(a) for a in copies if isinstance(a, np.ndarray)]
    return repr(result), [bits(a) for a in copies if isinstance(a, np.ndarray)]


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_the_ordinary_call(name: str) -> None:
    call: Any = FUNCTIONS[NAMES.index(name)].on("cpu")
    for size in SIZES:
        given = arguments(size)[name]
        expected = outcome(call.reference if size in (0, 1, 255) else call._call, given)
        for _ in range(3):
            assert outcome(call, given) == expected, size


@native
@pytest.mark.parametrize("name", NAMES)
def test_they_are_native(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call: Any = FUNCTIONS[NAMES.index(name)].on("cpu")
    given = arguments(1024)[name]
    call(*given)
    assert call.__call__ != call._call
    monkeypatch.setattr(Offloaded, "_run", lambda *_: pytest.fail("the ordinary call"))
    call(*given)


BAD: list[tuple[str, Any]] = [
    ("two_maps", lambda x, y, z: (x, y, z[:-1])),
    ("two_maps", lambda x, y, z: (x, y, x)),
    ("two_maps", lambda x, y, z: (x, y, y)),
    ("two_maps", lambda x, y, z: (x, y, y.astype(np.float64))),
    ("two_maps", lambda x, y, z: (x, y)),
    ("two_maps", lambda x, y, z: (x, y, list(z))),
    ("two_maps", lambda x, y, z: (x, y, locked(z))),
    ("tiles", lambda x, y, h, w: (x, y, h, w + 1)),
    ("tiles", lambda x, y, h, w: (x, y, h + 1, w - 1)),
    ("tiles", lambda x, y, h, w: (x, y, 2**62, 2)),
    ("tiles", lambda x, y, h, w: (x, y, h, "w")),
    ("counted", lambda x, y, z: (x, y, z[::2])),
    ("counted", lambda x, y, z: (x, np.full_like(y, 2**31 - 5000), z)),
    ("counted", lambda x, y, z: (x, np.full_like(y, 10**9), z)),
    ("scattered", lambda i, b, y: (i + 1, b, y)),
    ("prepared", lambda x, y, a, n: (x, y, a, 2 * n + 2)),
    ("prepared", lambda x, y, a, n: (x, y, "a", n)),
    ("prepared", lambda x, y, a, n: (x, y, a, 2.5)),
    ("prepared", lambda x, y, a, n: (x, y, a)),
    ("prepared", lambda x, y, a, n: (x, y, a, 2**63)),
    ("damped", lambda x, k, n: (x, k, n + 1)),
    ("damped", lambda x, k, n: (x, None, n)),
    ("one_loop", lambda x, y: (np.full_like(x, 2**30), y)),
    ("one_loop", lambda x, y: (x, np.full_like(y, 2**31 - 1))),
]


def locked(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("number", range(len(BAD)))
def test_errors_are_those_of_the_ordinary_call_and_nothing_changes(number: int) -> None:
    name, spoil = BAD[number]
    call: Any = FUNCTIONS[NAMES.index(name)].on("cpu")
    for _ in range(2):
        outcome(call, arguments(300)[name])
    found: list[Any] = []
    for run in (call, call._call):
        given = spoil(*arguments(300)[name])
        before = [a.copy() for a in given if isinstance(a, np.ndarray)]
        with pytest.raises((ig.LaunchError, ig.Trap, TypeError)) as caught:
            run(*given)
        found.append((caught.type, str(caught.value)))
        assert all(
            np.array_equal(a, b) for a, b in zip(before, (a for a in given if isinstance(a, np.ndarray)), strict=True)
        )
    assert found[0] == found[1]


@ig.offload(parallel="require")
def reused(x: In[f32, N], n: i64) -> tuple[f32, f32]:
    """One name, two reductions; and an error between two loops."""
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    first = s
    s = f32(1)
    for i in range(len(x)):
        s *= x[i]
    return first, s


@ig.offload(parallel="require")
def between(x: In[f32, N], y: InOut[i32, N], n: i64) -> tuple[f32, i64]:
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    q = 100 // n
    for i in range(len(x)):
        y[i] = 100 // y[i]
    return s, q


def test_names_and_errors_keep_their_order() -> None:
    x = np.full(300, 1.5, np.float32)
    for _ in range(3):
        assert reused(x, 3)[0] == 450.0
        assert bits(reused(x[:5], 3)[1]) == bits(float(np.float32(1.5**5)))
    for _ in range(2):
        between(x, np.full(300, 3, np.int32), 7)
    with pytest.raises(ig.KernelZeroDivisionError, match="100 // 0"):
        between(x, np.zeros(300, np.int32), 7)
    with pytest.raises(ig.KernelZeroDivisionError) as caught:
        between(x, np.zeros(300, np.int32), 0)
    assert "thread" not in str(caught.value).splitlines()[0] or "q = 100" in str(caught.value)


def test_scalars_that_plain_numbers_cannot_say() -> None:
    call: Any = damped.on("cpu")
    x = np.arange(1.0, 300.0)
    for _ in range(2):
        call(x.copy(), 0.5, 299)
    for k in (-1.0, 3, 10**17 + 1, np.float64(0.1), float("nan"), -0.0, True):
        assert outcome(call, (x, k, 299)) == outcome(call._call, (x, k, 299)), k
    big: Any = prepared.on("cpu")
    y = np.zeros(300, np.float32)
    for a in (16777217, 1e38, 3.4e38, 2**70, np.float32(0.1), 0.1):
        given = (x[:299].astype(np.float32), y[:299], a, 299)
        assert outcome(big, given) == outcome(big._call, given), a


@ig.offload(parallel="require")
def late(a: In[i64, N], y: InOut[i64, N], n: i64) -> i64:
    top = i64(7)
    for i in range(n):
        top = max(top, a[i])
    for i in range(n):
        y[i] = 1
    return top * 3 - n


@ig.offload(parallel="require")
def wide(x: In[f32, N]) -> i64:
    factor = 4611686018427387904
    s = i64(0)
    for i in range(len(x)):
        s = max(s, factor * i)
    return s


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
def test_what_loops_computed_may_be_large(device: str) -> None:
    """Code for small launches assumes small scalars: these are larger, and errors behind them restore all the same."""
    call: Any = late.on(device)
    for top in (5, 2**62, 5, 2**62):
        a, y = np.full(9, top), np.zeros(9, np.int64)
        if top == 5:
            assert call(a, y, 9) == 12
        else:
            with pytest.raises(ig.KernelOverflowError, match="4611686018427387904 \\* 3"):
                call(a, y, 9)
        assert (y == (top == 5)).all()
    big: Any = wide.on(device)
    for n in (1, 2, 1, 2):
        assert big(np.zeros(n, np.float32)) == (n - 1) * 2**62
    with pytest.raises(ig.KernelOverflowError, match="4611686018427387904 \\* 2"):
        big(np.zeros(5, np.float32))


def test_keywords_views_and_scopes_take_the_ordinary_call() -> None:
    call: Any = two_maps.on("cpu")
    x, y, z = (np.arange(600, dtype=np.float32) for _ in range(3))
    call(x, y, z)
    call(x, y=y, z=z)
    spaced = np.zeros(1200, np.float32)[::2]
    call(x, y, spaced)
    assert np.array_equal(spaced, 2 * x + 1)
    with ig.use("interp"):
        two_maps(x[:5], y[:5], z[:5])
    assert np.array_equal(z, 2 * x + 1)


@ig.offload(parallel="require")
def concluding(x: In[f32, N], a: f64, b: f32, k: i32, u: u32) -> tuple[f64, f32, i32, i64, u32, w32, f64]:
    """Conversions, integer arithmetic and float arguments that are Python integers."""
    s, n, m = f32(0.25), i32(3), w32(5)
    for i in range(len(x)):
        s += x[i]
        n += i32(1)
    for _i in range(len(x)):
        m += w32(7)
    wide = f64(s) * a + f64(n)
    return wide, f32(wide) * b, n // k - n % k, i64(n) * i64(k) - len(x), u + u32(1), m * m - w32(9), a


@pytest.mark.parametrize(
    "given", [(2.5, 0.1, 7, 5), (3, 2, -7, 0), (10**17 + 1, 16777217, 1, 2**32 - 2), (1e308, 1e38, -1, 1)]
)
def test_what_stands_behind_the_loops(given: tuple[Any, ...]) -> None:
    call: Any = concluding.on("cpu")
    for size in (300, 1, 0, 300):
        x = np.linspace(-1, 3, size, dtype=np.float32)
        expected = outcome(call._call, (x, *given))
        for _ in range(3):
            assert outcome(call, (x, *given)) == expected


@pytest.mark.parametrize("given", [(1.0, 1.0, 0, 1), (1.0, 1.0, 3, 2**32 - 1)])
def test_errors_behind_the_loops(given: tuple[Any, ...]) -> None:
    call: Any = concluding.on("cpu")
    x = np.ones(300, np.float32)
    for _ in range(2):
        call(x, 1.0, 1.0, 3, 1)
    assert outcome(call, (x, *given)) == outcome(call._call, (x, *given))
    assert outcome(call, (x, *given))[0] in (ig.KernelZeroDivisionError, ig.KernelOverflowError)
