"""Groups."""

from isogrid.backends.cpu.emit_frame import FunctionFrame
from isogrid.backends.cpu.emit_strategy import Strategy


def emit_groups(frame: FunctionFrame, strategy: Strategy) -> None:
    raise NotImplementedError
