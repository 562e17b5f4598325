"""What a target cannot do: a description of a device that refusals and the choice of builds are made from."""

from collections.abc import Mapping
from dataclasses import field

from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Lacking:
    """The target in words ("Metal"), and for each capability that it lacks a sentence that says why.

    Capabilities are `f64`, 64-bit floats; `fma`, a multiply-add rounded once; `atomics_64`, atomic updates of 64 bits.
    """

    target: str
    why: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def build(self) -> str:
        """Which builds of elementary functions the target needs: those in f32 alone, without a fused operation."""
        return "pairs" if self.why.keys() & {"f64", "fma"} else ""


#: Of a target that lacks nothing.
NOTHING = Lacking("")
