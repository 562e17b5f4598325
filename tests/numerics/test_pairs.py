"""The builds in sums of two and three f32, for devices without f64 or without a fused multiply-add.

All 2^32 inputs: `isogrid numerics --build pairs`.
"""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from tools.mathlib import singles

import isogrid as ig
from isogrid import In, Out, f32, f64
from isogrid.analysis.facts import LaunchFacts
from isogrid.builtins.elementary import BUILDS
from isogrid.cli.stages import stages_of
from isogrid.dims import N
from isogrid.ir.lacking import Lacking
from isogrid.ir.text import print_kernel
from isogrid.ir.types import Scalar
from isogrid.lowering.lacking import needs
from isogrid.mathlib.digests import digest_of, subset
from isogrid.mathlib.methods import PAIRS
from isogrid.mathlib.source import single_circular as circular
from isogrid.mathlib.source import single_exponential as exponential
from isogrid.mathlib.source import single_logarithm as logarithm
from isogrid.mathlib.source import single_roots as roots
from isogrid.pipeline import lower
from tests.conformance.support import corners, kernel

from .support import ROWS, applied, bits_of, hard_cases, subset_digest

INPUTS = subset()
NAMES = [name.removesuffix("_f32") for name in BUILDS["pairs"]]
WITHOUT_BOTH = {"without": "f64,fma"}


@pytest.mark.parametrize("name", NAMES)
def test_correctly_rounded(name: str) -> None:
    """The usual build decides what is right: it has been compared with MPFR."""
    run = applied(ROWS[name], Scalar.F32).on("cpu")
    hard, wanted = hard_cases(name)
    # Every exponent, subnormal numbers of every length, and what lies next to a power of two.
    powers = (np.arange(256, dtype=np.uint32) << 23)[:, None] + np.array([-1, 0, 1, 2, 12345], np.int64).astype("u4")
    short = np.uint32(1) << np.arange(23, dtype=np.uint32)
    edges = np.concatenate([powers.ravel(), short, short - np.uint32(1)])
    special = np.concatenate([np.array(corners(Scalar.F32), np.float32).view(np.uint32), edges, edges | 0x80000000])
    x = np.concatenate([INPUTS, hard, special]).astype(np.uint32).view(np.float32)
    y, usual = np.empty_like(x), np.empty_like(x)
    run.options(cpu=WITHOUT_BOTH)(x, y)
    run(x[-special.size :], usual[-special.size :])
    found = bits_of(y)
    assert digest_of(INPUTS, found[: INPUTS.size]) == subset_digest(name)
    wrong = np.flatnonzero(found[INPUTS.size : -special.size] != wanted)
    assert not wrong.size, f"{wrong.size} hard cases, the first at 0x{hard[wrong[0]]:08x}"
    wrong = np.flatnonzero(found[-special.size :] != bits_of(usual[-special.size :]))
    assert not wrong.size, f"{wrong.size} special values, the first at 0x{special[wrong[0]]:08x}"


def test_bodies_need_neither_f64_nor_fma() -> None:
    assert len(NAMES) == 8
    for name in NAMES:
        assert needs(f"{name}_f32", "pairs") == frozenset()
        assert needs(f"{name}_f32", "") == {"f64", "fma"}


@ig.func
def exp_triple(x: f32):
    n, rh, rm, rl = exponential.reduced(x)
    h, m, low, k = exponential.exp_triple(n, rh, rm, rl)
    scale = ig.bitcast(f32, k + 0x3F800000)
    return h * scale, m * scale, low * scale


#: Function -> its sum before the last rounding, the exact function, and the range of arguments that reach it. exp2 and
#: cos share theirs with exp and sin.
TRIPLES: dict[str, tuple[Any, Any, float, float]] = {
    "exp": (exp_triple, mpmath.exp, 1e-7, 40.0),
    "tanh": (exponential.tanh_triple, mpmath.tanh, 2.5e-4, 9.0),
    "log": (logarithm.log_triple, mpmath.log, 0.1, 10.0),
    "log2": (logarithm.log2_triple, lambda x: mpmath.log(x, 2), 0.1, 10.0),
    "sin": (circular.sin_triple, mpmath.sin, 2.5e-4, 1e30),
    "rsqrt": (roots.rsqrt_triple, lambda x: 1 / mpmath.sqrt(x), 1.0, 3.99),
}


@pytest.mark.parametrize("name", TRIPLES)
def test_errors_are_those_that_the_page_states(name: str) -> None:
    triple, exact, first, last = TRIPLES[name]

    @ig.kernel(grid=N)
    def parts(x: In[f32, N], h: Out[f32, N], m: Out[f32, N], low: Out[f32, N]) -> None:
        i = ig.gid()
        h[i], m[i], low[i] = triple(x[i])

    x = np.exp(np.random.default_rng(8).uniform(math.log(first), math.log(last), 300)).astype(np.float32)
    three = [np.empty_like(x) for _ in range(3)]
    parts.on("cpu")(x, *three)
    with mpmath.workprec(200):
        sums = [mpmath.fsum(map(float, row)) for row in zip(*three, strict=True)]
        worst = max(abs(found / exact(mpmath.mpf(float(v))) - 1) for found, v in zip(sums, x, strict=True))
        assert worst < mpmath.ldexp(1, PAIRS[name][1])


def test_constants_are_up_to_date() -> None:
    """Making them also checks what the series leave out."""
    assert singles.TARGET.read_text() == singles.written(), "run python -m tools.mathlib.singles"


def called(call: str, types: str = "f32") -> Any:
    """A kernel `y[i] = call` of an x of this type."""
    return kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.{types}, N], y: ig.Out[ig.{types}, N]) -> None:
    i = ig.gid()
    y[i] = {call}
""")


def outcome(kernel: Any, without: str, dtype: Any = np.float32) -> str:
    """Codes of a refusal on a CPU without these capabilities, "" where the kernel ran and gave the usual bits."""
    x = np.linspace(0.1, 0.9, 33, dtype=dtype)
    y, usual = np.empty_like(x), np.empty_like(x)
    try:
        kernel.on("cpu").options(cpu={"without": without})(x, y)
    except ig.KernelRefused as refusal:
        return " ".join(report.code for report in refusal.reports)
    kernel.on("cpu")(x, usual)
    assert np.array_equal(bits_of(y), bits_of(usual))
    return ""


@pytest.mark.parametrize("name", ["tan", "cbrt", "erf", "hypot", "nextafter", "round_away", "exp"])
def test_other_functions_run_or_are_refused_by_capability(name: str) -> None:
    """Refused are those that need what is missing, no more and no fewer."""
    operands = "x[i], 0.3" if len(ROWS[name].parameters) == 2 else "x[i]"
    stages = stages_of(called(f"{ROWS[name].spellings[0].replace('isogrid.', 'ig.')}({operands})"))
    needed = needs(f"{name}_f32", "pairs")
    assert bool(needed) == (name in ("tan", "cbrt", "erf", "hypot"))
    for capability in ("f64", "fma"):
        found: list[str] = []
        try:
            lower(stages.optimised, LaunchFacts(), lacking=Lacking("it", {capability: "it has none"}))
        except ig.KernelRefused as refusal:
            found = [report.code for report in refusal.reports]
        assert found == (["IG504"] if capability in needed else []), capability


def test_f64_and_fma_themselves() -> None:
    assert outcome(called("x[i] * 2.0", "f64"), "f64", np.float64) == "IG501"
    assert outcome(called("math.exp(x[i])", "f64"), "f64", np.float64) == "IG501"
    assert outcome(called("math.exp(x[i])", "f64"), "fma", np.float64) == "IG504"
    assert outcome(called("x[i] * 2.0", "f64"), "fma", np.float64) == ""
    assert outcome(called("ig.fma(x[i], x[i], 1.0)"), "fma") == "IG504"
    assert outcome(called("ig.fma(x[i], x[i], 1.0)"), "f64") == ""


def test_a_refusal_names_function_device_capability_and_remedy() -> None:
    kernel = called("math.erf(x[i]) + math.gamma(x[i]) + math.erf(0.5 * x[i])")
    x = np.ones(3, np.float32)
    with pytest.raises(ig.KernelRefused) as refused:
        kernel.on("cpu").options(cpu={"without": "f64"})(x, x.copy())
    first, second = refused.value.reports
    assert first.title == "this CPU cannot compute `math.erf` of f32 here"
    assert second.title == "this CPU cannot compute `math.gamma` of f32 here"
    assert "the capability is `f64`" in first.why
    assert first.primary.span.line > 0
    assert [remedy.text for remedy in first.remedies] == [
        "run the kernel on a device that has it",
        "use functions of f32 that need it nowhere: "
        "math.exp, math.exp2, math.log, math.log2, math.sin, math.cos, math.tanh, ig.rsqrt",
    ]


def test_code_that_is_shown_is_the_code_that_runs() -> None:
    """`emit` and `explain` lower with the options of the kernel."""
    kernel = called("math.exp(x[i])")
    assert "f64" in print_kernel(stages_of(kernel).device)
    assert "f64" not in print_kernel(stages_of(kernel.options(cpu=WITHOUT_BOTH)).device)


def test_option_is_judged() -> None:
    with pytest.raises(ig.OptionError, match="names capabilities, such as 'f64'"):
        called("x[i]").options(cpu={"without": "f63"})
    with pytest.raises(ig.OptionError, match="is str"):
        called("x[i]").options(cpu={"without": 64})


@ig.kernel(groups=N, block=8)
def everywhere(x: In[f32, N, 8], y: Out[f32, N, 8], z: Out[f32, N]) -> None:
    g, t = ig.group_id(), ig.lid()
    v = x[g, t]
    s = math.sin(v) if v > 0.0 else math.cos(v)
    for _ in range(2):
        s = math.tanh(s + math.exp(-abs(s)))
        if s > 0.9:
            break
    y[g, t] = s
    total = ig.group_sum(ig.rsqrt(1.0 + s * s))
    if t == 0:
        z[g] = math.log(total) + math.exp2(-total) * math.log2(total)


def test_wherever_an_expression_may_stand() -> None:
    x = np.random.default_rng(3).normal(size=(5, 8)).astype(np.float32) * 100
    results = []
    for run in (everywhere.on("cpu"), everywhere.on("cpu").options(cpu=WITHOUT_BOTH), everywhere.on("interp")):
        y, z = np.empty_like(x), np.empty(5, np.float32)
        run(x, y, z)
        results.append((y.tobytes(), z.tobytes()))
    assert results[0] == results[1] == results[2]


def test_sums_in_f64_are_not_hidden_in_a_kernel_of_f32() -> None:
    @ig.kernel(grid=N)
    def widened(x: In[f32, N], y: Out[f32, N]) -> None:
        i = ig.gid()
        y[i] = f32(f64(x[i]) * 3.0)

    assert outcome(widened, "f64") == "IG501"
    assert outcome(widened, "fma") == ""
