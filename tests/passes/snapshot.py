"""Kernels as IR text: a body is put into a small kernel, run through a pass, verified and printed again."""

import textwrap
from collections.abc import Callable

from isogrid.ir import kernel as k
from isogrid.ir.parse import parse_kernel
from isogrid.ir.text import print_kernel
from isogrid.ir.verify import verify

HEAD = """kernel k
  dims N
  scalar a: f32
  scalar n: i64
  In x: f32[#N]
  InOut y: f32[#N]
  InOut z: i64[#N]
  grid #N
  block 256
  body:
"""


def body_after(change: Callable[[k.Kernel], k.Kernel], text: str) -> str:
    """The body that the pass makes of the body `text`."""
    kernel = parse_kernel(HEAD + textwrap.indent(textwrap.dedent(text).strip("\n"), "    ") + "\n")
    verify(kernel)
    changed = change(kernel)
    verify(changed, "the pass")
    printed = print_kernel(changed)
    return textwrap.dedent(printed[printed.index("  body:\n") + len("  body:\n") :]).strip("\n") + "\n"


def dedented(text: str) -> str:
    return textwrap.dedent(text).strip("\n") + "\n"
