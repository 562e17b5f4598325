"""The builds of f32 functions for eight lanes, and the usual ones that such processors do not take, on every one."""

from typing import Any

import numpy as np
import pytest

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu import compile as cpu
from isogrid.backends.cpu.target import HostTarget
from isogrid.builtins.elementary import BUILDS
from isogrid.cli.stages import stages_of
from isogrid.ir import device as d
from isogrid.ir.types import Scalar
from isogrid.ir.walk import visit
from isogrid.mathlib.digests import digest_of, subset
from isogrid.runtimes.protocol import BoundLaunch
from tests.conformance.support import corners
from tests.cpu.agree import compile_at, outcome

from .support import ROWS, applied, bits_of, hard_cases, subset_digest

NAMES = [name.removesuffix("_f32") for name in BUILDS["eight"]]
INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx512f,+avx2,+fma", "")
NARROW = HostTarget(INTEL.triple, "haswell", "+avx2,+fma", "")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("build", ["", "eight"], ids=["usual", "eight"])
def test_correctly_rounded(name: str, build: str) -> None:
    inputs, (hard, wanted) = subset(), hard_cases(name)
    special = np.array(corners(Scalar.F32), np.float32)
    x = np.concatenate([inputs.view(np.float32), hard.view(np.float32), special])
    program = stages_of(applied(ROWS[name], Scalar.F32)).built
    bound = BoundLaunch({"a": x, "z": np.empty_like(x)}, {}, {"N": x.size}, (x.size,))
    found = bits_of(outcome(program, compile_at(program, None, build=build), bound)[0]["z"])
    assert digest_of(inputs, found[: inputs.size]) == subset_digest(name)
    wrong = np.flatnonzero(found[inputs.size : -special.size] != wanted)
    assert not wrong.size, f"{wrong.size} hard cases, the first at 0x{hard[wrong[0]]:08x}"
    again = np.empty_like(special)
    applied(ROWS[name], Scalar.F32).on("interp")(special, again)
    assert np.array_equal(bits_of(again), found[-special.size :])


@pytest.mark.parametrize("name", NAMES)
def test_who_takes_them(name: str, monkeypatch: Any) -> None:
    """Nothing is looked up but on the way of what is not settled."""
    for target, looks_up in ((NARROW, False), (INTEL, True)):
        monkeypatch.setattr(cpu, "host_target", lambda target=target: target)
        device, _ = cpu.emitted(stages_of(applied(ROWS[name], Scalar.F32)).built, {}, LaunchFacts(small=True))
        tables = {b.name for b in device.buffers if b.data}
        usual = [node for statement in device.body if not isinstance(statement, d.If) for node in visit(statement)]
        assert any(isinstance(node, d.Load) and node.buffer in tables for node in usual) == looks_up
