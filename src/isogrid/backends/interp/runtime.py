"""The `interp` device: runs kernel IR as written, defines every result, and reports races and divergence."""

from collections.abc import Mapping
from typing import Any

from isogrid.backends.interp.exactness import made_with, reason
from isogrid.backends.interp.findings import DynamicFault
from isogrid.backends.interp.launch import run_program
from isogrid.backends.interp.program import Program, compile_program
from isogrid.builtins.exactness import Exactness, exactness_of
from isogrid.ir import kernel as k
from isogrid.runtimes.memory import HostMemory
from isogrid.runtimes.protocol import BoundLaunch


class InterpRuntime:
    """Runtime of the interpreter. Options of its group: `detect_races` (True) and `order` (a seed; None)."""

    name = "interp"
    #: Hints that change nothing here; a note says so once.
    ignored_hints = frozenset({"fastmath", "always_inline", "unroll"})
    #: Keys of this device's own options and the types of their values.
    backend_options: Mapping[str, type] = {"detect_races": bool, "order": int}

    def __init__(self) -> None:
        self.memory = HostMemory(self.name)

    def raise_pending(self) -> None:
        """Raise the first trap of a launch on device arrays that has not been raised."""
        self.memory.queue.settle()

    synchronize = raise_pending

    def exactness(self) -> Exactness:
        """Why each operation is exact here."""
        return exactness_of(made_with(), reason)

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> Program:
        """Closures for the kernel as it stands: no pass runs, so that passes can be compared with this."""
        own = options.get(self.name, {})
        return compile_program(kernel, bool(own.get("detect_races", True)))

    def launch(self, artifact: Program, bound: BoundLaunch) -> None:
        """Run to the end. Raises the trap of the launch, or `DynamicFault` for a race or divergence; arrays are then
        as before."""
        outcome = run_program(artifact, bound, order=bound.options.get(self.name, {}).get("order"))
        if outcome.findings:
            raise DynamicFault(artifact.kernel.name, outcome.findings)
        if outcome.trap is not None:
            raise outcome.trap
