"""Read the text of both IRs back: `parse_kernel(print_kernel(k)) == k`. Spans are not in the text, except of sites."""

from isogrid.ir import device as d
from isogrid.ir import kernel as k


def parse_kernel(text: str) -> k.Kernel:
    """Kernel IR from its text; raises `IRSyntaxError` with the line."""
    from isogrid.ir.parse_kernel import read_kernel

    return read_kernel(text)


def parse_device(text: str) -> d.Kernel:
    """Device IR from its text; raises `IRSyntaxError` with the line."""
    from isogrid.ir.parse_device import read_device

    return read_device(text)
