"""A kernel that ends its process, or never ends, is named and stops nobody; a campaign may go on where it stopped."""

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import campaign
from .crew import Done, Lost, work_through

LIMIT = 1.0


@dataclass(frozen=True, slots=True)
class Fault:
    """Work that goes wrong at some seeds. `weak`: only while kernels are packed, `slow`: at last."""

    dies: tuple[int, ...] = ()
    hangs: tuple[int, ...] = ()
    weak: tuple[int, ...] = ()
    slow: tuple[int, ...] = ()

    def __call__(self, seeds: Sequence[int], packed: bool, note: Callable[[int, str], None]) -> int:
        for seed in seeds:
            note(seed, "work")
            if seed in self.dies or (packed and seed in self.weak):
                os.kill(os.getpid(), signal.SIGKILL)
            if seed in self.hangs:
                time.sleep(60)
            if seed in self.slow:
                _compute_little(LIMIT + 1.5)
        return sum(seeds)


def _compute_little(seconds: float) -> None:
    """What a process looks like that other ones leave little processor time to."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        busy = time.process_time() + 0.03
        while time.process_time() < busy:
            pass
        time.sleep(0.3)


def outcome(work: Fault, last: int = 40, processes: int = 2) -> tuple[list[int], list[Lost]]:
    batches = [range(first, first + 5) for first in range(0, last, 5)]
    done: list[int] = []
    lost: list[Lost] = []
    for news in work_through(work, batches, processes, seconds=LIMIT, start="fork"):
        match news:
            case Done():
                assert news.result == sum(news.seeds)
                done += news.seeds
            case Lost():
                lost.append(news)
    return sorted(done), lost


def test_every_batch_is_done_once() -> None:
    assert outcome(Fault()) == (list(range(40)), [])


@pytest.mark.parametrize("processes", [1, 2])
def test_a_seed_that_ends_its_process_is_named(processes: int) -> None:
    done, lost = outcome(Fault(dies=(7, 8, 39)), processes=processes)
    assert done == [seed for seed in range(40) if seed not in (7, 8, 39)]
    assert sorted((news.seed, news.text) for news in lost) == [
        (seed, "ended its process: signal SIGKILL (work)") for seed in (7, 8, 39)
    ]


def test_a_seed_that_never_ends_is_named() -> None:
    done, lost = outcome(Fault(hangs=(12,)))
    assert done == [seed for seed in range(40) if seed != 12]
    assert [(news.seed, news.text) for news in lost] == [(12, "took more than 1 s (work)")]


def test_a_seed_that_waits_for_the_processor_is_left_alone() -> None:
    assert outcome(Fault(slow=(12,))) == (list(range(40)), [])


def test_a_batch_that_fails_only_as_a_whole_is_named_too() -> None:
    done, lost = outcome(Fault(weak=(21,)))
    assert done == list(range(40))
    assert [(news.seed, "not when compiled alone" in news.text) for news in lost] == [(20, True)]


def test_a_campaign_goes_on_where_its_report_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.json"
    common = ["--processes", "1", "--report", str(report), "--code", "this"]
    assert campaign.main(["--seeds", "70000:70008", *common]) == 0
    before = json.loads(report.read_text())
    assert before["done"] == [[70000, 70008]] and before["kernels"] == 8 and not before["differences"]
    assert campaign.main(["--seeds", "70000:70011", *common, "--resume"]) == 0
    after = json.loads(report.read_text())
    assert after["done"] == [[70000, 70011]] and after["kernels"] == 11
    assert "11/11 kernels" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="is of code, codegen, devices"):
        campaign.main(["--seeds", "70000:70011", "--devices", "interp", *common, "--resume"])


def test_only_some_batches_go_to_a_device() -> None:
    share = campaign.Share(("cpu", "cuda"), {"cuda": 5})
    chosen = [share.devices_of(seeds[0]) for seeds in campaign.batches(0, 500, set())]
    assert len(chosen) == 10 and [len(devices) for devices in chosen] == [2, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    assert list(campaign.batches(98, 103, {99})) == [(98,), (100, 101, 102)]
