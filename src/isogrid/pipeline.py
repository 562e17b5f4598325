"""The compiler on one page: checks, passes and lowerings in run order."""

from isogrid.analysis.facts import LaunchFacts
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.lowering.lower import lower_kernel


def lower(kernel: k.Kernel, facts: LaunchFacts) -> d.Kernel:
    """Device IR of a kernel."""
    return lower_kernel(kernel, facts)
