"""Readable text of both IRs.

`print_kernel(kernel)` gives text that `isogrid.ir.parse` reads back to an equal kernel. A `!` marks what may trap.
"""

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.text_device import device_lines
from isogrid.ir.text_kernel import source_kernel_lines
from isogrid.ir.text_lines import TextLine


def print_kernel(kernel: k.Kernel | d.Kernel) -> str:
    """The kernel as text, ending in a newline."""
    return "".join(f"{line.text}\n" for line in kernel_lines(kernel))


def kernel_lines(kernel: k.Kernel | d.Kernel) -> list[TextLine]:
    """The same text line by line, each with its span, for showing it beside the source."""
    return device_lines(kernel) if isinstance(kernel, d.Kernel) else source_kernel_lines(kernel)
