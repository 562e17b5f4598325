"""Check that a kernel of either IR keeps the rules of its IR; run after every pass in tests.

A broken rule is a fault of the compiler, never of the author: `CompilerBug` with every broken rule and its place.
"""

from collections.abc import Sequence

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.text import print_kernel
from isogrid.ir.verify_device import device_faults
from isogrid.ir.verify_kernel import kernel_faults
from isogrid.support.errors import CompilerBug

#: Most IR text that an error carries.
_TEXT_LIMIT = 20_000


def verify(kernel: k.Kernel | d.Kernel, after: str = "") -> None:
    """Raise `CompilerBug` unless the kernel is well formed; `after` names the pass or stage that made it."""
    faults = device_faults(kernel) if isinstance(kernel, d.Kernel) else kernel_faults(kernel)
    if faults:
        raise CompilerBug(_message(kernel, faults, after))


def _message(kernel: k.Kernel | d.Kernel, faults: Sequence[str], after: str) -> str:
    kind = "device IR" if isinstance(kernel, d.Kernel) else "kernel IR"
    head = f"{kind} of `{kernel.name}` is malformed" + (f" after {after}" if after else "")
    return "\n".join([f"{head}:", *(f"  {fault}" for fault in faults), "", print_kernel(kernel)[:_TEXT_LIMIT]])
