"""What emission of one grouped function keeps while it walks the regions."""

from dataclasses import dataclass, field

from isogrid.backends.cpu.emit_frame import FunctionFrame
from isogrid.backends.cpu.emit_guards import LaneFacts
from isogrid.backends.cpu.emit_levels import Levels
from isogrid.backends.cpu.emit_regions import (
    Crossing,
)
from isogrid.backends.cpu.emit_strategy import Strategy
from isogrid.backends.cpu.emit_values import BufferRef, Lanes


@dataclass(slots=True)
class Group:
    """What emission of one grouped function keeps. `lanes` holds the values of the whole group, one lane wide."""

    frame: FunctionFrame
    lanes: Lanes
    levels: Levels
    facts: LaneFacts
    #: The same with rows for lanes, where all rows lie along one axis.
    row_facts: LaneFacts | None
    crossing: Crossing
    kept: dict[str, BufferRef]
    strategy: Strategy
    block: tuple[int, ...]
    axis: int
    linear: str
    limit: str
    #: Where this region's new values of a row go while its threads still start from the old ones.
    renewed: dict[str, BufferRef] = field(default_factory=dict[str, BufferRef])

    @property
    def threads(self) -> int:
        size = 1
        for extent in self.block:
            size *= extent
        return size

    @property
    def row(self) -> int:
        """Threads along the lane axis."""
        return self.block[self.axis]
