"""Every barrier of every base kernel, deleted in turn."""

from collections.abc import Iterator

from isogrid.ir import kernel as k

from .bases import bases
from .mutations import blocks, with_block


def without_each_barrier() -> Iterator[tuple[str, k.Kernel]]:
    """The kernels that lack one barrier, each with a name for reports."""
    for kernel in bases():
        number = 0
        for block in blocks(kernel.body):
            for at, s in enumerate(block):
                if isinstance(s, k.Barrier):
                    number += 1
                    yield (
                        f"{kernel.name} without barrier {number}",
                        with_block(kernel, block, (*block[:at], *block[at + 1 :])),
                    )
