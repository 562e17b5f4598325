"""The 74 handed kernels: verdicts as recorded, safe ones run on every device, data-dependent faults trap."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid.checks.barriers import check_barriers
from isogrid.checks.races import check_races
from isogrid.checks.warps import check_warps
from isogrid.ir import kernel as k
from isogrid.pipeline import check_kernel
from isogrid.support.errors import KernelRefused

from .handed import Case, built, cases, launch

#: Safe for a reason that no proof sees: what their authors had to write.
CONTRACTS = {
    "S36_radix_pass": "races=check",
    "S50_lookback_scan": "deterministic=False",
    "S65_last_group_atomic": "races=trust deterministic=False",
}

#: Refused without a witness: the guard reads an array that the kernel writes, and what it holds is not worked out.
UNWITNESSED = {"R23_bitonic_no_owner"}


def with_expectation(*expect: str) -> list[Any]:
    return [pytest.param(case, id=case.id) for case in cases().values() if case.record["expect"] in expect]


def on_devices(*expect: str) -> list[Any]:
    return [
        pytest.param((case, device), id=f"{case.id}-{device}")
        for case in cases().values()
        for device in ("interp", "cpu")
        if case.record["expect"] in expect
    ]


def test_every_record_has_a_kernel() -> None:
    assert len(cases()) == 74


@pytest.mark.parametrize("case", with_expectation("safe"))
def test_a_safe_kernel_is_accepted_without_a_word_of_its_author(case: Case) -> None:
    kernel = built(case)
    assert check_kernel(kernel) == []
    if case.record["static_expect"] == "accept":
        assert (kernel.races, kernel.deterministic, kernel.requires, kernel.facts) == ("prove", True, (), ())
    else:
        assert way_out(kernel) == CONTRACTS[case.id]
        assert check_kernel(replace(kernel, races="prove")) != [] or case.id == "S50_lookback_scan"


def way_out(kernel: k.Kernel) -> str:
    races = "" if kernel.races == "prove" else f"races={kernel.races.partition(':')[0]}"
    return " ".join(part for part in (races, "" if kernel.deterministic else "deterministic=False") if part)


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
    kernel = built(case)
    reports = [*check_warps(kernel), *check_barriers(kernel)]
    assert reports
    wanted = ("IG304",) if case.id == "D09_partial_warp" else ("IG301", "IG302", "IG303")
    assert all(r.code in wanted for r in reports)


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
