"""Which arrays a launch writes from end to end."""

import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, i32
from isogrid.analysis.written import written_everywhere
from isogrid.dims import H, N, W
from isogrid.launch.dispatch import program_of
from isogrid.launch.specialise import check_specialisations


@ig.kernel(grid=N, block=64)
def whole(x: In[f32, N], y: Out[f32, N], z: InOut[f32, N]) -> None:
    i = ig.gid()
    s = f32(0.0)
    for k in range(3):
        s += x[i] * f32(k)
    y[i] = s
    z[i] = s


@ig.kernel(grid=(H, W), block=(4, 16))
def plane(y: Out[f32, H, W], turned: Out[f32, W, H]) -> None:
    i, j = ig.gids()
    y[i, j] = 1.0
    turned[j, i] = 1.0


@ig.kernel(grid=N, block=64)
def some(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if x[i] > 0.0:
        y[i] = x[i]


@ig.kernel(grid=N, block=64)
def early(x: In[f32, N], y: Out[f32, N], z: Out[f32, N]) -> None:
    i = ig.gid()
    z[i] = 1.0
    if x[i] > 0.0:
        return
    y[i] = x[i]


@ig.kernel(grid=N, block=64)
def moved(y: Out[f32, N], z: Out[f32, N]) -> None:
    i = ig.gid()
    z[N - 1 - i] = 1.0
    i = i // 1
    y[i] = 1.0


@ig.kernel(grid=N // 2, block=64)
def half(y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = 1.0


@ig.kernel(grid=N, block=64)
def groups(y: Out[i32, N]) -> None:
    i = ig.gid()
    ig.barrier()
    if i < len(y):
        y[i] = 1


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (whole, {"y", "z"}),
        (plane, {"y"}),
        (some, set()),
        (early, {"z"}),
        (moved, set()),
        (half, set()),
        (groups, set()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_written_everywhere(kernel: ig.Kernel, expected: set[str]) -> None:
    (specialisation,) = check_specialisations(kernel.definition, kernel.tunables)
    assert written_everywhere(program_of(kernel, specialisation)) == expected
