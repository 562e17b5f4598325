"""Without AVX-512, lanes that are off load their own elements too; none of them stores."""

import re
from typing import Any

import numpy as np
import pytest
from tests.cpu.harness import AVX2, Launch, compile_kernel, needs_avx2

import isogrid as ig
from isogrid import In, InOut, f32, i64, u8
from isogrid.backends.cpu.emit import emit_module
from isogrid.backends.cpu.target import HostTarget, host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import H, W

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")


@ig.kernel(grid=(H, W))
def relax(u: InOut[f32, H, W], f: In[f32, H, W], colour: i64) -> None:
    i, j = ig.gids()
    if 0 < i < H - 1 and 0 < j < W - 1 and (i + j) % 2 == colour:
        u[i, j] = f[i, j] + (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@ig.kernel(grid=(H, W))
def bytes_(u: InOut[u8, H, W], f: In[u8, H, W], colour: i64) -> None:
    i, j = ig.gids()
    if f[i, j] > 9:
        if (j + i) % 4 != colour:
            u[i, j] = u8((f[i, j] & 63) + (u[i, j] & 63))
        else:
            u[i, j] = 7


@ig.kernel(grid=(H, W))
def truths(u: InOut[bool, H, W], f: In[f32, H, W], colour: i64) -> None:
    i, j = ig.gids()
    if (3 * j) % 8 == colour:
        u[i, j] = f[i, j] > 0.0


TARGETS = [pytest.param(AVX2, id="avx2", marks=needs_avx2), pytest.param(host_target(), id="host")]


def device_of(kernel: Any) -> Any:
    return stages_of(kernel, (), wide=False).device


def arrays_of(kernel: Any, shape: tuple[int, int], seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    u, f = (random.standard_normal(shape) * 30 for _ in range(2))
    if kernel is bytes_:
        return u.astype(np.int8).view(np.uint8), f.astype(np.int8).view(np.uint8)
    return (u > 0 if kernel is truths else u.astype(np.float32)), f.astype(np.float32)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [relax, bytes_, truths], ids=["relax", "bytes", "truths"])
def test_every_colour_and_width(kernel: Any, target: HostTarget) -> None:
    device = device_of(kernel)
    code = compile_kernel(device, target=target)
    for width in (0, 1, 5, 8, 16, 31, 40, 75, 130):
        u, f = arrays_of(kernel, (5, width), width)
        for colour in (0, 1, 2, 3, -1, 1 << 32, (1 << 32) + 1, -(1 << 32)):
            expected, found = u.copy(), u.copy()
            kernel.on("interp")(expected, f, colour)
            launch = Launch(device, {"u": found, "f": f, "colour": colour}, {"H": 5, "W": width}, (5, width))
            # Rows apart, as threads of a pool run them.
            for row in (3, 0, 4, 1, 2):
                assert launch(code.run, row, row + 1) == 0
            np.testing.assert_array_equal(found, expected, str((width, colour)))


def test_where_masks_of_loads_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """`f[i, j]`, which only some threads load: a mask is left for the end of a row."""

    def masked() -> int:
        return emit_module(device_of(relax), AVX2, {}).text.count("call <8 x float> @llvm.masked.load")

    own = masked()
    monkeypatch.setattr("isogrid.backends.cpu.emit.own_places", lambda kernel: frozenset())
    assert masked() == own + 1


@pytest.mark.parametrize("kernel", [relax, bytes_, truths], ids=["relax", "bytes", "truths"])
def test_no_lane_that_is_off_stores(kernel: Any) -> None:
    """A launch of another thread may write to elements that the kernel leaves alone."""
    text = emit_module(device_of(kernel), AVX2, {}).text
    assert not re.search(r"store <\d+ x (float|i8)> .*ptr %p\.", text)
    assert "call void @llvm.masked.store" in text


def test_every_other_vector_of_a_row_runs_first() -> None:
    """A vector would load what the one before it has just stored next to it."""
    loop = r"icmp slt i64 %i\.\d+, 16\n"
    assert re.search(loop, emit_module(device_of(relax), AVX2, {}).text)
    assert not re.search(loop, emit_module(device_of(bytes_), AVX2, {}).text)
    assert not re.search(loop, emit_module(device_of(relax), INTEL, {}).text)


def test_low_bits_of_coordinates_are_compared_in_32_bits() -> None:
    text = emit_module(device_of(relax), AVX2, {}).text
    assert "icmp eq <8 x i32>" in text
    assert "icmp eq <8 x i64>" not in text
