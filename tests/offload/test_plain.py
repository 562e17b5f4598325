"""`f.python(...)`: the undecorated function on Python itself gives what the loops give, and leaves nothing behind."""

import math
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, bf16, f16, f32, f64, i8, i32, i64, u8, u32, w32, w64
from isogrid.dims import H, N, W
from tests.offload import examples, test_loops
from tests.offload.written import called, function

T = ig.tunable(4, 8)


def agrees(f: Any, arguments: dict[str, Any]) -> None:
    """Equality with the reference, which every device equals in every bit; floats up to the order of reductions."""
    expected, result = called(f.reference, arguments), called(f.python, arguments)
    assert expected[3] is None, expected[3]
    assert result[3] is None, result[3]
    assert _near(result[0], expected[0]), (result[0], expected[0])
    for name, value in expected[1].items():
        assert _near(result[1][name], value), name


def _near(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return len(a) == len(b) and all(map(_near, a, b))
    if isinstance(a, np.ndarray):
        if a.dtype.kind in "biu":
            return np.array_equal(a, b)
        # What a float sum may lose is judged against the sizes that it adds.
        return np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-4, equal_nan=True)
    if isinstance(b, float):
        return type(a) is float and (a == pytest.approx(b, rel=1e-5, abs=1e-4, nan_ok=True))
    return type(a) is type(b) and a == b


# --- everything that is recorded -------------------------------------------------------------------------------------

_EXAMPLES = {e.id: e for e in examples.examples() if e.verdict == "ok" and not e.outside}
_LOOPS = {e["id"]: e for e in test_loops.ALL if e["id"] not in {**test_loops.OUTSIDE, **test_loops.AT_THE_CALL}}


@pytest.mark.parametrize("name", _EXAMPLES)
def test_accepted_examples(name: str) -> None:
    agrees(ig.offload(_EXAMPLES[name].typed()), examples.arguments())


@pytest.mark.parametrize("name", _LOOPS)
def test_recorded_loops(name: str) -> None:
    agrees(ig.offload(test_loops.function_of(_LOOPS[name])), test_loops._arguments(_LOOPS[name]))


# --- what the names mean ---------------------------------------------------------------------------------------------


@ig.func
def mean_of(v: In[f32, N]) -> f32:
    total = f32(0)
    for i in range(N):
        total += v[i]
    return total / f32(N)


@ig.offload
def sizes(x: In[f32, H, W], y: Out[f32, H], t: InOut[i64, H], k: i64 = 3) -> tuple[i64, f32]:
    best = f32(-1e30)
    for i in range(H):
        y[i] = mean_of(x[i]) * f32(W) + f32(i) / f32(H)
        t[i] = ig.cdiv(W, 2) + (W >> 1) + W % k + (1 if i < H - 1 else 0) + (W if i == H - 1 else -W) + T
        for j in ig.unroll(range(T), 2):
            t[i] += j
        best = max(best, x[i, 0])
    return H, best


@pytest.mark.parametrize("chosen", T.values)
def test_dimensions_tunables_and_helpers(chosen: int) -> None:
    x = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    arguments = {"x": x, "y": np.zeros(5, np.float32), "t": np.zeros(5, np.int64)}
    agrees(sizes.options(T=chosen), arguments)
    agrees(sizes.options(T=chosen), arguments | {"k": 4})


@ig.offload
def integers(
    a: InOut[i32, N], b: InOut[u32, N], c: InOut[w32, N], d: InOut[w64, N], e: InOut[i8, N], g: InOut[u8, N]
) -> tuple[w32, u32, i32]:
    s, m, v = w32(7), u32(0), i32(0)
    for i in range(N):
        c[i] = ~c[i] * w32(2654435761) + (c[i] >> 3) ** 3 - w32(5)
        d[i] = (d[i] << 7) ^ w64(a[i])
        b[i] = ~b[i] ^ u32(i)
        e[i] = -(e[i] * 3 + 200) // 7 % 50
        g[i] = ig.saturate(u8, f32(g[i]) * 1.5 - 20.0)
        a[i] = ig.popcount(a[i]) + ig.clz(a[i] ^ 5) + ig.rotate(a[i], 5) // 1000 + abs(a[i]) // 3 + i32(b[i] >> 4)
        s += c[i]
        m |= b[i]
        v = max(v, a[i] % 1000)
    return s, m, v


@ig.offload
def floats(h: InOut[f16, N], x: InOut[f32, N], y: InOut[f64, N], k: i32) -> tuple[f32, f64]:
    s, t = f32(0), f64(1)
    for i in range(N):
        h[i] = f16(h[i] * h[i] + 0.1)
        x[i] = ig.fma(x[i], 2.0, 1.0) + ig.rsqrt(abs(x[i]) + 1.0) + ig.clamp(x[i], -0.5, 0.5)
        x[i] += ig.sincos(x[i])[0] + ig.sinpi(x[i]) + ig.select(x[i] > 0.0, x[i], 1.0) + x[i] // 0.3 + f32(k)
        y[i] = math.sqrt(abs(y[i])) + f64(ig.bitcast(i32, x[i]) >> 20) + ig.limits(f64).max * 0.0 + ig.round_away(y[i])
        s += x[i]
        t = min(t, y[i])
    return s, t


def test_numbers_of_every_type() -> None:
    random = np.random.default_rng(5)
    words = random.integers(0, 1 << 32, 40, np.uint32)
    small = random.integers(-100, 100, 40)
    agrees(
        integers,
        {
            "a": words.view(np.int32) >> 3,
            "b": words[::-1].copy(),
            "c": words.copy(),
            "d": words.astype(np.uint64) << 20,
            "e": small.astype(np.int8),
            "g": (small + 110).astype(np.uint8),
        },
    )
    x = random.normal(size=40)
    arguments = {"h": x.astype(np.float16), "x": x.astype(np.float32), "y": x * 3, "k": -4}
    agrees(floats, arguments)
    agrees(floats, arguments | {"k": np.int32(-4)})


@ig.offload
def updates(index: In[i32, N], bins: InOut[i64, H], least: InOut[f32, H], flags: In[bool, N]) -> bool:
    some = False
    for i in range(len(index)):
        ig.atomic_add(bins, index[i], 2)
        ig.atomic_min(least, index[i], f32(i))
        if flags[i] and not some:
            some = True
    return some


@ig.offload
def generic(x: In[ig.Real, N], y: Out[ig.Real, N], bias: In[ig.Real, N] | None = None) -> ig.Real:
    s = x.dtype(0)
    for i in range(len(x)):
        s += x[i]
        y[i] = x[i] / x.dtype(3) if bias is None else x[i] + bias[i]
    return s


def test_atomics_generics_and_absent_arrays() -> None:
    index = np.array([1, 3, 1, 0, 3], np.int32)
    arguments = {"index": index, "bins": np.zeros(4, np.int64), "least": np.full(4, 9, np.float32)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        agrees(updates, arguments | {"flags": index > 2})
    for dtype in (np.float32, np.float64):
        x = np.linspace(0, 1, 9, dtype=dtype)
        agrees(generic, {"x": x, "y": np.zeros_like(x)})
        agrees(generic, {"x": x, "y": np.zeros_like(x), "bias": x * 2})


def test_arrays_of_devices_and_narrow_floats() -> None:
    types = __import__("ml_dtypes")

    @ig.offload
    def halves(x: In[bf16, N], y: InOut[bf16, N]) -> f32:
        s = f32(0)
        for i in range(len(x)):
            y[i] = bf16(x[i] * x[i] + y[i])
            s += x[i]
        return s

    x = np.linspace(-3, 3, 30).astype(types.bfloat16)
    agrees(halves, {"x": x, "y": x.copy()})
    for device in ("cpu", "cuda"):
        near, far = np.ones(8, np.float32), ig.array(np.ones(8, np.float32), device=device)
        assert generic.python(ig.array(near, device=device), far) == 8.0
        assert np.array_equal(far.numpy(), near / np.float32(3))


# --- and nowhere else ------------------------------------------------------------------------------------------------


def _refuse_here() -> None:
    for name in (lambda: f32(1), lambda: ig.fma(1.0, 2.0, 3.0), lambda: mean_of(np.ones(3)), lambda: range(N)):
        with pytest.raises(ig.OutsideKernelError):
            name()
    with pytest.raises(ig.OutsideKernelError):
        assert N > 3
    assert repr(N + 1) == "N + 1"
    assert N != 3


def test_names_mean_nothing_outside_afterwards_and_in_other_threads() -> None:
    inside, leave = threading.Event(), threading.Event()

    def spy(x: Any) -> Any:
        inside.set()
        leave.wait(20)
        return f32(x[0])

    waiting = ig.offload(
        function(
            "def f(x: In[f32, N]) -> f32:\n    return spy(x)\n", "spied", "from tests.offload.test_plain import *\n"
        )
    )
    waiting.definition.function.__globals__["spy"] = spy
    found: list[Any] = []
    runner = threading.Thread(target=lambda: found.append(waiting.python(np.full(3, 2.5, np.float32))))
    runner.start()
    assert inside.wait(20)
    _refuse_here()
    leave.set()
    runner.join()
    assert found == [2.5]
    _refuse_here()


def test_errors_leave_nothing_behind() -> None:
    @ig.offload
    def fails(x: InOut[i32, N], k: f32) -> None:
        for i in range(N):
            x[i] = i32(k) // x[i]

    with pytest.raises(ZeroDivisionError):
        fails.python(np.zeros(3, np.int32), 2.0)
    _refuse_here()
    with pytest.raises(ValueError, match="i32"):
        fails.python(np.ones(3, np.int32), 1e20)
    _refuse_here()
    with pytest.raises(ig.LaunchTypeError, match="holds float64"):
        fails.python(np.ones(3), 1.0)
    with pytest.raises(ig.LaunchTypeError, match="misses `k`"):
        fails.python(np.ones(3, np.int32))
    _refuse_here()


def test_what_needs_other_threads_says_so() -> None:
    @ig.offload
    def shuffles(x: InOut[i32, N]) -> None:
        for i in range(N):
            x[i] = ig.shuffle(x[i], 1)

    with pytest.raises(ig.OutsideKernelError, match=r"ig.shuffle\(\) needs other threads"):
        shuffles.python(np.ones(3, np.int32))


def test_options_take_tunables_by_name() -> None:
    f = sizes.options(T=8, unroll=False)
    assert "T=8" in repr(f)
    assert f.options(T=4).option_values == f.option_values
    for bad in (5, 4.0, True):
        with pytest.raises(ig.OptionError, match=r"tunable `T` of sizes is one of 4, 8"):
            sizes.options(T=bad)
    with pytest.raises(ig.OptionError, match="there is no option `TT`"):
        sizes.options(TT=4)
    assert not any(report.code != "IG8070" for report in f.check())
