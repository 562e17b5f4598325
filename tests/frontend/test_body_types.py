"""Types of a body: literals, the one type of a local, widening, conversions, stores."""

import math

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f64, i16, u8, u32, u64, w32
from isogrid.dims import N
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar

from .bodies import built, f32, i32, i64, refusal_codes, run, run_one, statements, types_of


def test_literals_have_index_f32_and_bool_by_themselves() -> None:
    def body(y: Out[ig.f32, N]) -> None:
        a = 3
        b = 0.5
        c = True
        d = 2**31
        y[a] = b if c and d > 0 else 0.0

    assert types_of(built(body)) == {"a": Scalar.I64, "b": Scalar.F32, "c": Scalar.BOOL, "d": Scalar.I64}


def test_a_local_follows_its_assignments_that_are_not_literals() -> None:
    def body(x: In[f64, N], n: In[ig.i32, N], y: Out[f64, N]) -> None:
        s = 0
        count = 0
        best = -math.inf
        for j in range(4):
            s += x[j]
            count += n[j]
            best = max(best, x[j])
        y[0] = s + best
        y[1] = f64(count)

    found = types_of(built(body))
    assert (found["s"], found["count"], found["best"]) == (Scalar.F64, Scalar.I32, Scalar.F64)


def test_types_are_found_through_chains_of_locals() -> None:
    def good(x: In[f64, N], y: Out[f64, N]) -> None:
        a = 0
        b = 0
        c = 0
        for j in range(3):
            b = a + b
            a = c
            c = x[j]
        y[0] = b

    found = types_of(built(good))
    assert (found["a"], found["b"], found["c"]) == (Scalar.F64,) * 3


def test_i32_and_u32_widen_beside_i64_only() -> None:
    def body(n: In[ig.i32, N], m: In[u32, N], y: Out[ig.i64, N]) -> None:
        i = ig.gid()
        y[i] = n[i] + i + m[i]

    store = next(s for s in statements(built(body).body) if isinstance(s, k.Store))
    assert store.value.type is Scalar.I64

    def mixed(n: In[ig.i32, N], m: In[u32, N], big: In[u64, N], y: Out[ig.i64, N]) -> None:
        i = ig.gid()
        y[i] = n[i] + m[i]
        y[i] = m[i] + big[i]
        y[i] = i + big[i]

    assert refusal_codes(mixed) == ["IG108", "IG108", "IG108"]


def test_shift_amounts_and_exponents_keep_their_type() -> None:
    def body(n: In[ig.i32, N], m: In[u8, N], y: Out[ig.i32, N]) -> None:
        i = ig.gid()
        y[i] = (n[i] << i) + n[i] ** m[i] + (n[i] >> u64(3))

    run(body, i32(5, 6, 7), np.array([1, 2, 3], np.uint8), y := i32(0, 0, 0))
    assert y.tolist() == [5 + 5 + 0, 12 + 36 + 0, 28 + 343 + 0]


def test_a_sign_belongs_to_its_literal_and_constants_are_one_literal() -> None:
    def body(y: Out[ig.i32, N], z: Out[w32, N]) -> None:
        y[0] = -2147483648
        y[1] = 2**33 // 2**20 - 1
        z[0] = 2**32 - 1

    kernel = built(body)
    stored = [s.value for s in statements(kernel.body) if isinstance(s, k.Store)]
    assert [v.value for v in stored if isinstance(v, k.Const)] == [-(2**31), 2**13 - 1, 2**32 - 1]


def test_a_literal_is_rounded_once() -> None:
    def body(y: Out[ig.f32, N]) -> None:
        y[0] = 9007199791611905
        y[1] = 0.1

    run_one(body, y := f32(0, 0))
    # 2^53 + 2^29 + 1 lies above the middle of two f32 values; rounded through f64 it would be the middle, and go down.
    assert int(y[0]) == 9007200328482816
    assert y[1] == np.float32(0.1)


def test_a_choice_of_literals_takes_the_type_that_it_meets() -> None:
    def body(x: In[f64, N], y: Out[f64, N], z: Out[u8, N]) -> None:
        i = ig.gid()
        y[i] = x[i] * (1 if x[i] > 0.0 else -1)
        z[i] = 255 if x[i] > 0.0 else 0

    run(body, np.array([2.0, -3.0]), y := np.zeros(2), z := np.zeros(2, np.uint8))
    assert (y.tolist(), z.tolist()) == ([2.0, 3.0], [255, 0])


def test_stores_narrow_integers_and_nothing_else() -> None:
    def body(n: In[ig.i64, N], y: Out[u8, N], z: Out[i16, N]) -> None:
        i = ig.gid()
        y[i] = n[i]
        z[i] = n[i] * 100

    run(body, i64(1, 255), y := np.zeros(2, np.uint8), z := np.zeros(2, np.int16))
    assert (y.tolist(), z.tolist()) == ([1, 255], [100, 25500])
    with pytest.raises(ig.KernelOverflowError):
        run(body, i64(256), np.zeros(1, np.uint8), np.zeros(1, np.int16))


@pytest.mark.parametrize("value", [300.0, -1.0, math.nan])
def test_a_written_conversion_to_an_element_type_traps_as_a_conversion(value: float) -> None:
    def body(x: In[ig.f32, N], y: Out[u8, N]) -> None:
        y[0] = u8(x[0])

    run_one(body, f32(254.9), y := np.zeros(1, np.uint8))
    assert y[0] == 254
    with pytest.raises(ig.KernelValueError):
        run_one(body, f32(value), np.zeros(1, np.uint8))


def test_conversions_of_literals() -> None:
    def body(y: Out[ig.i32, N], z: Out[w32, N], t: Out[ig.f32, N]) -> None:
        y[0] = ig.i32(2.9) + ig.i32(True)
        y[1] = int(-2.9)
        z[0] = w32(-1)
        t[0] = ig.f32(7) / ig.f32(2)
        t[1] = ig.f32(bool(3) and True)

    run_one(body, y := i32(0, 0), z := np.zeros(2, np.uint32), t := f32(0, 0))
    assert (y.tolist(), z.tolist(), t.tolist()) == ([3, -2], [2**32 - 1, 0], [3.5, 1.0])


def test_counters_have_the_common_type_of_their_bounds() -> None:
    def body(p: In[ig.i32, N], y: Out[ig.f32, N]) -> None:
        for a in range(3):
            y[a] = 0.0
        for b in range(p[0], p[1]):
            y[b] = 1.0
        for c in range(p[0], N):
            y[c] = 2.0
        for d in range(u32(2)):
            y[d] = 3.0

    found = types_of(built(body))
    assert [found[name] for name in "abcd"] == [Scalar.I64, Scalar.I32, Scalar.I64, Scalar.U32]


def test_annotations_decide_the_type_of_a_local() -> None:
    def body(n: In[ig.i32, N], y: Out[f64, N]) -> None:
        s: f64 = 0
        m: ig.i64 = n[0]
        t: int = 5
        flag: bool
        flag = t > m
        y[0] = s if flag else 1.0

    found = types_of(built(body))
    assert [found[name] for name in ("s", "m", "t", "flag")] == [Scalar.F64, Scalar.I64, Scalar.I64, Scalar.BOOL]


def test_narrow_elements_are_computed_with_as_i32() -> None:
    def body(x: In[u8, N], y: Out[u8, N]) -> None:
        i = ig.gid()
        y[i] = (x[i] + x[i]) // 2

    run(body, np.array([200, 7], np.uint8), y := np.zeros(2, np.uint8))
    assert y.tolist() == [200, 7]


def test_builtins_take_literals_and_widen() -> None:
    def body(n: In[ig.i32, N], x: In[f64, N], y: Out[f64, N]) -> None:
        i = ig.gid()
        y[i] = ig.fma(x[i], 2, 0.5) + ig.clamp(x[i], 0, 1) + f64(min(n[i], i, 7)) + math.sqrt(4)

    run(body, i32(9, -1), np.array([0.25, 4.0]), y := np.zeros(2))
    assert y.tolist() == [1.0 + 0.25 + 0.0 + 2.0, 8.5 + 1.0 - 1.0 + 2.0]


def test_float_powers_take_small_literals() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.f32, N]) -> None:
        y[0] = x[0] ** 2 + x[0] ** 0
        y[1] = pow(x[0], 3)

    run_one(body, f32(3.0, 0.0), y := f32(0, 0))
    assert y.tolist() == [10.0, 27.0]


def test_other_float_powers_are_the_function_pow() -> None:
    def body(x: In[ig.f32, N], y: Out[ig.f32, N]) -> None:
        y[0] = x[0] ** 0.5 + 2.0 ** x[0]
        y[1] = pow(x[0], x[1]) - math.pow(x[0], 1.5)
        s, c = ig.sincos(x[1])
        m, e = math.frexp(x[0])
        y[2] = s * s + c * c
        y[3] = m + ig.f32(e)

    run_one(body, f32(4.0, 1.5, 0.0, 0.0), y := f32(0, 0, 0, 0))
    assert y.tolist() == [18.0, 0.0, 1.0, 3.5]


def test_dtypes_are_values_at_compile_time() -> None:
    def body(x: InOut[ig.Real, N], y: Out[ig.f32, N]) -> None:
        half = x.dtype(0.5)
        t = x.dtype
        local = ig.local(t, 2)
        local[0] = t(1) + half
        if x.dtype == ig.f32:
            y[0] = x[0]
        else:
            y[0] = ig.f32(local[0] + x[0])

    run_one(body, f32(3.0), y := f32(0.0))
    assert y[0] == 3.0
    run_one(body, np.array([3.0]), y)
    assert y[0] == 4.5


def test_limits() -> None:
    def body(y: Out[ig.i32, N], z: Out[ig.f32, N]) -> None:
        y[0] = ig.limits(ig.i32).max
        y[1] = ig.limits(u8).max
        z[0] = ig.limits(ig.f32).max

    run_one(body, y := i32(0, 0), z := f32(0, 0))
    assert (y.tolist(), z[0]) == ([2**31 - 1, 255], np.finfo(np.float32).max)
