"""Which GPUs this machine has. Every process that names no device asks, so this imports next to nothing."""

from isogrid.backends.cuda.machine import machine
from isogrid.runtimes.cuda_driver import DriverAbsent
from isogrid.runtimes.protocol import Presence

#: The oldest processors that LLVM's PTX reaches.
OLDEST_CAPABILITY = (7, 0)


def presence() -> Presence:
    """The devices that code can be made for."""
    try:
        found = machine()
    except DriverAbsent as absent:
        return Presence((), str(absent), absent.remedy)
    names = ["cuda" if n == 0 else f"cuda:{n}" for n, c in enumerate(found.capabilities) if c >= OLDEST_CAPABILITY]
    if names:
        return Presence(tuple(names), needs_self_test=True)
    major, minor = found.capabilities[0]
    return Presence(
        (),
        f"{found.names[0]} has compute capability {major}.{minor}, and isogrid needs 7.0",
        "run kernels on the cpu, or use a card of the Volta generation or newer",
    )
