"""Faults planted in a Spelling or in the printer are seen by the comparison on the host or in NVIDIA's code."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from isogrid.backends.cuda.spelling import CUDA, SUPPORT
from isogrid.cli.stages import stages_of
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.printers import c_family_expressions
from isogrid.printers.c_family import Printed, print_kernel, with_support
from isogrid.printers.c_family_spelling import Spelling

from . import constructs, edges
from .collect import enter, troubles
from .executor import Collector, Language
from .languages import CUDA_TEXT
from .nvidia import inexact_instructions, ptx_of


def printed_with(spelling: Spelling) -> Language:
    def print_text(kernel: d.Kernel, options: Mapping[str, Any], small: bool, entry: str) -> Printed:
        made = print_kernel(kernel, spelling, small=small, entry=entry, bounds="1024")
        return replace(made, text=with_support(made.text, SUPPORT))

    return replace(CUDA_TEXT, print=print_text)


def troubles_with(monkeypatch: pytest.MonkeyPatch, spelling: Spelling, kernel: Any, *arguments: Any) -> list[str]:
    collector = enter(monkeypatch, Collector(printed_with(spelling)))
    kernel.launch(*arguments, device=collector.name)
    return troubles(collector)


def group_arguments() -> list[np.ndarray[Any, Any]]:
    x = np.arange(300, dtype=np.int32) * 7 - 500
    f = np.sin(x).astype(np.float32)
    return [x, f, np.zeros_like(x), np.zeros(300, np.int64), np.zeros_like(f)]


def test_a_missing_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not troubles_with(monkeypatch, CUDA, constructs.group_operations, *group_arguments())
    without = replace(CUDA, barrier="{ }")
    assert troubles_with(monkeypatch, without, constructs.group_operations, *group_arguments())


def test_a_barrier_that_half_a_group_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    half = replace(CUDA, barrier="if (threadIdx.x < 64) __syncthreads();")
    (found,) = troubles_with(monkeypatch, half, constructs.group_operations, *group_arguments())
    assert "threads of a group wait" in found or "wait at different kinds of barrier" in found


def test_a_wrong_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(CUDA, operations={**CUDA.operations, "smin_i32": "max"})
    x = np.arange(-8, 8, dtype=np.int32)
    arguments = [x, x.view(np.uint32), np.zeros_like(x)]
    assert not troubles_with(monkeypatch, CUDA, edges.compared, *arguments)
    assert not troubles_with(monkeypatch, wrong, edges.compared, *arguments)
    wide = replace(CUDA, operations={**CUDA.operations, "smin_i64": "max"})
    assert troubles_with(monkeypatch, wide, edges.compared, *arguments)


def test_signed_arithmetic_that_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A negation in `int` of a number whose opposite needs 64 bits."""
    x = np.array([-(2**31), 5], np.int32)
    arguments = [x, *(np.zeros(2, np.int64) for _ in range(3))]
    assert not troubles_with(monkeypatch, CUDA, edges.widened, *arguments)
    real = c_family_expressions.Expressions.fits_int

    def always(self: c_family_expressions.Expressions, node: d.Expr) -> bool:
        return node.type is Machine.I64 or real(self, node)

    monkeypatch.setattr(c_family_expressions.Expressions, "fits_int", always)
    assert troubles_with(monkeypatch, CUDA, edges.widened, *arguments)


def test_a_product_that_a_compiler_may_fuse() -> None:
    kernel = stages_of(constructs.float_functions).device
    strict = print_kernel(kernel, CUDA, small=True, bounds="256").text.replace("fmodf(", "fminf(")
    assert not any(inexact_instructions(ptx) for ptx in ptx_of([strict]))
    plain = {f"{op}_{type}": sign for op, sign in (("fmul", "*"), ("fadd", "+")) for type in ("f32", "f64")}
    loose = replace(CUDA, operations={**CUDA.operations, **plain})
    text = print_kernel(kernel, loose, small=True, bounds="256").text.replace("fmodf(", "fminf(")
    assert any("fma" in word for ptx in ptx_of([text]) for word in inexact_instructions(ptx))


def test_shifts_of_an_int_that_stands_for_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [np.arange(0, 64, dtype=np.uint8), np.zeros(64, np.uint64), np.zeros(64, np.int64)]
    assert not troubles_with(monkeypatch, CUDA, edges.far_shifts, *arguments)
    monkeypatch.setattr(c_family_expressions.Expressions, "_wide_enough", lambda self, text, node: text)
    assert troubles_with(monkeypatch, CUDA, edges.far_shifts, *arguments)


def test_lanes_that_may_be_apart_meet_by_their_mask() -> None:
    """`bar.sync` and `bar.red` want the lanes of a warp together, which a trap keeps apart."""
    trapping = print_kernel(stages_of(constructs.traps_between_barriers).device, CUDA, small=True, bounds="64").text
    (code,) = ptx_of([with_support(trapping, SUPPORT)])
    assert "barrier.cta.red.or.pred" in code and "barrier.cta.sync" in code and "vote.sync.any" in code
    assert "bar.sync" not in code and "bar.red" not in code
    calm = print_kernel(stages_of(constructs.warp_operations).device, CUDA, small=True, bounds="64").text
    assert "barrier_apart" not in calm
