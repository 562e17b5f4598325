"""Texts do what the interpreter does, bit for bit and trap for trap: g++ compiles them with each language's words.

Every kernel is printed in each language; the interpreter runs it once. `ISOGRID_TEXT_SHARE=1` takes every case of the
conformance suite, `ISOGRID_TEXT_KERNELS` sets the number of random kernels.
"""

import contextlib
import importlib
import os
import zlib

import numpy as np
import pytest

import isogrid as ig

from . import edges
from .collect import agree_by, cases, enter, troubles
from .executor import Collector
from .languages import CUDA_TEXT, METAL_TEXT, OPENCL_TEXT, PLAIN_OPENCL_TEXT
from .nvidia import assemble, inexact_instructions, ptx_of, rounds_exactly
from .random_kernels import note_random

CONFORMANCE = (
    "test_statements",
    "test_atomics",
    "test_collectives",
    "test_conversions",
    "test_functions",
    "test_operators",
    "test_queries",
)
#: One case of so many is taken; statements are few and each is another construct.
SHARE = int(os.environ.get("ISOGRID_TEXT_SHARE", "20"))
KERNELS = int(os.environ.get("ISOGRID_TEXT_KERNELS", "30"))
FIRST_SEED = int(os.environ.get("ISOGRID_TEXT_SEED", "5000"))


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Collector:
    return enter(monkeypatch, Collector(CUDA_TEXT, OPENCL_TEXT, METAL_TEXT))


def assert_right(collector: Collector, at_least: int) -> None:
    found = troubles(collector)
    assert not found, f"{len(found)} troubles\n" + "\n\n".join(found[:3])
    for language in collector.languages:
        compared = sum(language.name in launch.units for launch in collector.launches)
        assert compared >= at_least, f"only {compared} launches of {language.name} were compared"
    accepted_by_nvidia([unit.printed.text for unit in collector.units.get(CUDA_TEXT.name, [])])
    # What a text cannot say is refused for a reason that the language has.
    for (name, title), words in collector.refused.items():
        assert name != CUDA_TEXT.name, f"{title}: {words}"
        assert any(code in words for code in ("IG501", "IG502", "IG504")), f"{name} {title}: {words}"


def accepted_by_nvidia(texts: list[str]) -> None:
    """Texts compile with default flags, and no product is fused that the author did not fuse."""
    plain = [text for text in texts if rounds_exactly(text)]
    for ptx in ptx_of(plain):
        assert not inexact_instructions(ptx)
        assemble(ptx)
    for ptx in ptx_of([text for text in texts if not rounds_exactly(text)]):
        assemble(ptx)


def test_gallery(collector: Collector) -> None:
    import sys
    from pathlib import Path

    examples = str(Path(__file__).parents[2] / "examples")
    if examples not in sys.path:
        sys.path.insert(0, examples)
    gallery = importlib.import_module("gallery")
    for name in gallery.NAMES:
        example = gallery.load(name)
        collector.title = name
        for size in (example.sizes[1], example.sizes[4]):
            example.run(example.make_inputs(size, seed=3), collector.name)
    assert_right(collector, 20)


def test_conformance(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    for name in CONFORMANCE:
        module = importlib.import_module(f"tests.conformance.{name}")
        if hasattr(module, "agree"):
            monkeypatch.setattr(module, "agree", agree_by(collector))
        for title, test, arguments in cases(module):
            collector.title = f"{name} {title}"
            share = min(SHARE, 3) if name in ("test_statements", "test_collectives") else SHARE
            # Taken by name, so that a new case does not move the others.
            if zlib.crc32(collector.title.encode()) % share == 0:
                test(**arguments, device=collector.name)
                taken += 1
    assert taken >= 40
    assert_right(collector, 60)


def test_stored_floats(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every f16 and bf16, and roundings to them."""
    module = importlib.import_module("tests.conformance.test_conversions")
    monkeypatch.setattr(module, "agree", agree_by(collector))
    for title, test, arguments in cases(module):
        collector.title = title
        if title.startswith(("test_every_stored", "test_rounding", "test_stored")):
            test(**arguments, device=collector.name)
    assert_right(collector, 14)


def test_random_kernels(collector: Collector) -> None:
    accepted = note_random(collector, range(FIRST_SEED, FIRST_SEED + KERNELS))
    assert accepted >= KERNELS * 3 // 4
    assert_right(collector, KERNELS // 8)


def test_without_64_bit_atomics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and events of 32 bits."""
    collector = enter(monkeypatch, Collector(PLAIN_OPENCL_TEXT))
    module = importlib.import_module("tests.conformance.test_atomics")
    monkeypatch.setattr(module, "agree", agree_by(collector))
    for title, test, arguments in cases(module):
        collector.title = title
        if title.startswith(("test_totals", "test_a_thread", "test_index")):
            test(**arguments, device=collector.name)
    assert_right(collector, 7)


EDGES = (0, 1, -1, 2, -2, 3, 5, 6, 7, 40, 41, 127, 255, 65535, 2147483646, 2147483647, -2147483647, -2147483648)


def test_edges(collector: Collector) -> None:
    """Values at the ends of `int` inside 64-bit arithmetic; steps that would leave the counter's type."""
    x = np.array(EDGES, np.int32)
    u, f = x.view(np.uint32), x.view(np.float32)
    wide = [np.zeros(len(x), np.int64) for _ in range(3)]
    words = np.array([0, 1, 3, 0x400, 0x7FFFFF, 0x800000, 0x1000001, 0x3F800000, 0x4B000001, 0x7F7FFFFF], np.uint32)
    a, b = (grid.ravel() for grid in np.meshgrid(words.view(np.float32), -words.view(np.float32)))
    for call in (
        lambda: edges.widened.launch(x, *wide, device=collector.name),
        lambda: edges.unsigned_counters.launch(u | 0xFFFFFF00, wide[0], device=collector.name),
        lambda: edges.bits_of.launch(f, u.astype(np.uint8), wide[0].view(np.uint64), device=collector.name),
        lambda: edges.far_shifts.launch(
            u.astype(np.uint8) * 3, wide[0].view(np.uint64), wide[1], device=collector.name
        ),
        lambda: edges.remainders.launch(a.copy(), b.copy(), a.copy(), b.copy(), device=collector.name),
        lambda: edges.compared.launch(x, u[::-1].copy(), x.copy(), device=collector.name),
        lambda: edges.steps.launch(x[1:], wide[0][1:].copy(), device=collector.name),
        lambda: edges.hidden.launch(a.copy(), b.copy(), np.zeros(a.size, np.float16), a.copy(), device=collector.name),
    ):
        collector.title = "edges"
        with contextlib.suppress(ig.Trap):
            call()
    assert sum(launch.trap != "" for launch in collector.launches) <= 1
    assert_right(collector, 8)
