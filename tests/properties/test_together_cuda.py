"""Kernels for a GPU in one module: each keeps functions under names of its own, and the assembler takes it."""

import subprocess
from pathlib import Path

import pytest

from isogrid.backends.cuda import target
from isogrid.backends.cuda.nvrtc import compile_nvrtc
from isogrid.backends.cuda.text import emit_cuda_text
from isogrid.cli.stages import stages_of
from isogrid.launch.backends import RUNTIMES
from tests.cuda import executor
from tests.text_targets.nvidia import ptxas

from . import campaign
from .generator.choices import Choices
from .generator.execute import answer, compile_later, load, prepare
from .generator.program import program
from .generator.together import Deferred
from .generator.together_cuda import linked, linked_in_c


def test_many_kernels_in_one_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    monkeypatch.setitem(RUNTIMES, "simulated", ("tests.cuda.executor", "SimulatedDevice"))
    texts: list[str] = []

    def simulate(text: str, dynamic: int) -> None:
        texts.append(text)
        raise Deferred

    monkeypatch.setattr(executor, "simulate", simulate)
    for seed in range(2_000_000, 2_000_020):
        ready = prepare(program(Choices(seed)), f"random kernel {seed}")
        answer(ready)
        compile_later(ready, "simulated")
    assert len(texts) >= 15 and any("@number_" in text for text in texts)
    for text in texts:
        assert linked([text, text]).count("define ptx_kernel") == 2 * text.count("define ptx_kernel")
    ptx = target.compile_ptx(linked(texts), executor.TARGET)
    assert all(f".entry run_of_{at}(" in ptx for at in range(len(texts)))
    assert ptx.count(".entry") == sum(text.count("define ptx_kernel") for text in texts)
    source = tmp_path / "kernels.ptx"
    source.write_text(ptx)
    command = [ptxas(), "-arch=sm_90", str(source), "-o", str(tmp_path / "kernels.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert not done.returncode, done.stderr


def test_many_kernels_in_one_text_for_nvrtc() -> None:
    kernels = [stages_of(load(program(Choices(seed)), f"random kernel {seed}"), (), wide=False) for seed in (1, 2, 3)]
    texts = [emit_cuda_text(kernel.device, {}, small=True).text for kernel in kernels]
    code = compile_nvrtc(linked_in_c(texts), "sm_90")
    assert all(b"run_of_%d\0" % at in code for at in range(len(texts)))


def test_batches_are_not_larger_than_a_module() -> None:
    assert all(len(seeds) <= campaign.BATCH for seeds in campaign.batches(3, 1000, set()))
