"""What reference meanings share: how they trap, and how they keep NumPy from warning about IEEE results."""

from typing import Any

import numpy as np

from isogrid.ir.traps import TrapKind


class Trapped(Exception):
    """An operation trapped. `kind` picks the site of its node (`isogrid.ir.sites`); `operands` are what it reports."""

    def __init__(self, kind: TrapKind, *operands: Any) -> None:
        super().__init__(kind, operands)
        self.kind = kind
        self.operands = operands


def quiet() -> "np.errstate":
    """Context for float meanings: IEEE results without NumPy's warnings. Enter it once, not per operation."""
    return np.errstate(all="ignore")
