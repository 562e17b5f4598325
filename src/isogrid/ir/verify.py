"""Check that a kernel of either IR keeps the rules of its IR; run after every pass in tests.

A broken rule is a fault of the compiler, never of the author: `CompilerBug` with every broken rule and its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from isogrid.diagnostics.span import NOWHERE, Span
from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.text import print_kernel
from isogrid.support.errors import CompilerBug

#: Most IR text that an error carries.
_TEXT_LIMIT = 20_000


@dataclass(slots=True)
class Faults:
    """Broken rules found so far, each with the node's text and place."""

    found: list[str] = field(default_factory=list[str])

    def add(self, message: str, span: Span = NOWHERE) -> None:
        self.found.append(message if span == NOWHERE else f"{message} ({span})")

    def require(self, holds: bool, message: str, span: Span = NOWHERE) -> None:
        if not holds:
            self.add(message, span)


def verify(kernel: k.Kernel | d.Kernel, after: str = "") -> None:
    """Raise `CompilerBug` unless the kernel is well formed; `after` names the pass or stage that made it."""
    from isogrid.ir.verify_device import device_faults
    from isogrid.ir.verify_kernel import kernel_faults

    faults = device_faults(kernel) if isinstance(kernel, d.Kernel) else kernel_faults(kernel)
    if faults:
        raise CompilerBug(_message(kernel, faults, after))


def _message(kernel: k.Kernel | d.Kernel, faults: Sequence[str], after: str) -> str:
    kind = "device IR" if isinstance(kernel, d.Kernel) else "kernel IR"
    head = f"{kind} of `{kernel.name}` is malformed" + (f" after {after}" if after else "")
    return "\n".join([f"{head}:", *(f"  {fault}" for fault in faults), "", print_kernel(kernel)[:_TEXT_LIMIT]])
