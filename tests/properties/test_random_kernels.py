"""Random kernels: interpreter and CPU agree in every byte and every trap, and a wrong lowering would be noticed."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isogrid.lowering import integers
from isogrid.lowering.machine import FALSE

from .campaign import run_campaign
from .generator.choices import Choices
from .generator.coverage import REQUIRED, TRAPS
from .generator.elementary import CALLS
from .generator.execute import Outcome, run
from .generator.program import program
from .generator.shrink import shrink
from .generator.tally import run_batch, table

#: CI compares 5,000 (.ci/run), fewer are enough while one works.
KERNELS = int(os.environ.get("ISOGRID_RANDOM_KERNELS", "200"))
SEED = int(os.environ.get("ISOGRID_RANDOM_SEED", "1"))
#: From this many kernels on, shares of constructs mean something.
ENOUGH = 2000


@pytest.mark.slow
def test_random_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    # Some are refused, since they certainly trap; the rest must be enough.
    found = run_campaign(SEED, KERNELS + KERNELS // 20)
    tally = found.tally
    with capsys.disabled():
        print("\n" + table(tally) + f"\n{found.seconds:.1f} s")
    shown = "\n\n".join(f"seed {seed}: {text}\n{smallest(seed)}" for seed, _, text in tally.troubles[:3])
    assert not tally.troubles, f"{len(tally.troubles)} of {tally.kernels} kernels\n{shown}"
    assert not found.lost, f"kernels that ended their process or never ended: {found.lost}"
    assert tally.alone <= 0.01 * KERNELS, f"{tally.alone} kernels were not compiled in the module of their batch"
    assert tally.compared["cpu"] >= KERNELS, f"only {tally.compared['cpu']} kernels were compared"
    if tally.kernels >= ENOUGH:
        assert 0.1 * tally.launches <= tally.trapped <= 0.5 * tally.launches
        assert tally.odd_sizes >= 0.2 * tally.kernels
        rare = {name: tally.constructs[name] for name in REQUIRED if tally.constructs[name] < 0.01 * tally.kernels}
        assert not rare, f"in less than 1 % of the kernels: {rare}"
        never = {name.split(" ")[0] for name, _, _ in CALLS} - {name.split(" ")[0] for name in tally.constructs}
        assert not never, f"elementary functions in no kernel: {never}"
        missing = [name for name in TRAPS if not tally.traps[name]]
        assert not missing, f"traps that never happened: {missing}"


def outcome_of(choices: Choices) -> tuple[Outcome, str]:
    made = program(choices)
    return run(made, "random kernel"), made.source


def smallest(seed: int, budget: int = 60) -> str:
    """The text of a small kernel that fails as this seed's does."""
    first = Choices(seed)
    kind = outcome_of(first)[0].trouble.partition(":")[0]
    if not kind:
        return program(Choices(seed)).source

    def fails(record: list[int]) -> bool:
        return outcome_of(Choices(replay=record))[0].trouble.partition(":")[0] == kind

    return program(Choices(replay=shrink(first.record, fails, budget))).source


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, 1 << 30), max_size=300))
def test_any_choices_make_a_kernel_that_agrees(record: list[int]) -> None:
    """Hypothesis writes the choices themselves, so that what it finds shrinks."""
    outcome, source = outcome_of(Choices(replay=record))
    assert not outcome.trouble, f"{outcome.trouble}\n{source}"
    assert not outcome.refused or "IG4" in outcome.refused, outcome.refused


def test_a_seed_always_gives_the_same_kernel() -> None:
    a, b = program(Choices(7)), program(Choices(7))
    assert a.source == b.source
    first = Choices(8)
    again = Choices(replay=(program(first), first.record)[1])
    assert program(Choices(8)).source == program(again).source


def test_a_planted_wrong_lowering_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """`//` and `%` of signed integers as in C: the quotient cut, not floored."""
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    monkeypatch.setattr(integers, "_needs_floor", lambda remainder, right, divisor: FALSE)
    found = next((seed for seed in range(100, 400) if divides(seed) and disagrees(seed)), None)
    assert found is not None, "300 random kernels did not notice that floor division truncates"
    assert run_batch(range(found, found + 3)).troubles, "found alone, and not when kernels are compiled together"
    text = smallest(found, budget=80)
    assert "//" in text or "%" in text
    assert len(text) < len(program(Choices(found)).source)
    monkeypatch.undo()
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    assert not disagrees(found)


def divides(seed: int) -> bool:
    used = program(Choices(seed)).used
    return bool(used & {"// i32", "// i64", "% i32", "% i64"})


def disagrees(seed: int) -> bool:
    return outcome_of(Choices(seed))[0].trouble.startswith(("bytes", "message"))
