"""Kernels of f32 with elementary functions on devices without f64, or without a fused multiply-add: the texts say
neither, and give the interpreter's bits."""

import re

import numpy as np
import pytest

from isogrid.builtins.elementary import BUILDS
from tests.conformance.support import kernel
from tests.numerics.support import ROWS, hard_cases

from .collect import enter, troubles
from .executor import Collector
from .languages import METAL_TEXT, SMALL_OPENCL_TEXT

NAMES = [name.removesuffix("_f32") for name in BUILDS["pairs"]]
#: Subnormal numbers, the ends of ranges, arguments that need many bits of 2/pi, values that are no numbers.
EDGES = (
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F7FFFFF, 0x3F800000, 0x3F800001,
    0x42B17217, 0x42B17218, 0xC2CFF1B4, 0xC2AEAC4F, 0xC2FC0000, 0xC3150000, 0x43000000, 0x7F7FFFFF, 0xFF7FFFFF,
    0x7F800000, 0xFF800000, 0x7FC00000, 0x6F79BE45, 0x4B800001, 0x3CC90FDB, 0x41102CB4, 0x39800000,
)  # fmt: skip


def test_functions_in_f32_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    collector = enter(monkeypatch, Collector(METAL_TEXT, SMALL_OPENCL_TEXT))
    for name in NAMES:
        run = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:
    i = ig.gid()
    y[i] = {ROWS[name].spellings[0].replace("isogrid.", "ig.")}(x[i])
""")
        hard, _ = hard_cases(name)
        x = np.concatenate([np.array(EDGES, np.uint32), hard[:: max(1, hard.size // 40)]]).view(np.float32)
        collector.title = name
        run.on(collector.name)(x, np.empty_like(x))
    assert not collector.refused
    found = troubles(collector)
    assert not found, "\n\n".join(found[:3])
    assert len(collector.launches) == len(NAMES)
    for language in collector.languages:
        for unit in collector.units[language.name]:
            assert not re.search(r"\b(double|fma)\b", unit.printed.text)
