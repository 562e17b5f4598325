"""How many lanes run together: values of 64 bits take as many registers as those of 32, not twice as many."""

import math
from typing import Any

import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import N


@ig.kernel(grid=N)
def narrow_floats(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] / 7.0 if x[i] > 3.0 else x[i] - 2.0


@ig.kernel(grid=N)
def wide_floats(x: In[f64, N], y: Out[f64, N]) -> None:
    i = ig.gid()
    y[i] = x[i] / 7.0 if x[i] > 3.0 else x[i] - 2.0


@ig.kernel(grid=N)
def narrow_integers(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1


@ig.kernel(grid=N)
def wide_integers(x: In[i64, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1


def lanes_of(kernel: Any) -> int:
    (note, *_) = emit_module(stages_of(kernel, (), wide=False).device, host_target(), {}).notes
    return int(note.partition(": ")[2].partition(" ")[0])


@pytest.mark.parametrize(
    ("narrow", "wide"), [(narrow_floats, wide_floats), (narrow_integers, wide_integers)], ids=["floats", "integers"]
)
def test_wide_values_have_half_the_lanes(narrow: Any, wide: Any) -> None:
    assert lanes_of(wide) == lanes_of(narrow) // 2 > 1


@ig.kernel(grid=N)
def elementary(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = math.erfc(x[i])


def test_functions_in_f64_have_eight_lanes() -> None:
    device = stages_of(elementary, (), wide=False).device
    for cpu, features, lanes in (("haswell", "+avx2,+fma", 8), ("emeraldrapids", "+avx512f,+avx2,+fma", 8)):
        (note, *_) = emit_module(device, HostTarget("x86_64-unknown-linux-gnu", cpu, features, ""), {}).notes
        assert note.startswith(f"explicit vectors: {lanes} lanes")


@ig.kernel(groups=ig.cdiv(N, 512), block=256)
def butterflies(x: InOut[i32, N]) -> None:
    keys = ig.shared(i32, 512)
    t = ig.lid()
    for step in range(8):
        stride = 128 >> step
        low = 2 * stride * (t // stride) + t % stride
        a = keys[low]
        keys[low] = keys[low + stride]
        keys[low + stride] = a
        ig.barrier()
    i = ig.group_id() * 512 + t
    if i < len(x):
        x[i] = keys[t]


def test_gathers_by_quotients_are_seldom_ones_in_groups() -> None:
    """Zen's gathers win nothing, so lanes would run one by one for them."""
    zen = HostTarget(host_target().triple, "znver3", "+avx2,+fma", host_target().data_layout)
    (note, *_) = emit_module(stages_of(butterflies, (), wide=False).device, zen, {}).notes
    assert "scalar lanes" not in note
