"""Why results are exact: every operation has a reason on every device, and what is measured is what is emitted."""

from collections.abc import Callable
from typing import Any

import pytest

from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cpu import exactness as on_cpu
from isogrid.backends.cpu.target import HostTarget
from isogrid.backends.cuda import exactness as on_cuda
from isogrid.backends.cuda.emit import emit_cuda
from isogrid.backends.cuda.target import cuda_target
from isogrid.backends.interp import exactness as on_interp
from isogrid.builtins.elementary import BUILDS
from isogrid.builtins.exactness import Basis, Kind, Operation, Reason, operations
from isogrid.cli.stages import stages_of
from isogrid.ir.types import Scalar
from isogrid.pipeline import lower
from tests.conformance.support import kernel

INTEL = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx2,+avx512f,+f16c,+fma", "")
OTHER = HostTarget("x86_64-unknown-linux-gnu", "znver4", "+avx2,+avx512f,+f16c,+fma", "")
Reasons = Callable[[Operation], Reason]
DEVICES: dict[str, Reasons] = {
    "interp": on_interp.reason,
    "intel": lambda o: on_cpu.reason(o, INTEL),
    "other": lambda o: on_cpu.reason(o, OTHER),
    "sm_90": lambda o: on_cuda.reason(o, cuda_target((9, 0)), as_measured=True),
    "sm_80": lambda o: on_cuda.reason(o, cuda_target((8, 0)), as_measured=False),
}


def test_every_operation_is_listed_once() -> None:
    listed = list(operations())
    assert len(listed) == len({(o.name, o.type, o.kind) for o in listed})
    assert {o.kind for o in listed} == set(Kind)
    names = {(o.name, o.type) for o in listed}
    for name, type in (("+", "f32"), ("//", "i64"), ("math.exp", "f64"), ("ig.group_sum", "f32"), ("f16(x)", "f64")):
        assert (name, Scalar(type)) in names


@pytest.mark.parametrize("device", DEVICES)
def test_every_operation_has_a_reason(device: str) -> None:
    for operation in operations():
        reason = DEVICES[device](operation)
        assert reason.text and bool(reason.measured) is (reason.basis is Basis.MEASURED), operation
        assert reason.basis.is_guaranteed is (reason.basis in (Basis.PROMISED, Basis.SEQUENCE))


def measured(device: str) -> set[tuple[str, str]]:
    return {(o.name, o.type.value) for o in operations() if not DEVICES[device](o).basis.is_guaranteed}


def test_what_is_measured() -> None:
    assert measured("interp") == measured("other") == set()
    assert {("/", "f32"), ("//", "f32"), ("math.sqrt", "f32"), ("math.tan", "f32")} <= measured("intel")
    assert {("/", "f32"), ("//", "f32"), ("math.sqrt", "f32"), ("math.tanh", "f32")} <= measured("sm_90")
    assert ("/", "f32") not in measured("sm_80") and ("math.tanh", "f32") in measured("sm_80")
    for device in ("intel", "sm_90", "sm_80"):
        assert not [one for one in measured(device) if one[1] != "f32"]


def test_another_driver_is_named() -> None:
    root = next(o for o in operations() if o.kind is Kind.ROOT and o.type is Scalar.F32)
    target = cuda_target((9, 0))
    assert "self-test" not in on_cuda.reason(root, target, as_measured=True).measured
    assert "the self-test alone" in on_cuda.reason(root, target, as_measured=False).measured


@pytest.mark.parametrize("function", BUILDS["gpu"])
def test_a_function_is_measured_where_its_code_begins_with_an_approximation_in_f64(function: str) -> None:
    name = function.removesuffix("_f32")
    called = f"ig.{name}" if name in ("exp10", "sinpi", "cospi", "rsqrt") else f"math.{name}"
    calling: Any = kernel(
        f"@ig.kernel(grid=N)\ndef k(x: ig.In[ig.f32, N], y: ig.Out[ig.f32, N]) -> None:\n"
        f"    i = ig.gid()\n    y[i] = {called}(x[i])\n"
    )
    target, stages = cuda_target((9, 0)), stages_of(calling)
    device = lower(stages.optimised, LaunchFacts(small=True), target.build)
    code = emit_cuda(device, target, stages.options, small=True).text
    assert ("approx.ftz.d" in code) is ((called, "f32") in measured("sm_90"))
