"""Writes past the cache: the same bytes at every alignment, only where whole lines are written, only when that pays."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cpu.harness import Call, Launch

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, u8
from isogrid.backends.cpu import artifact, caches, pool
from isogrid.backends.cpu.caches import Cache, most_cached, read_caches
from isogrid.backends.cpu.compile import compile_streamed
from isogrid.backends.cpu.emit import emit_module, emit_streamed
from isogrid.backends.cpu.layout import LINE
from isogrid.backends.cpu.loader import compile_object, compile_text, load_object
from isogrid.backends.cpu.target import host_target
from isogrid.cli.stages import stages_of
from isogrid.dims import M, N
from isogrid.ir import device as d

needs_lines = pytest.mark.skipif(not host_target().streams_lines, reason="stores of this processor are too narrow")
needs_pool = pytest.mark.skipif(not pool.is_supported(), reason="there is no native pool here")


@ig.kernel(grid=N)
def scale(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * 3.0 + 1.0


@ig.kernel(grid=N)
def wide(x: In[f32, N], y: Out[f64, N]) -> None:
    i = ig.gid()
    y[i] = f64(x[i]) * 3.0


@ig.kernel(grid=N)
def narrow(x: In[f32, N], y: Out[u8, N]) -> None:
    i = ig.gid()
    y[i] = u8(1 if x[i] > 20.0 else 0)


@ig.kernel(grid=N)
def branches(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = x[i]
    if v > 20.0:
        v = v / 7.0
    else:
        v = v + 3.0
    y[i] = v


@ig.kernel(grid=N)
def guarded(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if 2 < i < y.size - 3:
        y[i] = x[i - 2] + x[i + 3]


@ig.kernel(grid=N)
def edges(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    left = x[i - 1] if i > 0 else x[x.size - 1]
    y[i] = x[i] - left


@ig.kernel(grid=N)
def two(x: In[f32, N], y: Out[f32, N], z: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + 1.0
    z[i] = x[i] * 2.0


@ig.kernel(grid=(M, N))
def rows(x: In[f32, M, N], y: Out[f32, M, N]) -> None:
    i, j = ig.gid(0), ig.gid(1)
    above = x[i - 1, j] if i > 0 else x[i, j]
    y[i, j] = x[i, j] - above


def device_of(kernel: Any) -> d.Kernel:
    return stages_of(kernel, (), wide=False).device


def forms(kernel: Any) -> tuple[Any, Any, Any]:
    """Device IR, `run` and `run` past the cache, in as many lanes as write a whole line of bytes."""
    device, target = device_of(kernel), host_target()
    lanes = {"cpu_width": LINE} if np.dtype(device.parameters[1].element.numpy).itemsize == 1 else {}
    found: list[Any] = []
    for form in ("shared", "streamed"):
        module = emit_module(device, target, {"cpu_form": form, **lanes})
        assert ("!nontemporal" in module.text) == (form == "streamed")
        found.append(Call(load_object(compile_object(module.text, module.pipeline), ("run",))["run"]))
    return device, *found


def at(offset: int, count: int, type: Any) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """`count` elements that begin `offset` bytes behind the start of a cache line, and all bytes from 64 before them to
    64 behind them, set to 0xA5."""
    size = count * np.dtype(type).itemsize
    room = np.full(size + 256, 0xA5, np.uint8)
    first = -room.ctypes.data % 64 + 64 + offset
    return room[first : first + size].view(type), room[first - 64 : first + size + 64]


MAPS = {"f32": scale, "f64": wide, "u8": narrow, "branches": branches, "guarded": guarded, "edges": edges}


@needs_lines
@pytest.mark.parametrize("name", MAPS)
def test_every_alignment_and_every_range(name: str) -> None:
    device, usual, streamed = forms(MAPS[name])
    element = device.parameters[1].element.numpy
    size = np.dtype(element).itemsize
    for count in (0, 1, 15, 16, 63, 130, 200, 391):
        x = np.arange(count, dtype=np.float32) % 41
        for offset in range(0, 64, max(size, 4)):
            for lo, hi in ((0, count), (count // 3, count), (1, max(count - 1, 1))):
                found: list[bytes] = []
                for run in (usual, streamed):
                    y, room = at(offset, count, element)
                    launch = Launch(device, {"x": x, "y": y}, {"N": count}, [count])
                    assert launch(run, lo, min(hi, count)) == 0
                    found.append(room.tobytes())
                assert found[0] == found[1], (count, offset, lo, hi)


@needs_lines
def test_rows_of_every_length_and_alignment() -> None:
    device, usual, streamed = forms(rows)
    for height, width in ((1, 1), (3, 17), (5, 64), (4, 129), (2, 300), (0, 5), (5, 0)):
        x = (np.arange(height * width, dtype=np.float32) % 37).reshape(height, width)
        for offset in range(0, 64, 4):
            found: list[bytes] = []
            for run in (usual, streamed):
                y, room = at(offset, height * width, np.float32)
                launch = Launch(device, {"x": x, "y": y}, {"M": height, "N": width}, [height, width])
                assert launch(run, 0, height) == 0
                found.append(room.tobytes())
            assert found[0] == found[1], (height, width, offset)


@needs_lines
def test_arrays_whose_lines_begin_at_other_lanes() -> None:
    device, usual, streamed = forms(two)
    count = 333
    x = np.arange(count, dtype=np.float32)
    for first in range(0, 64, 4):
        for second in range(0, 64, 4):
            found: list[bytes] = []
            for run in (usual, streamed):
                (y, around), (z, also) = at(first, count, np.float32), at(second, count, np.float32)
                assert Launch(device, {"x": x, "y": y, "z": z}, {"N": count}, [count])(run, 0, count) == 0
                assert (y == x + 1).all() and (z == x * 2).all(), (first, second)
                found.append(around.tobytes() + also.tobytes())
            assert found[0] == found[1], (first, second)


@needs_lines
def test_whole_lines_are_stored_and_the_rest_is_not() -> None:
    device = device_of(scale)
    text = emit_streamed(device, host_target(), {})
    assert text.count("!nontemporal") == 1 and "align 64, !nontemporal" in text
    assembly = compile_text(text, "plain", assembly=True)
    wide = host_target().vector_bits == 512
    lines = assembly.count("vmovntps\t%zmm" if wide else "vmovntps\t%ymm")
    assert lines == 4 if wide else lines >= 2
    assert assembly.count("movnt") == lines
    # Nobody may be told that the range is done before the stores have left.
    assert assembly.count("sfence") == 1
    several = emit_streamed(device_of(two), host_target(), {})
    assert [several.count(part) for part in ("!nontemporal", "@llvm.x86.sse.sfence()", "define i64 @")] == [3, 3, 2]
    wrapper = text[text.index("define i64 @run_streamed(") :]
    assert (
        wrapper.index("@run_streamed.body(") < wrapper.index("@llvm.x86.sse.sfence") < wrapper.index("ret i64 %result")
    )


# --- which kernels ---------------------------------------------------------------------------------------------------


@ig.kernel(grid=N)
def traps(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] * 3


@ig.kernel(grid=N)
def reads(x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i] + y[i]


@ig.kernel(grid=N)
def twice(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = x[i]
    if x[i] > 2.0:
        y[i] = 2.0


@ig.kernel(grid=N)
def sometimes(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    if x[i] > 2.0:
        y[i] = 2.0


@ig.kernel(grid=N)
def apart(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[y.size - 1 - i] = x[i]


@ig.kernel(grid=N)
def loops(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    v = f32(0)
    for _k in range(100):
        v = v * 0.5 + x[i]
    y[i] = v


@ig.kernel(grid=N)
def long(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    y[i] = math.sin(x[i]) + math.log(x[i])


@ig.kernel(grid=N, block=64)
def together(x: In[f32, N], y: Out[f32, N]) -> None:
    i = ig.gid()
    tile = ig.shared(f32, 64)
    tile[ig.lid()] = x[i] if i < x.size else 0.0
    ig.barrier()
    if i < y.size:
        y[i] = tile[63 - ig.lid()]


@ig.kernel(grid=N)
def adds(x: In[f32, N], y: Out[f32, N], count: InOut[ig.w32, M]) -> None:
    i = ig.gid()
    y[i] = x[i]
    ig.atomic_add(count, 0, ig.w32(1))


OTHERS = {
    "a check": traps, "a read": reads, "two stores": twice, "a condition": sometimes, "downwards": apart,
    "a loop": loops, "much to compute": long, "barriers": together, "atomics": adds,
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_kernels_without_such_writes(name: str) -> None:
    assert emit_module(device_of(OTHERS[name]), host_target(), {}).streamed is None


def test_kernels_with_such_writes() -> None:
    kernels = {"scale": scale, "two": two, "rows": rows, "narrow": narrow}
    device = {name: device_of(kernel) for name, kernel in kernels.items()}
    target = replace(host_target(), features="+avx512f,+avx512bw,+avx512vl,+avx2,+fma")
    found = {name: emit_module(kernel, target, {}).streamed for name, kernel in device.items()}
    shown = {name: (unit.bytes, unit.slot >= 0, len(unit.arrays)) for name, unit in found.items() if unit is not None}
    assert shown == {"scale": (4, False, 1), "two": (8, False, 2), "narrow": (1, False, 1), "rows": (4, True, 1)}
    # Fewer lanes than a line has bytes.
    assert emit_module(device["narrow"], replace(host_target(), features="+avx2,+fma"), {}).streamed is None
    assert emit_module(device["scale"], host_target(), {"fastmath": True}).streamed is None
    assert emit_module(device["scale"], host_target(), {"disable": frozenset({"streams"})}).streamed is None
    other = replace(host_target(), features="+sse2")
    assert emit_module(device["scale"], other, {}).streamed is None


# --- when ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def low() -> Iterator[None]:
    """Every large launch writes past the cache, from the first one on."""
    native = pool.native_pool()
    native.set_streams(0, 0)
    try:
        yield
    finally:
        native.set_streams(most_cached(pool.usable_processors()), pool.STREAMS_WORTH)


def last_stream() -> Any:
    return next(kept[1] for kept in reversed(artifact._KEPT) if kept[1] is not None)  # pyright: ignore[reportPrivateUsage]


@needs_lines
@needs_pool
@pytest.mark.usefixtures("low")
def test_launches_past_the_cache() -> None:
    kernel = scale.on("cpu")
    for count, offset in ((1 << 20, 0), ((1 << 20) + 13, 4), (1_000_003, 20), (300_000, 60), (100, 8)):
        x, y = np.arange(count, dtype=np.float32) % 1000, at(offset, count, np.float32)[0]
        for _ in range(3):
            y[...] = 0
            kernel(x, y)
            assert (y == x * 3 + 1).all(), (count, offset)
    assert last_stream().run


@needs_lines
@needs_pool
@pytest.mark.usefixtures("low")
def test_memory_that_is_not_there_yet_is_written_through_the_cache() -> None:
    count = 1 << 22
    pool.native_pool().set_streams(1 << 20, 0)
    x = np.ones(count, np.float32)
    launch = two.on("cpu")
    launch(x[:100], np.ones(100, np.float32), np.ones(100, np.float32))
    stream = last_stream()
    assert not stream.run
    there = np.ones(count, np.float32)
    for _ in range(3):
        # So much memory comes from the system each time.
        launch(x, there, np.empty(1 << 24, np.float32)[count:][:count])
    assert not stream.run and not stream.written
    launch(x, there, np.ones(count, np.float32))
    assert stream.run


@needs_lines
@needs_pool
def test_the_form_is_made_when_it_pays() -> None:
    count = most_cached(pool.usable_processors()) // 4
    launch = branches.on("cpu")
    x, y = np.ones(count, np.float32), np.ones(count, np.float32)
    launch(x[:-1], y[:-1])
    stream = last_stream()
    assert (stream.written, stream.run) == (0, None), "a launch below the threshold counts"
    launch(x, y)
    assert (stream.written, stream.run) == (4 * count, None)
    stream.written = pool.STREAMS_WORTH - 4 * count - 1
    launch(x, y)
    assert (stream.written, stream.run) == (pool.STREAMS_WORTH - 1, None)
    stream.written = pool.STREAMS_WORTH - 4 * count
    y[...] = 0
    launch(x, y)
    assert stream.run and (y == 4).all()
    other = device_of(scale)
    stream.run = compile_streamed(other, {})
    x[...] = 4
    for size, wanted in ((count, 13), (count - 1, 7)):
        launch(x[:size], y[:size])
        assert y[size // 2] == wanted, "the other form ran"


def test_caches_that_the_system_tells_of(tmp_path: Path) -> None:
    told = (("1", "Data", "48K", "0"), ("1", "Instruction", "32K", "0"), ("2", "Unified", "2048K", "0,32"))
    for index, texts in enumerate((*told, ("3", "Unified", "30M", "0-7,32-39"))):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in zip(("level", "type", "size", "shared_cpu_list"), texts, strict=True):
            (folder / name).write_text(text + "\n")
    assert read_caches(tmp_path) == (Cache(1, 48 << 10, 1), Cache(2, 2 << 20, 2), Cache(3, 30 << 20, 16))
    (tmp_path / "index3" / "size").write_text("much")
    assert len(read_caches(tmp_path)) == 2
    assert read_caches(tmp_path / "nothing") == ()


@pytest.mark.parametrize(
    ("second", "last", "processors", "wanted"),
    [
        (Cache(2, 2 << 20, 1), Cache(3, 300 << 20, 2), 2, 16 << 20),  # two processors of a large machine
        (Cache(2, 2 << 20, 1), Cache(3, 300 << 20, 2), 1, 8 << 20),
        (Cache(2, 1 << 20, 2), Cache(3, 32 << 20, 16), 16, 32 << 20),
        (Cache(2, 1 << 20, 2), Cache(3, 96 << 20, 16), 16, 96 << 20),  # a large last cache of its own
        (Cache(2, 2 << 20, 4), Cache(3, 8 << 20, 4), 1, 8 << 20),
    ],
)
def test_the_threshold_follows_from_the_caches(second: Cache, last: Cache, processors: int, wanted: int) -> None:
    assert most_cached(processors, (second, last)) == wanted


def test_the_threshold_of_an_unknown_machine() -> None:
    assert most_cached(4, ()) == 4 * caches.most_cached(1, ())
