"""Random programs of launches, fills, copies and synchronisations: every device raises at the same points, the same
text, and holds the same bytes in the end."""

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.arrays import kernels as k
from tests.cuda.fake_gpu import fake_gpu, has_gpu

import isogrid as ig


@pytest.fixture(autouse=True, scope="module")
def few_objects() -> Iterator[None]:
    """The simulated GPU collects cycles whenever it goes: what other tests have left need not be looked at again."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


ARRAYS = 3
STEP = st.one_of(
    st.tuples(st.just("copy"), st.integers(0, ARRAYS - 1), st.integers(0, ARRAYS - 1)),
    st.tuples(st.just("saxpy"), st.integers(0, ARRAYS - 1), st.integers(0, ARRAYS - 1)),
    st.tuples(st.just("gather"), st.integers(0, ARRAYS - 1), st.integers(0, ARRAYS - 1), st.booleans()),
    st.tuples(st.just("gather part"), st.integers(0, ARRAYS - 1), st.integers(0, ARRAYS - 1), st.booleans()),
    st.tuples(st.just("fill"), st.integers(0, ARRAYS - 1), st.integers(0, 9)),
    st.tuples(st.just("assign"), st.integers(0, ARRAYS - 1), st.integers(0, ARRAYS - 1)),
    st.tuples(st.just("read"), st.integers(0, ARRAYS - 1)),
    st.tuples(st.just("wait")),
    st.tuples(st.just("host"), st.integers(0, ARRAYS - 1)),
)


def step(words: Any, arrays: list[ig.Array], at: dict[bool, ig.Array]) -> Any:
    match words:
        case "copy", a, b if a != b:
            k.copy(arrays[a], arrays[b])
        case "saxpy", a, b if a != b:
            k.saxpy(2.0, arrays[a], arrays[b])
        case "gather", a, b, good if a != b:
            k.gather(at[good], arrays[a], arrays[b])
        case "gather part", a, b, good if a != b:
            k.gather(at[good][4:], arrays[a], arrays[b][4:])
        case "fill", a, value:
            arrays[a].fill(value)
        case "assign", a, b:
            arrays[a][...] = arrays[b]
        case "read", a:
            return arrays[a].tolist()
        case ("wait",):
            ig.synchronize()
        case "host", a:
            target = np.zeros(8, np.float32)
            k.copy.on(arrays[a].device)(arrays[a], target)
            return target.tolist()
        case _:
            return "nothing"
    return None


def trace(device: str, program: list[Any]) -> list[Any]:
    arrays = [ig.full(8, n + 1, ig.f32, device=device) for n in range(ARRAYS)]
    at = {
        good: ig.array(np.array([0, 1, 2, 3, 7, 6, 5 if good else 50, 4], np.int32), device=device)
        for good in (False, True)
    }
    found: list[Any] = []
    for words in program:
        try:
            found.append(step(words, arrays, at))
        except ig.Trap as trap:
            found.append(str(trap))
    while True:
        try:
            ig.synchronize()
            break
        except ig.Trap as trap:
            found.append(str(trap))
    return [*found, *(array.tolist() for array in arrays)]


@settings(max_examples=120, deadline=None)
@given(st.lists(STEP, max_size=14))
def test_every_device_raises_at_the_same_points(program: list[Any]) -> None:
    want = trace("interp", program)
    assert trace("cpu", program) == want
    if has_gpu():
        assert trace("cuda", program) == want
        return
    with fake_gpu():
        assert trace("cuda", program) == want
