"""Random warp kernels agree: kernel IR and device IR on the interpreter, and compiled code at several widths."""

from typing import Any

import numpy as np
import pytest

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.analysis.uniformity import divergent_barriers
from isogrid.backends.interp.device import run_device
from isogrid.backends.interp.launch import run
from isogrid.ir import kernel as k
from isogrid.ir.parse import parse_device, parse_kernel
from isogrid.ir.text import print_kernel
from isogrid.ir.verify import verify
from isogrid.lowering.masks import mask_warps
from isogrid.runtimes.protocol import BoundLaunch
from tests.cpu import agree
from tests.warps.random_kernels import make


def bound_for(kernel: k.Kernel, seed: int) -> BoundLaunch:
    count = 2 * kernel.geometry.group_size
    generator = np.random.default_rng(seed)
    x = generator.integers(-(2**31), 2**31, count, dtype=np.int64).astype(np.int32)
    return BoundLaunch({"x": x, "y": np.zeros(count, np.uint32)}, {}, {"N": count}, (2,), {})


def results(outcome: Any, bound: BoundLaunch) -> tuple[bytes, str]:
    return bound.arrays["y"].tobytes(), "" if outcome.trap is None else str(outcome.trap)


def check(seed: int, traps: bool) -> str:
    kernel = make(seed, traps)
    verify(kernel)
    assert parse_kernel(print_kernel(kernel)) == kernel
    assert divergent_barriers(kernel) == []
    expected = bound_for(kernel, seed)
    outcome = run(kernel, expected)
    assert outcome.findings == ()
    want = results(outcome, expected)
    for order in (1, 2):
        shuffled = bound_for(kernel, seed)
        assert results(run(kernel, shuffled, order=order), shuffled) == want
    device = pipeline.lower(kernel, LaunchFacts(small=True))
    verify(device)
    assert parse_device(print_kernel(device)) == device
    lowered = bound_for(kernel, seed)
    assert results(run_device(device, lowered), lowered) == want
    masked = mask_warps(device, lambda node: True)
    verify(masked)
    for optimised, width in ((True, None), (False, 1), (True, 4)):
        variant = agree.compile_at(kernel, width, optimised)
        arrays, words = agree.outcome(kernel, variant, bound_for(kernel, seed))
        got = words.partition(": ")[2]
        assert (arrays["y"].tobytes(), got) == want, (seed, optimised, width)
    return want[1]


@pytest.mark.parametrize("seed", range(12))
def test_random_warp_kernels_agree(seed: int) -> None:
    assert check(seed, traps=False) == ""


@pytest.mark.parametrize("seed", range(100, 112))
def test_random_warp_kernels_trap_alike(seed: int) -> None:
    check(seed, traps=True)
