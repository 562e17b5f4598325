"""PTX of the emitter: what promises look like in the text, and that NVIDIA's own assembler takes it for old and new
processors. LLVM runs in a process of its own, since a module that it does not like may end the process."""

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import gallery
import isogrid as ig
from isogrid import In, Out, f32, f64, pipeline, u8, u16, u32, u64
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda.emit import emit_cuda
from isogrid.backends.cuda.target import compile_ptx, cuda_target
from isogrid.cli.load import pick_kernels
from isogrid.cli.stages import stages_of
from isogrid.dims import H, N, W
from tests.text_targets.nvidia import ptxas

EXAMPLES = Path(gallery.__file__).parent


@pytest.fixture(scope="module")
def worker() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


def ptx_of(name: str, capability: tuple[int, int], small: bool, options: dict[str, Any]) -> list[str]:
    """PTX of every kernel of an example."""
    target, texts = cuda_target(capability), []
    for _, one in pick_kernels(str(EXAMPLES / f"{name}.py")):
        facts = LaunchFacts(small=small)
        optimised = pipeline.optimise(stages_of(one, (), wide=not small).built, frozenset(), facts, options)
        module = emit_cuda(pipeline.lower(optimised, facts), target, options, small=small)
        texts.append(compile_ptx(module.text, target))
    return texts


def assemble(text: str, capability: tuple[int, int], folder: Path) -> None:
    source = folder / "kernel.ptx"
    source.write_text(text)
    command = [ptxas(), f"-arch=sm_{capability[0]}{capability[1]}", str(source), "-o", str(folder / "kernel.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.returncode, done.stderr


CAPABILITIES = ((7, 5), (8, 0), (9, 0))


@pytest.mark.parametrize("name", gallery.NAMES)
def test_the_assembler_takes_it(name: str, worker: ProcessPoolExecutor, tmp_path: Path) -> None:
    """Each example for one architecture; together they cover all three, and both widths of sizes."""
    number = gallery.NAMES.index(name)
    capability = CAPABILITIES[number % 3]
    for text in worker.submit(ptx_of, name, capability, number % 2 == 0, {}).result():
        assert f".target sm_{capability[0]}{capability[1]}" in text
        assemble(text, capability, tmp_path)


@pytest.mark.parametrize("name", ["saxpy", "nbody", "matmul_tiled", "mandelbrot"])
def test_arithmetic_is_strict(name: str, worker: ProcessPoolExecutor) -> None:
    """Nothing is approximated but what quotients and roots start from, on processors where that was tried."""
    kinds = [((9, 0), {}), ((9, 0), {"disable": frozenset({"fast_division"})}), ((8, 6), {}), ((10, 0), {})]
    for capability, options in kinds:
        for text in worker.submit(ptx_of, name, capability, True, options).result():
            starts = len(re.findall(r"\br(?:cp|sqrt)\.approx\.ftz\.f32", text))
            assert starts == (16 if name == "nbody" and (capability, options) == kinds[0] else 0)
            _is_strict(re.sub(r"\br(?:cp|sqrt)\.approx\.ftz\.f32", "", text))


def _is_strict(text: str) -> None:
    assert not re.search(r"\.ftz|\.approx|\.full", text)
    assert not re.search(r"\b(add|sub|mul|fma|div|sqrt)\.f(32|64)", text), "an operation without .rn may be fused"


def test_neighbours_are_read_at_once(worker: ProcessPoolExecutor) -> None:
    text = worker.submit(ptx_of, "saxpy", (9, 0), True, {}).result()[0]
    assert "ld.global.nc.v4.b32" in text and "st.global.v4.b32" in text
    off = worker.submit(ptx_of, "saxpy", (9, 0), True, {"disable": frozenset({"coarsen"})}).result()[0]
    assert ".v4." not in off
    rows = worker.submit(ptx_of, "stencil", (9, 0), True, {}).result()[0]
    assert rows.count("ld.global.nc.v4.b32") == 4 and rows.count("st.global.v4.b32") == 2
    scan = worker.submit(ptx_of, "scan", (9, 0), True, {}).result()[0]
    assert scan.count("ld.global.nc.v4.b32") == 2 and scan.count("st.global.v4.b32") == 2


@ig.kernel(groups=(H // 64, W // 64), block=(16, 16))
def rows(x: In[f32, H, W], y: Out[f32, H, W]) -> None:
    ig.require(H % 64 == 0 and W % 64 == 0)
    tile = ig.shared(f32, (64, 64))
    gy, gx = ig.group_ids()
    ly, lx = ig.lids()
    for step in range(0, 64, 16):
        for c in range(4):
            tile[ly + step, 4 * lx + c] = x[64 * gy + ly + step, 64 * gx + 4 * lx + c]
    ig.barrier()
    for step in range(0, 64, 16):
        for c in range(4):
            y[64 * gy + ly + step, 64 * gx + 4 * lx + c] = tile[ly + step, 4 * lx + c] + tile[4 * lx + c, ly + step]


@pytest.mark.parametrize("aligned", [True, False])
def test_preconditions_align_rows(aligned: bool, worker: ProcessPoolExecutor) -> None:
    """Four neighbours that a thread takes itself are one access where rows start at multiples of 16 bytes."""
    facts = LaunchFacts(small=True)
    optimised = pipeline.optimise(stages_of(rows, (), wide=False).built, frozenset(), facts, {})
    target = cuda_target((9, 0))
    module = emit_cuda(pipeline.lower(optimised, facts), target, {}, aligned=aligned)
    text = worker.submit(compile_ptx, module.text, target).result()
    wide = (text.count("ld.global.nc.v4"), text.count("st.shared.v4"), text.count("st.global.v4"))
    assert wide == ((4, 4, 4) if aligned else (0, 4, 0))


def test_sums_of_a_register_tile_stay_in_registers(worker: ProcessPoolExecutor, tmp_path: Path) -> None:
    """The tuned matrix product: no array of a thread is left in memory, and four elements are read at once."""
    from benchmarks.cuda.tuned import matmul

    facts, target = LaunchFacts(small=True), cuda_target((9, 0))
    options = {"cuda": {"min_blocks_per_sm": 2}}
    optimised = pipeline.optimise(stages_of(matmul, (), wide=False).built, frozenset(), facts, options)
    module = emit_cuda(pipeline.lower(optimised, facts), target, options)
    text = worker.submit(compile_ptx, module.text, target).result()
    assert ".local" not in text
    assert text.count("fma.rn.f32") == 1024 and text.count("ld.shared.v4") == 64 and text.count("ld.global.nc.v4") == 4
    assemble(text, (9, 0), tmp_path)


def test_checks_of_a_loop_are_asked_eight_at_a_time(worker: ProcessPoolExecutor) -> None:
    text = worker.submit(ptx_of, "spmv", (9, 0), True, {}).result()[0]
    assert len(re.findall(r"ld\.global\.nc\.b32", text)) >= 3 * 8


def test_options_reach_the_text(worker: ProcessPoolExecutor) -> None:
    texts = partial(worker.submit, ptx_of, "saxpy", (9, 0), True)
    assert ".reqntid 256" in texts({}).result()[0]
    limited = texts({"max_threads": 512, "cuda": {"max_registers": 40, "min_blocks_per_sm": 3}}).result()[0]
    assert ".maxntid 512" in limited and ".minnctapersm 3" in limited and ".maxnreg 40" in limited
    assert "reqntid" not in limited


def test_kernels_wait_before_they_touch_memory(worker: ProcessPoolExecutor) -> None:
    """So that in a graph the next one may start early, on processors that can."""
    for text in worker.submit(ptx_of, "scan", (9, 0), True, {}).result():
        assert text.index("griddepcontrol.wait") < text.index("ld.global")
        assert "ld.volatile" not in text[: text.index("\n}")], "a guard that is not read through the cache"
    assert "griddepcontrol" not in worker.submit(ptx_of, "saxpy", (8, 0), True, {}).result()[0]


def test_no_flag_without_a_trap(worker: ProcessPoolExecutor) -> None:
    """A kernel that cannot trap has neither a record nor a recording function."""
    assert "trap" not in worker.submit(ptx_of, "stencil", (9, 0), True, {}).result()[0]
    assert "trap" in worker.submit(ptx_of, "spmv", (9, 0), True, {}).result()[0]


def test_the_command_line_prints_it() -> None:
    from isogrid.cli.emit import Target, target_text

    [(_, one)] = pick_kernels(str(EXAMPLES / "saxpy.py"))
    text = target_text(stages_of(one, ()), Target.PTX)
    assert ".visible .entry run(" in text and ".target sm_90" in text


@ig.kernel(grid=N, block=64)
def low_parts(x: In[u32, N], wide: Out[u16, N], narrow: Out[u8, N]) -> None:
    i = ig.gid()
    wide[i] = ig.bitcast(u64, f64(x[i])) % 65536
    narrow[i] = ig.bitcast(u32, f32(x[i])) % 256


def test_no_store_takes_a_part_of_a_converted_float(worker: ProcessPoolExecutor) -> None:
    """Of `cvt.rn.f64.u32 %rd1, %r1; st.global.b16 [%rd2], %rd1` the ptxas of CUDA 13.0 makes a conversion back."""
    facts, target = LaunchFacts(small=True), cuda_target((9, 0))
    optimised = pipeline.optimise(stages_of(low_parts, (), wide=False).built, frozenset(), facts, {})
    module = emit_cuda(pipeline.lower(optimised, facts), target, {}, small=True)
    text = worker.submit(compile_ptx, module.text, target).result()
    floats = set(re.findall(r"cvt\.rn\.f\d+\.\w+\s+(%\w+),", text))
    stored = set(re.findall(r"st\.global\.b(?:8|16)\s+\[[^\]]*\], (%\w+)", text))
    assert floats and stored and not floats & stored


@ig.kernel(grid=N, block=4)
def shifted_too_far(y: Out[ig.i64, N]) -> None:
    amount = ig.saturate(ig.i16, ig.f64(16777217.0))
    y[ig.gid()] = ig.group_size() << (~amount)


def test_a_shift_that_always_traps_is_emitted() -> None:
    """Its amount, -32768, is known only when constants have been folded in device IR."""
    stages = stages_of(shifted_too_far)
    assert " shl i64 " in emit_cuda(stages.device, cuda_target((9, 0)), {}, small=False).text
