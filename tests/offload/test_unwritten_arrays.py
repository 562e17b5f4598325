"""An array that is declared as written has to be writable and apart from the others in every call, also where no loop
writes it: quick calls refuse what the first call refuses. And functions that run in sequence have a quick call too."""

import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64
from isogrid.dims import M, N
from isogrid.offloading.function import Offloaded

F32, I32 = np.float32, np.int32


@ig.offload
def one_map(x: In[f32, N], y: Out[f32, N], z: Out[f32, N]) -> None:
    for i in range(len(x)):
        y[i] = x[i]


@ig.offload
def one_sum(x: In[f32, N], y: Out[f32, N], z: Out[f32, N]) -> f64:
    s = f64(0)
    for i in range(len(x)):
        s += f64(x[i])
    return s


@ig.offload
def two_loops(x: In[f32, N], y: InOut[f32, N], z: Out[f32, N]) -> f64:
    for i in range(len(x)):
        y[i] = x[i]
    s = f64(0)
    for i in range(len(x)):
        s += f64(x[i])
    return s


@ig.offload
def in_sequence(x: In[f32, N], y: InOut[f32, N], z: Out[f32, N]) -> f32:
    s = f32(0)
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]
        s = y[i]
        if s > 90:
            return -s
    return s


@ig.offload
def nothing_back(x: In[f32, N], y: InOut[f32, N], z: Out[f32, N]) -> None:
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]


FUNCTIONS: list[Any] = [one_map, one_sum, two_loops, in_sequence, nothing_back]


def arrays(count: int = 3, size: int = 5) -> list[Any]:
    return [np.arange(1, size + 1, dtype=F32) for _ in range(count)]


@pytest.fixture(autouse=True)
def quick_calls() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        for function in FUNCTIONS:
            for _ in range(3):
                function(*arrays())


def read_only() -> list[Any]:
    x, y, z = arrays()
    z.flags.writeable = False
    return [x, y, z]


def shared() -> list[Any]:
    x, y, _ = arrays()
    return [x, y, x]


@pytest.mark.parametrize("given", [read_only, shared])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.definition.name)
def test_they_are_judged_by_their_annotations(function: Any, given: Callable[[], list[Any]]) -> None:
    with pytest.raises(ig.LaunchValueError, match="`z`") as found:
        function(*given())
    with pytest.raises(ig.LaunchValueError) as expected:
        function._run(given(), {}, None)
    assert str(found.value) == str(expected.value)


@ig.offload
def counted(at: In[i32, N], bins: InOut[i32, M], other: Out[i32, M]) -> None:
    for i in range(len(at)):
        bins[at[i]] += 1


@pytest.mark.parametrize("count", [10, 5000])
def test_loops_that_add_into_few_elements(count: int) -> None:
    at, bins = np.zeros(count, I32), np.zeros(4, I32)
    for _ in range(3):
        counted(at, bins, np.zeros(4, I32))
    assert bins[0] == 3 * count
    with pytest.raises(ig.LaunchValueError, match="`other`"):
        counted(at, bins, bins)
    assert bins[0] == 3 * count


# --- in sequence -----------------------------------------------------------------------------------------------------


@pytest.fixture
def no_ordinary_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Offloaded, "_run", lambda *_: pytest.fail("the ordinary call"))


@pytest.mark.usefixtures("no_ordinary_call")
def test_functions_that_run_in_sequence_are_quick() -> None:
    x, y, z = arrays()
    assert in_sequence(x, y, z) == y[-1] == 15
    assert type(in_sequence(x, y, z)) is float
    x[3] = 100
    assert in_sequence(x, y, z) == -106  # it returns in its loop
    assert nothing_back(*arrays()) is None
    assert isinstance(nothing_back.__call__, types.BuiltinFunctionType)


@ig.offload
def prefix(x: In[i32, N], y: InOut[i32, N]) -> tuple[i64, bool]:
    n, some = i64(0), False
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]
        n += i64(y[i])
        some = some or y[i] < 0
    return n, some


def test_results_and_traps_are_those_of_the_ordinary_call() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ig.OffloadWarning)
        for values in ([1, 2, 3], [5], [], [0, -7, 3], [1, 2**31 - 1, 1], [2, 2]):
            for _ in range(3):
                y = np.arange(len(values), dtype=I32)
                other = y.copy()
                found = outcome(prefix, np.array(values, I32), y)
                assert found == outcome(prefix.reference, np.array(values, I32), other)
                assert y.tolist() == other.tolist()


def outcome(call: Callable[..., Any], *given: Any) -> Any:
    try:
        return call(*given)
    except ig.Trap as trap:
        return str(trap)
