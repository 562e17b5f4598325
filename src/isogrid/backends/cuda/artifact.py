"""A kernel compiled for one GPU: in memory, and as bytes for the disk cache.

A stored artifact is complete: launching it reads no source, builds no IR and runs no pass. The kernel's body is kept as
bytes that are looked at only when a launch needs a variant that is not there yet.
"""

import dataclasses
import pickle
from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

from isogrid.backends.cuda.loader import Loaded, Variant
from isogrid.ir import kernel as k
from isogrid.support.records import dataclass

#: Whether every size is below 2^31, and whether every array starts at a multiple of 16 bytes.
Kind: TypeAlias = tuple[bool, bool]


@dataclass(slots=True)
class CudaArtifact:
    """One fully specialised kernel. `head` is the kernel without body and tables; `written` names the arrays that every
    launch writes from end to end, `own_rows` those of which a thread touches only the row of its own number."""

    head: k.Kernel
    source: bytes
    options: Mapping[str, Any]
    written: frozenset[str]
    own_rows: frozenset[str]
    variants: dict[Kind, Variant]
    loaded: dict[Kind, Loaded] = field(default_factory=dict[Kind, Loaded])
    launches: int = 0
    #: The code that launch stubs were asked for, what makes them (None where there are none), and the accesses of the
    #: arrays that they judge by.
    stub: list[Any] = field(default_factory=list[Any])

    def kernel(self) -> k.Kernel:
        """The whole kernel IR."""
        return pickle.loads(self.source)


def make_artifact(kernel: k.Kernel, options: Mapping[str, Any], variant: Variant) -> CudaArtifact:
    """An artifact with the usual variant."""
    head = dataclasses.replace(kernel, body=(), tables=())
    from isogrid.analysis.own_rows import own_rows  # late: a launch from the disk cache needs no analysis
    from isogrid.analysis.written import written_everywhere

    written, own = written_everywhere(kernel), own_rows(kernel)
    return CudaArtifact(head, pickle.dumps(kernel), dict(options), written, own, {(True, True): variant})


def to_bytes(artifact: CudaArtifact) -> bytes:
    """For the disk cache, which verifies the bytes before `from_bytes` sees them."""
    facts = (artifact.written, artifact.own_rows)
    return pickle.dumps((artifact.head, artifact.source, artifact.options, facts, artifact.variants))


def from_bytes(payload: bytes) -> CudaArtifact:
    head, source, options, facts, variants = pickle.loads(payload)
    written, own = facts
    return CudaArtifact(head, source, options, written, own, variants)
