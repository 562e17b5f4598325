"""How lanes are run: LLVM's vectoriser on a scalar loop, explicit vectors with masks, or scalar lanes."""

from dataclasses import dataclass
from typing import Literal

from isogrid.backends.cpu.target import HostTarget
from isogrid.ir import device as d


@dataclass(frozen=True, slots=True)
class Strategy:
    width: int
    pipeline: Literal["vectorise", "plain"]
    reason: str


def choose_strategy(kernel: d.Kernel, target: HostTarget, forced: int | None) -> Strategy:
    if forced is not None:
        return Strategy(forced, "plain", "as asked")
    return Strategy(target.f32_lanes, "plain", "explicit vectors")
