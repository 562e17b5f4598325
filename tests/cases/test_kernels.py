"""The 74 handed kernels: verdicts as recorded, safe ones run on every device, data-dependent faults trap."""

from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.checks.barriers import check_barriers
from isogrid.checks.races import check_races
from isogrid.support.errors import KernelRefused

from .handed import Case, built, cases, launch

#: What the language lacks so far; a test that starts to pass takes its kernel off its list.
LACKING = {"D09_partial_warp": "needs blocks of whole warps to be demanded"}

#: Refused without a witness: the guard reads an array that the kernel writes, and what it holds is not worked out.
UNWITNESSED = {"R23_bitonic_no_owner"}


def with_expectation(*expect: str) -> list[Any]:
    return [_marked(case, case.id) for case in cases().values() if case.record["expect"] in expect]


def on_devices(*expect: str) -> list[Any]:
    return [
        _marked((case, device), f"{case.id}-{device}")
        for case in cases().values()
        for device in ("interp", "cpu")
        if case.record["expect"] in expect
    ]


def _marked(value: Any, name: str) -> Any:
    reason = LACKING.get(name.removesuffix("-interp").removesuffix("-cpu"))
    return pytest.param(value, id=name, marks=[pytest.mark.xfail(reason=reason, strict=True)] if reason else [])


def test_every_record_has_a_kernel() -> None:
    assert len(cases()) == 74
    assert set(LACKING) <= set(cases())


@pytest.mark.parametrize("case", with_expectation("safe"))
def test_a_safe_kernel_is_accepted(case: Case) -> None:
    kernel = built(case)
    reports = [*check_races(kernel), *check_barriers(kernel)]
    assert reports == [] or case.record["static_expect"] == "refuse-ok"


@pytest.mark.parametrize("case", with_expectation("race"))
def test_a_race_is_refuted_with_a_witness(case: Case) -> None:
    reports = check_races(built(case))
    assert reports
    if case.id in UNWITNESSED:
        assert [r.code for r in reports] == ["IG202"]
        return
    assert all(r.code == "IG201" and r.witness is not None for r in reports), [r.title for r in reports]


@pytest.mark.parametrize("case", with_expectation("barrier-divergence"))
def test_divergence_is_refused(case: Case) -> None:
    reports = check_barriers(built(case))
    assert reports
    assert all(r.code in ("IG301", "IG302", "IG303") for r in reports)


@pytest.mark.parametrize("case_on", on_devices("out-of-bounds", "overflow"))
def test_a_fault_of_data_is_a_trap(case_on: tuple[Case, str]) -> None:
    case, device = case_on
    assert check_races(built(case)) == []
    expected = ig.KernelIndexError if case.record["expect"] == "out-of-bounds" else ig.KernelOverflowError
    with pytest.raises(expected):
        launch(case, device)


@pytest.mark.parametrize("case_on", on_devices("safe"))
def test_a_safe_kernel_gives_the_recorded_answer(case_on: tuple[Case, str]) -> None:
    case, device = case_on
    try:
        after = launch(case, device)
    except AttributeError as error:  # the definition was refused: there is no kernel
        raise KernelRefused(case.refused) from error
    for name, values in case.record["expected"].items():
        np.testing.assert_array_equal(after[name].ravel(), values, err_msg=name)
