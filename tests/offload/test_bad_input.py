"""What a call may be given by mistake: each is one clear error, on every device, and nothing has changed.

Errors name the function and the parameter; those about lengths also name the length and the loop's index range.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32, i64
from isogrid.dims import H, M, N, W
from tests.offload.written import bits

DEVICES = ["cpu", "interp", "cuda"]


@ig.offload(parallel="require")
def spread(x: In[f32, N], y: Out[f32, M], n: i64, a: i64, c: i64) -> None:
    for i in range(n):
        y[a * i + c] = x[i]


@ig.offload(parallel="require")
def downward(x: In[f32, N], y: Out[f32, M], first: i64, last: i64) -> None:
    for i in range(first, last, -2):
        y[i] = x[i - 1]


@ig.offload(parallel="require")
def table(x: In[f32, H, W], y: Out[f32, H, W], n: i64) -> None:
    for i in range(n):
        y[i, 0] = x[0, i]


@ig.offload(parallel="require")
def twice(x: In[f32, N], y: InOut[f32, M], n: i64) -> f32:
    """The second loop is the one that does not fit."""
    s = f32(0)
    for i in range(n):
        y[i] += x[i]
    for i in range(n):
        s += y[i + 2]
    return s


@ig.offload
def running(x: InOut[f32, N], y: Out[f32, M], n: i64) -> None:
    """The first loop runs in sequence, and the second is checked before it all the same."""
    for i in range(1, n):
        x[i] = x[i] + x[i - 1]
    for i in range(n):
        y[i + 1] = x[i]


def f(n: int) -> Any:
    return np.arange(n, dtype=np.float32)


def grid(h: int, w: int) -> Any:
    return np.arange(h * w, dtype=np.float32).reshape(h, w)


def locked(array: Any) -> Any:
    array.flags.writeable = False
    return array


def shared(count: int, *slices: slice) -> list[Any]:
    base = f(count)
    return [base[part] for part in slices]


#: Function, what it is given, and everything that the error has to say.
CASES: dict[str, tuple[Any, Callable[[], list[Any]], list[str]]] = {
    "short output": (
        spread, lambda: [f(9), f(9), 5, 2, 1],
        ["spread()", "argument `y` has 9 elements", "loop 1 writes `y[a * i + c]`", "at indices 1..9, for i = 0..4"],
    ),
    "short input": (
        spread, lambda: [f(4), f(20), 5, 2, 1],
        ["spread()", "argument `x` has 4 elements", "loop 1 reads `x[i]` on line", "at indices 0..4, for i = 0..4"],
    ),
    "below zero": (
        spread, lambda: [f(9), f(9), 5, -2, 7],
        ["argument `y` has 9 elements", "at indices -1..7, for i = 0..4"],
    ),
    "stride of zero": (
        spread, lambda: [f(9), f(9), 5, 0, 1],
        ["spread(): `a` is 0", "all iterations of loop 1 would write one element of `y`"],
    ),
    "huge bound": (
        spread, lambda: [f(9), f(9), 2**63 - 1, 1, 0],
        ["argument `x` has 9 elements", f"at indices 0..{2**63 - 2}, for i = 0..{2**63 - 2}"],
    ),
    "product beyond 2^63": (
        spread, lambda: [f(9), f(9), 5, 2**62, 0],
        ["argument `y` has 9 elements", f"at indices 0..{2**64}, for i = 0..4"],
    ),
    "sum beyond 2^63": (
        spread, lambda: [f(9), f(9), 5, 2, 2**63 - 1],
        ["argument `y` has 9 elements", f"at indices {2**63 - 1}..{2**63 + 7}, for i = 0..4"],
    ),
    "downward, below zero": (
        downward, lambda: [f(9), f(9), 8, -1],
        ["downward()", "argument `x` has 9 elements", "loop 1 reads `x[i - 1]`", "at indices -1..7, for i = 8..0"],
    ),
    "downward, short": (
        downward, lambda: [f(9), f(8), 8, 0],
        ["argument `y` has 8 elements", "loop 1 writes `y[i]`", "at indices 2..8, for i = 8..2"],
    ),
    "an axis": (
        table, lambda: [grid(5, 3), grid(5, 3), 4],
        ["table()", "argument `x` has 3 elements along axis 1", "loop 1 reads `x[0, i]`", "indices 0..3, for i = 0..3"],
    ),
    "the second loop": (
        twice, lambda: [f(5), f(6), 5],
        ["twice()", "argument `y` has 6 elements", "loop 2 reads `y[i + 2]`", "at indices 2..6, for i = 0..4"],
    ),
    "behind a loop in sequence": (
        running, lambda: [f(5), f(5), 5],
        ["running()", "argument `y` has 5 elements", "loop 2 writes `y[i + 1]`", "at indices 1..5, for i = 0..4"],
    ),
    "another type": (
        spread, lambda: [f(9), np.zeros(9), 5, 1, 0],
        ["argument `y` of spread() holds float64, and the parameter is Out[f32]", ".astype(np.float32)"],
    ),
    "big-endian": (
        spread, lambda: [f(9).astype(">f4"), f(9), 5, 1, 0],
        ["argument `x` of spread() is not in the byte order of this machine", ".astype(np.float32)"],
    ),
    "a list": (
        spread, lambda: [[1.0] * 9, f(9), 5, 1, 0],
        ["argument `x` of spread() is a Python list", "np.asarray"],
    ),
    "a tuple as output": (
        spread, lambda: [f(9), (0.0,) * 9, 5, 1, 0],
        ["argument `y` of spread() is a Python tuple", "np.asarray"],
    ),
    "objects": (
        spread, lambda: [f(9).astype(object), f(9), 5, 1, 0],
        ["argument `x` of spread() holds Python objects"],
    ),
    "no axes": (
        spread, lambda: [np.array(1, np.float32), f(9), 5, 1, 0],
        ["argument `x` of spread() is a 0-d array, and the parameter has 1 axis"],
    ),
    "two axes": (
        spread, lambda: [f(9), grid(4, 6)[:, ::2], 5, 1, 0],
        ["argument `y` of spread() has 2 axes"],
    ),
    "one axis": (
        table, lambda: [f(15), grid(5, 3), 3],
        ["argument `x` of table() has 1 axis"],
    ),
    "sizes that differ": (
        table, lambda: [grid(5, 3), grid(4, 3), 3],
        ["table(): axis 0 of `y` has 4 elements but axis 0 of `x` has 5", "`H`"],
    ),
    "read-only": (
        spread, lambda: [f(9), locked(f(9)), 5, 1, 0],
        ["argument `y` of spread() is a read-only array", "Out"],
    ),
    "read-only, for the second loop": (
        running, lambda: [f(5), locked(f(9)), 5],
        ["argument `y` of running() is a read-only array"],
    ),
    "the same array": (
        spread, lambda: [*shared(9, slice(None), slice(None)), 5, 1, 0],
        ["arguments `x` and `y` of spread() share memory"],
    ),
    "a shifted view": (
        spread, lambda: [*shared(10, slice(0, 9), slice(1, 10)), 5, 1, 0],
        ["arguments `x` and `y` of spread() share memory"],
    ),
    "a reversed view": (
        spread, lambda: [*shared(9, slice(None), slice(None, None, -1)), 5, 1, 0],
        ["arguments `x` and `y` of spread() share memory"],
    ),
    "two reversed views": (
        spread, lambda: [*shared(9, slice(7, None, -1), slice(None, 0, -1)), 5, 1, 0],
        ["arguments `x` and `y` of spread() share memory"],
    ),
    "one view inside another": (
        spread, lambda: [*shared(18, slice(4, 9), slice(0, 18, 2)), 5, 1, 0],
        ["arguments `x` and `y` of spread() share memory"],
    ),
    "a view of other elements": (
        spread, lambda: [f(9).view(np.int32), f(9), 5, 1, 0],
        ["argument `x` of spread() holds int32"],
    ),
    "elements that overlap": (
        spread, lambda: [f(9), np.lib.stride_tricks.as_strided(f(9), (9,), (0,)), 5, 1, 0],
        ["argument `y` of spread() has elements that share memory"],
    ),
    "a masked array": (
        spread, lambda: [np.ma.masked_array(f(9)), f(9), 5, 1, 0],
        ["argument `x` of spread() is a masked array"],
    ),
    "none": (
        spread, lambda: [None, f(9), 5, 1, 0],
        ["argument `x` of spread() is None where an array is expected"],
    ),
    "too few": (spread, lambda: [f(9), f(9), 5], ["spread() misses `a`, `c`", "x, y, n, a, c"]),
    "too many": (spread, lambda: [f(9), f(9), 5, 1, 0, 3], ["spread() takes 5 arguments but 6 were given"]),
    "a fraction": (
        spread, lambda: [f(9), f(9), 4.5, 1, 0],
        ["argument `n` of spread() is 4.5, which is no integer", "i64"],
    ),
    "a bound beyond i64": (
        spread, lambda: [f(9), f(9), 2**63, 1, 0],
        ["argument `n` of spread()", "i64 holds"],
    ),
    "an array as a bound": (
        spread, lambda: [f(9), f(9), f(3), 1, 0],
        ["argument `n` of spread() is an array of 1 axis"],
    ),
}  # fmt: skip


def refused(call: Any, given: list[Any], keywords: dict[str, Any] | None = None) -> str:
    """The text of the error, after showing that no array has changed."""
    arrays = [a for a in given if isinstance(a, np.ndarray) and a.dtype != object]
    before = [a.copy() for a in arrays]
    with warnings.catch_warnings(), pytest.raises((ig.LaunchError, OverflowError)) as caught:
        warnings.simplefilter("ignore", ig.OffloadWarning)
        call(*given, **(keywords or {}))
    assert all(bits(np.asarray(a)) == bits(np.asarray(b)) for a, b in zip(arrays, before, strict=True))
    return str(caught.value)


@pytest.fixture(scope="module", params=DEVICES)
def calls(request: pytest.FixtureRequest) -> dict[Any, Any]:
    """The functions on one device, each after a call that succeeds, so that quick calls are judged too."""
    made = {g: g.on(request.param) for g in (spread, downward, table, twice, running)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        for _ in range(2):
            made[spread](f(9), f(20), 5, 2, 1)
            made[downward](f(9), f(9), 8, 0)
            made[table](grid(5, 3), grid(5, 3), 3)
            made[twice](f(5), f(7), 5)
            made[running](f(5), f(6), 5)
    return made


@pytest.mark.parametrize("name", CASES)
def test_bad_input(name: str, calls: dict[Any, Any]) -> None:
    function, make, told = CASES[name]
    text = refused(calls[function], make())
    assert all(part in text for part in told), text


def test_names_that_are_wrong(calls: dict[Any, Any]) -> None:
    given = [f(9), f(9), 5, 1]
    assert "spread() has no parameter `cc`; did you mean `c`?" in refused(calls[spread], given, {"cc": 0})
    assert "spread() got argument `a`, which was given twice" in refused(calls[spread], given, {"a": 0})
    calls[spread](*given, c=0)


def test_what_is_no_mistake(calls: dict[Any, Any]) -> None:
    """Empty ranges, whatever the rest is; views apart from each other; strides of any sign."""
    call, y = calls[spread], f(9)
    for n in (0, -3, -(2**63)):
        call(f(0), y, n, 0, 2**62)
        call(f(9), f(0), n, 5, -1)
    assert np.array_equal(y, f(9))
    call(f(1), y, 1, 0, 3)
    assert y[3] == 0
    even, odd = shared(18, slice(0, 18, 2), slice(1, 18, 2))
    call(even, odd, 9, -1, 8)
    assert np.array_equal(odd, f(18)[16::-2])
    fields = np.zeros(9, [("a", np.float32), ("b", np.float32)])
    fields["a"] = f(9)
    call(fields["a"], fields["b"], 9, 1, 0)
    assert np.array_equal(fields["b"], f(9))
    back = f(9)
    call(f(18)[::-2], back[::-1], 9, 1, 0)
    assert np.array_equal(back[::-1], f(18)[::-2])
    calls[downward](f(9), y, 3, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        calls[running](f(3), f(0), 0)


def test_arrays_on_two_devices() -> None:
    near, far = f(9), ig.array(f(9), device="cuda")
    text = refused(spread.on("cpu"), [near, far, 5, 1, 0])
    assert "argument `y` of spread() is on cuda" in text
    host = ig.array(f(9), device="cpu")
    for given in ([host, far, 5, 1, 0], [far, host, 5, 1, 0]):
        text = refused(spread, given)
        assert "spread()" in text
        assert "cuda" in text
        assert "cpu" in text
    assert np.array_equal(far.numpy(), near)
    assert np.array_equal(host.numpy(), near)


@ig.offload(parallel="require")
def counts(x: In[i32, N], h: InOut[i32, M], n: i64) -> None:
    for i in range(n):
        h[x[i]] += 1


@ig.offload(parallel="require")
def product(x: In[i32, N], h: In[i32, M], n: i64) -> i64:
    p = 1
    for i in range(n):
        p *= x[i] + h[0]
    return p


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [counts, product], ids=["counts", "product"])
def test_what_is_no_number_of_iterations(function: Any, device: str) -> None:
    """Quick calls look at it before anybody has checked it."""

    class Odd:
        size = shape = len

    def words(call: Any, x: Any, h: Any, n: Any) -> tuple[Any, ...]:
        try:
            return ("", call(x, h, n))
        except Exception as error:
            return (type(error), str(error))

    many = 10_000 if function is counts else 300
    x, h = (ig.array(np.zeros(n, np.int32) + 1 - n % 2, device=device) for n in (many + 1, 6))
    x, h = (x.numpy(), h.numpy()) if device == "cpu" else (x, h)
    call = function.on(device)
    for n in (many, many, 10, 10):
        call(x, h, n)
    for n in (np.arange(3), np.array([3]), np.array(3), 2.5, 3.0, "3", None, True, np.int64(3), -1, Odd()):
        assert words(call, x, h, n) == words(function.on(device), x, h, n)
    for given in ((x, Odd(), many), (Odd(), h, many), (x, 7, many), (x, np.zeros((2, 2), np.int32), many)):
        assert words(call, *given) == words(function.on(device), *given)
